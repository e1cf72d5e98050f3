//! Which files open, and what a read-only one allows.

use super::support::{Db, PAGE, connect, one, run};
use super::{ErrorCode, Fate};
use std::path::Path;

async fn refusal(path: &Path) -> String {
    let error = connect(path.to_str().unwrap(), false).await.err().unwrap();
    assert_eq!((error.problem.code, error.fate), (ErrorCode::CannotOpen, Fate::NotSent));
    error.problem.message
}

#[tokio::test]
async fn names_are_names_and_never_uris() {
    for name in ["a b.db", "naïve 列.db", "a?mode=memory.db", "a#b.db", "100%25.db", "file:x?mode=memory", ":memory:", "'\".db"] {
        let db = Db::named(name, "CREATE TABLE t(a); INSERT INTO t VALUES (42);");
        assert_eq!(one(&mut db.session().await, "SELECT a FROM t").await, [["42"]], "{name}");
        assert_eq!(one(&mut db.read_only().await, "SELECT a FROM t").await, [["42"]], "{name}");
    }
}

#[tokio::test]
async fn what_is_no_database_is_one_clear_sentence() {
    let db = Db::named("notes.txt", "");
    std::fs::write(db.path(), "just some notes, long enough to be taken for a header of a database file").unwrap();
    assert!(refusal(db.path()).await.ends_with("is not an SQLite database, or it is encrypted."));
    std::fs::write(db.path(), b"12345678DUCK@\0\0\0").unwrap();
    assert!(refusal(db.path()).await.ends_with("/notes.txt is a DuckDB database; choose DuckDB to open it."));
    assert!(refusal(db.folder()).await.ends_with("is a folder, not a file."));
    assert!(refusal(&db.path().join("below")).await.contains("no such file"));
    assert_eq!(refusal(Path::new("  ")).await, "Give the path of the SQLite file.");
    assert!(refusal(Path::new("no/such.db")).await.starts_with("There is no such file: no/such.db"));
    assert!(refusal(Path::new("/dev/null")).await.ends_with("is not a regular file."));
}

/// Writes over the file from another process; what it said against it.
fn write_from_elsewhere(path: &Path) -> String {
    let other = std::process::Command::new("sqlite3").arg(path).arg("INSERT INTO t VALUES (2)").output().unwrap();
    String::from_utf8_lossy(&other.stderr).into_owned()
}

#[tokio::test]
async fn a_transaction_keeps_its_lock_whatever_else_looks_at_its_file() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    run(&mut session, &["BEGIN IMMEDIATE", "INSERT INTO t VALUES (1)"]).await;
    assert!(write_from_elsewhere(db.path()).contains("locked"));
    // Closing any descriptor of the file would drop the process's locks on it.
    let linked = db.folder().join("linked.db");
    std::fs::hard_link(db.path(), &linked).unwrap();
    for path in [db.path(), linked.as_path()] {
        assert_eq!(one(&mut connect(path.to_str().unwrap(), false).await.unwrap(), "SELECT count(*) FROM t").await, [["0"]]);
    }
    assert!(write_from_elsewhere(db.path()).contains("locked"), "the lock is there still");
    run(&mut session, &["COMMIT"]).await;
    assert_eq!(write_from_elsewhere(db.path()), "");
    assert_eq!(one(&mut session, "SELECT sum(a) FROM t").await, [["3"]]);
}

#[tokio::test]
async fn settings_that_would_outlive_the_session_are_nobodys_to_change() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    for name in ["hard_heap_limit", "soft_heap_limit", "Temp_Store_Directory", "data_store_directory"] {
        for sql in [format!("PRAGMA {name} = 1"), format!("PRAGMA main.{name}(1)")] {
            let error = session.execute(&sql, PAGE).await.err().unwrap();
            assert_eq!((error.problem.code, error.fate), (ErrorCode::Rejected, Fate::Idle), "{sql}");
            assert!(error.problem.message.contains("would outlive the session"), "{sql}: {}", error.problem.message);
        }
    }
    assert_eq!(one(&mut session, "PRAGMA hard_heap_limit").await, [["0"]], "reading it is allowed");
    run(&mut session, &["PRAGMA cache_size = 100"]).await;
}

#[tokio::test]
async fn an_empty_file_is_an_empty_database() {
    let db = Db::new("");
    std::fs::write(db.path(), "").unwrap();
    let mut session = db.session().await;
    assert_eq!(one(&mut session, "SELECT count(*) FROM sqlite_schema").await, [["0"]]);
    run(&mut session, &["CREATE TABLE t(a)"]).await;
}

#[tokio::test]
async fn a_damaged_file_fails_where_it_is_damaged() {
    let db = Db::new(
        "CREATE TABLE t(a); INSERT INTO t SELECT hex(zeroblob(200)) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]');",
    );
    let mut bytes = std::fs::read(db.path()).unwrap();
    let second_page = 4096..bytes.len();
    bytes[second_page].fill(0xee);
    std::fs::write(db.path(), bytes).unwrap();
    let mut session = db.session().await;
    let error = session.execute("SELECT * FROM t", PAGE).await.unwrap_err();
    assert!(error.problem.sqlstate.as_deref().unwrap().starts_with("SQLITE_CORRUPT"), "{:?}", error.problem);
    assert!(error.problem.hint.is_some());
    assert_eq!(one(&mut session, "SELECT 1").await, [["1"]]);
}

#[tokio::test]
async fn read_only_holds() {
    let db = Db::new("CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE INDEX ta ON t(a);");
    let other = db.folder().join("other.db");
    let before = std::fs::read(db.path()).unwrap();
    let mut session = db.read_only().await;
    let (attach, attach_uri, vacuum) = (
        format!("ATTACH '{}' AS o", other.display()),
        format!("ATTACH 'file:{}?mode=rwc' AS o", other.display()),
        format!("VACUUM INTO '{}'", other.display()),
    );
    let mut allowed = Vec::new();
    for sql in [
        "INSERT INTO t VALUES (2)",
        "UPDATE t SET a = 3",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u(a)",
        "CREATE INDEX i ON t(a)",
        "ALTER TABLE t RENAME TO u",
        "WITH x AS (SELECT 9 AS a) INSERT INTO t SELECT a FROM x RETURNING a",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "PRAGMA user_version = 5",
        "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = ON",
        "PRAGMA wal_checkpoint",
        "PRAGMA query_only = OFF",
        "SELECT load_extension('x')",
        "DETACH main",
        &attach,
        &attach_uri,
        &vacuum,
    ] {
        let refused = match session.execute(sql, PAGE).await {
            Err(_) => true,
            Ok(started) => started.schema.is_some() && session.fetch(PAGE).await.is_err(),
        };
        if !refused {
            allowed.push(sql);
        }
    }
    assert_eq!(allowed, [""; 0]);
    assert!(!other.exists());
    assert_eq!(std::fs::read(db.path()).unwrap(), before);
    assert_eq!(one(&mut session, "SELECT a FROM t").await, [["1"]]);
    assert_eq!(one(&mut session, "PRAGMA table_info(t)").await.len(), 1);
    assert_eq!(one(&mut session, "PRAGMA user_version").await, [["0"]]);
}

#[tokio::test]
async fn a_connection_that_may_write_loads_no_extension() {
    let db = Db::new("");
    let error = db.session().await.execute("SELECT load_extension('x')", PAGE).await.unwrap_err();
    assert_eq!(error.problem.message, "not authorized");
}
