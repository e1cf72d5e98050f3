//! The explorer: connections, schemas, tables and views, columns; fetched as they are unfolded.
//!
//! Invariant: knows neither editor, grid nor panels; what opens goes through [`crate::flows`]. [`rows`] and [`order`] are the pure part.

pub mod order;
pub mod rows;
mod tree;

use crate::flows::browse;
use crate::state::Workbench;
use crate::state::connections::Load;
use crate::state::dialogs::Dialog;
use crate::ui::icon::{Glyph, Icon};
use leptos::prelude::*;
use leptos::task::spawn_local;
use tree::Tree;

/// The id of the row that takes the focus.
pub const ACTIVE_ROW: &str = "explorer-active";

/// The explorer with its head and its filter.
#[component]
pub fn Explorer() -> impl IntoView {
    let w = Workbench::here();
    let filter = RwSignal::new(String::new());
    let none_yet = move || w.connections.list.with(|list| matches!(list, Load::Here(all) if all.is_empty()));
    let failed =
        move || w.connections.list.with(|list| if let Load::Failed(problem) = list { Some(problem.message.clone()) } else { None });
    view! {
        <section class="explorer" aria-label="Databases">
            <header class="explorer-head">
                <span class="brand">
                    <Icon glyph=Glyph::Sheaf />
                    <span class="brand-name">"Sheaf"</span>
                </span>
                <button type="button" class="icon-button" aria-label="New connection" title="New connection" on:click=move |_| w.dialogs.show(Dialog::Connection(None))>
                    <Icon glyph=Glyph::Plus />
                </button>
            </header>
            <div class="explorer-filter">
                <Icon glyph=Glyph::Search />
                <input
                    id="explorer-filter"
                    type="search"
                    aria-label="Filter tables and views"
                    placeholder="Filter"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || filter.get()
                    on:input=move |event| filter.set(event_target_value(&event))
                    on:keydown=move |event| match event.key().as_str() {
                        "Escape" if !filter.with_untracked(String::is_empty) => {
                            event.prevent_default();
                            filter.set(String::new());
                        }
                        "ArrowDown" | "Enter" => {
                            event.prevent_default();
                            crate::ui::focus(ACTIVE_ROW);
                        }
                        _ => {}
                    }
                />
            </div>
            <Tree filter />
            <Show when=none_yet>
                <div class="explorer-empty">
                    <p>"No connections yet"</p>
                    <button type="button" class="button" on:click=move |_| w.dialogs.show(Dialog::Connection(None))>"Add a connection…"</button>
                </div>
            </Show>
            {move || failed().map(|message| view! {
                <div class="explorer-empty" role="alert">
                    <p>{message}</p>
                    <button type="button" class="button" on:click=move |_| spawn_local(browse::connections(w))>"Retry"</button>
                </div>
            })}
        </section>
    }
}
