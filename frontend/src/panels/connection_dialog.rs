//! The dialog of a connection: its fields, Test, Save; and the question whether an SSH server's key is trusted.

use super::connection_fields::{Change, Field, Form, Tick, id_of};
use super::connection_form::Draft;
use super::connection_ways::{HELD, SshSection, TlsSection};
use crate::commands;
use crate::flows::connect;
use crate::state::Workbench;
use crate::state::connections::Load;
use crate::state::words;
use crate::ui::dialog::Modal;
use crate::ui::icon::{Glyph, Icon};
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::ids::ConnectionId;
use shared::problem::{ErrorCode, HostKey, Problem};
use shared::wire::connection::{EngineKind, TestResult};
use shared::wire::secrets::SecretKind;
use wasm_bindgen::JsCast;

/// What Test or Save came to.
#[derive(Clone)]
enum Outcome {
    Testing,
    Good(TestResult),
    Bad(Problem),
}

/// What the parts of the dialog work on.
#[derive(Clone, Copy)]
struct Work {
    w: Workbench,
    id: StoredValue<Option<ConnectionId>>,
    form: Form,
    outcome: RwSignal<Option<Outcome>>,
    saving: RwSignal<bool>,
}

impl Work {
    /// Names it where it has no name, and sees whether it can be sent; the first fault has the focus.
    fn is_whole(self) -> bool {
        let Form { draft, tried, .. } = self.form;
        if draft.with_untracked(|draft| draft.name.trim().is_empty()) {
            draft.update(|draft| draft.name = draft.suggested_name());
        }
        tried.set(true);
        let first = draft.with_untracked(|draft| draft.faults().first().map(|(field, _)| *field));
        if let Some(field) = first {
            focus_soon(field);
        }
        first.is_none()
    }

    fn test(self) {
        if !self.is_whole() {
            return;
        }
        self.outcome.set(Some(Outcome::Testing));
        self.form.told.set(None);
        let input = self.form.draft.with_untracked(Draft::input);
        spawn_local(async move {
            match connect::test(self.id.get_value(), input).await {
                Ok(result) => self.outcome.set(Some(Outcome::Good(result))),
                Err(problem) => self.tell(problem),
            }
        });
    }

    fn save(self) {
        if self.saving.get_untracked() || !self.is_whole() {
            return;
        }
        self.saving.set(true);
        let input = self.form.draft.with_untracked(Draft::input);
        spawn_local(async move {
            let id = self.id.get_value();
            let is_new = id.is_none();
            match connect::save(self.w, id, input).await {
                Ok(()) => {
                    self.w.dialogs.close();
                    if is_new {
                        commands::focus_editor_soon(self.w);
                    }
                }
                Err(problem) => {
                    self.tell(problem);
                    self.saving.set(false);
                }
            }
        });
    }

    /// Beside its field, where it is about one that is shown; below otherwise.
    fn tell(self, problem: Problem) {
        let shown = |field: &&str| document().get_element_by_id(&id_of(field)).is_some();
        match problem.field.as_deref().filter(|_| problem.host_key.is_none()).filter(shown) {
            Some(field) => {
                focus_soon(field);
                self.outcome.set(None);
                self.form.told.set(Some(problem));
            }
            None => self.outcome.set(Some(Outcome::Bad(problem))),
        }
    }

    /// The person has compared the key: it is the server's from now on.
    fn trust(self, key: &HostKey) {
        let (fingerprint, jump) = (key.fingerprint.clone(), key.jump);
        self.form.set(move |draft| {
            let server = if jump { &mut draft.jump } else { &mut draft.ssh };
            server.trusted = Some(fingerprint);
        });
        self.test();
    }
}

/// Once its section has unfolded.
fn focus_soon(field: &str) {
    let id = id_of(field);
    request_animation_frame(move || {
        request_animation_frame(move || {
            if let Some(element) = document().get_element_by_id(&id).and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
                let _ = element.focus();
            }
        });
    });
}

/// The dialog; a new connection without an id.
#[component]
pub fn ConnectionDialog(
    /// Which one is edited.
    id: Option<ConnectionId>,
    /// What sent the person here; a failed catalog does where nothing is told.
    reason: Option<Problem>,
) -> impl IntoView {
    let w = Workbench::here();
    let saved = id.as_ref().and_then(|id| untrack(|| w.connections.get(id)));
    let original = saved.as_ref().map_or_else(Draft::new, Draft::of);
    let is_new = saved.is_none();
    // Who edits a network connection most often gives its password again.
    let network_saved = saved.as_ref().is_some_and(|_| original.is_network());
    let failed = id.as_ref().and_then(|id| w.connections.catalogs.with_untracked(|all| all.get(id).cloned()));
    let outcome = RwSignal::new(None::<Outcome>);
    let draft = RwSignal::new(original);
    let told = RwSignal::new(None);
    // A change makes the last test a test of something else.
    let change = move |Change(act)| {
        draft.update(|draft| draft.change(act));
        outcome.set(None);
        told.set(None);
    };
    let held = StoredValue::new(saved.map(|one| one.held).unwrap_or_default());
    let form = Form { draft, tried: RwSignal::new(false), told, held, change: Callback::new(change) };
    let work = Work { w, id: StoredValue::new(id.filter(|_| !is_new)), form, outcome, saving: RwSignal::new(false) };
    // Where that is for this dialog to settle.
    let is_ours = |problem: &Problem| matches!(problem.code, ErrorCode::UnknownHostKey | ErrorCode::PasswordNeeded);
    if let Some(problem) = reason.or_else(|| failed.as_ref().and_then(Load::problem).cloned()).filter(is_ours) {
        outcome.set(Some(Outcome::Bad(problem)));
    }
    let network = move || draft.with(Draft::is_network);
    view! {
        <Modal label="Connection" class="connection" on_close=Callback::new(move |()| w.dialogs.close())>
            <form
                class="dialog-form"
                novalidate
                on:submit=move |event| {
                    event.prevent_default();
                    work.save();
                }
            >
                <div class="dialog-body form">
                    <fieldset class="engines">
                        <legend class="visually-hidden">"Engine"</legend>
                        <EngineChoice form engine=EngineKind::Sqlite about="File" />
                        <EngineChoice form engine=EngineKind::Duckdb about="Parquet, CSV, JSON, Arrow" />
                        <EngineChoice form engine=EngineKind::Postgres about="Server" />
                        <EngineChoice form engine=EngineKind::Mysql about="Server" />
                    </fieldset>
                    <Field form id="name" label="Name" get=|d| d.name.clone() set=|d, v| d.name = v placeholder="How you call it" autofocus=is_new || !network_saved />
                    <Show when=move || !network()>
                        <Field form id="path" label="File" get=|d| d.path.clone() set=|d, v| d.path = v placeholder="/home/me/shop.sqlite" />
                    </Show>
                    <Show when=network>
                        <ServerFields form focused=network_saved />
                    </Show>
                    <ColorChoice form />
                    <Tick form id="read_only" label="Read-only" about="The database refuses writes" get=|d| d.read_only set=|d, v| d.read_only = v />
                </div>
                <div class="dialog-outcome" aria-live="polite">{move || outcome.get().map(|outcome| view! { <Told work outcome /> })}</div>
                <footer class="dialog-foot">
                    <button type="button" class="button" disabled=move || matches!(outcome.get(), Some(Outcome::Testing)) on:click=move |_| work.test()>"Test"</button>
                    <span class="spring"></span>
                    <button type="submit" class="button primary" disabled=move || work.saving.get()>"Save"</button>
                </footer>
            </form>
        </Modal>
    }
}

/// What only a server has.
#[component]
fn ServerFields(form: Form, focused: bool) -> impl IntoView {
    view! {
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
                placeholder=if form.holds(SecretKind::Password) { "As before" } else { "" }
                note=HELD
                autofocus=focused
            />
        </div>
        <div class="sections">
            <TlsSection form />
            <SshSection form />
        </div>
    }
}

#[component]
fn EngineChoice(form: Form, engine: EngineKind, about: &'static str) -> impl IntoView {
    let chosen = move || form.draft.with(|draft| draft.engine == engine);
    view! {
        <label class="engine" class:chosen=chosen>
            <input type="radio" name="engine" aria-label=words::engine(engine) prop:checked=chosen on:change=move |_| form.set(move |draft| draft.choose(engine)) />
            <span class="engine-words">
                <span class="engine-name">{words::engine(engine)}</span>
                <span class="note">{about}</span>
            </span>
        </label>
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
fn Told(work: Work, outcome: Outcome) -> impl IntoView {
    match outcome {
        Outcome::Testing => view! { <p class="told">"Connecting…"</p> }.into_any(),
        Outcome::Good(result) => view! {
            <p class="told good"><Icon glyph=Glyph::Check /><span>{format!("{} answered in {}", result.server, words::elapsed(result.latency_ms))}</span></p>
        }
        .into_any(),
        Outcome::Bad(problem) => match problem.host_key.clone() {
            Some(key) => view! { <TrustQuestion work key=*key /> }.into_any(),
            None => view! { <Failure problem /> }.into_any(),
        },
    }
}

#[component]
fn Failure(problem: Problem) -> impl IntoView {
    view! {
        <div class="told bad" role="alert">
            <Icon glyph=Glyph::Error />
            <div>
                <p>{problem.message}</p>
                {problem.detail.map(|text| view! { <p class="note">{text}</p> })}
                {problem.hint.map(|text| view! { <p class="note">{text}</p> })}
            </div>
        </div>
    }
}

/// A server that nobody has vouched for: its key is shown, and trusted only by a person's own act.
#[component]
fn TrustQuestion(work: Work, key: HostKey) -> impl IntoView {
    let place = if key.port == 22 { key.host.clone() } else { format!("{}:{}", key.host, key.port) };
    let shown = key.clone();
    view! {
        <div class="told question" role="alert">
            <Icon glyph=Glyph::Warning />
            <div class="trust">
                <p>{format!("{place} is not known to Sheaf yet. It shows this {} key:", shown.algorithm)}</p>
                <code class="fingerprint">{shown.fingerprint}</code>
                <p class="note">"Compare it with what the server's owner tells you, or with ssh-keygen -lf on the server. Nothing was sent to it so far."</p>
                <button type="button" class="button" on:click=move |_| work.trust(&key)>"Trust this key"</button>
            </div>
        </div>
    }
}
