//! A statement that is stopped, and a link that is lost.

use crate::setting::{PAGE, connect, run, session, target, value};
use backend::engine::{CancelHandle, Fate, Session};
use shared::problem::ErrorCode;
use std::time::Duration;
use testing::postgres::{Cluster, bins, clusters};
use testing::relay::Relay;

/// Waits until a statement of this text runs on the server.
async fn wait_until_running(cluster: &Cluster, text: &str) {
    let mut watcher = session(cluster).await;
    let running = format!("select count(*) from pg_stat_activity where state = 'active' and query = $text${text}$text$");
    while value(watcher.as_mut(), &running).await == "0" {}
    watcher.close().await;
}

#[tokio::test]
async fn a_cancel_stops_what_runs_and_only_that() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let handle = session.cancel_handle();
        let text = "select pg_sleep(600), 'cancelled'";
        let (stopped, _) = tokio::join!(run(session.as_mut(), text), async {
            wait_until_running(cluster, text).await;
            handle.cancel().await.unwrap();
        });
        let error = stopped.unwrap_err();
        assert!(error.cancelled);
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("57014")));
        handle.cancel().await.unwrap();
        assert_eq!(value(session.as_mut(), "select 1").await, "1");
        run(session.as_mut(), "set statement_timeout = 20").await.unwrap();
        let error = run(session.as_mut(), "select pg_sleep(600)").await.unwrap_err();
        assert!(!error.cancelled, "a timeout is the server's, not the person's");
        assert_eq!(error.problem.sqlstate.as_deref(), Some("57014"));
    }
}

/// Cancels a result of which the first page was read, while the next one is waited for.
async fn stop_fetching(cluster: &Cluster, session: &mut dyn Session) {
    let handle = session.cancel_handle();
    let text = "select n, case when n > 1500 then pg_sleep(600) end from generate_series(1, 3000) n";
    session.execute(text, PAGE).await.unwrap();
    assert_eq!(session.fetch(PAGE).await.unwrap().batch.num_rows(), 1_000);
    let (stopped, ()) = tokio::join!(session.fetch(PAGE), cancel_until_stopped(cluster, text, handle.as_ref()));
    assert!(stopped.unwrap_err().cancelled);
    assert_eq!(value(session, "select 1").await, "1");
}

#[tokio::test]
async fn a_cancel_stops_a_fetch_that_runs() {
    for cluster in clusters() {
        stop_fetching(cluster, session(cluster).await.as_mut()).await;
    }
}

/// A server forgets a cancel that comes between two messages of the same statement: runs ask twice, and so does this.
async fn cancel_until_stopped(cluster: &Cluster, text: &str, handle: &dyn CancelHandle) {
    wait_until_running(cluster, text).await;
    let mut watcher = session(cluster).await;
    let running = format!("select count(*) from pg_stat_activity where state = 'active' and query = $text${text}$text$");
    while value(watcher.as_mut(), &running).await != "0" {
        handle.cancel().await.unwrap();
    }
    watcher.close().await;
}

#[tokio::test]
async fn each_of_ten_tries_of_every_kind_is_cancelled() {
    for cluster in clusters() {
        let mut holder = session(cluster).await;
        // Of no transaction: one that is open makes commands of other tests wait.
        run(holder.as_mut(), "select pg_advisory_lock(1010)").await.unwrap();
        let mut session = session(cluster).await;
        let handle = session.cancel_handle();
        for _ in 0..10 {
            for text in [
                "select pg_sleep(600), 'ten'",
                "with recursive t(n) as (select 1::bigint union all select n + 1 from t) select count(*) from t where n < 0",
                "select pg_advisory_lock(1010)",
                "select md5(n::text) as ten from generate_series(1, 20000000) n order by 1",
            ] {
                let (stopped, ()) = tokio::join!(run(session.as_mut(), text), cancel_until_stopped(cluster, text, handle.as_ref()));
                let error = stopped.unwrap_err();
                assert!(error.cancelled && error.fate == Fate::Idle, "{text}: {error:?}");
                assert_eq!(value(session.as_mut(), "select 1").await, "1");
            }
            stop_fetching(cluster, session.as_mut()).await;
        }
    }
}

#[tokio::test]
async fn a_backend_that_is_ended_says_why_and_its_session_is_over() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let text = "select pg_sleep(600), 'ended'";
        let (stopped, _) = tokio::join!(run(session.as_mut(), text), async {
            wait_until_running(cluster, text).await;
            cluster.psql("postgres", &format!("select pg_terminate_backend(pid) from pg_stat_activity where query = $text${text}$text$"));
        });
        let error = stopped.unwrap_err();
        assert_eq!((error.fate, error.problem.code), (Fate::Unknown, ErrorCode::ConnectionLost));
        assert_eq!(error.problem.message, "terminating connection due to administrator command");
        assert_eq!(session.execute("select 1", PAGE).await.unwrap_err().fate, Fate::NotSent);
    }
}

#[tokio::test]
async fn a_session_whose_server_went_away_while_idle_sends_nothing() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let pid = value(session.as_mut(), "select pg_backend_pid()").await;
        let gone = format!(
            "do $$ begin perform pg_terminate_backend({pid});
             while exists (select from pg_stat_activity where pid = {pid}) loop perform pg_stat_clear_snapshot(); end loop; end $$"
        );
        cluster.psql("postgres", &gone);
        let error = session.execute("create table never (n int)", PAGE).await.unwrap_err();
        assert_eq!((error.fate, error.problem.code), (Fate::NotSent, ErrorCode::ConnectionLost));
        assert_eq!(cluster.psql("postgres", "select to_regclass('never') is null"), "t\n");
    }
}

#[tokio::test]
async fn a_link_cut_in_mid_statement_leaves_its_fate_unknown() {
    for cluster in clusters() {
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = connect(&target(relay.port, "postgres")).await.unwrap();
        let text = "select pg_sleep(1), 'cut'";
        let (stopped, _) = tokio::join!(run(session.as_mut(), text), async {
            wait_until_running(cluster, text).await;
            relay.cut();
        });
        let error = stopped.unwrap_err();
        assert_eq!((error.fate, error.problem.code), (Fate::Unknown, ErrorCode::ConnectionLost));
    }
}

#[tokio::test]
async fn a_server_that_crashes_in_mid_result_is_told_and_the_next_connect_is_refused() {
    let Some(bin) = bins().pop() else { return };
    let cluster = tokio::task::spawn_blocking(move || Cluster::start(&bin)).await.unwrap();
    let mut session = session(&cluster).await;
    let target = target(cluster.port, "postgres");
    session.execute("select generate_series(1, 1000000)", PAGE).await.unwrap();
    assert_eq!(session.fetch(PAGE).await.unwrap().batch.num_rows(), 1_000);
    tokio::task::spawn_blocking(move || cluster.stop()).await.unwrap();
    let error = next_error(session.as_mut()).await;
    assert_eq!((error.fate, error.problem.code), (Fate::Unknown, ErrorCode::ConnectionLost));
    assert_eq!(connect(&target).await.err().unwrap().problem.code, ErrorCode::ConnectFailed);
}

async fn next_error(session: &mut dyn Session) -> backend::engine::EngineError {
    loop {
        if let Err(error) = session.fetch(PAGE).await {
            return error;
        }
    }
}

/// Requests that race with the end of what they are meant for.
fn cancels() -> usize {
    std::env::var("SHEAF_TEST_CANCELS").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000)
}

#[tokio::test]
async fn cancels_that_race_with_the_end_of_a_statement_hit_no_other() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        let handle = session.cancel_handle();
        let (mut stopped, mut ended) = (0, 0);
        for round in 0..cancels() {
            // Some end long before the request, some at the same time, some after it.
            let text = format!("select pg_sleep({})", (round % 8) as f64 / 1000.0);
            let (ran, sent) = tokio::join!(run(session, &text), handle.cancel());
            sent.unwrap();
            match ran {
                Ok(_) => ended += 1,
                Err(error) => {
                    assert!(error.cancelled && error.fate == Fate::Idle, "{error:?}");
                    stopped += 1;
                }
            }
            // The request's link is closed: the next statement is nobody's target.
            assert_eq!(value(session, &format!("select {round}")).await, round.to_string());
        }
        println!("{stopped} stopped, {ended} had ended");
        assert!(stopped > 0);
    }
}

#[tokio::test]
async fn streams_that_are_given_up_leave_the_next_statement_alone() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        for round in 0..cancels() / 40 {
            let rows = 1_001 + round * 500;
            session.execute(&format!("select n from generate_series(1, {rows}) n where n > 0"), PAGE).await.unwrap();
            assert!(session.fetch(PAGE).await.unwrap().more);
            session.finish().await.unwrap();
            assert_eq!(value(session, &format!("select {round}")).await, round.to_string());
        }
    }
}
