//! One run after another in a console: sent, answered, shown, told.

use super::{browse, listen, now_ms, wall_time};
use crate::api::{self, RunAnswer, names};
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::dialogs::Dialog;
use crate::state::layout::Half;
use crate::state::messages::{Kind, Message};
use crate::state::parameters::Asked;
use crate::state::result::{ErrorMark, Outcome, Running, Shown, first_status};
use crate::state::words;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use shared::ids::{ConnectionId, RunId};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{RunStatus, StartRun};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A statement that has answered by then never says that it runs: less than this is seen as at once.
const SHOW_AFTER: Duration = Duration::from_millis(100);

/// Runs statements of `text`, given by their places in bytes, until one fails. Where they have parameters, their values are asked for first.
pub fn start(w: Workbench, console: Console, text: Arc<str>, statements: Vec<Range<usize>>) {
    if console.slot.is_working() || statements.is_empty() {
        return;
    }
    let Some(connection) = console.connection.get_untracked() else {
        say(console, Kind::Error, "This console has no connection: choose one above the text", None);
        return;
    };
    let engine = w.connections.engine(Some(&connection));
    match Asked::of(&console.name().to_string(), &text, &statements, engine) {
        Some(asked) => w.dialogs.show(Dialog::Parameters(asked)),
        None => run_each(w, console, connection, text, statements.into_iter().map(|range| (range, Vec::new())).collect()),
    }
}

/// Runs statements with the values that were asked for.
pub fn start_with(w: Workbench, asked: &Asked, values: Vec<Vec<Value>>) {
    let console = w.consoles.list.with_untracked(|all| all.iter().find(|one| one.name().to_string() == asked.console).copied());
    let Some((console, connection)) = console.and_then(|console| Some((console, console.connection.get_untracked()?))) else { return };
    if !console.slot.is_working() {
        run_each(w, console, connection, asked.text.clone(), asked.statements.iter().cloned().zip(values).collect());
    }
}

fn run_each(w: Workbench, console: Console, connection: ConnectionId, text: Arc<str>, statements: Vec<(Range<usize>, Vec<Value>)>) {
    console.slot.mark.set(None);
    spawn_local(async move {
        for (range, params) in statements {
            let Some(sql) = text.get(range.clone()) else { break };
            if !one(w, console, &connection, sql, params, range).await {
                break;
            }
        }
        rest(console);
    });
}

/// Says that there was nothing to run in the text, or in what was selected of it.
pub fn nothing(console: Console, selected: bool) {
    let what = if selected { "the selection holds no statement" } else { "the text holds no statement" };
    say(console, Kind::Notice, &format!("Nothing to run: {what}"), None);
}

/// Runs a statement that is not part of the text, `COMMIT` for one.
pub fn start_apart(w: Workbench, console: Console, sql: &'static str) {
    let Some(connection) = console.connection.get_untracked() else { return };
    if console.slot.is_working() {
        return;
    }
    spawn_local(async move {
        apart_on(w, console, &connection, sql).await;
    });
}

/// Runs such a statement to its end; false where it failed or could not be sent.
pub async fn apart(w: Workbench, console: Console, sql: &'static str) -> bool {
    let Some(connection) = console.connection.get_untracked() else { return false };
    !console.slot.is_working() && apart_on(w, console, &connection, sql).await
}

async fn apart_on(w: Workbench, console: Console, connection: &ConnectionId, sql: &'static str) -> bool {
    let done = one(w, console, connection, sql, Vec::new(), 0..0).await;
    rest(console);
    done
}

/// Stops what runs in the console, or the reading of its result.
pub fn cancel(console: Console) {
    let token = console.slot.in_hand.with_value(|running| running.as_ref().map(|running| running.token.clone()));
    let run = if untrack(|| console.slot.reading()) {
        console.slot.result.with_untracked(|shown| shown.as_ref().map(|shown| shown.id.clone()))
    } else {
        None
    };
    if token.is_some() {
        console.slot.in_hand.update_value(|running| {
            if let Some(running) = running {
                running.cancelling = true;
            }
        });
        console.slot.show_work();
    }
    spawn_local(async move {
        let asked = match (token, run) {
            (Some(token), _) => api::cancel_token(&token).await,
            (None, Some(run)) => api::cancel(&run).await,
            (None, None) => Ok(()),
        };
        if let Err(problem) = asked
            && problem.code != ErrorCode::NotFound
        {
            say(console, Kind::Error, "Cancel did not reach the server", Some(problem.message));
        }
    });
}

/// Reads the rest of the shown result.
pub fn read_to_end(w: Workbench, console: Console) {
    let Some(run) = console.slot.result.with_untracked(|shown| shown.as_ref().map(|shown| shown.id.clone())) else { return };
    spawn_local(async move {
        if let Err(problem) = api::read_to_end(&run).await {
            if problem.code == ErrorCode::Gone {
                return listen::closed(w, &run, &problem);
            }
            say(console, Kind::Error, "The rest of the result could not be read", Some(problem.message));
        }
    });
}

/// Adds a plain entry to a console's log.
pub fn say(console: Console, kind: Kind, text: &str, more: Option<String>) {
    console.messages.push(Message {
        number: 0,
        at: wall_time(),
        kind,
        text: text.to_owned(),
        more: more.into_iter().collect(),
        statement: None,
        mark: None,
    });
}

/// Adds an entry about how a run ended, with all that the database said of it.
pub fn say_end(console: Console, kind: Kind, text: &str, problem: Option<&Problem>) {
    let more = problem.map(|problem| [vec![problem.message.clone()], further_words(problem)].concat()).unwrap_or_default();
    console.messages.push(Message { number: 0, at: wall_time(), kind, text: text.to_owned(), more, statement: None, mark: None });
}

/// What a problem says beside its sentence, a line each.
fn further_words(problem: &Problem) -> Vec<String> {
    let mut more: Vec<String> = problem.detail.iter().cloned().collect();
    more.extend(problem.hint.as_ref().map(|hint| format!("Hint: {hint}")));
    more.extend(problem.sqlstate.as_ref().map(|code| format!("Code {code}")));
    if let Some(id) = problem.request_id.as_ref().filter(|_| problem.code == ErrorCode::Internal) {
        more.push(format!("Request {id} in the server's log"));
    }
    more
}

/// A statement is sent; what takes long enough to be seen is shown.
fn work(console: Console, running: Running) {
    let token = running.token.clone();
    console.slot.in_hand.set_value(Some(running));
    if console.slot.running.with_untracked(Option::is_some) {
        console.slot.show_work();
        return;
    }
    set_timeout(
        move || {
            let in_hand = console.slot.in_hand.try_with_value(|running| running.as_ref().is_some_and(|running| running.token == token));
            if in_hand == Some(true) {
                console.slot.show_work();
            }
        },
        SHOW_AFTER,
    );
}

/// Nothing is sent any more.
fn rest(console: Console) {
    console.slot.in_hand.set_value(None);
    if console.slot.running.with_untracked(Option::is_some) {
        console.slot.running.set(None);
    }
    // No rows will come to take the focus that waits for them.
    if !untrack(|| console.slot.shows_last()) && console.rows_wanted.get_value() {
        console.rows_wanted.set_value(false);
        if let Some(editor) = console.editor.get_untracked() {
            editor.focus.run(());
        }
    }
}

async fn one(w: Workbench, console: Console, connection: &ConnectionId, sql: &str, params: Vec<Value>, range: Range<usize>) -> bool {
    let token = names::fresh();
    let started_ms = now_ms();
    work(console, Running { token: token.clone(), range: (range.start, range.end), started_ms, cancelling: false });
    let request = StartRun {
        connection: connection.clone(),
        session: Some(console.session()),
        sql: sql.to_owned(),
        params,
        page_rows: None,
        window: Some(w.window.get_value()),
        token: Some(token),
    };
    let answer = api::start_run(&request).await;
    let elapsed_ms = now_ms() - started_ms;
    console.slot.elapsed_ms.set(Some(elapsed_ms));
    match answer {
        Ok(answer) => {
            succeeded(w, console, connection, sql, answer, elapsed_ms).await;
            true
        }
        Err(problem) => {
            failed(w, console, sql, &range, problem);
            false
        }
    }
}

async fn succeeded(w: Workbench, console: Console, connection: &ConnectionId, sql: &str, answer: RunAnswer, elapsed_ms: f64) {
    let id = match answer {
        RunAnswer::Rows { id, page_rows, state, total_rows, batch } => {
            let status = ArcRwSignal::new(first_status(id.clone(), state, page_rows, total_rows, &batch));
            w.runs.add(id.clone(), status.clone(), console);
            let shown =
                Shown { id: id.clone(), connection: connection.clone(), page_rows, first_page: batch.into(), status, sql: sql.into() };
            let old = console.slot.result.with_untracked(Clone::clone);
            console.slot.outcome.set(Some(Outcome::Rows));
            console.slot.result.set(Some(shown));
            console.messages.shown.set(false);
            w.layout.half.set(Half::Result);
            if let Some(old) = old {
                close_run(w, old.id);
            }
            id
        }
        RunAnswer::NoRows { id, rows_affected } => {
            let changed = rows_affected.map_or_else(|| "Done".to_owned(), |rows| format!("{} changed", words::rows(rows)));
            console.slot.outcome.set(Some(Outcome::NoRows(changed)));
            console.messages.shown.set(true);
            id
        }
    };
    let status = api::run_status(&id).await.ok();
    tell(console, sql, status.as_ref(), elapsed_ms);
    if let Some(status) = status {
        console.slot.newest.set_value(Some(id.clone()));
        console.slot.transaction.set(status.transaction);
        console.slot.elapsed_ms.set(Some(status.elapsed_ms));
        listen::take_in(w, status);
    }
    if !untrack(|| console.slot.shows_last()) {
        // Nothing to page through: the server need not keep it.
        spawn_local(async move {
            let _ = api::close(&id).await;
        });
    }
    if words::changes_catalog(sql) {
        browse::refresh_catalog(w, connection);
    }
}

fn tell(console: Console, sql: &str, status: Option<&RunStatus>, elapsed_ms: f64) {
    for notice in status.map(|status| status.notices.as_slice()).unwrap_or_default() {
        say(console, Kind::Notice, &format!("{}: {}", notice.severity, notice.message), None);
    }
    let outcome = console.slot.outcome.with_untracked(|outcome| outcome.as_ref().and_then(Outcome::words));
    let what = outcome.or_else(|| untrack(|| console.slot.status()).map(|status| words::rows_of(&status))).unwrap_or_default();
    let ms = status.map_or(elapsed_ms, |status| status.elapsed_ms);
    console.messages.push(Message {
        number: 0,
        at: wall_time(),
        kind: Kind::Done,
        text: format!("{what} in {}", words::elapsed(ms)),
        more: Vec::new(),
        statement: Some(words::beginning(sql, 160)),
        mark: None,
    });
}

fn failed(w: Workbench, console: Console, sql: &str, range: &Range<usize>, problem: Problem) {
    let asked = console.slot.in_hand.with_value(|running| running.as_ref().is_some_and(|running| running.cancelling));
    let cancelled = asked || problem.code == ErrorCode::Cancelled;
    if let Some(transaction) = problem.transaction {
        console.slot.newest.set_value(None);
        console.slot.transaction.set(transaction);
    }
    console.slot.outcome.set(Some(if cancelled { Outcome::Cancelled } else { Outcome::Failed(problem.message.clone()) }));
    let mark = place_of(&problem, sql)
        .filter(|_| !cancelled && !range.is_empty())
        .map(|position| mark_at(sql, range.start, position, &problem.message));
    console.slot.mark.set(mark.clone());
    let (kind, text) = if cancelled { (Kind::Warning, "Cancelled".to_owned()) } else { (Kind::Error, problem.message.clone()) };
    let mut more = further_words(&problem);
    if cancelled {
        more.insert(0, problem.message.clone());
    }
    console.messages.push(Message { number: 0, at: wall_time(), kind, text, more, statement: Some(words::beginning(sql, 160)), mark });
    if matches!(problem.code, ErrorCode::PasswordNeeded | ErrorCode::UnknownHostKey) {
        w.dialogs.show(Dialog::Connection(console.connection.get_untracked()));
    }
}

/// The place in a statement that a problem speaks of. SQLite tells none where the statement ends too early: its end is meant.
fn place_of(problem: &Problem, sql: &str) -> Option<usize> {
    let told = problem.position.map(|position| position as usize);
    told.or_else(|| problem.message.contains("incomplete input").then_some(sql.len()))
}

/// The word at `position` of `sql`, as a place of the text that `sql` begins at `start` in.
fn mark_at(sql: &str, start: usize, position: usize, message: &str) -> ErrorMark {
    let mut from = position.min(sql.len());
    while !sql.is_char_boundary(from) {
        from -= 1;
    }
    let rest = sql.get(from..).unwrap_or("");
    let word: usize = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum();
    let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
    // At the very end of the statement there is nothing to underline but its last character.
    if length == 0 {
        from = sql.trim_end().char_indices().next_back().map_or(0, |(at, _)| at);
        return ErrorMark { from: start + from, to: start + sql.trim_end().len(), message: message.to_owned() };
    }
    ErrorMark { from: start + from, to: start + from + length, message: message.to_owned() }
}

fn close_run(w: Workbench, id: RunId) {
    w.runs.remove(&id);
    spawn_local(async move {
        let _ = api::close(&id).await;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_ends_too_early_is_marked_at_its_end() {
        let problem = |message: &str| Problem::new(ErrorCode::Rejected, message);
        assert_eq!(place_of(&problem("incomplete input"), "SELECT 1/"), Some(9));
        assert_eq!(place_of(&problem("UNIQUE constraint failed: t.a"), "INSERT"), None);
        assert_eq!(place_of(&Problem { position: Some(3), ..problem("no") }, "SELECT 1/"), Some(3));
    }

    #[test]
    fn a_mark_covers_the_word_and_never_cuts_a_character() {
        let mark = |sql: &str, at| {
            let mark = mark_at(sql, 10, at, "no");
            (mark.from, mark.to)
        };
        assert_eq!(mark("SELECT nme FROM t", 7), (17, 20));
        assert_eq!(mark("SELECT 'é' || nme", 15), (25, 28));
        assert_eq!(mark("SELECT é", 8), (17, 19));
        assert_eq!(mark("SELECT (", 8), (17, 18));
        assert_eq!(mark("SELECT )", 99), (17, 18));
    }
}
