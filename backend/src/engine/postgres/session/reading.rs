//! How a statement of a read-only connection ends.
//!
//! Each stands in a transaction of its own that refuses writes. Not everything is a write to the server: large objects before version 16,
//! `ANALYZE` and `REINDEX`, `EXPLAIN ANALYZE CREATE TABLE`, notifications, and a cursor `WITH HOLD`, whose query runs at COMMIT.
//! Invariant: so nothing is committed but what only sets something for the session, and that is told by the server's own tag, not by the
//! text. A transaction that is prepared leaves the session and no ROLLBACK reaches it: that one is not sent.

use super::PostgresSession;
use crate::engine::EngineError;
use shared::problem::{ErrorCode, Problem};
use shared::sql::{TokenKind, lex};
use shared::wire::connection::EngineKind;
use shared::wire::run::Notice;

/// What ends a statement's transaction, unless it only set something.
pub const UNDO: &str = "ROLLBACK";

/// Tags of what only sets something for the session, and calls nothing of anybody's.
const SETS: [&str; 4] = ["SET", "RESET", "LISTEN", "UNLISTEN"];

/// First words of the tags of what reads, and of what no ROLLBACK undoes: there is nothing to tell.
const QUIET: [&str; 23] = [
    "",
    "SELECT",
    "SHOW",
    "EXPLAIN",
    "FETCH",
    "MOVE",
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "PREPARE",
    "DEALLOCATE",
    "DISCARD",
    "SET",
    "RESET",
    "LISTEN",
    "UNLISTEN",
    "CLOSE",
    "LOCK",
    "LOAD",
    "CHECKPOINT",
];

/// What ends the transaction of a statement, by its tag; there is none where rows are left.
pub fn last_word(tag: Option<&str>) -> &'static str {
    if tag.is_some_and(|tag| SETS.contains(&tag)) { "COMMIT" } else { UNDO }
}

/// What to say of a statement that the server took and that was undone.
pub fn undone(tag: &str, has_columns: bool) -> Option<Notice> {
    let first = tag.split(' ').next().unwrap_or_default();
    // CREATE TABLE AS and SELECT INTO say SELECT too.
    let is_quiet = QUIET.contains(&first) && (first != "SELECT" || has_columns);
    (!is_quiet).then(|| {
        let shown = tag.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let message = format!("This connection is read-only: whatever {shown} changed was undone with its transaction.");
        Notice { severity: "WARNING".to_owned(), message }
    })
}

/// `PREPARE TRANSACTION`, which would leave something on the server that outlives the session.
fn leaves_its_transaction(sql: &str) -> bool {
    let mut tokens = lex(sql, EngineKind::Postgres).filter(|token| token.is_significant(sql) && token.kind != TokenKind::Semicolon);
    let mut is_next = |word: &str| tokens.next().is_some_and(|token| token.is_word(sql, word));
    is_next("prepare") && is_next("transaction")
}

impl PostgresSession {
    /// Before a statement is sent.
    pub(super) fn check_reading(&self, sql: &str) -> Result<(), EngineError> {
        if !self.read_only || !leaves_its_transaction(sql) {
            return Ok(());
        }
        let message =
            "This connection is read-only: PREPARE TRANSACTION is not sent, since what it leaves on the server outlives the session";
        Err(EngineError::idle(Problem::new(ErrorCode::Rejected, message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_sets_something_is_committed() {
        for tag in ["SET", "RESET", "LISTEN"] {
            assert_eq!(last_word(Some(tag)), "COMMIT");
        }
        for tag in [None, Some("SELECT 1"), Some("SET CONSTRAINTS"), Some("DECLARE CURSOR"), Some("INSERT 0 1"), Some("")] {
            assert_eq!(last_word(tag), "ROLLBACK", "{tag:?}");
        }
    }

    #[test]
    fn what_was_undone_is_told_and_what_reads_is_not() {
        let told = |tag: &str, has_columns: bool| undone(tag, has_columns).map(|notice| notice.message);
        for (tag, has_columns) in [("SELECT 5", true), ("SHOW", true), ("SET", false), ("COMMIT", false), ("PREPARE", false), ("", false)] {
            assert_eq!(told(tag, has_columns), None, "{tag}");
        }
        assert!(told("SELECT 5", false).is_some_and(|message| message.contains("whatever SELECT changed was undone")));
        assert!(told("INSERT 0 1", false).is_some_and(|message| message.contains("whatever INSERT changed")));
        assert!(told("CREATE TABLE", false).is_some_and(|message| message.contains("whatever CREATE TABLE changed")));
    }

    #[test]
    fn a_transaction_that_would_be_left_behind_is_found_behind_anything() {
        for sql in ["prepare transaction 'a'", ";; Prepare\n/* /* */ */ -- x\n TRANSACTION 'a'"] {
            assert!(leaves_its_transaction(sql), "{sql}");
        }
        for sql in ["prepare p as select 1", "select 'prepare transaction'", "-- prepare transaction", "prepare"] {
            assert!(!leaves_its_transaction(sql), "{sql}");
        }
    }
}
