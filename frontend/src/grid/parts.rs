//! What floats over the rows: a page that did not come, progress, a sentence, the question for a row number.
//!
//! Invariant: one clear message at a time, where it happened; each can be answered by a key.

use super::ui::{grouped, rows_text};
use super::view::Grid;
use leptos::html;
use leptos::prelude::*;
use shared::problem::ErrorCode;
use shared::wire::run::{RunState, RunStatus};
use std::time::Duration;

/// A page of the window did not come.
#[component]
pub fn FailedPage(grid: Grid) -> impl IntoView {
    move || {
        grid.ui.failure.get().map(|problem| {
            let hopeless = problem.code == ErrorCode::Gone;
            let retry = (!hopeless).then(|| {
                let again = move |_| {
                    grid.with(super::view::GridView::retry);
                    grid.focus();
                };
                view! { <button type="button" class="button" on:click=again>"Retry"</button> }
            });
            view! {
                <div class="grid-failure" role="alert">
                    <p class="grid-failure-title">"These rows did not arrive"</p>
                    <p class="grid-failure-cause">{problem.message}</p>
                    {retry}
                </div>
            }
        })
    }
}

/// The grid reads on to a row. How far it is on the way to the end, the strip above the rows tells, with its Cancel.
#[component]
pub fn ReadingOn(grid: Grid) -> impl IntoView {
    let to_row = move || grid.ui.reading.get().and_then(|reading| reading.to_row);
    let reading = move || to_row().is_some();
    let stop = move |_| {
        grid.with(super::view::GridView::stop_reading);
        grid.focus();
    };
    view! {
        <Show when=reading>
            <div class="grid-strip" role="group" aria-label="Progress">
                <span class="grid-strip-bar" aria-hidden="true"></span>
                <span>"Reading on"</span>
                <span class="grid-strip-count">{move || to_row().map(|row| format!("to row {}", grouped(row)))}</span>
                <button type="button" class="button small" on:click=stop>"Cancel"</button>
            </div>
        </Show>
    }
}

/// How long a sentence about what is over stays.
const PASSES_AFTER: Duration = Duration::from_secs(6);

/// A sentence about what was just done.
#[component]
pub fn Words(grid: Grid) -> impl IntoView {
    Effect::new(move |running: Option<Option<TimeoutHandle>>| {
        if let Some(running) = running.flatten() {
            running.clear();
        }
        let passes = grid.ui.note.with(|note| note.as_ref().is_some_and(|note| note.passes));
        let pass = move || {
            grid.ui.note.try_set(None);
        };
        passes.then(|| set_timeout_with_handle(pass, PASSES_AFTER).ok()).flatten()
    });
    move || {
        let note = grid.ui.note.get().filter(|_| grid.ui.reading.with(Option::is_none));
        note.map(|note| view! { <div class="grid-note" class:failed=note.failed role="log" aria-label="Result note">{note.text}</div> })
    }
}

/// A result that is not whole says so, for as long as it is shown.
#[component]
pub fn NotWhole(status: RwSignal<RunStatus>) -> impl IntoView {
    move || status.with(not_whole).map(|sentence| view! { <p class="grid-tail" role="note">{sentence}</p> })
}

fn not_whole(status: &RunStatus) -> Option<String> {
    let rows = rows_text(status.rows_ready);
    let cause = status.problem.as_ref().map(|problem| format!(": {}", problem.message)).unwrap_or_default();
    match status.state {
        RunState::Cancelled | RunState::Partial | RunState::Unknown if status.total_rows.is_some() => {
            Some(format!("This result is whole; the statement did not come to its end{cause}"))
        }
        RunState::Cancelled => Some(format!("Cancelled after {rows}: the result has more")),
        RunState::Partial => Some(format!("Not the whole result: {rows} were read{cause}")),
        RunState::Unknown => Some(format!("The link was lost after {rows}{cause}")),
        _ => None,
    }
}

/// Asks for a row number.
#[component]
pub fn GoToRow(grid: Grid) -> impl IntoView {
    view! { <Show when=move || grid.ui.going.get()><Question grid=grid /></Show> }
}

#[component]
fn Question(grid: Grid) -> impl IntoView {
    let field = NodeRef::<html::Input>::new();
    let wrong = RwSignal::new(false);
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            let _ = field.focus();
        }
    });
    let close = move || {
        grid.ui.going.set(false);
        grid.focus();
    };
    let answer = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let text = field.get_untracked().map(|field| field.value()).unwrap_or_default();
        let digits: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | '.' | '_' | '\'')).collect();
        match digits.parse::<u64>() {
            Ok(row) if row > 0 => {
                close();
                grid.with(|view| view.go_to_row(row));
            }
            _ => wrong.set(true),
        }
    };
    let known = grid.with(|view| (view.known_rows(), view.is_complete())).unwrap_or_default();
    let hint = if known.1 { format!("1 to {}", grouped(known.0)) } else { "1 and up".to_owned() };
    view! {
        <form class="grid-question" role="dialog" aria-label="Go to row" on:submit=answer
            on:focusout=move |event: web_sys::FocusEvent| {
                if event.related_target().is_none() {
                    grid.ui.going.set(false);
                }
            }
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    event.prevent_default();
                    event.stop_propagation();
                    close();
                }
            }>
            <label class="grid-question-label">
                "Go to row"
                <input class="field" type="text" inputmode="numeric" autocomplete="off" node_ref=field placeholder=hint
                    aria-invalid=move || wrong.get().to_string() on:input=move |_| wrong.set(false) />
            </label>
        </form>
    }
}
