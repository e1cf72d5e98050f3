//! Which statements need a transaction where one is opened for the first that does.
//!
//! Invariant: a statement that cannot run in a transaction needs one all the same, so that the database itself says that it can't: only
//! what begins or ends transactions, or what no transaction covers and some would quietly ignore or refuse in one, needs none.

use shared::sql::lex;
use shared::wire::connection::EngineKind;

/// What begins and ends transactions, or names a place in one.
const CONTROL: [&str; 8] = ["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"];

/// What no transaction covers: settings of the session or the file, files that are attached, locks of a session.
fn aside(kind: EngineKind) -> &'static [&'static str] {
    match kind {
        // SET is undone by ROLLBACK here, and SET TRANSACTION means the transaction it is in.
        EngineKind::Postgres => &["discard"],
        // `PRAGMA foreign_keys` does nothing in a transaction, and says nothing of that.
        EngineKind::Sqlite => &["pragma", "attach", "detach"],
        EngineKind::Mysql => &["set", "use", "lock", "unlock", "xa"],
        EngineKind::Duckdb => &["set", "reset", "pragma", "use", "attach", "detach", "load", "install"],
    }
}

/// A transaction is opened before this statement where none is open.
pub fn needs_one(kind: EngineKind, sql: &str) -> bool {
    let Some(first) = lex(sql, kind).find(|token| token.is_significant(sql)) else { return false };
    !CONTROL.iter().chain(aside(kind)).any(|word| first.is_word(sql, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_or_passes_by_a_transaction_needs_none() {
        for (kind, sql, expected) in [
            (EngineKind::Postgres, "select 1", true),
            (EngineKind::Postgres, "/* one */ Begin", false),
            (EngineKind::Postgres, "commit", false),
            (EngineKind::Postgres, "vacuum", true),
            (EngineKind::Postgres, "set local work_mem = '1MB'", true),
            (EngineKind::Postgres, "-- nothing", false),
            (EngineKind::Sqlite, "PRAGMA foreign_keys = on", false),
            (EngineKind::Sqlite, "(select 1)", true),
            (EngineKind::Mysql, "set transaction isolation level serializable", false),
            (EngineKind::Mysql, "start transaction", false),
            (EngineKind::Mysql, "insert into t values (1)", true),
            (EngineKind::Duckdb, "FROM t", true),
            (EngineKind::Duckdb, "set threads = 1", false),
        ] {
            assert_eq!(needs_one(kind, sql), expected, "{kind:?} {sql}");
        }
    }
}
