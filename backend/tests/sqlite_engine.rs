//! The SQLite engine against real files: what is read, how far, how it stops, what it refuses.

#[path = "sqlite_engine/support.rs"]
mod support;

use backend::engine::Fate;
use shared::problem::ErrorCode;
use support::{Db, PAGE, bound, one, rows};

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
async fn an_endless_result_is_read_only_as_far_as_asked() {
    let db = Db::new("");
    let mut session = db.session().await;
    session.execute(ENDLESS, bound(1_000)).await.unwrap();
    let first = session.fetch(bound(1_000)).await.unwrap();
    let second = session.fetch(bound(10)).await.unwrap();
    assert!(first.more && second.more);
    assert_eq!((first.batch.num_rows(), second.batch.num_rows()), (1_000, 10));
    assert_eq!(rows(&second.batch)[0], ["1001"]);
    session.finish().await.unwrap();
    assert_eq!(one(&mut session, "SELECT 1").await, [["1"]]);
}

#[tokio::test]
async fn rows_affected_and_transactions_are_told() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    for (sql, affected, open) in [
        ("INSERT INTO t VALUES (1),(2),(3)", Some(3), false),
        ("BEGIN", None, true),
        ("UPDATE t SET a = a + 1 WHERE a > 1", Some(2), true),
        ("SELECT 1", None, true),
        ("ROLLBACK", None, false),
        ("CREATE TABLE u(b)", None, false),
        ("WITH w AS (SELECT 1) DELETE FROM t", Some(3), false),
        ("/* nothing */ ;", None, false),
    ] {
        let started = session.execute(sql, PAGE).await.unwrap();
        if started.schema.is_some() {
            session.fetch(PAGE).await.unwrap();
        }
        let finished = session.finish().await.unwrap();
        assert_eq!((finished.rows_affected, finished.in_transaction), (affected, open), "{sql}");
    }
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
