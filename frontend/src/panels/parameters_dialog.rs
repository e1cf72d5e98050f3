//! Asks for the values of a statement's parameters before it runs.
//!
//! Invariant: the text of the statement is never changed; what is entered travels beside it.

use crate::flows::run;
use crate::state::Workbench;
use crate::state::parameters::{Asked, Entered, Reading};
use crate::ui::dialog::Modal;
use crate::ui::icon::{Glyph, Icon};
use leptos::prelude::*;

/// The form.
#[component]
pub fn ParametersDialog(
    /// What is asked for.
    asked: Asked,
) -> impl IntoView {
    let w = Workbench::here();
    let fields = asked.fields();
    let asked = StoredValue::new(asked);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        w.dialogs.close();
        asked.with_value(|asked| run::start_with(w, asked, asked.values(|name| entered(w, name))));
    };
    view! {
        <Modal label="Values" class="question values" on_close=Callback::new(move |()| w.dialogs.close())>
            <form class="dialog-form" novalidate on:submit=submit>
                <div class="dialog-body form">
                    {fields.into_iter().enumerate().map(|(at, name)| view! { <ValueField w name at /> }).collect_view()}
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

/// What was entered for a name, the last time too.
fn entered(w: Workbench, name: &str) -> Entered {
    w.entered.with_value(|all| all.get(name).cloned()).unwrap_or_default()
}

fn change(w: Workbench, name: &str, act: impl FnOnce(&mut Entered)) {
    w.entered.update_value(|all| act(all.entry(name.to_owned()).or_default()));
}

#[component]
fn ValueField(w: Workbench, name: String, at: usize) -> impl IntoView {
    let before = entered(w, &name);
    let null = RwSignal::new(before.reading == Reading::Null);
    let chosen = match before.reading {
        Reading::AsTyped => "typed",
        Reading::Text => "text",
        Reading::Null => "null",
    };
    let id = format!("value-{at}");
    let (typed, read) = (name.clone(), name.clone());
    view! {
        <div class="form-row value-row">
            <div class="labelled">
                <label class="value-name" for=id.clone()>{name.clone()}</label>
                <input
                    id=id
                    class="field"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    autofocus=at == 0
                    disabled=move || null.get()
                    prop:value=before.text
                    on:input=move |event| change(w, &typed, |entered| entered.text = event_target_value(&event))
                />
            </div>
            <span class="select">
                <select
                    class="field"
                    aria-label=format!("{name} is taken for")
                    on:change=move |event| {
                        let reading = match event_target_value(&event).as_str() {
                            "text" => Reading::Text,
                            "null" => Reading::Null,
                            _ => Reading::AsTyped,
                        };
                        null.set(reading == Reading::Null);
                        change(w, &read, |entered| entered.reading = reading);
                    }
                >
                    <option value="typed" selected=chosen == "typed">"As typed"</option>
                    <option value="text" selected=chosen == "text">"Text"</option>
                    <option value="null" selected=chosen == "null">"NULL"</option>
                </select>
                <Icon glyph=Glyph::Down />
            </span>
        </div>
    }
}
