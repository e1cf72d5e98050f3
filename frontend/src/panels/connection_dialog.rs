//! The dialog of a connection: its fields, Test, Save.

use super::connection_form::Draft;
use crate::commands;
use crate::flows::connect;
use crate::state::Workbench;
use crate::state::words;
use crate::ui::dialog::Modal;
use crate::ui::icon::{Glyph, Icon};
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::ids::ConnectionId;
use shared::problem::Problem;
use shared::wire::connection::{EngineKind, TestResult, TlsMode};
use shared::wire::secrets::SecretKind;

/// What Test or Save came to.
#[derive(Clone)]
enum Outcome {
    Testing,
    Good(TestResult),
    Bad(Problem),
}

/// The dialog; a new connection without an id.
#[component]
pub fn ConnectionDialog(
    /// Which one is edited.
    id: Option<ConnectionId>,
) -> impl IntoView {
    let w = Workbench::here();
    let saved = id.as_ref().and_then(|id| untrack(|| w.connections.get(id)));
    let has_password = saved.as_ref().is_some_and(|one| one.held.contains(&SecretKind::Password));
    let original = saved.as_ref().map_or_else(Draft::new, Draft::of);
    let is_new = saved.is_none();
    // Who edits a network connection most often gives its password again.
    let network_saved = saved.as_ref().is_some_and(|one| !matches!(one.fields.engine, EngineKind::Sqlite | EngineKind::Duckdb));
    let draft = RwSignal::new(original.clone());
    let original = StoredValue::new(original);
    let id = StoredValue::new(id.filter(|_| !is_new));
    let tried = RwSignal::new(false);
    let outcome = RwSignal::new(None::<Outcome>);
    let saving = RwSignal::new(false);
    let network = move || draft.with(|draft| !matches!(draft.engine, EngineKind::Sqlite | EngineKind::Duckdb));
    // A change makes the last test a test of something else.
    let change = move |act: Box<dyn FnOnce(&mut Draft)>| {
        draft.update(|draft| draft.change(act));
        outcome.set(None);
    };
    let form = Form { draft, tried, change: Callback::new(move |act: Change| change(act.0)) };
    let name_it = move || {
        if draft.with_untracked(|draft| draft.name.trim().is_empty()) {
            draft.update(|draft| draft.name = draft.suggested_name());
        }
        tried.set(true);
    };
    let test = move |_| {
        name_it();
        if draft.with_untracked(|draft| !draft.faults().is_empty()) {
            return;
        }
        let unchanged = draft.with_untracked(|draft| original.with_value(|original| draft == original));
        let tested = id.get_value().filter(|_| unchanged);
        outcome.set(Some(Outcome::Testing));
        let input = draft.with_untracked(Draft::input);
        spawn_local(async move {
            outcome.set(Some(match connect::test(tested, input).await {
                Ok(result) => Outcome::Good(result),
                Err(problem) => Outcome::Bad(problem),
            }));
        });
    };
    let save = move || {
        name_it();
        if draft.with_untracked(|draft| !draft.faults().is_empty()) || saving.get_untracked() {
            return;
        }
        saving.set(true);
        let input = draft.with_untracked(Draft::input);
        spawn_local(async move {
            match connect::save(w, id.get_value(), input).await {
                Ok(()) => {
                    w.dialogs.close();
                    if is_new {
                        commands::focus_editor_soon(w);
                    }
                }
                Err(problem) => {
                    outcome.set(Some(Outcome::Bad(problem)));
                    saving.set(false);
                }
            }
        });
    };
    view! {
        <Modal label="Connection" class="connection" on_close=Callback::new(move |()| w.dialogs.close())>
            <form
                class="dialog-form"
                novalidate
                on:submit=move |event| {
                    event.prevent_default();
                    save();
                }
            >
                <div class="dialog-body form">
                    <fieldset class="engines">
                        <legend class="visually-hidden">"Engine"</legend>
                        <EngineChoice form engine=EngineKind::Sqlite about="A file on this machine" />
                        <EngineChoice form engine=EngineKind::Duckdb about="A DuckDB, Parquet, CSV or JSON file" />
                        <EngineChoice form engine=EngineKind::Postgres about="A server on the network" />
                        <EngineChoice form engine=EngineKind::Mysql about="A server on the network" />
                    </fieldset>
                    <Field form id="name" label="Name" get=|d| d.name.clone() set=|d, v| d.name = v placeholder="How you call it" autofocus=is_new || !network_saved />
                    <Show when=move || !network()>
                        <Field form id="path" label="File" get=|d| d.path.clone() set=|d, v| d.path = v placeholder="/home/me/shop.sqlite" />
                    </Show>
                    <Show when=network>
                        <div class="form-row">
                            <Field form id="host" label="Host" get=|d| d.host.clone() set=|d, v| d.host = v />
                            <Field form id="port" label="Port" class="narrow" get=|d| d.port.clone() set=|d, v| d.port = v />
                        </div>
                        <Field form id="database" label="Database" get=|d| d.database.clone() set=|d, v| d.database = v />
                        <div class="form-row">
                            <Field form id="user" label="User" get=|d| d.user.clone() set=|d, v| d.user = v />
                            <Field
                                form
                                id="password"
                                label="Password"
                                kind="password"
                                get=|d| d.password.clone()
                                set=|d, v| d.password = v
                                placeholder=if has_password { "As before" } else { "" }
                                note="Held in the server's memory until it ends"
                                autofocus=network_saved
                            />
                        </div>
                        <TlsChoice form />
                    </Show>
                    <ColorChoice form />
                    <label class="check">
                        <input
                            type="checkbox"
                            aria-label="Read-only"
                            aria-describedby="connection-read-only-about"
                            prop:checked=move || draft.with(|draft| draft.read_only)
                            on:change=move |event| {
                                let on = event_target_checked(&event);
                                form.set(move |draft| draft.read_only = on);
                            }
                        />
                        <span aria-hidden="true">"Read-only" <span id="connection-read-only-about" class="note">" The database refuses writes"</span></span>
                    </label>
                </div>
                <div class="dialog-outcome" aria-live="polite">{move || outcome.get().map(|outcome| view! { <Told outcome /> })}</div>
                <footer class="dialog-foot">
                    <button type="button" class="button" disabled=move || matches!(outcome.get(), Some(Outcome::Testing)) on:click=test>"Test"</button>
                    <span class="spring"></span>
                    <button type="submit" class="button primary" disabled=move || saving.get()>"Save"</button>
                </footer>
            </form>
        </Modal>
    }
}

/// A change of the draft.
struct Change(Box<dyn FnOnce(&mut Draft)>);

/// What the fields share; cheap to copy.
#[derive(Clone, Copy)]
struct Form {
    draft: RwSignal<Draft>,
    tried: RwSignal<bool>,
    change: Callback<Change>,
}

impl Form {
    fn set(self, act: impl FnOnce(&mut Draft) + 'static) {
        self.change.run(Change(Box::new(act)));
    }

    fn fault(self, field: &str) -> Option<&'static str> {
        let tried = self.tried.get();
        self.draft.with(|draft| draft.faults().into_iter().find(|(at, _)| tried && *at == field)).map(|(_, fault)| fault)
    }
}

#[component]
fn Field(
    form: Form,
    id: &'static str,
    label: &'static str,
    get: fn(&Draft) -> String,
    set: fn(&mut Draft, String),
    #[prop(default = "text")] kind: &'static str,
    #[prop(optional)] class: &'static str,
    #[prop(optional)] placeholder: &'static str,
    #[prop(optional)] note: &'static str,
    #[prop(optional)] autofocus: bool,
) -> impl IntoView {
    let name = format!("connection-{id}");
    let about = format!("connection-{id}-about");
    view! {
        <div class=format!("labelled {class}")>
            <label for=name.clone()>{label}</label>
            <input
                id=name
                class="field"
                type=kind
                autocomplete="off"
                spellcheck="false"
                placeholder=placeholder
                autofocus=autofocus
                aria-invalid=move || form.fault(id).map(|_| "true")
                aria-describedby=about.clone()
                prop:value=move || form.draft.with(get)
                on:input=move |event| {
                    let value = event_target_value(&event);
                    form.set(move |draft| set(draft, value));
                }
            />
            <p id=about class="about">
                {move || match form.fault(id) {
                    Some(fault) => view! { <span class="fault">{fault}</span> }.into_any(),
                    None => view! { <span class="note">{note}</span> }.into_any(),
                }}
            </p>
        </div>
    }
}

#[component]
fn EngineChoice(form: Form, engine: EngineKind, about: &'static str) -> impl IntoView {
    let chosen = move || form.draft.with(|draft| draft.engine == engine);
    view! {
        <label class="engine" class:chosen=chosen>
            <input type="radio" name="engine" aria-label=words::engine(engine) prop:checked=chosen on:change=move |_| form.set(move |draft| draft.choose(engine)) />
            <Icon glyph=Glyph::Database />
            <span class="engine-words">
                <span class="engine-name">{words::engine(engine)}</span>
                <span class="note">{about}</span>
            </span>
        </label>
    }
}

const TLS: [(TlsMode, &str, &str); 4] = [
    (TlsMode::VerifyName, "verify-name", "Encrypted; certificate and name verified"),
    (TlsMode::VerifyAuthority, "verify-authority", "Encrypted; certificate verified"),
    (TlsMode::Encrypt, "encrypt", "Encrypted; nothing verified"),
    (TlsMode::Off, "off", "Off: everything in the clear"),
];

#[component]
fn TlsChoice(form: Form) -> impl IntoView {
    let mode = move || form.draft.with(|draft| draft.tls);
    let with_authority = move || matches!(mode(), TlsMode::VerifyName | TlsMode::VerifyAuthority);
    view! {
        <div class="labelled">
            <label for="connection-tls">"TLS"</label>
            <span class="select">
                <select id="connection-tls" class="field" on:change=move |event| {
                    let chosen = event_target_value(&event);
                    if let Some((mode, _, _)) = TLS.into_iter().find(|(_, value, _)| *value == chosen) {
                        form.set(move |draft| draft.tls = mode);
                    }
                }>
                    {TLS.into_iter().map(|(one, value, words)| view! { <option value=value selected=move || mode() == one>{words}</option> }).collect_view()}
                </select>
                <Icon glyph=Glyph::Down />
            </span>
        </div>
        <Show when=with_authority>
            <div class="labelled">
                <label for="connection-ca">"Certificate of the authority"</label>
                <textarea
                    id="connection-ca"
                    class="field area"
                    rows="3"
                    spellcheck="false"
                    placeholder="PEM text; the public authorities without it"
                    prop:value=move || form.draft.with(|draft| draft.ca.clone())
                    on:input=move |event| {
                        let value = event_target_value(&event);
                        form.set(move |draft| draft.ca = value);
                    }
                ></textarea>
            </div>
        </Show>
    }
}

const COLORS: [&str; 8] = ["Red", "Orange", "Yellow", "Green", "Teal", "Blue", "Violet", "Pink"];

#[component]
fn ColorChoice(form: Form) -> impl IntoView {
    let chosen = move |color: Option<u8>| form.draft.with(|draft| draft.color == color);
    let choice = move |color: Option<u8>, name: &'static str| {
        let class = color.map_or("color none".to_owned(), |color| format!("color color-{color}"));
        view! {
            <label class=class title=name>
                <input type="radio" name="color" aria-label=name prop:checked=move || chosen(color) on:change=move |_| form.set(move |draft| draft.color = color) />
                <span class="swatch" aria-hidden="true"></span>
            </label>
        }
    };
    view! {
        <fieldset class="colors">
            <legend>"Colour"</legend>
            {choice(None, "None")}
            {(0u8..).zip(COLORS).map(|(color, name)| choice(Some(color), name)).collect_view()}
        </fieldset>
    }
}

#[component]
fn Told(outcome: Outcome) -> impl IntoView {
    match outcome {
        Outcome::Testing => view! { <p class="told">"Connecting…"</p> }.into_any(),
        Outcome::Good(result) => view! {
            <p class="told good"><Icon glyph=Glyph::Check /><span>{format!("{} answered in {}", result.server, words::elapsed(result.latency_ms))}</span></p>
        }
        .into_any(),
        Outcome::Bad(problem) => view! {
            <div class="told bad" role="alert">
                <Icon glyph=Glyph::Error />
                <div>
                    <p>{problem.message}</p>
                    {problem.detail.map(|text| view! { <p class="note">{text}</p> })}
                    {problem.hint.map(|text| view! { <p class="note">{text}</p> })}
                </div>
            </div>
        }
        .into_any(),
    }
}
