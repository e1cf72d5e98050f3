//! The server's errors, in its own words, and what becomes of a session after a fault of the link.
//!
//! Invariant: the server's number, SQLSTATE and words all reach the person.
//! Source: MySQL documentation, "ERR_Packet", "Server Error Message Reference"; MariaDB documentation, "MariaDB Error Code Reference".

use super::wire::{Reader, WireError};
use crate::engine::{EngineError, Fate};
use shared::problem::{ErrorCode, Problem};

/// One ERR packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The server's own number, e.g. 1064.
    pub number: u16,
    /// SQLSTATE; empty while signing in to an old server.
    pub state: String,
    /// One sentence.
    pub message: String,
}

/// A statement was stopped by KILL QUERY (ER_QUERY_INTERRUPTED).
const INTERRUPTED: u16 = 1317;
/// There was no statement in the text (ER_EMPTY_QUERY).
const EMPTY: u16 = 1065;
/// Numbers after which the server closes the connection: shutdown, killed, idle for too long, broken.
const LAST_WORDS: [u16; 7] = [1053, 1080, 1152, 1159, 1161, 1927, 4031];

impl Refusal {
    /// Reads what is there.
    pub fn read(body: &[u8]) -> Self {
        let mut reader = Reader::new(body);
        let _ = reader.u8();
        let number = reader.u16().unwrap_or_default();
        let rest = reader.rest();
        let (state, message) = match rest.strip_prefix(b"#").and_then(|rest| rest.split_at_checked(5)) {
            Some(split) => split,
            None => ([].as_slice(), rest),
        };
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self { number, state: text(state), message: text(message) }
    }

    /// The session is over, not only the statement.
    pub fn is_last_word(&self) -> bool {
        LAST_WORDS.contains(&self.number)
    }

    /// There was no statement.
    pub fn is_about_nothing(&self) -> bool {
        self.number == EMPTY
    }

    /// Somebody stopped the statement.
    pub fn is_interrupt(&self) -> bool {
        self.number == INTERRUPTED
    }

    /// The cause for a person, with the place in `sql`.
    pub fn problem(self, code: ErrorCode, sql: &str) -> Problem {
        let position = position(sql, &self.message);
        let message = if self.message.is_empty() { "the server gave no reason".to_owned() } else { self.message };
        let sqlstate = Some(self.state).filter(|state| !state.is_empty());
        Problem { detail: Some(format!("ERROR {}", self.number)), position, sqlstate, ..Problem::new(code, message) }
    }
}

/// `… near 'the text from there on' at line 3`: the place of that text, in the line it is said to be in.
fn position(sql: &str, message: &str) -> Option<u32> {
    let (before, line) = message.rsplit_once("' at line ")?;
    let (_, near) = before.split_once("near '")?;
    let line: usize = line.trim().parse().ok()?;
    let start = match line.checked_sub(2) {
        None => 0,
        Some(breaks) => sql.match_indices('\n').nth(breaks)?.0 + 1,
    };
    if near.is_empty() {
        return u32::try_from(sql.trim_end().len()).ok();
    }
    let at = sql.get(start..)?.find(near)?;
    u32::try_from(start + at).ok()
}

/// The link failed before the statement left.
pub fn not_sent(error: &WireError) -> EngineError {
    EngineError::not_sent(ErrorCode::ConnectionLost, error.to_string())
}

/// The link failed after the statement left.
pub fn lost(error: &WireError) -> EngineError {
    EngineError::unknown(error.to_string())
}

/// The server ended the session in the middle of a statement.
pub fn ended(refusal: Refusal) -> EngineError {
    EngineError { problem: refusal.problem(ErrorCode::ConnectionLost, ""), fate: Fate::Unknown, cancelled: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_state_and_words_reach_the_person() {
        let refusal = Refusal::read(b"\xff\x28\x04#42000You have an error near 'form t' at line 2");
        assert_eq!((refusal.number, refusal.state.as_str()), (1064, "42000"));
        let problem = refusal.problem(ErrorCode::Rejected, "select *\nform t");
        assert_eq!((problem.position, problem.detail.as_deref()), (Some(9), Some("ERROR 1064")));
        assert_eq!(Refusal::read(b"\xff\x10\x04Too many connections").message, "Too many connections");
        for cut in 0..12 {
            let whole = b"\xff\x28\x04#42000no";
            assert!(!Refusal::read(&whole[..cut.min(whole.len())]).problem(ErrorCode::Rejected, "").message.is_empty());
        }
    }

    #[test]
    fn a_place_is_found_in_its_line_or_not_at_all() {
        for (sql, message, expected) in [
            ("select 1 from", "syntax to use near '' at line 1", Some(13)),
            ("x\nx", "near 'x' at line 2", Some(2)),
            ("x", "near 'x' at line 9", None),
            ("x", "near 'y' at line 1", None),
            ("x", "no such table", None),
        ] {
            assert_eq!(position(sql, message), expected, "{message}");
        }
    }
}
