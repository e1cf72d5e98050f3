//! The event stream of this window: news of its runs, and the sign that the server lives.

use super::run::say;
use crate::api;
use crate::state::Workbench;
use crate::state::link::{Link, pause_ms};
use crate::state::messages::Kind;
use leptos::prelude::*;
use shared::wire::run::{RunState, RunStatus};

/// Reads the stream for as long as this window is signed in; a lost one is opened again after a pause that grows.
pub async fn listen(w: Workbench) {
    let mut failures = 0;
    while api::signed_in() {
        let stood = std::cell::Cell::new(false);
        let opened = || {
            stood.set(true);
            w.link.set(Link::Up);
        };
        let _ = api::events(&w.window.get_value(), None, opened, |news| take_in(w, news)).await;
        if stood.get() {
            failures = 0;
        }
        failures += 1;
        // A stream that ended once and stands again at once is nothing to tell of.
        if failures > 1 {
            w.link.set(Link::Lost);
        }
        super::pause(pause_ms(failures)).await;
    }
}

/// Takes one status in, from the stream or from an answer.
pub fn take_in(w: Workbench, news: RunStatus) {
    let Some((console, _, news)) = w.runs.apply(news) else { return };
    console.slot.in_transaction.set(news.in_transaction);
    let reason = news.problem.as_ref().map(|problem| problem.message.clone());
    match news.state {
        RunState::Cancelled => say(console, Kind::Warning, "Cancelled: the rows that were read stay", reason),
        // The rest was given up for the statement that runs now: the rows say so, nothing happened that needs telling.
        RunState::Partial if console.slot.running.with_untracked(Option::is_some) => {}
        RunState::Partial => say(console, Kind::Warning, "The result is not whole", reason),
        RunState::Unknown => say(console, Kind::Error, "The link to the database was lost: what the statement did is not known", reason),
        RunState::Rejected => say(console, Kind::Error, "The database stopped the statement", reason),
        RunState::Running | RunState::Paused | RunState::Done => {}
    }
}
