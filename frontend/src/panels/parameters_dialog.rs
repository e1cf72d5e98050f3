//! Asks for the values of a statement's parameters before it runs.
//!
//! Invariant: the text of the statement is never changed; what is entered travels beside it.

use crate::flows::run;
use crate::state::Workbench;
use crate::state::hints::hints;
use crate::state::parameters::{Asked, Entered, Piece, Reading, Refused};
use crate::ui::dialog::Modal;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::marks::named;
use leptos::prelude::*;
use shared::wire::connection::EngineKind;
use std::sync::Arc;

/// Statements that are shown; of more, how many.
const SHOWN_LINES: usize = 4;

/// One form.
#[derive(Clone, Copy)]
struct Form {
    w: Workbench,
    /// The statements that values are asked for.
    of: StoredValue<Arc<str>>,
    engine: EngineKind,
    /// The field that has the focus.
    at: RwSignal<String>,
}

/// The form.
#[component]
pub fn ParametersDialog(
    /// What is asked for.
    asked: Asked,
) -> impl IntoView {
    let w = Workbench::here();
    let fields = asked.fields();
    let lines = asked.lines();
    let console = w.consoles.list.with_untracked(|all| all.iter().find(|one| one.name().to_string() == asked.console).copied());
    let catalog = console
        .and_then(|console| console.connection.get_untracked())
        .and_then(|id| untrack(|| w.connections.catalog(&id)).here().cloned());
    let told = asked.hints(|sql| hints(sql, asked.engine, catalog.as_deref()));
    let refused = asked.refused.clone();
    let first = refused.as_ref().map_or_else(|| fields.first().cloned().unwrap_or_default(), |refused| refused.field.clone());
    let form = Form { w, of: StoredValue::new(asked.asking()), engine: asked.engine, at: RwSignal::new(first.clone()) };
    let label = if lines.len() == 1 { "Values for this statement".to_owned() } else { format!("Values for {} statements", lines.len()) };
    let asked = StoredValue::new(asked);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        w.dialogs.close();
        asked.with_value(|asked| run::start_with(w, asked, asked.values(|name| form.entered(name))));
    };
    view! {
        <Modal label class="question values" on_close=Callback::new(move |()| w.dialogs.close())>
            <form class="dialog-form" novalidate on:submit=submit>
                <div class="dialog-body form">
                    <Statements form lines />
                    {fields
                        .into_iter()
                        .enumerate()
                        .map(|(at, name)| {
                            let hint = told.iter().find(|(known, _)| *known == name).map(|(_, hint)| hint.clone());
                            let refused = refused.clone().filter(|refused| refused.field == name);
                            let is_first = name == first;
                            view! { <ValueField form name at is_first hint refused /> }
                        })
                        .collect_view()}
                </div>
                <footer class="dialog-foot">
                    <span class="spring"></span>
                    <button type="button" class="button" on:click=move |_| w.dialogs.close()>"Cancel"</button>
                    <button type="submit" class="button primary">"Run"</button>
                </footer>
            </form>
        </Modal>
    }
}

impl Form {
    /// What was entered for a name, the last time too.
    fn entered(self, name: &str) -> Entered {
        let before = self.w.entered.with_value(|all| all.get(name).cloned()).unwrap_or_default();
        self.of.with_value(|of| before.again(of))
    }

    fn change(self, name: &str, act: impl FnOnce(&mut Entered)) {
        let mut entered = self.entered(name);
        act(&mut entered);
        self.w.entered.update_value(|all| {
            all.insert(name.to_owned(), entered);
        });
    }
}

/// What will run: a line each, and in it the places that the values go to.
#[component]
fn Statements(form: Form, lines: Vec<Vec<Piece>>) -> impl IntoView {
    let more = lines.len().saturating_sub(SHOWN_LINES);
    let piece = move |piece: Piece| match piece {
        Piece::Text(text) => named(&text),
        Piece::Parameter(written, field) => {
            let is_now = move || form.at.with(|at| *at == field);
            view! { <mark class="value-place" class:now=is_now>{written}</mark> }.into_any()
        }
    };
    let line = move |pieces: Vec<Piece>| view! { <p class="value-line">{pieces.into_iter().map(piece).collect_view()}</p> };
    view! {
        <div class="value-statements" role="note" aria-label="Statement">
            {lines.into_iter().take(SHOWN_LINES).map(line).collect_view()}
            {(more > 0).then(|| view! { <p class="value-more">{format!("and {more} more")}</p> })}
        </div>
    }
}

#[component]
fn ValueField(form: Form, name: String, at: usize, is_first: bool, hint: Option<String>, refused: Option<Refused>) -> impl IntoView {
    let before = form.entered(&name);
    let null = RwSignal::new(before.reading == Reading::Null);
    let chosen = match before.reading {
        Reading::AsTyped => "typed",
        Reading::Text => "text",
        Reading::Null => "null",
    };
    let by_itself = match form.engine {
        EngineKind::Postgres => "What the database takes it for",
        _ => "A number or a truth value where it is written like one, else text",
    };
    let id = format!("value-{at}");
    let fault = format!("value-{at}-fault");
    let is_refused = RwSignal::new(refused.is_some());
    let (typed, read, here, there) = (name.clone(), name.clone(), name.clone(), name.clone());
    view! {
        <div class="value-field">
        <div class="form-row value-row">
            <div class="labelled">
                <label for=id.clone()>
                    <span class="value-name">{name.clone()}</span>
                    {hint.map(|hint| view! { " " <span class="value-hint">{hint}</span> })}
                </label>
                <input
                    id=id
                    class="field"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    autofocus=is_first
                    disabled=move || null.get()
                    aria-label=name.clone()
                    aria-invalid=move || is_refused.get().to_string()
                    aria-describedby=move || is_refused.get().then(|| fault.clone())
                    prop:value=before.text
                    on:focus=move |_| form.at.set(here.clone())
                    on:input=move |event| {
                        is_refused.set(false);
                        form.change(&typed, |entered| entered.text = event_target_value(&event));
                    }
                />
            </div>
            <span class="select">
                <select
                    class="field"
                    aria-label=format!("{name} is taken for")
                    on:focus=move |_| form.at.set(there.clone())
                    on:change=move |event| {
                        let reading = match event_target_value(&event).as_str() {
                            "text" => Reading::Text,
                            "null" => Reading::Null,
                            _ => Reading::AsTyped,
                        };
                        is_refused.set(false);
                        form.at.set(read.clone());
                        null.set(reading == Reading::Null);
                        form.change(&read, |entered| entered.reading = reading);
                    }
                >
                    <option value="typed" selected=chosen == "typed" title=by_itself>"Automatic"</option>
                    <option value="text" selected=chosen == "text">"Text"</option>
                    <option value="null" selected=chosen == "null">"NULL"</option>
                </select>
                <Icon glyph=Glyph::Down />
            </span>
        </div>
        {refused.map(|refused| view! {
            <p id=format!("value-{at}-fault") class="fault" role="alert" hidden=move || !is_refused.get()>{refused.message}</p>
        })}
        </div>
    }
}
