//! The DuckDB engine against real files: what is read, how far, how it stops, what it refuses.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "duckdb_engine/arrow_files.rs"]
mod arrow_files;
#[path = "duckdb_engine/differential.rs"]
mod differential;
#[path = "duckdb_engine/files.rs"]
mod files;
#[path = "duckdb_engine/locked_down.rs"]
mod locked_down;
#[path = "duckdb_engine/parameters.rs"]
mod parameters;
#[path = "duckdb_engine/process.rs"]
mod process;
#[path = "duckdb_engine/stopping.rs"]
mod stopping;
#[path = "duckdb_engine/support.rs"]
mod support;
#[path = "duckdb_engine/values.rs"]
mod values;

use backend::engine::Fate;
use shared::problem::ErrorCode;
use support::{Db, PAGE, bound, one, refusal, rows, run};

#[tokio::test]
async fn a_result_comes_page_by_page_and_says_when_it_ends() {
    let db = Db::new(&["CREATE TABLE t AS SELECT range::INTEGER AS a FROM range(5000)"]);
    let mut session = db.session().await;
    assert_eq!(session.server().split('.').next(), Some("DuckDB 1"));
    let schema = session.execute("SELECT a FROM t ORDER BY a", bound(2_000)).await.unwrap().schema.unwrap();
    assert_eq!(schema.field(0).metadata()["sheaf.type"], "INTEGER");
    let mut seen = 0;
    loop {
        let fetched = session.fetch(bound(2_000)).await.unwrap();
        assert!((1..=2_000).contains(&fetched.batch.num_rows()));
        assert_eq!(rows(&fetched.batch)[0][0], seen.to_string());
        seen += fetched.batch.num_rows();
        if !fetched.more {
            break;
        }
    }
    assert_eq!(seen, 5_000);
    let finished = session.finish().await.unwrap();
    assert_eq!((finished.rows_affected, finished.in_transaction), (None, false));
}

#[tokio::test]
async fn changes_are_counted_and_a_result_called_count_is_a_result() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    for (sql, affected) in [
        ("CREATE TABLE t(a INTEGER)", None),
        ("INSERT INTO t SELECT * FROM range(7)", Some(7)),
        ("WITH x AS (SELECT 1 AS n) UPDATE t SET a = 9 FROM x WHERE a < x.n", Some(1)),
        ("DELETE FROM t WHERE a > 100", Some(0)),
        ("SET TimeZone = 'UTC'", None),
        ("-- nothing", None),
    ] {
        assert!(session.execute(sql, PAGE).await.unwrap().schema.is_none(), "{sql}");
        assert_eq!(session.finish().await.unwrap().rows_affected, affected, "{sql}");
    }
    assert_eq!(one(&mut session, "SELECT count(*) AS \"Count\" FROM t").await, [["7"]]);
    assert_eq!(one(&mut session, "DELETE FROM t WHERE a = 9 RETURNING a AS \"Count\"").await, [["9"]]);
    assert_eq!(one(&mut session, "EXPLAIN SELECT 1").await[0][0], "physical_plan");
}

#[tokio::test]
async fn only_one_statement_runs() {
    let db = Db::new(&["CREATE TABLE t(a INTEGER)"]);
    let mut session = db.session().await;
    let refused = refusal(&mut session, "INSERT INTO t VALUES (1); SELECT 2").await;
    assert_eq!((refused.fate, refused.problem.position), (Fate::Idle, Some(26)));
    assert_eq!(one(&mut session, "SELECT count(*) FROM t;").await, [["0"]]);
}

#[tokio::test]
async fn a_fault_says_where_it_is() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    for (sql, at) in
        [("SELEC 1", "SELEC"), ("SELECT 'é', nope", "nope"), ("-- one\nSELECT 1,\n  nope", "nope"), ("SELECT 'abc'::INTEGER", "::")]
    {
        let refused = refusal(&mut session, sql).await;
        assert_eq!(refused.problem.position.map(|at| at as usize), sql.find(at), "{sql}: {}", refused.problem.message);
        assert!(!refused.problem.message.contains("LINE"), "{}", refused.problem.message);
        assert_eq!((refused.fate, refused.problem.code), (Fate::Idle, ErrorCode::Rejected));
    }
    let long = format!("SELECT {} nope, {}", "1234567, ".repeat(40), "8, ".repeat(40) + "9");
    assert_eq!(refusal(&mut session, &long).await.problem.position.map(|at| at as usize), long.find("nope"));
}

#[tokio::test]
async fn whether_a_transaction_is_open_is_what_duckdb_says() {
    let db = Db::new(&["CREATE TABLE t(a INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)"]);
    let mut session = db.session().await;
    let mut seen = Vec::new();
    for sql in ["SELECT 1", "BEGIN", "INSERT INTO t VALUES (2)", "COMMIT", "BEGIN TRANSACTION"] {
        session.execute(sql, PAGE).await.unwrap();
        seen.push(session.finish().await.unwrap().in_transaction);
    }
    assert_eq!(seen, [false, true, true, false, true]);
    // A text that is refused before it runs does not end a transaction.
    refusal(&mut session, "SELECT nope").await;
    assert!(!session.transaction_failed());
    // A failed transaction is still one.
    refusal(&mut session, "INSERT INTO t VALUES (1)").await;
    assert!(session.transaction_failed());
    refusal(&mut session, "SELECT 1").await;
    assert!(session.finish().await.unwrap().in_transaction && session.transaction_failed());
    run(&mut session, &["ROLLBACK"]).await;
    assert!(!session.transaction_failed() && !session.finish().await.unwrap().in_transaction);
    assert!(session.take_notices().is_empty());
    // DuckDB takes a COMMIT of it, says nothing and keeps nothing.
    run(&mut session, &["BEGIN", "INSERT INTO t VALUES (3)"]).await;
    refusal(&mut session, "INSERT INTO t VALUES (1)").await;
    run(&mut session, &["COMMIT"]).await;
    assert!(session.take_notices()[0].message.contains("nothing of it is kept"));
    run(&mut session, &["BEGIN"]).await;
    refusal(&mut session, "INSERT INTO t VALUES (1)").await;
    session.reset().await.unwrap();
    assert!(!session.transaction_failed());
    assert_eq!(one(&mut session, "SELECT count(*) FROM t").await, [["2"]]);
    assert!(!session.finish().await.unwrap().in_transaction);
}

#[tokio::test]
async fn sessions_of_a_file_share_it_and_a_reset_forgets_what_was_the_sessions() {
    let db = Db::new(&[]);
    let (mut one_session, mut other) = (db.session().await, db.session().await);
    run(&mut one_session, &["CREATE TABLE t AS SELECT 1 AS a", "CREATE TEMP TABLE mine AS SELECT 1 AS a", "SET TimeZone = 'Asia/Tokyo'"])
        .await;
    assert_eq!(one(&mut other, "SELECT a FROM t").await, [["1"]]);
    assert!(refusal(&mut other, "SELECT a FROM mine").await.problem.message.contains("mine"));
    one_session.reset().await.unwrap();
    assert!(refusal(&mut one_session, "SELECT a FROM mine").await.problem.message.contains("mine"));
    assert_ne!(one(&mut one_session, "SELECT current_setting('TimeZone')").await, [["Asia/Tokyo"]]);
}

#[tokio::test]
async fn the_catalog_names_tables_columns_and_keys() {
    let db = Db::new(&[
        "CREATE TABLE parent(id INTEGER PRIMARY KEY, \"odd \"\"name\" VARCHAR NOT NULL DEFAULT 'x')",
        "CREATE TABLE child(parent_id INTEGER REFERENCES parent(id), n DECIMAL(10,2) UNIQUE)",
        "CREATE INDEX by_n ON child(n, parent_id)",
        "CREATE VIEW seen AS SELECT * FROM child",
        "CREATE SCHEMA other",
        "CREATE TABLE other.t(a STRUCT(b INTEGER)[])",
        "CREATE MACRO twice(x) AS x * 2",
        "COMMENT ON TABLE parent IS 'words'",
    ]);
    let catalog = db.session().await.catalog().await.unwrap();
    assert_eq!(catalog.database, "test.duckdb");
    assert_eq!(catalog.search_path, ["main"]);
    let names = |schema: usize| catalog.schemas[schema].relations.iter().map(|relation| relation.name.as_str()).collect::<Vec<_>>();
    assert_eq!((names(0), names(1)), (vec!["child", "parent", "seen"], vec!["t"]));
    let (child, parent) = (&catalog.schemas[0].relations[0], &catalog.schemas[0].relations[1]);
    assert_eq!(parent.comment.as_deref(), Some("words"));
    assert_eq!((parent.columns[0].primary_key, parent.columns[1].name.as_str()), (1, "odd \"name"));
    assert_eq!((parent.columns[1].not_null, parent.columns[1].default.as_deref()), (true, Some("'x'")));
    assert_eq!(child.columns[1].type_name, "DECIMAL(10,2)");
    assert_eq!(
        (child.foreign_keys[0].ref_relation.as_str(), child.foreign_keys[0].columns.as_slice()),
        ("parent", &["parent_id".to_owned()][..])
    );
    let by_n = child.indexes.iter().find(|index| index.name == "by_n").unwrap();
    assert_eq!((by_n.columns.as_slice(), by_n.unique), (&["n".to_owned(), "parent_id".to_owned()][..], false));
    assert_eq!(catalog.schemas[1].relations[0].columns[0].type_name, "STRUCT(b INTEGER)[]");
    assert_eq!(catalog.schemas[0].routines[0].name, "twice");
}
