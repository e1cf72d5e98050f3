//! What a text of SQL is, before DuckDB sees it.
//!
//! Invariant: the text is never changed. DuckDB's driver would run every statement of a text and answer the last, and it would take
//! for a result the one-column answer of a statement that has none: both are told apart here. So are the few statements that DuckDB's
//! own lock-down lets through although they write a file ([`Facts::refused`]).

use shared::sql::lexer::{Token, TokenKind, lex};
use shared::sql::splitter::split;
use shared::wire::connection::EngineKind;

/// Statements whose answer is rows, whatever its columns are called.
const ROWS: [&str; 12] =
    ["SELECT", "FROM", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "SUMMARIZE", "PIVOT", "UNPIVOT", "EXECUTE"];
/// Statements that change rows.
const CHANGES: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "MERGE", "COPY"];
/// Statements that begin or end a transaction, or may; COPY FROM DATABASE leaves one open where it fails.
const TRANSACTIONS: [&str; 9] = ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "EXECUTE", "CALL", "COPY"];

/// What a text is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// There is a statement in it.
    pub some: bool,
    /// Where a second statement begins.
    pub second: Option<usize>,
    /// A sentence, and where.
    pub refused: Option<(&'static str, usize)>,
    /// The answer is rows.
    pub rows: bool,
    /// Rows are changed and counted.
    pub counts: bool,
    /// Whether a transaction is open may differ afterwards.
    pub transaction: bool,
    /// It leaves something that a next user of the session might notice.
    pub touches: bool,
}

/// Reads a text.
pub fn facts(sql: &str) -> Facts {
    let parts = split(sql, EngineKind::Duckdb);
    let Some(first) = parts.first() else { return Facts::default() };
    let tokens: Vec<Token> =
        lex(sql, EngineKind::Duckdb).filter(|token| token.is_significant(sql) && first.contains(&token.start)).collect();
    let verb = verb(&tokens, sql);
    let word = word_of(tokens.first(), sql);
    let returning = at_top(&tokens).any(|token| token.is_word(sql, "RETURNING"));
    let counts = (CHANGES.contains(&verb.as_str()) || verb == "CREATE") && !returning;
    Facts {
        some: true,
        second: parts.get(1).map(|second| second.start),
        refused: refused(&tokens, sql),
        rows: returning || ROWS.contains(&verb.as_str()) || tokens.first().is_some_and(|token| token.kind == TokenKind::Open),
        counts,
        transaction: TRANSACTIONS.contains(&word.as_str()),
        touches: !matches!(verb.as_str(), "SELECT" | "FROM" | "VALUES" | "SHOW" | "DESCRIBE" | "SUMMARIZE" | "TABLE" | ""),
    }
}

fn word_of(token: Option<&Token>, sql: &str) -> String {
    token.filter(|token| token.kind == TokenKind::Word).map(|token| token.text(sql).to_ascii_uppercase()).unwrap_or_default()
}

/// Tokens outside parentheses.
fn at_top(tokens: &[Token]) -> impl Iterator<Item = &Token> {
    let mut depth = 0_usize;
    tokens.iter().filter(move |token| {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    })
}

/// The word that says what the statement does: behind its WITH.
fn verb(tokens: &[Token], sql: &str) -> String {
    let first = word_of(tokens.first(), sql);
    if first != "WITH" {
        return first;
    }
    let verbs = at_top(tokens).map(|token| word_of(Some(token), sql));
    let verb = verbs.into_iter().find(|word| ROWS.contains(&word.as_str()) || CHANGES.contains(&word.as_str()));
    verb.unwrap_or_else(|| "SELECT".to_owned())
}

fn refused(tokens: &[Token], sql: &str) -> Option<(&'static str, usize)> {
    let first = word_of(tokens.first(), sql);
    let start = tokens.first().map_or(0, |token| token.start);
    if matches!(first.as_str(), "COPY" | "EXPLAIN" | "PREPARE")
        && let Some(at) = tokens.iter().position(|token| token.is_word(sql, "COPY"))
    {
        let next = |steps: usize| word_of(tokens.get(at + steps), sql);
        if next(1) != "FROM" || next(2) != "DATABASE" {
            return Some((
                "COPY reads or writes a file of the server's: Sheaf does not allow it.",
                tokens.get(at).map_or(start, |token| token.start),
            ));
        }
    }
    if matches!(first.as_str(), "EXPORT" | "IMPORT") {
        return Some(("EXPORT and IMPORT work on a folder of the server's: Sheaf does not allow them.", start));
    }
    if first == "ATTACH" {
        let named = tokens.iter().find(|token| matches!(token.kind, TokenKind::Text | TokenKind::DollarText | TokenKind::QuotedName));
        if named.is_none_or(|token| token.text(sql) != "':memory:'") {
            return Some(("ATTACH opens another file of the server's: Sheaf allows ':memory:' only.", start));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_statement_answers_is_told_by_its_verb() {
        for (sql, rows, counts) in [
            ("SELECT count(*) AS \"Count\" FROM t", true, false),
            ("FROM t", true, false),
            ("(SELECT 1)", true, false),
            ("INSERT INTO t VALUES (1)", false, true),
            ("insert into t select 1 returning *", true, false),
            ("WITH x AS (DELETE FROM t) SELECT 1 AS \"Count\"", true, false),
            ("WITH x AS (SELECT 1) INSERT INTO t FROM x", false, true),
            ("CREATE TABLE t AS SELECT 1", false, true),
            ("SET TimeZone = 'UTC'", false, false),
        ] {
            let facts = facts(sql);
            assert_eq!((facts.rows, facts.counts), (rows, counts), "{sql}");
        }
        assert!(!facts(" -- nothing\n;").some);
        assert_eq!(facts("SELECT 1; SELECT 2").second, Some(10));
        assert!(facts("BEGIN").transaction && facts("BEGIN").touches && !facts("SELECT 1").touches);
    }

    #[test]
    fn what_writes_files_is_refused_by_its_word() {
        for sql in [
            "COPY (SELECT 1) TO '/a' (USE_TMP_FILE false)",
            "EXPLAIN ANALYZE COPY t TO '/a'",
            "PREPARE p AS COPY t TO '/a'",
            "EXPORT DATABASE '/a'",
            "ATTACH '/a.csv' AS b",
        ] {
            assert!(facts(sql).refused.is_some(), "{sql}");
        }
        for sql in ["SELECT copy FROM t", "COPY FROM DATABASE a TO b", "ATTACH ':memory:' AS b", "SELECT 'COPY'"] {
            assert_eq!(facts(sql).refused, None, "{sql}");
        }
    }
}
