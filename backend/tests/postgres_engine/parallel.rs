//! Statements that run without a row limit: they keep their workers, and what nobody asked for is bounded all the same.

use crate::paging::{two_million_rows, watch_idle};
use crate::setting::{PAGE, connect, run, session, target, value};
use backend::engine::dial::RECEIVE_WINDOW_BYTES;
use backend::engine::{Bound, Session};
use std::time::{Duration, Instant};
use testing::postgres::clusters;
use testing::relay::{NARROW_BYTES, Relay, sent_ahead};

/// What lies between the server and the reader when a statement is stopped, and is read then since the session goes on: our system's window, by
/// its own word; what the relay holds; what the server's system has taken over to send, which is the server's to bound; and what the server
/// itself has in hand, and its system takes from it while that is read (a few segments). Where the session would go on for nobody it is closed instead (`runs/postgres.rs`).
async fn on_the_way(server_port: u16) -> u64 {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(RECEIVE_WINDOW_BYTES).unwrap();
    u64::from(socket.recv_buffer_size().unwrap()) + NARROW_BYTES + sent_ahead(server_port).await + 64 * 1024
}

/// Makes every plan parallel that may be, with all work left to the workers.
async fn eager(session: &mut dyn Session) {
    for setting in
        ["parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0", "parallel_leader_participation = off"]
    {
        run(session, &format!("set {setting}")).await.unwrap();
    }
}

#[tokio::test]
async fn an_aggregate_keeps_its_workers() {
    for cluster in clusters() {
        two_million_rows(cluster);
        cluster.psql(
            "postgres",
            "create or replace function process() returns int language plpgsql parallel safe as $$ begin return pg_backend_pid(); end $$",
        );
        let mut session = session(cluster).await;
        let session = session.as_mut();
        eager(session).await;
        let leader = value(session, "select pg_backend_pid()").await;
        let by_workers = format!("select count(*) filter (where process() <> {leader}) = count(*) from big where id < 20000");
        assert_eq!(value(session, &by_workers).await, "t");
        run(session, "begin").await.unwrap();
        assert_eq!(value(session, &by_workers).await, "t", "in a transaction as well");
        run(session, "rollback").await.unwrap();
        let by_leader = format!("select process() = {leader} from big where id < 20");
        let (batch, _) = run(session, &by_leader).await.unwrap();
        assert_eq!(batch.unwrap().num_rows(), 19, "a call that is not known keeps its row limit");
    }
}

#[tokio::test]
async fn fifty_thousand_rows_of_text_are_paged_within_their_bytes() {
    for cluster in clusters() {
        cluster.psql(
            "postgres",
            "drop table if exists texts; create table texts as select n, repeat('x', 256) as t from generate_series(1, 50000) n",
        );
        for text in ["select * from texts", "select * from texts where n > 0"] {
            let relay = Relay::narrow(cluster.port).await;
            let mut session = connect(&target(relay.port, "postgres")).await.unwrap();
            value(session.as_mut(), "select 1").await;
            relay.passed();
            session.execute(text, PAGE).await.unwrap();
            let first = session.fetch(PAGE).await.unwrap();
            assert_eq!((first.batch.num_rows(), first.more), (1_000, true));
            let mut bytes = relay.passed().to_client;
            println!("{text}: first page {bytes}");
            assert!(bytes <= 290_000, "{bytes}");
            let next = session.fetch(PAGE).await.unwrap();
            assert_eq!((next.batch.num_rows(), next.more), (1_000, true));
            let second = relay.passed().to_client;
            println!("{text}: next page {second}");
            assert!(second <= 290_000, "{second}");
            bytes += second;
            let rest = if text.contains("where") { on_the_way(cluster.port).await } else { 2_000 };
            session.finish().await.unwrap();
            bytes += relay.passed().to_client;
            println!("{text}: abandoned after two pages {bytes}");
            assert!(bytes <= 2 * 290_000 + rest, "{text}: {bytes}");
            assert_eq!(value(session.as_mut(), "select 1").await, "1");
        }
    }
}

#[tokio::test]
async fn an_abandoned_run_of_any_size_moves_a_page_and_a_window() {
    for cluster in clusters() {
        two_million_rows(cluster);
        let relay = Relay::narrow(cluster.port).await;
        let mut session = connect(&target(relay.port, "postgres")).await.unwrap();
        let pid = value(session.as_mut(), "select pg_backend_pid()").await;
        for text in [
            "select * from big",
            "select * from big where id > 0",
            "select * from big order by id desc",
            "select count(*), generate_series(1, 2000000) from big",
        ] {
            relay.passed();
            session.execute(text, PAGE).await.unwrap();
            assert!(session.fetch(PAGE).await.unwrap().more);
            let rest = on_the_way(cluster.port).await;
            let finished = session.finish().await.unwrap();
            assert!(!finished.in_transaction);
            let bytes = relay.passed().to_client;
            println!("abandoned: {text}: {bytes}, {rest} were on the way");
            assert!(bytes <= 140_000 + rest, "{text}: {bytes}, {rest}");
            watch_idle(cluster, &pid).await;
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_read_to_its_end_loses_and_repeats_nothing() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        cluster.psql("postgres", "drop table if exists streamed; create table streamed as select n from generate_series(1, 50000) n");
        session.execute("select n from streamed where n > 0 order by n", PAGE).await.unwrap();
        let mut expected = 1;
        loop {
            let fetched = session.fetch(PAGE).await.unwrap();
            for row in 0..fetched.batch.num_rows() {
                assert_eq!(crate::setting::cell(&fetched.batch, row, 0), expected.to_string());
                expected += 1;
            }
            if !fetched.more {
                break;
            }
        }
        assert_eq!(expected, 50_001);
        session.finish().await.unwrap();
    }
}

#[tokio::test]
async fn a_wrong_guess_in_a_transaction_ends_nothing() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        run(session, "begin").await.unwrap();
        run(session, "create temporary table kept as select 1 as n").await.unwrap();
        session.execute("select count(*), generate_series(1, 300000)", PAGE).await.unwrap();
        assert!(session.fetch(PAGE).await.unwrap().more);
        assert!(session.finish().await.unwrap().in_transaction);
        assert_eq!(value(session, "select n from kept").await, "1");
        session.execute("select n from generate_series(1, 300000) n where n > 0", Bound { rows: 10, bytes: 1 << 20 }).await.unwrap();
        assert!(session.fetch(PAGE).await.unwrap().more);
        assert!(session.finish().await.unwrap().in_transaction);
        assert_eq!(value(session, "select n from kept").await, "1");
        run(session, "rollback").await.unwrap();
    }
}

/// What each way costs, for docs/decisions/0003: figures, not assertions.
#[tokio::test]
async fn an_aggregate_takes_about_as_long_as_in_psql() {
    let Some(cluster) = clusters().last() else { return };
    two_million_rows(cluster);
    let mut session = session(cluster).await;
    let text = "select count(*), sum(amount), max(code) from big where remark like '%weight%'";
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    let mut limited = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        value(session.as_mut(), text).await;
        ours.push(start.elapsed());
        let printed = cluster.psql("postgres", &format!("\\timing on\n{text};\n"));
        let time = printed.lines().find_map(|line| line.strip_prefix("Time: ")?.split(' ').next()?.parse::<f64>().ok()).unwrap();
        theirs.push(Duration::from_secs_f64(time / 1000.0));
        let start = Instant::now();
        value(
            session.as_mut(),
            &format!("table_count({text})")
                .replace("table_count(", "select x.* from (")
                .replace("weight%')", "weight%') x, lateral (select pg_sleep(0)) y"),
        )
        .await;
        limited.push(start.elapsed());
    }
    println!("aggregate over 2,000,000 rows: here {ours:?}, psql {theirs:?}, under a row limit {limited:?}");
}
