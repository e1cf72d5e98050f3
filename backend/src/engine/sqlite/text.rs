//! The little that must be known of a statement's text: where a blank ends, and its first word.
//!
//! Invariant: nothing here decides what a statement may do; that is SQLite's (read-only open, authorizer). It only says where the
//! text after the first statement stands, which SQLite itself reports and ignores.

use crate::engine::worker::session::Undone;
use shared::sql::{TokenKind, lex};
use shared::wire::connection::EngineKind;

/// The offset behind blanks and comments at `from`, as SQLite's tokenizer reads them.
pub fn skip_blank(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or("");
        let skipped = if rest.starts_with([' ', '\t', '\n', '\r', '\u{c}']) {
            1
        } else if rest.starts_with('\u{feff}') {
            3
        } else if rest.starts_with("--") {
            rest.find('\n').map_or(rest.len(), |end| end + 1)
        } else if rest.starts_with("/*") {
            rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |end| end + 4)
        } else {
            0
        };
        if skipped == 0 {
            return at;
        }
        at += skipped;
    }
}

/// The offset behind blanks, comments and semicolons at `from`.
pub fn skip_empty(text: &str, from: usize) -> usize {
    let mut at = skip_blank(text, from);
    while text.get(at..).is_some_and(|rest| rest.starts_with(';')) {
        at = skip_blank(text, at + 1);
    }
    at
}

/// How much of `text` SQLite took, of which its expanded form has `expanded` bytes: there each parameter stands as `NULL` before it
/// has a value.
pub fn length_before_expansion(text: &str, expanded: usize) -> usize {
    const NULL: usize = 4;
    let mut seen = 0;
    for token in lex(text, EngineKind::Sqlite) {
        if seen >= expanded {
            return token.start;
        }
        let length = token.end - token.start;
        // Within a token only where it is no parameter, as in a comment that the text ends in.
        if token.kind == TokenKind::Parameter {
            seen += NULL;
        } else if seen + length > expanded {
            return token.start + (expanded - seen);
        } else {
            seen += length;
        }
    }
    text.len()
}

/// The first word of the statement, in capitals.
pub fn first_word(text: &str) -> String {
    let rest = text.get(skip_empty(text, 0)..).unwrap_or("");
    rest.chars().take_while(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase()).collect()
}

/// What the end of the session's process in the midst of this statement is sure to have undone: SQLite's journal rolls back all that was
/// not committed.
pub fn undone(text: &str, in_transaction: bool) -> Undone {
    match first_word(text).as_str() {
        "SELECT" | "VALUES" | "EXPLAIN" if !in_transaction => Undone::Nothing,
        "COMMIT" | "END" | "RELEASE" => Undone::Unknown,
        _ if in_transaction => Undone::Transaction,
        _ => Undone::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_comments_are_skipped_as_sqlite_does() {
        assert_eq!(skip_blank("  \t\r\n\u{c}x", 0), 6);
        assert_eq!(skip_blank("\u{feff}-- é\n/* ; */SELECT", 0), 16);
        assert_eq!(skip_blank("/* open", 0), 7);
        assert_eq!(skip_blank("-- open", 0), 7);
        assert_eq!(skip_blank("/*/x", 0), 4);
        assert_eq!(skip_blank("-x", 0), 0);
        assert_eq!(skip_empty(" ; /* a */ ;; x", 0), 14);
    }

    #[test]
    fn the_first_word_is_found_behind_comments() {
        assert_eq!(first_word("/* a */ insert\tinto t values (1)"), "INSERT");
        assert_eq!(first_word(";;with x as (select 1) select 1"), "WITH");
        assert_eq!(first_word(""), "");
    }

    #[test]
    fn what_was_not_committed_is_undone() {
        for (text, in_transaction, expected) in [
            ("SELECT 1", false, Undone::Nothing),
            ("SELECT 1", true, Undone::Transaction),
            ("insert into t values (1)", false, Undone::Unknown),
            ("-- one\ninsert into t values (1)", true, Undone::Transaction),
            ("with x as (select 1) delete from t", false, Undone::Unknown),
            ("commit", true, Undone::Unknown),
            ("release a", true, Undone::Unknown),
        ] {
            assert_eq!(undone(text, in_transaction), expected, "{text}");
        }
    }
}
