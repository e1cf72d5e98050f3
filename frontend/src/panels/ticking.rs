//! What runs, and the time that passes meanwhile.
//!
//! Invariant: the timer lives as long as this is shown, and it is shown only while something runs.

use crate::flows::{now_ms, run};
use crate::state::consoles::Console;
use crate::state::words;
use leptos::prelude::*;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(100);

/// `Running`, `Cancelling`, `Running 3 of 10`.
fn doing(console: Console) -> String {
    let (cancelling, part) = console.slot.running.with(|running| running.as_ref().map_or((false, None), |one| (one.cancelling, one.part)));
    let doing = if cancelling { "Cancelling" } else { "Running" };
    part.map_or_else(|| doing.to_owned(), |(number, of)| format!("{doing} {number} of {of}"))
}

/// The time since the statement was sent.
#[component]
fn Passing(console: Console) -> impl IntoView {
    let now = RwSignal::new(now_ms());
    let started = move || console.slot.running.with(|running| running.as_ref().map_or(now.get(), |running| running.started_ms));
    let timer = set_interval_with_handle(move || now.set(now_ms()), TICK).ok();
    on_cleanup(move || {
        if let Some(timer) = timer {
            timer.clear();
        }
    });
    // Not read out: it would be, ten times a second.
    view! { <span class="ticking" aria-hidden="true">{move || words::elapsed((now.get() - started()).max(0.0))}</span> }
}

/// In the status line.
#[component]
pub fn RunningItem(
    /// Whose.
    console: Console,
) -> impl IntoView {
    view! {
        <span class="status-item busy">{move || doing(console)}</span>
        <span class="status-item"><Passing console /></span>
    }
}

/// In place of the rows that are to come.
#[component]
pub fn RunningRows(
    /// Whose.
    console: Console,
) -> impl IntoView {
    let cancelling = move || console.slot.running.with(|running| running.as_ref().is_some_and(|running| running.cancelling));
    view! {
        <div class="empty coming">
            <p class="empty-title">{move || doing(console)} " " <Passing console /></p>
            <button type="button" class="button" disabled=cancelling on:click=move |_| run::cancel(console)>"Cancel"</button>
        </div>
    }
}
