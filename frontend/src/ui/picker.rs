//! A field and a list under it: type a few letters, walk with the arrows, take with Enter.

use super::icon::{Glyph, Icon};
use super::marks::named;
use leptos::html;
use leptos::prelude::*;
use shared::complete::pick;

/// One thing to pick.
#[derive(Clone)]
pub struct Choice {
    /// Its icon.
    pub glyph: Glyph,
    /// What is matched.
    pub title: String,
    /// Muted, at the right: its place, its key.
    pub aside: String,
    /// The aside is a key.
    pub is_key: bool,
    /// What taking it does.
    pub run: Callback<()>,
}

/// Rows that are drawn at most.
const DRAWN: usize = 60;

/// The field and its list.
#[component]
pub fn Picker(
    /// Names the field.
    label: &'static str,
    /// What there is, asked again whenever it changes.
    #[prop(into)]
    choices: Signal<Vec<Choice>>,
    /// What stands there when nothing matches.
    empty: &'static str,
    /// Called before a choice runs.
    on_done: Callback<()>,
) -> impl IntoView {
    let pattern = RwSignal::new(String::new());
    let at = RwSignal::new(0usize);
    let found = Memo::new_with_compare(
        move |_| {
            let pattern = pattern.get();
            choices.with(|all| {
                let best = pick(&pattern, all.iter().map(|one| one.title.as_str()), DRAWN);
                best.into_iter().filter_map(|(n, matched)| Some((all.get(n).cloned()?, matched))).collect::<Vec<_>>()
            })
        },
        |_, _| true,
    );
    let field = NodeRef::<html::Input>::new();
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            let _ = field.focus();
        }
    });
    let take = move |n: usize| {
        if let Some((choice, _)) = found.with_untracked(|found| found.get(n).cloned()) {
            on_done.run(());
            choice.run.run(());
        }
    };
    let id = move |n: usize| format!("picker-{n}");
    view! {
        <div class="picker-field">
            <Icon glyph=Glyph::Search />
            <input
                node_ref=field
                type="text"
                role="combobox"
                aria-label=label
                aria-expanded="true"
                aria-autocomplete="list"
                aria-controls="picker-list"
                aria-activedescendant=move || found.with(|found| (!found.is_empty()).then(|| id(at.get())))
                placeholder=label
                autocomplete="off"
                spellcheck="false"
                prop:value=move || pattern.get()
                on:input=move |event| {
                    pattern.set(event_target_value(&event));
                    at.set(0);
                }
                on:keydown=move |event| {
                    let count = found.with_untracked(Vec::len);
                    match event.key().as_str() {
                        "ArrowDown" if count > 0 => at.update(|at| *at = (*at + 1) % count),
                        "ArrowUp" if count > 0 => at.update(|at| *at = (*at + count - 1) % count),
                        "PageDown" if count > 0 => at.update(|at| *at = (*at + 8).min(count - 1)),
                        "PageUp" => at.update(|at| *at = at.saturating_sub(8)),
                        "Enter" => take(at.get_untracked()),
                        _ => return,
                    }
                    event.prevent_default();
                    event.stop_propagation();
                    super::reveal(&id(at.get_untracked()));
                }
            />
        </div>
        <div id="picker-list" class="picker-list" role="listbox" aria-label=label>
            {move || {
                found.get().into_iter().enumerate().map(|(n, (choice, matched))| {
                    view! {
                        <div
                            id=id(n)
                            class="picker-row"
                            role="option"
                            aria-selected=move || (at.get() == n).to_string()
                            on:pointermove=move |_| if at.get_untracked() != n { at.set(n) }
                            on:click=move |_| take(n)
                        >
                            <Icon glyph=choice.glyph />
                            <span class="picker-title">{marked(&choice.title, &matched)}</span>
                            <span class=if choice.is_key { "picker-keys" } else { "picker-aside" }>{named(&choice.aside)}</span>
                        </div>
                    }
                }).collect_view()
            }}
        </div>
        <p class="picker-empty" hidden=move || found.with(|found| !found.is_empty())>{empty}</p>
    }
}

/// A title with the characters that were typed marked.
fn marked(title: &str, matched: &[u32]) -> Vec<AnyView> {
    let mut parts: Vec<(bool, String)> = Vec::new();
    for (at, character) in (0u32..).zip(title.chars()) {
        let hit = matched.contains(&at);
        match parts.last_mut() {
            Some((same, part)) if *same == hit => part.push(character),
            _ => parts.push((hit, character.to_string())),
        }
    }
    parts.into_iter().map(|(hit, part)| if hit { view! { <b>{named(&part)}</b> }.into_any() } else { named(&part) }).collect()
}
