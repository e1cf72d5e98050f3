//! Which database session a console has in this window.
//!
//! Invariant: a session is one window's. A window that finds another one's under the name of its console takes a name of its own, and no
//! statement is sent into a transaction that was not shown here, or past the end of one that was.

use super::run::{self, say};
use crate::api::{self, names, storage};
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::messages::Kind;
use crate::state::result::Transaction;
use crate::state::words;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::ids::{ConnectionId, SessionId, WindowId};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::SessionStatus;

/// The name of this window, for what it is after it was loaded anew.
const WINDOW: &str = "sheaf.window";
/// Begins the key of what this window keeps for itself of a console.
const OWN_PREFIX: &str = "sheaf.session.";

fn own_key(console: Console) -> String {
    format!("{OWN_PREFIX}{}", console.name())
}

/// Keeps what is this window's own of a console.
pub fn keep_own(console: Console) {
    let text = console.own().and_then(|own| serde_json::to_string(&own).ok());
    storage::keep_for_session(&own_key(console), text.as_deref());
}

/// Finds what this window had of a console before the page was loaded anew.
pub fn take_own(console: Console) {
    if let Some(own) = storage::session(&own_key(console)).and_then(|text| serde_json::from_str(&text).ok()) {
        console.take_own(own);
    }
}

/// Forgets it: the console is closed.
pub fn forget_own(console: Console) {
    storage::keep_for_session(&own_key(console), None);
}

/// Finds the database sessions of consoles again that a reload of the page left: with what they have open, and what runs there. What
/// was still to come of a script is not started, and that is told.
pub fn adopt(w: Workbench) {
    w.former.set_value(storage::session(WINDOW).map(WindowId));
    storage::keep_for_session(WINDOW, Some(&w.window.get_value().0));
    for console in w.consoles.list.get_untracked() {
        let Some(connection) = console.connection.get_untracked() else { continue };
        spawn_local(async move {
            let found = settle(w, console, &connection).await;
            if !found.as_ref().is_some_and(|found| found.is_of_copy) {
                run::say_what_was_left(console);
            }
            if let Some(status) = found.and_then(|found| found.status).filter(|_| !console.slot.is_working()) {
                console.slot.transaction.set(status.transaction);
                if let Some(run) = status.run {
                    run::take_over(w, console, connection, run, status.sql.unwrap_or_default());
                }
            }
        });
    }
}

/// The session for a statement that was not sent because another window has the one that it was meant for, where what is open there
/// is what was shown.
pub async fn settle_for(w: Workbench, console: Console, connection: &ConnectionId, shown: Transaction) -> Result<SessionId, Problem> {
    if let Some(found) = settle(w, console, connection).await {
        console.slot.transaction.set(found.status.map(|status| status.transaction).unwrap_or_default());
    }
    match (shown.is_open(), console.slot.transaction.get_untracked().is_open()) {
        (true, false) => Err(not_sent("Another window has taken over what was open here; the statement was not sent")),
        (false, true) => Err(not_sent("A transaction is open here that was not shown before; the statement was not sent")),
        _ => Ok(console.session.get_untracked()),
    }
}

/// The server answers again, perhaps a new process of it (`is_another`: surely so): what is shown as open is asked for anew.
pub async fn look_again(w: Workbench, is_another: bool) {
    for console in w.consoles.list.get_untracked() {
        let is_open = || console.slot.transaction.get_untracked().is_open();
        let Some(connection) = console.connection.get_untracked().filter(|_| is_open()) else { continue };
        let found = settle(w, console, &connection).await.or_else(|| is_another.then(Found::default));
        // Meanwhile a statement may have told, or another look.
        let Some(found) = found.filter(|_| is_open() && (is_another || !console.slot.is_working())) else { continue };
        let is_gone = found.status.is_none() && !found.is_of_copy;
        console.slot.transaction.set(found.status.map(|status| status.transaction).unwrap_or_default());
        if is_gone {
            console.slot.is_lost.set(true);
            say(console, Kind::Warning, words::TRANSACTION_LOST, None);
        }
    }
}

fn not_sent(sentence: &str) -> Problem {
    Problem::new(ErrorCode::Elsewhere, sentence)
}

/// What became of looking for a console's session.
#[derive(Default)]
struct Found {
    /// Where the session stands that is this window's now; none where it has yet to begin.
    status: Option<SessionStatus>,
    /// Another window had the one that was looked for first: the one that this page is a copy of, or a stranger.
    is_of_copy: bool,
}

/// How the server answers to the name of a session.
enum Answer {
    /// It is this window's now.
    Ours(Box<SessionStatus>),
    /// There is no such session: who begins one has it.
    Free,
    /// Another window has it.
    Theirs,
}

/// Settles the name of the console's session in this window. Nothing where the server does not answer, or the console went on meanwhile.
async fn settle(w: Workbench, console: Console, connection: &ConnectionId) -> Option<Found> {
    let before = console.session.get_untracked();
    let mut seen = Vec::new();
    for name in candidates(&before, &console.first_session()) {
        let answer = ask(w, connection, &name).await.ok()?;
        if console.session.get_untracked() != before || console.connection.get_untracked().as_ref() != Some(connection) {
            return None;
        }
        match answer {
            Answer::Ours(status) => {
                console.is_used.set_value(true);
                console.session.set(name);
                return Some(Found { status: Some(*status), is_of_copy: false });
            }
            Answer::Free => seen.push((name, true)),
            Answer::Theirs => seen.push((name, false)),
        }
    }
    let is_of_copy = seen.first().is_some_and(|(_, is_free)| !is_free);
    let name = free(seen).unwrap_or_else(|| SessionId(names::fresh()));
    if name != before {
        console.session.set(name);
    }
    Some(Found { status: None, is_of_copy })
}

async fn ask(w: Workbench, connection: &ConnectionId, name: &SessionId) -> Result<Answer, Problem> {
    Ok(match api::adopt_session(connection, name, w.window.get_value(), w.former.get_value()).await? {
        Some(status) if status.elsewhere => Answer::Theirs,
        Some(status) => Answer::Ours(Box::new(status)),
        None => Answer::Free,
    })
}

/// The names to ask for: the one this window had, then the console's first.
fn candidates(had: &SessionId, first: &SessionId) -> Vec<SessionId> {
    let mut names = vec![had.clone(), first.clone()];
    names.dedup();
    names
}

/// A name that nobody has, the console's first one before others.
fn free(seen: Vec<(SessionId, bool)>) -> Option<SessionId> {
    seen.into_iter().rev().find(|(_, is_free)| *is_free).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> SessionId {
        SessionId(name.to_owned())
    }

    #[test]
    fn the_session_that_a_window_had_is_asked_for_before_the_first_one() {
        assert_eq!(candidates(&id("own"), &id("first")), [id("own"), id("first")]);
        assert_eq!(candidates(&id("first"), &id("first")), [id("first")]);
    }

    #[test]
    fn where_nobody_has_a_session_the_first_name_is_taken() {
        assert_eq!(free(vec![(id("own"), true), (id("first"), true)]), Some(id("first")));
        assert_eq!(free(vec![(id("own"), true), (id("first"), false)]), Some(id("own")));
        assert_eq!(free(vec![(id("own"), false), (id("first"), true)]), Some(id("first")));
        assert_eq!(free(vec![(id("own"), false), (id("first"), false)]), None);
    }
}
