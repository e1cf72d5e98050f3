//! What the parts of the connection's dialog are made of: fields with their faults beside them, texts that a file may fill, sections.

use super::connection_form::Draft;
use crate::ui::icon::{Glyph, Icon};
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::problem::Problem;
use shared::wire::secrets::SecretKind;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Bytes of a file that may be a certificate or a key.
const FILE_BYTES_MAX: f64 = 65_536.0;

/// A change of the draft.
pub struct Change(pub Box<dyn FnOnce(&mut Draft)>);

/// What the fields share; cheap to copy.
#[derive(Clone, Copy)]
pub struct Form {
    /// What is typed.
    pub draft: RwSignal<Draft>,
    /// It was tried: what is missing is told from then on.
    pub tried: RwSignal<bool>,
    /// What the server said of a field, until the draft changes.
    pub told: RwSignal<Option<Problem>>,
    /// The secrets that the server holds.
    pub held: StoredValue<Vec<SecretKind>>,
    /// Changes the draft.
    pub change: Callback<Change>,
}

impl Form {
    /// Changes the draft.
    pub fn set(self, act: impl FnOnce(&mut Draft) + 'static) {
        self.change.run(Change(Box::new(act)));
    }

    /// What is wrong with a field, by its name on the wire.
    pub fn fault(self, field: &str) -> Option<String> {
        let own = || self.draft.with(|draft| draft.faults().into_iter().find(|(at, _)| *at == field).map(|(_, fault)| fault.to_owned()));
        let told =
            || self.told.with(|told| told.as_ref().filter(|told| told.field.as_deref() == Some(field)).map(|told| told.message.clone()));
        self.tried.get().then(own).flatten().or_else(told)
    }

    /// Something is wrong below a name.
    pub fn has_fault(self, names: &'static [&'static str]) -> bool {
        names.iter().any(|name| self.fault(name).is_some())
    }

    /// The server holds that secret.
    pub fn holds(self, kind: SecretKind) -> bool {
        self.held.with_value(|held| held.contains(&kind))
    }
}

/// The id of a field's element.
pub fn id_of(field: &str) -> String {
    format!("connection-{}", field.replace(['.', '_'], "-"))
}

/// A line of text with its label.
#[component]
pub fn Field(
    form: Form,
    /// Its name on the wire.
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
    let name = id_of(id);
    let about = format!("{name}-about");
    view! {
        <div class=format!("labelled {class}")>
            <label for=name.clone()>{label}</label>
            <input
                id=name
                class="field"
                type=kind
                autocomplete=if kind == "password" { "new-password" } else { "off" }
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
            <About form id about note />
        </div>
    }
}

#[component]
fn About(form: Form, id: &'static str, about: String, note: &'static str) -> impl IntoView {
    view! {
        <p id=about class="about">
            {move || match form.fault(id) {
                Some(fault) => view! { <span class="fault">{fault}</span> }.into_any(),
                None => view! { <span class="note">{note}</span> }.into_any(),
            }}
        </p>
    }
}

/// A text of several lines that is typed, pasted, or read from a file; the file's place never leaves the browser.
#[component]
pub fn Pem(
    form: Form,
    /// Its name on the wire.
    id: &'static str,
    label: &'static str,
    get: fn(&Draft) -> String,
    set: fn(&mut Draft, String),
    #[prop(into)] placeholder: String,
    #[prop(optional)] note: &'static str,
) -> impl IntoView {
    let name = id_of(id);
    let about = format!("{name}-about");
    let unread = RwSignal::new(None::<&'static str>);
    let take = move |event: web_sys::Event| {
        let Some(input) = event.target() else { return };
        spawn_local(async move {
            match read_file(&input).await {
                Ok(Some(text)) => {
                    unread.set(None);
                    form.set(move |draft| set(draft, text));
                }
                Ok(None) => {}
                Err(why) => unread.set(Some(why)),
            }
        });
    };
    view! {
        <div class="labelled">
            <div class="label-row">
                <label for=name.clone()>{label}</label>
                <label class="upload">
                    <input type="file" class="visually-hidden" aria-label=format!("{label}: choose a file") on:change=take />
                    <span class="link" aria-hidden="true">"Choose a file…"</span>
                </label>
            </div>
            <textarea
                id=name
                class="field area"
                rows="2"
                spellcheck="false"
                autocomplete="off"
                placeholder=placeholder
                aria-invalid=move || form.fault(id).map(|_| "true")
                aria-describedby=about.clone()
                prop:value=move || form.draft.with(get)
                on:input=move |event| {
                    let value = event_target_value(&event);
                    form.set(move |draft| set(draft, value));
                }
            ></textarea>
            {move || unread.get().map(|why| view! { <p class="about"><span class="fault">{why}</span></p> })}
            <About form id about note />
        </div>
    }
}

/// The text of the file that was chosen, if one was; the input is empty afterwards, so that the same file can be chosen again.
async fn read_file(input: &web_sys::EventTarget) -> Result<Option<String>, &'static str> {
    let unreadable = |_: JsValue| "The file can't be read";
    let of = |object: &JsValue, name: &str| js_sys::Reflect::get(object, &JsValue::from_str(name)).map_err(unreadable);
    let input: &JsValue = input.as_ref();
    let Ok(file) = of(&of(input, "files")?, "0")?.dyn_into::<web_sys::Blob>() else { return Ok(None) };
    if file.size() > FILE_BYTES_MAX {
        return Err("The file is too large for a certificate or a key");
    }
    let text = JsFuture::from(file.text()).await.map_err(unreadable)?.as_string().unwrap_or_default();
    let _ = js_sys::Reflect::set(input, &JsValue::from_str("value"), &JsValue::from_str(""));
    if text.contains('\u{fffd}') {
        return Err("The file is no text: PEM is needed, from -----BEGIN");
    }
    Ok(Some(text))
}

/// One of a few, by a list.
#[component]
pub fn Choice<T>(
    form: Form,
    /// Its name on the wire.
    id: &'static str,
    label: &'static str,
    choices: &'static [(T, &'static str, &'static str)],
    get: fn(&Draft) -> T,
    set: fn(&mut Draft, T),
    #[prop(optional)] note: &'static str,
) -> impl IntoView
where
    T: Copy + PartialEq + Send + Sync + 'static,
{
    let name = id_of(id);
    let about = format!("{name}-about");
    view! {
        <div class="labelled">
            <label for=name.clone()>{label}</label>
            <span class="select">
                <select id=name class="field" aria-describedby=about.clone() on:change=move |event| {
                    let chosen = event_target_value(&event);
                    if let Some((one, ..)) = choices.iter().find(|(_, value, _)| *value == chosen) {
                        form.set(move |draft| set(draft, *one));
                    }
                }>
                    {choices
                        .iter()
                        .map(|(one, value, words)| view! { <option value=*value selected=move || form.draft.with(get) == *one>{*words}</option> })
                        .collect_view()}
                </select>
                <Icon glyph=Glyph::Down />
            </span>
            <About form id about note />
        </div>
    }
}

/// A part that folds, with what is in it in a few words. It unfolds by itself where something in it is wrong.
#[component]
pub fn Section(
    title: &'static str,
    #[prop(into)] says: Signal<String>,
    #[prop(into)] wrong: Signal<bool>,
    children: Children,
) -> impl IntoView {
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        if wrong.get() {
            open.set(true);
        }
    });
    view! {
        <details class="section" prop:open=move || open.get() on:toggle=move |event: web_sys::Event| {
            let now = event.target().and_then(|target| js_sys::Reflect::get(&target, &JsValue::from_str("open")).ok());
            open.set(now.is_some_and(|now| now.is_truthy()));
        }>
            <summary class="section-head">
                <Icon glyph=Glyph::Right />
                <span class="section-title">{title}</span>
                <span class="section-says">{move || says.get()}</span>
            </summary>
            <div class="section-body form">{children()}</div>
        </details>
    }
}

/// A box to tick.
#[component]
pub fn Tick(
    form: Form,
    id: &'static str,
    label: &'static str,
    about: &'static str,
    get: fn(&Draft) -> bool,
    set: fn(&mut Draft, bool),
) -> impl IntoView {
    let described = format!("{}-about", id_of(id));
    view! {
        <label class="check">
            <input
                type="checkbox"
                aria-label=label
                aria-describedby=described.clone()
                prop:checked=move || form.draft.with(get)
                on:change=move |event| {
                    let on = event_target_checked(&event);
                    form.set(move |draft| set(draft, on));
                }
            />
            <span aria-hidden="true">{label} " " <span id=described class="note">{about}</span></span>
        </label>
    }
}
