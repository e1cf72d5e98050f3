//! The event stream of this window: news of its runs, and the sign that the server lives.

use super::run::{say_end, say_notices};
use super::{browse, sessions, tabs};
use crate::api;
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::link::{Link, pause_ms};
use crate::state::messages::Kind;
use crate::state::results::{Body, Tab};
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::ids::RunId;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{RunState, RunStatus};

/// Reads the stream for as long as this window is signed in; a lost one is opened again after a pause that grows.
pub async fn listen(w: Workbench) {
    api::on_reached(move || {
        super::wake();
        spawn_local(recover(w));
    });
    let mut failures = 0;
    while api::signed_in() {
        let stood = std::cell::Cell::new(false);
        let opened = || {
            stood.set(true);
            w.link.set(Link::Up);
            if failures > 0 {
                spawn_local(recover(w));
            }
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

/// The server answers again, perhaps a new process of it: what was told of its silence is asked anew.
async fn recover(w: Workbench) {
    let mut is_another = false;
    for id in w.runs.ids() {
        match api::run_status(&id).await {
            Ok(status) => take_in(w, status),
            Err(problem) => {
                // Another process than the one that ran it: its sessions are gone, and their transactions.
                is_another |= problem.code == ErrorCode::NotFound;
                closed(w, &id, &api::closed(problem));
            }
        }
    }
    sessions::look_again(w, is_another).await;
    for console in w.consoles.list.get_untracked() {
        if let Some(grid) = console.grid.get_untracked() {
            grid.recover.run(());
        }
    }
    let before = w.connections.list.with_untracked(|list| list.here().cloned()).unwrap_or_default();
    browse::connections(w).await;
    tabs::follow_names(w, &before);
    browse::retry_unanswered(w);
}

/// Takes in that the server has closed a run, if that is what it says.
pub fn closed(w: Workbench, id: &RunId, problem: &Problem) {
    if problem.code == ErrorCode::Gone
        && let Some((console, _, news)) = w.runs.closed(id, problem)
    {
        tell(console, &news);
    }
}

/// Takes one status in, from the stream or from an answer.
pub fn take_in(w: Workbench, news: RunStatus) {
    if let Some((console, unheard)) = w.runs.unheard(&news) {
        say_notices(console, &unheard);
    }
    if let Some((console, _, news)) = w.runs.apply(news) {
        if console.slot.newest.with_value(|newest| newest.as_ref() == Some(&news.id)) {
            console.slot.transaction.set(news.transaction);
        }
        tell(console, &news);
    }
}

/// Another statement of the console runs, or has taken its place.
fn gave_way(console: Console, id: &RunId) -> bool {
    let is_shown = |tab: &Tab| matches!(&tab.body, Body::Rows(shown) if shown.id == *id);
    console.slot.is_working() || !console.slot.tabs.with_untracked(|tabs| tabs.iter().any(is_shown))
}

fn tell(console: Console, news: &RunStatus) {
    let reason = news.problem.as_ref();
    match news.state {
        // Every row is here: what became of the rest of the statement is told to whoever asks for its next result.
        _ if news.total_rows.is_some() => {}
        RunState::Cancelled if console.slot.is_working() => {}
        RunState::Cancelled => say_end(console, Kind::Warning, "Cancelled: the rows that were read stay", reason),
        // The rest was given up for another statement: its rows say so, or are gone. What that means for what it did needs telling.
        RunState::Partial if gave_way(console, &news.id) && reason.is_none_or(|problem| problem.detail.is_none()) => {}
        RunState::Partial => say_end(console, Kind::Warning, "The result is not whole", reason),
        RunState::Unknown => {
            say_end(console, Kind::Error, "The link to the database was lost: what the statement did is not known", reason)
        }
        RunState::Rejected => say_end(console, Kind::Error, "The database stopped the statement", reason),
        RunState::Running | RunState::Paused | RunState::Done => {}
    }
}
