//! The SQLite engine against real files: what is read, how far, how it stops, what it refuses.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "sqlite_engine/differential.rs"]
mod differential;
#[path = "sqlite_engine/ending.rs"]
mod ending;
#[path = "sqlite_engine/files.rs"]
mod files;
#[path = "sqlite_engine/process.rs"]
mod process;
#[path = "sqlite_engine/support.rs"]
mod support;
#[path = "sqlite_engine/values.rs"]
mod values;

use backend::engine::Fate;
use shared::problem::ErrorCode;
use support::{Db, PAGE, bound, rows, run};

const ENDLESS: &str = "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c) SELECT x FROM c";

#[tokio::test]
async fn a_result_comes_page_by_page_and_says_when_it_ends() {
    let db = Db::new("CREATE TABLE t(a INTEGER); INSERT INTO t SELECT value FROM json_each('[1,2,3,4,5]');");
    let mut session = db.session().await;
    let started = session.execute("SELECT a FROM t ORDER BY a", bound(2)).await.unwrap();
    let schema = started.schema.unwrap();
    assert_eq!(schema.field(0).metadata()["sheaf.type"], "INTEGER");
    assert_eq!(schema.field(0).metadata()["sheaf.origin"], "main.t.a");
    let mut seen = Vec::new();
    loop {
        let fetched = session.fetch(bound(2)).await.unwrap();
        seen.push((rows(&fetched.batch).concat(), fetched.more));
        if !fetched.more {
            break;
        }
    }
    assert_eq!(seen, [(vec!["1".into(), "2".into()], true), (vec!["3".into(), "4".into()], true), (vec!["5".to_owned()], false)]);
    let finished = session.finish().await.unwrap();
    assert_eq!((finished.rows_affected, finished.in_transaction), (None, false));
}

#[tokio::test]
async fn a_change_behind_with_is_counted() {
    let db = Db::new("CREATE TABLE t(a); INSERT INTO t VALUES (1),(2),(3);");
    let mut session = db.session().await;
    assert!(session.execute("WITH w AS (SELECT 1) DELETE FROM t", PAGE).await.unwrap().schema.is_none());
    assert_eq!(session.finish().await.unwrap().rows_affected, Some(3));
}

#[tokio::test]
async fn a_missing_file_is_one_clear_sentence_and_no_new_file() {
    let db = Db::new("");
    let missing = db.folder().join("nothing here.db");
    let fault = support::connect(missing.to_str().unwrap(), false).await.err().unwrap();
    assert_eq!((fault.problem.code, fault.fate), (ErrorCode::CannotOpen, Fate::NotSent));
    assert!(fault.problem.message.starts_with("There is no such file:"), "{}", fault.problem.message);
    assert!(!missing.exists());
}

mod catalog {
    use super::*;
    use shared::wire::catalog::{Relation, RelationKind, Schema};

    fn relation<'a>(schema: &'a Schema, name: &str) -> &'a Relation {
        schema.relations.iter().find(|relation| relation.name == name).unwrap()
    }

    #[tokio::test]
    async fn tables_views_keys_indexes_and_triggers_are_told() {
        let db = Db::new(
            "CREATE TABLE parent(a TEXT, b INT, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
             CREATE TABLE Child(id INTEGER PRIMARY KEY, pb INT NOT NULL DEFAULT 7, pa TEXT, g AS (pb * 2) STORED UNIQUE,
                                up INTEGER REFERENCES child, FOREIGN KEY (pb, pa) REFERENCES PARENT);
             CREATE INDEX by_expression ON child (lower(pa), pb);
             CREATE VIEW v AS SELECT id, pa FROM child;
             CREATE TABLE doomed(x); CREATE VIEW broken AS SELECT x FROM doomed; DROP TABLE doomed;
             CREATE VIRTUAL TABLE search USING fts5(title);
             CREATE TRIGGER watch AFTER INSERT ON child BEGIN SELECT 1; END;
             INSERT INTO child(pb) SELECT 7 FROM json_each('[1,2,3]') LIMIT 1; ANALYZE;",
        );
        let mut session = db.session().await;
        let catalog = session.catalog().await.unwrap();
        assert_eq!((catalog.database.as_str(), &catalog.search_path), ("test.db", &vec!["main".to_owned()]));
        let main = &catalog.schemas[0];
        let names: Vec<&str> = main.relations.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names[..4], ["Child", "broken", "parent", "search"]);
        assert!(names.contains(&"v") && !names.iter().any(|name| name.starts_with("sqlite_")));

        let child = relation(main, "Child");
        let columns: Vec<_> = child.columns.iter().map(|c| (c.name.as_str(), c.type_name.as_str(), c.not_null, c.primary_key)).collect();
        assert_eq!(
            columns,
            [
                ("id", "INTEGER", false, 1),
                ("pb", "INT", true, 0),
                ("pa", "TEXT", false, 0),
                ("g", "", false, 0),
                ("up", "INTEGER", false, 0)
            ]
        );
        assert_eq!(child.columns[1].default.as_deref(), Some("7"));
        let keys: Vec<_> = child.foreign_keys.iter().map(|k| (k.columns.join(), k.ref_relation.as_str(), k.ref_columns.join())).collect();
        assert_eq!(keys, [("up".into(), "Child", "id".into()), ("pb,pa".to_owned(), "parent", "b,a".to_owned())]);
        let indexes: Vec<_> = child.indexes.iter().map(|i| (i.columns.join(), i.unique)).collect();
        assert_eq!(indexes, [(",pb".to_owned(), false), ("g".to_owned(), true)]);
        assert_eq!(child.triggers, ["watch"]);
        assert_eq!(child.estimated_rows, Some(1));
        assert_eq!((relation(main, "v").kind, relation(main, "v").columns.len()), (RelationKind::View, 2));
        assert!(relation(main, "broken").columns.is_empty());
        assert_eq!(relation(main, "search").columns[0].name, "title");
    }

    #[tokio::test]
    async fn hostile_names_and_attached_files_are_told() {
        let db = Db::new(r#"CREATE TABLE "a""b'; DROP TABLE x; --" ("""" TEXT, "naïve 列" INT, "" BLOB); CREATE TABLE "select"(x);"#);
        let mut session = db.session().await;
        run(&mut session, &[r#"ATTACH ':memory:' AS "x""y""#, r#"CREATE TABLE "x""y".t(c REFERENCES t)"#, "CREATE TEMP TABLE tt(z)"]).await;
        let catalog = session.catalog().await.unwrap();
        assert_eq!(catalog.search_path, ["temp", "main", "x\"y"]);
        let by_name = |name: &str| catalog.schemas.iter().find(|schema| schema.name == name).unwrap();
        let hostile = relation(by_name("main"), "a\"b'; DROP TABLE x; --");
        assert_eq!(hostile.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["\"", "naïve 列", ""]);
        assert_eq!(relation(by_name("x\"y"), "t").foreign_keys[0].ref_schema, "x\"y");
        assert_eq!(relation(by_name("temp"), "tt").columns[0].name, "z");
    }

    #[tokio::test]
    async fn a_read_only_connection_has_the_same_catalog() {
        let db = Db::new("CREATE TABLE t(a INTEGER PRIMARY KEY, b REFERENCES t); CREATE INDEX i ON t(b); ANALYZE;");
        assert_eq!(db.read_only().await.catalog().await.unwrap(), db.session().await.catalog().await.unwrap());
    }

    #[tokio::test]
    async fn a_change_is_found_by_its_version_and_only_its_schema_is_read() {
        let db = Db::new("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE VIEW v AS SELECT a FROM t;");
        let mut session = db.session().await;
        run(&mut session, &["ATTACH ':memory:' AS other", "CREATE TABLE other.o(x)"]).await;
        let mut catalog = session.catalog().await.unwrap();
        assert_eq!(catalog.schemas.iter().map(|schema| schema.name.as_str()).collect::<Vec<_>>(), ["main", "other"]);
        assert!(session.catalog_since(&catalog.known()).await.unwrap().is_unchanged(&catalog));
        for (change, schemas) in [
            ("CREATE TABLE u(x)", &["main"][..]),
            ("ALTER TABLE u RENAME TO w", &["main"]),
            ("ALTER TABLE w RENAME COLUMN x TO y", &["main"]),
            ("ALTER TABLE w ADD COLUMN z INT REFERENCES t", &["main"]),
            ("CREATE INDEX i ON w(y)", &["main"]),
            ("CREATE TRIGGER g AFTER INSERT ON w BEGIN SELECT 1; END", &["main"]),
            ("DROP INDEX i", &["main"]),
            ("DROP TRIGGER g", &["main"]),
            ("DROP VIEW v", &["main"]),
            ("DROP TABLE w", &["main"]),
            ("CREATE TABLE other.p(x)", &["other"]),
            ("CREATE TEMP TABLE tt(z)", &["temp"]),
            ("INSERT INTO t(b) VALUES ('x')", &[]),
        ] {
            run(&mut session, &[change]).await;
            let mut news = session.catalog_since(&catalog.known()).await.unwrap();
            let changed: Vec<&str> = news.schemas.iter().filter(|one| !one.unchanged).map(|one| one.name.as_str()).collect();
            assert_eq!(changed, schemas, "{change}");
            assert!(news.take_over(catalog), "{change}");
            assert_eq!(news, session.catalog().await.unwrap(), "{change}");
            catalog = news;
        }
    }

    #[tokio::test]
    async fn a_file_that_was_put_into_the_place_of_another_is_another() {
        let db = Db::new("CREATE TABLE t(a)");
        let catalog = db.session().await.catalog().await.unwrap();
        let fresh = Db::new("CREATE TABLE of_another(a)");
        std::fs::rename(fresh.path(), db.path()).unwrap();
        let news = db.session().await.catalog_since(&catalog.known()).await.unwrap();
        assert_eq!(news.schemas[0].relations[0].name, "of_another");
    }

    #[tokio::test]
    async fn what_cannot_be_described_takes_nothing_else_with_it() {
        let db = Db::new(
            "CREATE TABLE doomed(x); CREATE TABLE z(a INTEGER PRIMARY KEY); CREATE INDEX i ON z(a);
             CREATE VIEW a_first AS SELECT x FROM doomed; CREATE VIEW b_good AS SELECT a FROM z; CREATE VIEW c_bad AS SELECT x FROM doomed;
             CREATE VIEW d_bad AS SELECT x FROM doomed; CREATE VIEW e_good AS SELECT a, a AS again FROM z; CREATE VIEW f_last AS SELECT x FROM doomed;
             DROP TABLE doomed; PRAGMA writable_schema = ON;
             INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql)
                VALUES ('table', 'd_lost', 'd_lost', 0, 'CREATE VIRTUAL TABLE d_lost USING no_such_module(a, b)');",
        );
        let catalog = db.session().await.catalog().await.unwrap();
        let columns: Vec<(&str, usize)> = catalog.schemas[0].relations.iter().map(|one| (one.name.as_str(), one.columns.len())).collect();
        let expected = [("a_first", 0), ("b_good", 1), ("c_bad", 0), ("d_bad", 0), ("d_lost", 0), ("e_good", 2), ("f_last", 0), ("z", 1)];
        assert_eq!(columns, expected);
        assert_eq!(relation(&catalog.schemas[0], "z").indexes.len(), 1);
    }

    #[tokio::test]
    async fn a_large_file_is_told_by_its_names_and_whole_when_it_is_asked_for() {
        let tables: String = (0..1_001).map(|n| format!("CREATE TABLE t{n}(id INTEGER PRIMARY KEY, up REFERENCES t{n});")).collect();
        let db = Db::new(&format!("BEGIN; {tables} COMMIT;"));
        let mut session = db.session().await;
        run(&mut session, &["ATTACH ':memory:' AS other", "CREATE TABLE other.o(x)"]).await;
        let mut catalog = session.catalog().await.unwrap();
        assert!(catalog.schemas.iter().all(|schema| schema.partial && schema.relations.iter().all(|one| one.columns.is_empty())));
        let main = session.catalog_of(&["main", "of nobody"]).await.unwrap();
        assert!(
            main.schemas.len() == 1 && main.schemas[0].relations.iter().all(|one| one.columns.len() == 2 && one.foreign_keys.len() == 1)
        );
        catalog.put_in(&["main".to_owned()], main);
        assert!(session.catalog_since(&catalog.known()).await.unwrap().is_unchanged(&catalog));
        run(&mut session, &["CREATE TABLE u(x)", "CREATE TABLE other.p(x)"]).await;
        let news = session.catalog_since(&catalog.known()).await.unwrap();
        assert_eq!(news.schemas.iter().map(|one| (one.unchanged, one.partial)).collect::<Vec<_>>(), [(false, false), (false, true)]);
        assert_eq!(relation(&news.schemas[0], "u").columns[0].name, "x");
    }

    trait Join {
        fn join(&self) -> String;
    }

    impl Join for Vec<String> {
        fn join(&self) -> String {
            self.as_slice().join(",")
        }
    }
}
