//! DuckDB's errors, told as Sheaf tells errors.
//!
//! Invariant: the first line is DuckDB's own; its drawing of the place (`LINE 1: … ^`) becomes a position in bytes of the text that
//! was given, never a part of the message.

use crate::engine::files::cannot_open;
use crate::engine::{EngineError, Fate};
use adbc_core::error::Error;
use shared::problem::{ErrorCode, Problem};

/// What a failed statement tells.
pub fn of_statement(message: &str, sql: &str, stopped: bool) -> EngineError {
    let (words, drawing) = message.split_once("\n\nLINE ").map_or((message, None), |(words, drawing)| (words, Some(drawing)));
    let mut lines = words.trim_end().splitn(2, '\n');
    let first = lines.next().unwrap_or_default();
    let mut problem = Problem::new(ErrorCode::Rejected, first);
    problem.hint = lines.next().map(|rest| rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    problem.position = drawing.and_then(|drawing| place_of(drawing, sql)).and_then(|at| u32::try_from(at).ok());
    let cancelled = first.starts_with("INTERRUPT Error") && stopped;
    if cancelled {
        problem.code = ErrorCode::Cancelled;
    }
    if first.starts_with("C Data interface error: Cannot get schema") {
        "DuckDB can't hand out a column of this type (VARIANT); cast it to VARCHAR or JSON.".clone_into(&mut problem.message);
    }
    // After these DuckDB takes nothing more from this database.
    let lost = first.starts_with("FATAL Error") || first.starts_with("INTERNAL Error");
    EngineError { problem, fate: if lost { Fate::Unknown } else { Fate::Idle }, cancelled }
}

/// How DuckDB begins to say that something is not allowed.
pub const PERMISSION: &str = "Permission Error";

/// What is told where DuckDB refuses everything from now on.
pub fn beyond_use(message: &str, fate: Fate) -> EngineError {
    let words = message.lines().next().unwrap_or_default();
    let mut problem =
        Problem::new(ErrorCode::ConnectionLost, format!("DuckDB takes no statement of this file any more and was ended. It said: {words}"));
    problem.hint = Some("The next statement starts it anew; temporary tables, settings and an open transaction are gone.".to_owned());
    EngineError { problem, fate, cancelled: false }
}

/// What a failed opening tells.
pub fn of_opening(e: &Error, name: &str) -> EngineError {
    let words = words_within(&e.message);
    let first = words.lines().next().unwrap_or_default().trim_end_matches('.');
    if first.contains("Could not set lock") || first.contains("Conflicting lock") {
        let mut fault = cannot_open(format!("{name} is open in another program; DuckDB lets one program at a time write."));
        fault.problem.hint = Some("Close it there, or open the file read-only in both.".to_owned());
        return fault;
    }
    cannot_open(format!("DuckDB cannot open {name}: {first}."))
}

/// Some of DuckDB's messages are JSON around the words.
fn words_within(message: &str) -> String {
    let parsed = serde_json::from_str::<serde_json::Value>(message).ok();
    let words = parsed.as_ref().and_then(|parsed| parsed.get("exception_message")?.as_str());
    words.unwrap_or(message).to_owned()
}

/// The byte that the caret stands under. `drawing` is `2: FROM t WHERE x\n    ^`, its line cut with `...` where it is long.
fn place_of(drawing: &str, sql: &str) -> Option<usize> {
    let (number, rest) = drawing.split_once(": ")?;
    let (shown, caret) = rest.split_once('\n')?;
    let columns = caret.find('^')?.checked_sub("LINE ".len() + number.len() + ": ".len())?;
    let number = number.parse::<usize>().ok()?.checked_sub(1)?;
    let line = sql.split('\n').nth(number)?;
    let start: usize = sql.split('\n').take(number).map(|line| line.len() + 1).sum();
    let visible = shown.strip_prefix("...").filter(|_| !line.starts_with(shown.trim_end_matches("...")));
    let (from, columns) = match visible {
        Some(visible) => (line.find(visible.trim_end_matches("..."))?, columns.checked_sub(3)?),
        None => (0, columns),
    };
    let mut passed = 0;
    let within = line.get(from..)?;
    let at = within.char_indices().find(|(_, c)| {
        let here = passed >= columns;
        passed += width(*c);
        here
    });
    Some(start + from + at.map_or(within.len(), |(at, _)| at))
}

/// Columns a character takes on a terminal, which is how DuckDB counts.
fn width(c: char) -> usize {
    const WIDE: [(u32, u32); 8] = [
        (0x1100, 0x115f),
        (0x2e80, 0xa4cf),
        (0xac00, 0xd7a3),
        (0xf900, 0xfaff),
        (0xfe30, 0xfe6f),
        (0xff00, 0xff60),
        (0x1f300, 0x1faff),
        (0x20000, 0x3fffd),
    ];
    let code = u32::from(c);
    if (0x300..0x370).contains(&code) { 0 } else { 1 + usize::from(WIDE.iter().any(|(first, last)| (*first..=*last).contains(&code))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_a_byte_of_the_text() {
        let sql = "SELECT 'é' a, b\nFROM t WHERE xx = 1";
        let told = "Binder Error: Referenced column \"xx\" not found in FROM clause!\nCandidate bindings: \"a\"\n\nLINE 2: FROM t WHERE xx = 1\n                     ^";
        let problem = of_statement(told, sql, false).problem;
        assert_eq!(problem.message, "Binder Error: Referenced column \"xx\" not found in FROM clause!");
        assert_eq!(problem.hint.as_deref(), Some("Candidate bindings: \"a\""));
        assert_eq!(problem.position, sql.find("xx").and_then(|at| u32::try_from(at).ok()));
        assert_eq!(place_of("1: ...'é' a, b\n               ^", sql), sql.find("a, b"));
        assert_eq!(place_of("7: x\n        ^", sql), None);
    }

    #[test]
    fn an_interrupt_is_a_cancel_only_where_one_was_asked() {
        assert!(of_statement("INTERRUPT Error: Interrupted!", "", true).cancelled);
        assert!(!of_statement("INTERRUPT Error: Interrupted!", "", false).cancelled);
        assert_eq!(of_statement("FATAL Error: gone", "", false).fate, Fate::Unknown);
    }
}
