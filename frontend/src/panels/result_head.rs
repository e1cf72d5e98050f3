//! The strip above the rows: how many, and what can be done for more. That they are not all, the grid says below them.

use crate::flows::run;
use crate::panels::result_tabs::ResultTabs;
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::messages::Kind;
use crate::state::result::Outcome;
use crate::state::words;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::marks::named;
use leptos::prelude::*;

/// The strip.
#[component]
pub fn ResultHead(
    /// Whose.
    console: Console,
) -> impl IntoView {
    let w = Workbench::here();
    let status = Memo::new(move |_| console.slot.status());
    let rows = move || status.with(|status| status.as_ref().map(words::rows_of));
    let sql = move || console.slot.result.with(|shown| shown.as_ref().map(|shown| shown.sql.to_string()).unwrap_or_default());
    let waits = move || console.slot.has_rest();
    let reading = move || console.slot.reading();
    let progress =
        move || status.with(|status| status.as_ref().map(|status| format!("{} read", words::rows(status.rows_ready))).unwrap_or_default());
    let gravest = Memo::new(move |_| console.messages.gravest());
    let has_failed = move || console.slot.outcome.with(|outcome| outcome.as_ref().is_some_and(Outcome::is_failure));
    // What went wrong before is of no matter while something runs.
    let at_rest = move || console.slot.running.with(Option::is_none);
    let faults = move || at_rest() && (gravest.get() == Some(Kind::Error) || has_failed());
    let warns = move || at_rest() && !faults() && gravest.get() == Some(Kind::Warning);
    let is_before = move || console.slot.shows_before(console.connection.get().as_ref());
    // Where they are from, if the console is elsewhere by now.
    let whose = move || {
        let from = console.slot.result.with(|shown| shown.as_ref().map(|shown| shown.connection.clone()));
        let from = from.filter(|from| Some(from) != console.connection.get().as_ref()).and_then(|from| w.connections.get(&from));
        format!("Rows of the run before{}", from.map(|from| format!(", on {}", from.fields.name)).unwrap_or_default())
    };
    view! {
        <div class="result-head">
            <Show
                when=move || console.slot.has_strip()
                fallback=move || view! {
                    <h2 class="result-title">"Result"</h2>
                    <span class="result-rows">{rows}</span>
                    <Show when=is_before>
                        <span class="result-before" title=sql>
                            {move || named(&whose())} ": " <code>{move || named(&words::beginning(&sql(), 80))}</code>
                        </span>
                    </Show>
                }
            >
                <ResultTabs console />
                <Show when=is_before>
                    <span class="result-before">{move || named(&whose())}</span>
                </Show>
            </Show>
            <Show when=reading>
                <span class="result-progress">
                    <span class="progress" aria-hidden="true"></span>
                    {progress}
                </span>
            </Show>
            <Show when=waits>
                <button type="button" class="button ghost small with-icon" title="Reads every row that is left" on:click=move |_| run::read_to_end(w, console)>
                    <Icon glyph=Glyph::ToEnd />
                    "Read to the end"
                </button>
            </Show>
            <span class="spring"></span>
            <button
                type="button"
                class="button ghost small with-icon messages-toggle"
                class:fault=faults
                class:warned=warns
                aria-pressed=move || console.messages.shown.get().to_string()
                on:click=move |_| console.messages.shown.update(|shown| *shown = !*shown)
            >
                <Icon glyph=Glyph::Messages />
                "Messages"
                <span class="count">{move || console.messages.entries.with(Vec::len)}</span>
            </button>
        </div>
    }
}
