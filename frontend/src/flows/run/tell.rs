//! What is said of a statement: in the log, in the status line, at its place in the text.

use super::Sent;
use crate::api::{self, Told};
use crate::flows::wall_time;
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::dialogs::Dialog;
use crate::state::messages::{Kind, Message};
use crate::state::result::{ErrorMark, Outcome};
use crate::state::results::{Body, Failure};
use crate::state::script::{Score, line_and_column};
use crate::state::words;
use leptos::prelude::*;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::Notice;

/// What is said of a statement that found no server, or of which nothing came back.
const UNANSWERED: &str = "No answer came to this statement";

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
pub(super) fn further_words(problem: &Problem) -> Vec<String> {
    let mut more: Vec<String> = problem.detail.iter().cloned().collect();
    more.extend(problem.hint.as_ref().map(|hint| format!("Hint: {hint}")));
    more.extend(problem.sqlstate.as_ref().map(|code| format!("Code {code}")));
    if let Some(id) = problem.request_id.as_ref().filter(|_| problem.code == ErrorCode::Internal) {
        more.push(format!("Request {id} in the server's log"));
    }
    more
}

/// What the database said beside a result.
pub fn say_notices(console: Console, notices: &[Notice]) {
    for notice in notices {
        say(console, Kind::of_severity(&notice.severity), &format!("{}: {}", notice.severity, notice.message), None);
    }
}

/// How a statement begins, for the log; nothing where its text is not known.
fn statement_of(sent: &Sent) -> Option<String> {
    Some(words::beginning(sent.sql(), 160)).filter(|beginning| !beginning.is_empty())
}

/// A statement ended well: what came of it, and how long it took.
pub(super) fn done(console: Console, sent: &Sent, what: &str, told: &Told) {
    let text = match told.elapsed_ms {
        Some(ms) => format!("{what} in {}", words::elapsed(ms)),
        None => what.to_owned(),
    };
    let statement = statement_of(sent);
    console.messages.push(Message { number: 0, at: wall_time(), kind: Kind::Done, text, more: Vec::new(), statement, mark: None });
}

/// A statement did not end well.
pub(super) fn failed(w: Workbench, console: Console, sent: &Sent, problem: &Problem, cancelled: bool) {
    // Why no answer came, the status line says, for as long as it is so.
    let unanswered = api::is_unanswered(problem).then(|| Problem { message: UNANSWERED.to_owned(), ..problem.clone() });
    let problem = unanswered.as_ref().unwrap_or(problem);
    if let Some(transaction) = problem.transaction {
        console.slot.newest.set_value(None);
        console.slot.transaction.set(transaction);
    }
    let mark = (!cancelled).then(|| mark_of(sent, problem)).flatten();
    if console.slot.mark.with_untracked(Option::is_none) {
        console.slot.mark.set(mark.clone());
    }
    let mut more = further_words(problem);
    let (kind, text) = match cancelled {
        true => (Kind::Warning, "Cancelled".to_owned()),
        false if sent.part.is_of_script() => (Kind::Error, format!("{}: {}", which(sent, mark.as_ref(), problem), problem.message)),
        false if sent.part.is_one_of_several() => (Kind::Error, format!("{}: {}", sent.part.words(), problem.message)),
        false => (Kind::Error, problem.message.clone()),
    };
    if cancelled {
        more.insert(0, problem.message.clone());
    }
    if sent.part.is_one_of_several() && !cancelled {
        let failure = Failure { message: problem.message.clone(), more: more.clone(), mark: mark.clone() };
        super::add_tab(w, console, sent, Body::Failed(failure.into()));
    }
    if sent.part.is_of_script() {
        // How far all of it came is told at its end.
    } else if sent.part.is_one_of_several() {
        let how = if cancelled { "Cancelled" } else { "Failed" };
        let reason = (!cancelled).then(|| problem.message.clone());
        console.slot.outcome.set(Some(Outcome::Script(format!("{how} at result {}", sent.part.result), reason)));
    } else {
        console.slot.outcome.set(Some(if cancelled { Outcome::Cancelled } else { Outcome::Failed(problem.message.clone()) }));
    }
    let statement = statement_of(sent);
    console.messages.push(Message { number: 0, at: wall_time(), kind, text, more, statement, mark });
    if matches!(problem.code, ErrorCode::PasswordNeeded | ErrorCode::UnknownHostKey)
        && let Some(connection) = console.connection.get_untracked()
    {
        w.dialogs.show(Dialog::Mend(connection, Box::new(problem.clone())));
    }
}

/// `Statement 3 of 4, line 3, column 15`; the line it begins in where the database tells no place.
fn which(sent: &Sent, mark: Option<&ErrorMark>, problem: &Problem) -> String {
    let place = mark.map_or(sent.range.start, |mark| mark.from);
    let (line, column) = line_and_column(&sent.text, place);
    let part = &sent.part;
    match place_of(problem, sent.sql()) {
        Some(_) => format!("Statement {} of {}, line {line}, column {column}", part.number, part.of),
        None => format!("Statement {} of {}, line {line}", part.number, part.of),
    }
}

/// Several statements are through, or stopped: how far they came, and in what time.
pub(super) fn closed(console: Console, score: &Score, elapsed_ms: f64, reason: Option<String>) {
    console.slot.elapsed_ms.set(Some(elapsed_ms));
    console.slot.outcome.set(Some(Outcome::Script(score.words(), reason)));
    let kind = if score.is_whole() { Kind::Done } else { Kind::Warning };
    say(console, kind, &score.sentence(elapsed_ms), None);
    if score.is_whole() {
        // Where there are rows, they are what is to be seen; the log has its count.
        let has_rows = console.slot.result.with_untracked(Option::is_some);
        console.messages.shown.set(!has_rows);
    }
}

/// The place of a failed statement in the text: the word that the database points at. Of several statements the failed one is
/// marked in any case, by its first line.
fn mark_of(sent: &Sent, problem: &Problem) -> Option<ErrorMark> {
    if sent.range.is_empty() {
        return None;
    }
    let pointed = place_of(problem, sent.sql()).map(|position| mark_at(sent.sql(), sent.range.start, position, &problem.message));
    let whole = || {
        let first_line = sent.sql().lines().next().unwrap_or_default().trim_end().len();
        ErrorMark { from: sent.range.start, to: sent.range.start + first_line, message: problem.message.clone() }
    };
    pointed.or_else(|| sent.part.is_of_script().then(whole))
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
