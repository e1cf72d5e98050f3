//! A statement that is stopped, and a link that is lost.

use crate::setting::{PAGE, connect, run, session, target, value};
use backend::engine::{CancelHandle, Fate, Session};
use std::time::Duration;
use testing::mariadb::mariadb;
use testing::relay::Relay;

/// Waits until a statement that contains this runs on the server.
async fn wait_until_running(text: &str) {
    let mut watcher = session().await;
    let running = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Query', 'Execute') AND ID <> CONNECTION_ID() AND INFO LIKE '%{text}%'"
    );
    while value(watcher.as_mut(), &running).await == "0" {}
    watcher.close().await;
}

/// How often a statement is asked to stop, a second apart.
const ASKED: usize = 10;

/// Cancels a statement that runs until it has ended. MariaDB forgets a KILL that comes as the statement begins, though it is in the
/// process list by then: like a run, this asks again.
pub async fn until_stopped<T: std::fmt::Debug>(handle: &dyn CancelHandle, mark: &str, statement: impl Future<Output = T>) -> T {
    let mut statement = std::pin::pin!(statement);
    tokio::select! {
        ended = &mut statement => panic!("{mark} ended by itself: {ended:?}"),
        () = wait_until_running(mark) => {}
    }
    for _ in 0..ASKED {
        handle.cancel().await.unwrap();
        if let Ok(stopped) = tokio::time::timeout(Duration::from_secs(1), &mut statement).await {
            return stopped;
        }
    }
    panic!("{mark} was asked {ASKED} times to stop, and runs");
}

async fn stop(session: &mut dyn Session, sql: &str, mark: &str) {
    let handle = session.cancel_handle();
    let error = until_stopped(handle.as_ref(), mark, run(session, sql)).await.unwrap_err();
    assert!(error.cancelled, "{error:?}");
    assert_eq!((error.fate, error.problem.detail.as_deref()), (Fate::Idle, Some("ERROR 1317")));
    handle.cancel().await.unwrap();
    assert_eq!(value(session, "SELECT 1").await, "1", "nothing of it hits the next");
}

#[tokio::test]
async fn e01_a_cancelled_sleep_is_gone_from_the_process_list() {
    let mut session = session().await;
    stop(session.as_mut(), "SELECT SLEEP(600) AS mark_sleep", "mark_sleep").await;
    let mut watcher = crate::setting::session().await;
    let left = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND INFO LIKE '%mark_sleep%'";
    // The server forgets the text of an answered statement a moment after it has answered.
    while value(watcher.as_mut(), left).await != "0" {}
}

#[tokio::test]
async fn a_wait_for_a_lock_is_stopped() {
    let mut holder = session().await;
    for sql in [
        "CREATE OR REPLACE TABLE locked (n INT PRIMARY KEY)",
        "INSERT INTO locked VALUES (1)",
        "START TRANSACTION",
        "UPDATE locked SET n = 2",
    ] {
        run(holder.as_mut(), sql).await.unwrap();
    }
    stop(session().await.as_mut(), "UPDATE locked SET n = 3 /* mark_lock */", "mark_lock").await;
    run(holder.as_mut(), "ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn after_a_refusal_it_is_known_whether_a_transaction_is_open() {
    let mut session = session().await;
    let session = session.as_mut();
    run(session, "CREATE OR REPLACE TABLE kept_open (n INT PRIMARY KEY)").await.unwrap();
    assert!(run(session, "SELECT nothing").await.is_err());
    assert_eq!(session.in_transaction(), Some(false));
    run(session, "START TRANSACTION").await.unwrap();
    run(session, "INSERT INTO kept_open VALUES (1)").await.unwrap();
    assert!(run(session, "INSERT INTO kept_open VALUES (1)").await.is_err());
    assert_eq!(session.in_transaction(), Some(true), "this refusal ends the statement alone");
    assert!(run(session, "BEGIN NOT ATOMIC ROLLBACK; SIGNAL SQLSTATE '45000'; END").await.is_err());
    assert_eq!(session.in_transaction(), Some(false), "this one had ended the transaction before");
    assert_eq!(value(session, "SELECT COUNT(*) FROM kept_open").await, "0");
}

#[tokio::test]
async fn a_loop_of_the_processor_is_stopped() {
    stop(session().await.as_mut(), "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT COUNT(MD5(a.i * b.i)) FROM n a, n b, n c /* mark_loop */", "mark_loop").await;
}

/// Cancels a result of which the first page was read.
async fn stop_fetching(session: &mut dyn Session, sql: &str) {
    session.execute(sql, PAGE).await.unwrap();
    assert!(session.fetch(PAGE).await.unwrap().more);
    session.cancel_handle().cancel().await.unwrap();
    let error = loop {
        match session.fetch(PAGE).await {
            Ok(fetched) => assert!(fetched.more),
            Err(error) => break error,
        }
    };
    assert!(error.cancelled);
    assert_eq!(value(session, "SELECT 1").await, "1");
}

#[tokio::test]
async fn a_fetch_that_runs_is_stopped() {
    let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT a.i, b.i FROM n a, n b, n c";
    stop_fetching(session().await.as_mut(), many).await;
}

#[tokio::test]
async fn each_of_ten_tries_of_every_kind_is_cancelled() {
    let mut holder = session().await;
    for sql in
        ["CREATE OR REPLACE TABLE ten (n INT PRIMARY KEY)", "INSERT INTO ten VALUES (1)", "START TRANSACTION", "UPDATE ten SET n = 2"]
    {
        run(holder.as_mut(), sql).await.unwrap();
    }
    let mut session = session().await;
    for _ in 0..10 {
        for sql in [
            "SELECT SLEEP(600) AS mark_ten",
            "SELECT COUNT(*) AS mark_ten FROM seq_1_to_1000000 WHERE BENCHMARK(1000000000, MD5(seq)) > 0",
            "UPDATE ten SET n = 3 /* mark_ten */",
            "SELECT MD5(seq) AS mark_ten FROM seq_1_to_20000000 ORDER BY 1",
        ] {
            stop(session.as_mut(), sql, "mark_ten").await;
        }
        stop_fetching(session.as_mut(), "SELECT seq, REPEAT('x', 100) FROM seq_1_to_50000000").await;
    }
    run(holder.as_mut(), "ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn a_statement_that_ends_without_an_error_though_it_was_stopped_says_so() {
    let mut session = session().await;
    let handle = session.cancel_handle();
    let benchmark = run(session.as_mut(), "SELECT BENCHMARK(100000000000, MD5('mark_benchmark'))");
    let ended = until_stopped(handle.as_ref(), "mark_benchmark", benchmark).await;
    assert_eq!(crate::setting::texts(&ended.unwrap().0.unwrap()), [["0"]], "of a loop that would have run for hours");
    let notices = session.take_notices();
    assert!(notices.iter().any(|notice| notice.message.starts_with("The statement was asked to stop")), "{notices:?}");
    assert_eq!(value(session.as_mut(), "SELECT 1").await, "1");
    assert!(session.take_notices().is_empty());
}

/// Requests that race with the end of what they are meant for.
fn cancels() -> usize {
    std::env::var("SHEAF_TEST_CANCELS").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000)
}

#[tokio::test]
async fn cancels_that_race_with_the_end_hit_no_other_statement() {
    let mut session = session().await;
    let handle = session.cancel_handle();
    for round in 0..cancels() {
        let cancel = async {
            for _ in 0..round % 7 {
                tokio::task::yield_now().await;
            }
            handle.cancel().await.unwrap();
        };
        let (first, ()) = tokio::join!(run(session.as_mut(), "SELECT COUNT(*) FROM information_schema.COLLATIONS"), cancel);
        if let Err(error) = first {
            assert!(error.cancelled, "{error:?}");
        }
        assert_eq!(value(session.as_mut(), "SELECT 1").await, "1", "round {round}");
    }
}

#[tokio::test]
async fn a_session_that_was_ended_says_so_and_sends_nothing() {
    let mut session = session().await;
    let id = value(session.as_mut(), "SELECT CONNECTION_ID()").await;
    mariadb().sql(&format!("KILL {id}"));
    let error = loop {
        match run(session.as_mut(), "SELECT 1").await {
            Ok(_) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    assert_eq!(error.fate, Fate::NotSent, "{error:?}");
    assert_eq!(session.execute("SELECT 1", PAGE).await.unwrap_err().fate, Fate::NotSent);
}

#[tokio::test]
async fn e13_a_session_that_idled_too_long_sends_nothing() {
    let mut session = session().await;
    run(session.as_mut(), "SET SESSION wait_timeout = 1").await.unwrap();
    let id = value(session.as_mut(), "SELECT CONNECTION_ID()").await;
    while mariadb().sql(&format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id}")).trim() != "0" {}
    assert_eq!(session.execute("SELECT 1", PAGE).await.unwrap_err().fate, Fate::NotSent);
}

#[tokio::test]
async fn a_link_that_is_cut_leaves_the_fate_of_what_was_sent_unknown() {
    let relay = Relay::start(mariadb().port, Duration::ZERO).await;
    let mut session = connect(&target(relay.port, "root")).await.unwrap();
    let (cut, ()) = tokio::join!(run(session.as_mut(), "SELECT SLEEP(600) AS mark_cut"), async {
        wait_until_running("mark_cut").await;
        relay.cut();
    });
    assert_eq!(cut.unwrap_err().fate, Fate::Unknown);
    mariadb().sql(
        "SELECT CONCAT('KILL ', ID) INTO @k FROM information_schema.PROCESSLIST WHERE INFO LIKE '%mark_cut' LIMIT 1; EXECUTE IMMEDIATE @k;",
    );
}
