//! What a text of SQL is, before DuckDB sees it.
//!
//! Invariant: the text is never changed. DuckDB's driver would run every statement of a text and answer the last, and it would take
//! for a result the one-column answer of a statement that has none: both are told apart here. So are the few statements that DuckDB's
//! own lock-down lets through although they write a file ([`Facts::refused`]).

use shared::sql::dialect;
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

/// A query with none of these reads no table.
const READS: [&str; 4] = ["FROM", "TABLE", "PIVOT", "UNPIVOT"];

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
    /// It may read a table.
    pub reads: bool,
    /// A name may stand for something else afterwards.
    pub defines: bool,
}

/// A statement that shows a table as it stands, from its first row on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The table.
    pub name: String,
    /// Rows, at most.
    pub limit: Option<u64>,
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
        reads: !(is_aside(&word) || (word == "SELECT" && !tokens.iter().any(|token| READS.iter().any(|word| token.is_word(sql, word))))),
        defines: !(is_aside(&word) || ROWS.contains(&verb.as_str())),
    }
}

/// What a text shows, if it is of the form `SELECT * FROM name` and perhaps `LIMIT n`.
pub fn shown(sql: &str) -> Option<Shown> {
    let tokens: Vec<Token> = lex(sql, EngineKind::Duckdb).filter(|token| token.is_significant(sql)).collect();
    let (head, rest) = tokens.split_at_checked(3)?;
    let [select, star, from] = head else { return None };
    if !select.is_word(sql, "SELECT") || star.text(sql) != "*" || !from.is_word(sql, "FROM") {
        return None;
    }
    let end = rest.iter().position(|token| token.is_word(sql, "LIMIT") || token.text(sql) == ";").unwrap_or(rest.len());
    let (name, rest) = rest.split_at_checked(end)?;
    let name = match name {
        [name] => name,
        [schema, dot, name] if schema.is_word(sql, "main") || schema.text(sql) == "\"main\"" => (dot.text(sql) == ".").then_some(name)?,
        _ => return None,
    };
    if !matches!(name.kind, TokenKind::Word | TokenKind::QuotedName) {
        return None;
    }
    let (limit, rest) = match rest {
        [word, number, rest @ ..] if word.is_word(sql, "LIMIT") => (Some(number.text(sql).parse().ok()?), rest),
        rest => (None, rest),
    };
    let ends = rest.iter().all(|token| token.text(sql) == ";");
    ends.then(|| Shown { name: dialect(EngineKind::Duckdb).name_of(name.text(sql)), limit })
}

/// Neither reads a table nor defines a name.
fn is_aside(word: &str) -> bool {
    matches!(word, "SET" | "RESET" | "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "ABORT" | "END")
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
    fn what_shows_a_table_as_it_stands_is_known_by_its_text() {
        let of = |sql: &str| shown(sql).map(|shown| (shown.name, shown.limit));
        for (sql, name, limit) in [
            ("SELECT * FROM trips", "trips", None),
            ("select * from \"Trips\" -- all\n;", "Trips", None),
            ("SELECT * FROM main.\"a \"\"b\"\"\" LIMIT 10;", "a \"b\"", Some(10)),
        ] {
            assert_eq!(of(sql), Some((name.to_owned(), limit)), "{sql}");
        }
        for sql in [
            "SELECT a FROM trips",
            "SELECT * FROM trips t",
            "SELECT * FROM trips, b",
            "SELECT * FROM trips()",
            "SELECT * FROM other.trips",
            "SELECT * FROM trips LIMIT 10 OFFSET 1",
            "SELECT * FROM trips LIMIT 10%",
            "SELECT * FROM trips LIMIT 1.5",
            "SELECT * FROM 'trips'",
            "SELECT * FROM trips WHERE a",
            "SELECT * FROM",
            "FROM trips",
            "",
        ] {
            assert_eq!(of(sql), None, "{sql}");
        }
    }

    #[test]
    fn what_reads_no_table_and_defines_no_name_is_known_by_its_words() {
        for (sql, reads, defines) in [
            ("SELECT 1", false, false),
            ("SELECT a FROM t", true, false),
            ("SELECT (FROM t)", true, false),
            ("SET TimeZone = 'UTC'", false, false),
            ("BEGIN", false, false),
            ("WITH a AS (SELECT 1) SELECT 2", true, false),
            ("CREATE TEMP TABLE t AS SELECT 1", true, true),
            ("DROP VIEW t", true, true),
            ("CALL f()", true, true),
            ("USE other", true, true),
        ] {
            let facts = facts(sql);
            assert_eq!((facts.reads, facts.defines), (reads, defines), "{sql}");
        }
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
