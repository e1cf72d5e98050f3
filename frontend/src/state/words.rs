//! Numbers, times and names as the interface writes them. Pure.

use super::link::Link;
use shared::sql::outline::{TableSource, outline};
use shared::sql::{Token, lex};
use shared::wire::connection::EngineKind;
use shared::wire::run::{RunState, RunStatus, TransactionState};

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 row`, `2,000 rows`.
pub fn rows(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "row" } else { "rows" })
}

/// How many rows a result has, as far as it is known: `12 rows`, `1,000+ rows`.
pub fn rows_of(status: &RunStatus) -> String {
    match (status.total_rows, status.state) {
        (Some(total), _) => rows(total),
        (None, RunState::Done) => rows(status.rows_ready),
        (None, RunState::Running | RunState::Paused) => format!("{}+ rows", grouped(status.rows_ready)),
        (None, _) => format!("{} read", rows(status.rows_ready)),
    }
}

/// `0.8 ms`, `12 ms`, `1.24 s`, `3 min 05 s`.
pub fn elapsed(ms: f64) -> String {
    if ms < 9.95 {
        format!("{ms:.1} ms")
    } else if ms < 999.5 {
        format!("{ms:.0} ms")
    } else if ms < 59_995.0 {
        format!("{:.2} s", ms / 1000.0)
    } else {
        let seconds = (ms / 1000.0).round() as u64;
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

/// The first words of a statement on one line.
pub fn beginning(sql: &str, characters: usize) -> String {
    let mut out = String::new();
    for word in sql.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.chars().count() > characters {
            out = out.chars().take(characters.saturating_sub(1)).collect();
            out.push('…');
            break;
        }
    }
    out
}

/// What a statement is about, in a few words: its table, else how it begins.
pub fn subject(sql: &str, engine: EngineKind) -> String {
    let tokens: Vec<Token> = lex(sql, engine).filter(|token| token.is_significant(sql)).collect();
    let about_rows = ["select", "with", "table", "from", "insert", "update", "delete", "merge"];
    let outlined = tokens.first().is_some_and(|first| about_rows.iter().any(|word| first.is_word(sql, word)));
    let outline = if outlined { outline(sql, &tokens, shared::sql::dialect(engine)) } else { Default::default() };
    let table = outline.scopes.first().and_then(|scope| {
        let target = scope.target.and_then(|at| scope.tables.get(at));
        target.into_iter().chain(&scope.tables).find_map(|table| match &table.source {
            TableSource::Named(path) => path.last().cloned(),
            _ => None,
        })
    });
    table.unwrap_or_else(|| beginning(sql, 28))
}

/// A name of the catalog as SQL writes it: quoted only where it has to be.
pub fn quoted(name: &str, engine: EngineKind) -> String {
    shared::sql::dialect(engine).write_name(name)
}

/// The statement that shows a relation.
pub fn select_all(schema: Option<&str>, relation: &str, engine: EngineKind) -> String {
    let name = quoted(relation, engine);
    match schema {
        Some(schema) => format!("SELECT * FROM {}.{name}", quoted(schema, engine)),
        None => format!("SELECT * FROM {name}"),
    }
}

/// The statement may change what the catalog says.
pub fn changes_catalog(sql: &str, engine: EngineKind) -> bool {
    let tokens: Vec<_> = lex(sql, engine).filter(|token| token.is_significant(sql)).collect();
    let Some(first) = tokens.first() else { return false };
    let is = |words: &[&str]| words.iter().any(|word| first.is_word(sql, word));
    // A block or a call may define what it likes; asking for what changed costs little where nothing did.
    is(&["CREATE", "DROP", "ALTER", "COMMENT", "RENAME", "ATTACH", "DETACH", "DO", "CALL", "EXECUTE", "IMPORT"])
        || (is(&["SELECT", "WITH"]) && tokens.iter().any(|token| token.is_word(sql, "INTO")))
}

/// What a session has open, or had as far as is known; nothing where it has nothing.
pub fn transaction(state: TransactionState, link: Link) -> Option<&'static str> {
    match (state, link) {
        (TransactionState::None, _) => None,
        (_, Link::Lost) => Some("A transaction was open"),
        (TransactionState::Open, Link::Up) => Some("Transaction open"),
        (TransactionState::Failed, Link::Up) => Some("Transaction failed: only Roll back is possible"),
    }
}

/// Said once where the transaction that was shown as open is no more.
pub const TRANSACTION_LOST: &str = "The transaction that was open here is gone with the server";

/// Why nothing can be ended now.
pub fn no_end(link: Link) -> Option<&'static str> {
    (link == Link::Lost).then_some("Sheaf's server does not answer")
}

/// The engine's own name.
pub fn engine(kind: EngineKind) -> &'static str {
    match kind {
        EngineKind::Sqlite => "SQLite",
        EngineKind::Postgres => "PostgreSQL",
        EngineKind::Mysql => "MySQL / MariaDB",
        EngineKind::Duckdb => "DuckDB",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_threes() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 2].map(rows), ["1 row", "2 rows"]);
    }

    #[test]
    fn times_are_as_long_as_they_matter() {
        assert_eq!([0.84, 12.3, 999.9, 1_240.0, 185_000.0].map(elapsed), ["0.8 ms", "12 ms", "1.00 s", "1.24 s", "3 min 05 s"]);
    }

    #[test]
    fn a_statement_is_called_by_its_table_or_by_its_beginning() {
        let subject = |sql: &str| subject(sql, EngineKind::Postgres);
        assert_eq!(subject("SELECT * FROM shop.customers c JOIN orders o ON true"), "customers");
        assert_eq!(subject("UPDATE orders SET a = 1 FROM customers RETURNING *"), "orders");
        assert_eq!(subject("SELECT n FROM (SELECT 1 AS n) q"), "SELECT n FROM (SELECT 1 AS …");
        assert_eq!(subject("SHOW search_path"), "SHOW search_path");
        assert_eq!(subject("SELECT 1"), "SELECT 1");
    }

    #[test]
    fn names_are_quoted_only_where_they_must_be() {
        assert_eq!(quoted("orders", EngineKind::Postgres), "orders");
        assert_eq!(quoted("Orders", EngineKind::Postgres), "\"Orders\"");
        assert_eq!(quoted("Orders", EngineKind::Sqlite), "Orders");
        assert_eq!(quoted("order", EngineKind::Sqlite), "\"order\"");
        assert_eq!(quoted("a\"b", EngineKind::Sqlite), "\"a\"\"b\"");
        assert_eq!(quoted("2nd", EngineKind::Postgres), "\"2nd\"");
        assert_eq!(quoted("", EngineKind::Postgres), "\"\"");
        assert_eq!(select_all(Some("My Shop"), "t", EngineKind::Postgres), "SELECT * FROM \"My Shop\".t");
    }

    #[test]
    fn a_statement_is_told_by_its_beginning() {
        assert_eq!(beginning("SELECT *\n  FROM t", 40), "SELECT * FROM t");
        assert_eq!(beginning("SELECT abcdefghijk FROM t", 12), "SELECT abcd…");
        for sql in ["  create TABLE t(a)", "-- new\nCREATE TABLE t(a)", "do $$ begin end $$", "select 1 into t", "ATTACH ':memory:' AS b"] {
            assert!(changes_catalog(sql, EngineKind::Postgres), "{sql}");
        }
        for sql in ["SELECT 'drop'", "select 1 -- into t", "insert into t values (1)", "", "-- create"] {
            assert!(!changes_catalog(sql, EngineKind::Postgres), "{sql}");
        }
    }
}
