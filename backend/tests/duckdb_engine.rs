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
use shared::complete::{CatalogIndex, suggest};
use shared::problem::ErrorCode;
use shared::wire::catalog::Catalog;
use shared::wire::connection::EngineKind;
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

#[tokio::test]
async fn a_change_is_found_by_its_version_and_only_its_schema_is_read() {
    let db = Db::new(&[
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER)",
        "CREATE SCHEMA other",
        "CREATE TABLE other.o(x INTEGER)",
    ]);
    let mut session = db.session().await;
    let mut catalog = session.catalog().await.unwrap();
    assert!(session.catalog_since(&catalog.known()).await.unwrap().is_unchanged(&catalog));
    for (change, schemas) in [
        ("CREATE TABLE u(x INTEGER)", &["main"][..]),
        ("ALTER TABLE u RENAME TO w", &["main"]),
        ("ALTER TABLE w RENAME COLUMN x TO y", &["main"]),
        ("ALTER TABLE w ADD COLUMN z INTEGER", &["main"]),
        ("ALTER TABLE w ALTER y TYPE BIGINT", &["main"]),
        ("ALTER TABLE w ALTER y SET DEFAULT 7", &["main"]),
        ("COMMENT ON TABLE w IS 'words'", &["main"]),
        ("COMMENT ON COLUMN w.y IS 'words'", &["main"]),
        ("CREATE INDEX i ON w(z)", &["main"]),
        ("DROP INDEX i", &["main"]),
        ("CREATE VIEW v AS SELECT a FROM t", &["main"]),
        ("CREATE OR REPLACE VIEW v AS SELECT a, b FROM t", &["main"]),
        ("CREATE MACRO twice(x) AS x * 2", &["main"]),
        ("DROP MACRO twice", &["main"]),
        ("DROP VIEW v", &["main"]),
        ("DROP TABLE w", &["main"]),
        ("CREATE TABLE other.p(x INTEGER)", &["other"]),
        ("CREATE SCHEMA third", &["third"]),
        ("INSERT INTO t VALUES (1, 2, 3)", &[]),
    ] {
        run(&mut session, &[change]).await;
        let mut news = session.catalog_since(&catalog.known()).await.unwrap();
        let changed: Vec<&str> = news.schemas.iter().filter(|one| !one.unchanged).map(|one| one.name.as_str()).collect();
        assert_eq!(changed, schemas, "{change}");
        assert!(news.take_over(catalog), "{change}");
        let whole = session.catalog_of(&["main", "other", "third", "of nobody"]).await.unwrap();
        let told = |catalog: &Catalog| {
            let mut catalog = catalog.clone();
            // How many rows there are changes without a change of the schema.
            catalog.schemas.iter_mut().flat_map(|schema| &mut schema.relations).for_each(|one| one.estimated_rows = None);
            catalog
        };
        assert_eq!(told(&news), told(&whole), "{change}");
        catalog = news;
    }
}

#[tokio::test]
async fn a_large_file_is_told_by_its_names_and_a_schema_whole_when_it_is_asked_for() {
    let tables: String = (0..1_001).map(|n| format!("CREATE TABLE t{n}(id INTEGER PRIMARY KEY, a VARCHAR);")).collect();
    let db = Db::new(&["CREATE SCHEMA few", "CREATE TABLE few.one(id INTEGER PRIMARY KEY)", &format!("BEGIN; {tables} COMMIT")]);
    let mut session = db.session().await;
    let mut catalog = session.catalog().await.unwrap();
    assert!(catalog.schemas.iter().all(|schema| schema.partial && schema.relations.iter().all(|one| one.columns.is_empty())));
    let few = session.catalog_of(&["few"]).await.unwrap();
    assert_eq!((few.schemas.len(), few.schemas[0].relations[0].columns[0].primary_key), (1, 1));
    catalog.put_in(&["few".to_owned()], few);
    assert!(session.catalog_since(&catalog.known()).await.unwrap().is_unchanged(&catalog));
    run(&mut session, &["ALTER TABLE few.one ADD COLUMN note VARCHAR", "DROP TABLE t7"]).await;
    let news = session.catalog_since(&catalog.known()).await.unwrap();
    let told: Vec<_> = news.schemas.iter().map(|one| (one.name.as_str(), one.unchanged, one.partial, one.relations.len())).collect();
    assert_eq!(told, [("few", false, false, 1), ("main", false, true, 1_000)]);
    let main = session.catalog_of(&["main"]).await.unwrap();
    assert!(main.schemas[0].relations.iter().all(|one| one.columns.len() == 2));
}

#[tokio::test]
async fn names_of_every_kind_are_listed_and_can_be_read() {
    let long = "ä".repeat(31) + "x";
    let names = [
        "quo\"te",
        "apo'strophe",
        "emo🦀ji",
        "with space",
        "Ünïcode",
        "select",
        long.as_str(),
        "semi;colon",
        "per.iod",
        "back\\slash",
        "a, b",
        "[x]",
    ];
    let db = Db::new(&[]);
    let mut session = db.session().await;
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    for name in names {
        let name = quoted(name);
        let made = [
            format!("CREATE SCHEMA {name}"),
            format!("CREATE TABLE {name}.{name}({name} INTEGER PRIMARY KEY, other INTEGER)"),
            format!("INSERT INTO {name}.{name} VALUES (5, 6)"),
            format!("CREATE INDEX {name} ON {name}.{name}({name})"),
            format!("CREATE MACRO {name}.{name}({name}) AS 1"),
        ];
        run(&mut session, &made.each_ref().map(String::as_str)).await;
    }
    let catalog = session.catalog().await.unwrap();
    let index = CatalogIndex::build(&catalog);
    for name in names {
        let asked = session.catalog_of(&[name]).await.unwrap();
        let [schema] = asked.schemas.as_slice() else { panic!("{name}: {asked:?}") };
        assert_eq!(Some(schema), catalog.schema(name));
        let relation = &schema.relations[0];
        assert_eq!((relation.name.as_str(), relation.columns[0].name.as_str(), relation.columns[0].primary_key), (name, name, 1));
        assert_eq!(relation.indexes.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), [name]);
        assert_eq!(relation.indexes[0].columns, [name]);
        assert_eq!((schema.routines[0].name.as_str(), schema.routines[0].arguments.as_str()), (name, name));
        let suggested = |text: &str| {
            let all = suggest(&index, text, text.len(), EngineKind::Duckdb).items;
            all.into_iter().find(|item| item.label == name).unwrap_or_else(|| panic!("{name} after {text}")).insert
        };
        let written = quoted(name);
        let (table, column) =
            (suggested(&format!("SELECT * FROM {written}.")), suggested(&format!("SELECT 1 FROM {written}.{written} WHERE ")));
        assert_eq!(one(&mut session, &format!("SELECT {column} FROM {written}.{table}")).await, [["5"]]);
    }
}
