//! The status line: where the shown console runs, what it has, what it does.

use crate::panels::ticking::RunningItem;
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::link::Link;
use crate::state::result::{Outcome, Transaction};
use crate::state::words;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::marks::named;
use leptos::prelude::*;
use shared::wire::connection::Connection;

/// The line.
#[component]
pub fn StatusLine() -> impl IntoView {
    let w = Workbench::here();
    let console = Memo::new_with_compare(
        move |_| w.consoles.shown(),
        |a, b| a.map(|one| one.map(|c| c.name())) != b.map(|one| one.map(|c| c.name())),
    );
    let connection = move || console.get().and_then(|console| console.connection.get()).and_then(|id| w.connections.get(&id));
    let color = move || connection().and_then(|one| one.fields.color);
    let slot = move || console.get().map(|console| console.slot);
    let transaction = move || slot().map(|slot| slot.transaction.get()).unwrap_or_default();
    let is_lost = move || slot().is_some_and(|slot| slot.is_lost.get());
    let running = Memo::new_with_compare(
        move |_| console.get().filter(|console| console.slot.running.with(Option::is_some)),
        |a, b| a.map(|one| one.map(|c| c.name())) != b.map(|one| one.map(|c| c.name())),
    );
    let rows = move || {
        let slot = slot().filter(|slot| slot.running.with(Option::is_none))?;
        slot.outcome
            .with(|outcome| outcome.as_ref().and_then(Outcome::words))
            .or_else(|| slot.status().map(|status| words::rows_of(&status)))
    };
    let reason = move || slot().and_then(|slot| slot.outcome.with(|outcome| outcome.as_ref().and_then(Outcome::reason).map(str::to_owned)));
    let failed = move || slot().is_some_and(|slot| slot.outcome.with(|outcome| outcome.as_ref().is_some_and(Outcome::is_failure)));
    let selection =
        move || console.get().and_then(|console| console.grid.get()).map(|grid| grid.selection.get()).filter(|text| !text.is_empty());
    let elapsed = move || slot().and_then(|slot| slot.elapsed_ms.get()).map(words::elapsed);
    view! {
        <div
            class=move || color().map_or("status".to_owned(), |color| format!("status color-{}", color % 8))
            class:tinted=move || color().is_some()
            role="status"
            aria-label="Status"
        >
            <span class="connection-dot" aria-hidden="true"></span>
            {move || match connection() {
                Some(one) => view! { <Place one /> }.into_any(),
                None => view! { <span class="status-item">"No connection"</span> }.into_any(),
            }}
            {move || match transaction() {
                Transaction::None if is_lost() => view! { <span class="status-item warning apart">{words::TRANSACTION_LOST}</span> }.into_any(),
                Transaction::None => ().into_any(),
                _ if w.link.get() == Link::Lost => view! { <span class="status-item warning">{words::transaction(transaction(), Link::Lost)}</span> }.into_any(),
                Transaction::Open => view! { <span class="status-item warning">"Transaction open"</span> }.into_any(),
                Transaction::Failed => view! { <span class="status-item danger">"Transaction failed"</span> }.into_any(),
            }}
            <Show when=move || console.get().is_some_and(Console::is_apart)>
                <span class="status-item apart" title="What one window has open, its temporary tables and settings are not the other's">
                    "Also opened in another window: this one has a session of its own"
                </span>
            </Show>
            <Show when=move || w.link.get() == Link::Lost>
                <span class="status-item danger"><Icon glyph=Glyph::Warning />"Sheaf's server does not answer, trying again"</span>
            </Show>
            <span class="spring"></span>
            {move || selection().map(|text| view! { <span class="status-item">{text}</span> })}
            {move || rows().map(|text| view! { <span class="status-item strong outcome" class:danger=failed title=reason>{text}</span> })}
            {move || if let Some(console) = running.get() {
                view! { <RunningItem console /> }.into_any()
            } else {
                elapsed().map(|text| view! { <span class="status-item">{text}</span> }).into_any()
            }}
        </div>
    }
}

/// Where it runs, in words.
#[component]
fn Place(one: Connection) -> impl IntoView {
    let w = Workbench::here();
    let id = one.id.clone();
    let place = move || match w.connections.catalog(&id).here() {
        // The system's own schemas are searched first, but nobody works in them.
        Some(catalog) => {
            match catalog.search_path.iter().find(|name| !catalog.schemas.iter().any(|one| one.system && one.name == **name)) {
                Some(schema) => format!("{} · {schema}", short(&catalog.database)),
                None => short(&catalog.database).to_owned(),
            }
        }
        None => one.fields.database.clone().unwrap_or_default(),
    };
    view! {
        <span class="status-item strong">{named(&one.fields.name)}</span>
        <span class="status-item">{words::engine(one.fields.engine)}</span>
        <span class="status-item">{move || named(&place())}</span>
        {one.fields.read_only.then(|| view! { <span class="status-item"><Icon glyph=Glyph::Lock />"Read-only"</span> })}
    }
}

/// The file's name of a path.
fn short(database: &str) -> &str {
    database.rsplit(['/', '\\']).next().unwrap_or(database)
}
