//! How statements end: refused, cancelled, given up, left behind.

use super::support::{Db, PAGE, bound, one, run};
use super::{ENDLESS, Fate};
use backend::engine::Session;
use shared::problem::{ErrorCode, Problem};
use std::time::{Duration, Instant};

/// Never ends and never gives a row.
const RUNAWAY: &str = "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";

async fn refused(session: &mut Box<dyn Session>, sql: &str) -> Problem {
    let error = session.execute(sql, PAGE).await.unwrap_err();
    assert_eq!((error.fate, error.cancelled), (Fate::Idle, false), "{sql}");
    // Whatever it was, the session takes the next statement.
    assert_eq!(one(session, "SELECT 1").await, [["1"]]);
    error.problem
}

#[tokio::test]
async fn refusals_have_sqlites_words_code_and_place() {
    let db = Db::new("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT NOT NULL UNIQUE); INSERT INTO t VALUES (1, 'x');");
    let mut session = db.session().await;
    for (sql, message, code, marked) in [
        ("SELECT 'é', nope FROM t", "no such column: nope", "SQLITE_ERROR", Some("nope FROM")),
        ("/* ünï */ SELEC 1", "near \"SELEC\": syntax error", "SQLITE_ERROR", Some("SELEC 1")),
        (" ;; SELECT '😀' FRM t", "near \"t\": syntax error", "SQLITE_ERROR", Some("t")),
        ("SELECT * FROM missing", "no such table: missing", "SQLITE_ERROR", Some("missing")),
        ("SELECT (1", "incomplete input", "SQLITE_ERROR", None),
        ("INSERT INTO t VALUES (2, 'x')", "UNIQUE constraint failed: t.b", "SQLITE_CONSTRAINT_UNIQUE", None),
        ("INSERT INTO t VALUES (2, NULL)", "NOT NULL constraint failed: t.b", "SQLITE_CONSTRAINT_NOTNULL", None),
        ("SELECT abs(-9223372036854775808)", "integer overflow", "SQLITE_ERROR", None),
    ] {
        let problem = refused(&mut session, sql).await;
        assert_eq!(problem.code, ErrorCode::Rejected);
        assert_eq!((problem.message.as_str(), problem.sqlstate.as_deref()), (message, Some(code)), "{sql}");
        let place = problem.position.map(|at| &sql[at as usize..]);
        if let Some(marked) = marked {
            assert!(place.is_some_and(|place| place.starts_with(marked)), "{sql}: {place:?}");
        }
    }
}

#[tokio::test]
async fn an_error_behind_the_first_page_comes_with_its_page() {
    let db = Db::new("");
    let mut session = db.session().await;
    let sql = "SELECT abs(CASE column1 WHEN 3 THEN -9223372036854775808 ELSE column1 END) FROM (VALUES (1),(2),(3))";
    session.execute(sql, bound(1)).await.unwrap();
    assert_eq!(session.fetch(bound(1)).await.unwrap().batch.num_rows(), 1);
    let error = session.fetch(bound(1)).await.unwrap_err();
    assert_eq!((error.problem.message.as_str(), error.fate), ("integer overflow", Fate::Idle));
    assert_eq!(one(&mut session, "SELECT 1").await, [["1"]]);
}

#[tokio::test]
async fn one_statement_at_a_time_and_the_second_has_no_effect() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    for sql in ["SELECT 1; SELECT 2", "INSERT INTO t VALUES (1); garbage", "SELECT 'é;' ; /* c */ PRAGMA foreign_keys = ON"] {
        let problem = refused(&mut session, sql).await;
        assert_eq!(problem.message, "One statement at a time: another one follows the first.");
        let second = &sql[problem.position.unwrap() as usize..];
        assert!(["SELECT 2", "garbage", "PRAGMA foreign_keys = ON"].contains(&second), "{second}");
    }
    assert_eq!(one(&mut session, "SELECT count(*) FROM t").await, [["0"]]);
    assert_eq!(one(&mut session, "PRAGMA foreign_keys").await, [["0"]]);
    for sql in ["SELECT 1;", "SELECT 1 ; ; -- é", "\u{feff}-- lead\nSELECT 1 /* open"] {
        assert_eq!(one(&mut session, sql).await, [["1"]], "{sql}");
    }
    assert_eq!(refused(&mut session, "SELECT 1\0; DROP TABLE t").await.position, Some(8));
    run(&mut session, &["CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; SELECT 1; END;"]).await;
    assert!(refused(&mut session, "SELECT ?1, :name").await.message.contains("parameter, ?1"));
}

#[tokio::test]
async fn a_runaway_statement_is_stopped_soon() {
    let db = Db::new("");
    let mut session = db.session().await;
    let mut waits = Vec::new();
    for _ in 0..20 {
        let stop = session.cancel_handle();
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let asked = Instant::now();
            stop.cancel().await.unwrap();
            asked
        };
        let (ended, asked) = tokio::join!(session.execute(RUNAWAY, PAGE), stopping);
        waits.push(asked.elapsed());
        let error = ended.unwrap_err();
        assert!(error.cancelled && error.fate == Fate::Idle);
        assert_eq!(error.problem.code, ErrorCode::Cancelled);
        assert_eq!((error.problem.message.as_str(), error.problem.sqlstate.as_deref()), ("interrupted", Some("SQLITE_INTERRUPT")));
        assert_eq!(one(&mut session, "SELECT 1").await, [["1"]]);
    }
    waits.sort();
    // Milliseconds on a machine that is free; the bound is for one that is not.
    assert!(waits[10] < Duration::from_secs(1), "{waits:?}");
}

/// The stop is asked for at every moment around the statement's beginning and end; it never meets the next one.
#[tokio::test]
async fn a_stop_at_any_moment_meets_its_own_statement_or_none() {
    let db = Db::new("");
    let mut session = db.session().await;
    let mut stopped = 0;
    for round in 0..400_u64 {
        let stop = session.cancel_handle();
        let racing = tokio::task::spawn(async move {
            for _ in 0..round % 50 {
                tokio::task::yield_now().await;
            }
            stop.cancel().await.unwrap();
        });
        match session.execute(&format!("{ENDLESS} LIMIT {}", round * 10), PAGE).await {
            Ok(_) => drop(session.finish().await.unwrap()),
            Err(error) => {
                assert!(error.cancelled);
                stopped += 1;
            }
        }
        racing.await.unwrap();
        assert_eq!(one(&mut session, "SELECT 1").await, [["1"]], "round {round}, {stopped} stopped so far");
    }
}

#[tokio::test]
async fn a_stop_meets_a_statement_whose_rows_wait() {
    let db = Db::new("");
    let mut session = db.session().await;
    session.execute(ENDLESS, bound(10)).await.unwrap();
    session.fetch(bound(10)).await.unwrap();
    session.cancel_handle().cancel().await.unwrap();
    assert!(session.fetch(bound(10)).await.unwrap_err().cancelled);
    assert_eq!(one(&mut session, "SELECT 1").await, [["1"]]);
}

#[tokio::test]
async fn a_session_dropped_inside_a_statement_lets_the_file_go() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    run(&mut session, &["BEGIN IMMEDIATE"]).await;
    // Dropped while it runs: the future is given up, as it is when a server shuts down.
    let dropped = tokio::time::timeout(Duration::from_millis(30), session.execute(RUNAWAY, PAGE)).await;
    assert!(dropped.is_err());
    drop(session);
    // The write lock is free as soon as the thread has ended; the busy handler waits for that.
    let mut next = db.session().await;
    run(&mut next, &["INSERT INTO t VALUES (1)"]).await;
    next.close().await;
}

#[tokio::test]
async fn rows_that_are_given_up_hold_no_lock() {
    let db = Db::new("CREATE TABLE t(a); INSERT INTO t SELECT value FROM json_each('[1,2,3]');");
    let (mut reader, mut writer) = (db.session().await, db.session().await);
    reader.execute("SELECT a FROM t", bound(1)).await.unwrap();
    reader.fetch(bound(1)).await.unwrap();
    reader.finish().await.unwrap();
    run(&mut writer, &["DROP TABLE t"]).await;
}

#[tokio::test]
async fn the_whole_effect_of_a_returning_statement_stays_though_its_rows_are_given_up() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    session.execute("INSERT INTO t SELECT value FROM json_each('[1,2,3,4]') RETURNING a", bound(1)).await.unwrap();
    assert!(session.fetch(bound(1)).await.unwrap().more);
    assert_eq!(session.finish().await.unwrap().rows_affected, Some(4));
    assert_eq!(one(&mut session, "SELECT count(*) FROM t").await, [["4"]]);
}

#[tokio::test]
async fn a_lock_of_somebody_else_is_told_and_can_be_stopped_waiting_for() {
    let db = Db::new("CREATE TABLE t(a)");
    let (mut holder, mut waiter) = (db.session().await, db.session().await);
    run(&mut holder, &["BEGIN EXCLUSIVE"]).await;
    let stop = waiter.cancel_handle();
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        stop.cancel().await.unwrap();
    };
    let began = Instant::now();
    let (ended, ()) = tokio::join!(waiter.execute("INSERT INTO t VALUES (1)", PAGE), stopping);
    assert!(ended.unwrap_err().cancelled && began.elapsed() < Duration::from_secs(4));
    let error = waiter.execute("SELECT * FROM t", PAGE).await.unwrap_err();
    assert_eq!(error.problem.sqlstate.as_deref(), Some("SQLITE_BUSY"));
    assert!(error.problem.message.starts_with("The database is locked:"), "{}", error.problem.message);
    // A file that is locked can still be opened.
    let mut third = db.session().await;
    run(&mut holder, &["COMMIT"]).await;
    assert_eq!(one(&mut third, "SELECT count(*) FROM t").await, [["0"]]);
}

#[tokio::test]
async fn a_reset_forgets_what_the_last_user_left() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    run(&mut session, &["CREATE TEMP TABLE mine(x)", "PRAGMA foreign_keys = ON", "BEGIN", "INSERT INTO t VALUES (1)"]).await;
    let stop = session.cancel_handle();
    session.reset().await.unwrap();
    assert_eq!(one(&mut session, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM sqlite_temp_schema)").await, [["0", "0"]]);
    assert_eq!(one(&mut session, "PRAGMA foreign_keys").await, [["0"]]);
    // Handles from before reach the session as it is now.
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        stop.cancel().await.unwrap();
    };
    let (ended, ()) = tokio::join!(session.execute(RUNAWAY, PAGE), stopping);
    assert!(ended.unwrap_err().cancelled);
}
