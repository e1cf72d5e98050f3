//! What a page costs: bytes, round trips, and what the database still holds afterwards.

use crate::setting::{PAGE, connect, run, session, target, value};
use backend::engine::{Bound, Session};
use shared::page::TYPE_KEY;
use shared::problem::ErrorCode;
use std::time::Duration;
use testing::postgres::{Cluster, clusters};
use testing::relay::Relay;

/// 2,000,000 rows of 6 columns, about 128 bytes each on the wire.
pub fn two_million_rows(cluster: &Cluster) {
    cluster.psql(
        "postgres",
        "select pg_advisory_lock(1);
         create unlogged table if not exists big as
         select n as id, n % 1000 as customer, (n * 7919::bigint % 100000)::numeric(12,2) as amount,
                timestamp '2024-01-01' + n * interval '1 second' as at, md5(n::text) as code, 'a remark of hardly any weight' as remark
         from generate_series(1, 2000000) n;",
    );
}

async fn behind(relay: &Relay) -> Box<dyn Session> {
    let session = connect(&target(relay.port, "postgres")).await.unwrap();
    relay.passed();
    session
}

#[tokio::test]
async fn a_page_of_two_million_rows_moves_its_own_rows_in_one_round_trip() {
    for cluster in clusters() {
        two_million_rows(cluster);
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = behind(&relay).await;
        let pid = value(session.as_mut(), "select pg_backend_pid()").await;
        relay.passed();
        for text in ["select * from big", "select * from big /* with the origins known */"] {
            session.execute(text, PAGE).await.unwrap();
            let first = session.fetch(PAGE).await.unwrap();
            assert_eq!((first.batch.num_rows(), first.more), (1_000, true));
            let passed = relay.passed();
            println!("first page: {passed:?}");
            assert_eq!(passed.flights, 1);
            assert!(passed.to_client <= 140_000, "{passed:?}");
            for page in 1..4 {
                let next = session.fetch(PAGE).await.unwrap();
                assert_eq!((next.batch.num_rows(), next.more), (1_000, true));
                let passed = relay.passed();
                assert_eq!(passed.flights, 1, "page {page}");
                assert!(passed.to_client <= 140_000, "{passed:?}");
            }
            session.finish().await.unwrap();
            let passed = relay.passed();
            assert_eq!(passed.flights, 1);
            assert!(passed.to_client <= 1_000, "{passed:?}");
            watch_idle(cluster, &pid).await;
        }
    }
}

#[tokio::test]
async fn a_statement_without_rows_takes_one_round_trip_to_its_end() {
    for cluster in clusters() {
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = behind(&relay).await;
        value(session.as_mut(), "select 1").await;
        for sql in ["create temp table silent (n int)", "insert into silent values (1)", "begin", "update silent set n = 2", "commit"] {
            relay.passed();
            assert!(run(session.as_mut(), sql).await.unwrap().0.is_none());
            assert_eq!(relay.passed().flights, 1, "{sql}");
        }
        assert!(run(session.as_mut(), "insert into nowhere values (1)").await.is_err());
        assert_eq!(relay.passed().flights, 1, "one that is refused");
        assert_eq!(value(session.as_mut(), "select n from silent").await, "2");
    }
}

#[tokio::test]
async fn a_result_that_is_small_by_its_text_is_at_its_end_with_its_first_round_trip() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop type if exists tint cascade; create type tint as enum ('hell')");
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = behind(&relay).await;
        value(session.as_mut(), "select 1").await;
        for (sql, flights) in [
            ("select 1", 1),
            ("select current_date, version() as v limit 1", 1),
            ("select count(*) from pg_catalog.pg_class", 1),
            // Where columns come from is asked behind the end, once.
            ("select relname from pg_catalog.pg_class order by 1 limit 5", 2),
            ("select relname from pg_catalog.pg_class order by 1 limit 5", 1),
            ("show all", 1),
            ("explain select 1", 1),
            // And names of types.
            ("select 'hell'::tint", 2),
            ("select 'hell'::tint", 1),
            // What may be longer than a page has its end told apart.
            ("select relname from pg_catalog.pg_class where relname = 'pg_class'", 2),
        ] {
            relay.passed();
            let rows = run(session.as_mut(), sql).await.unwrap().0.unwrap();
            assert!(rows.num_rows() > 0, "{sql}");
            assert_eq!(relay.passed().flights, flights, "{sql}");
            if sql.contains("tint") {
                assert_eq!(rows.schema().field(0).metadata()[TYPE_KEY], "tint");
            }
        }
        // In a transaction, failed or not, and on a read-only connection as well.
        for sql in ["begin", "select 1", "select 1 / 0", "select 1", "rollback", "select 2"] {
            relay.passed();
            assert_eq!(run(session.as_mut(), sql).await.is_err(), sql.ends_with('0') || session.transaction_failed(), "{sql}");
            assert_eq!(relay.passed().flights, 1, "{sql}");
        }
    }
}

/// The server holds no snapshot for it, at once.
pub async fn watch_idle(cluster: &Cluster, pid: &str) {
    let mut watcher = crate::setting::session(cluster).await;
    let state = format!("select state || ' ' || coalesce(backend_xmin::text, 'free') from pg_stat_activity where pid = {pid}");
    assert_eq!(value(watcher.as_mut(), &state).await, "idle free");
    watcher.close().await;
}

#[tokio::test]
async fn a_parked_result_shows_one_snapshot_to_its_end() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        cluster.psql("postgres", "drop table if exists parked; create table parked as select n from generate_series(1, 2500) n");
        session.execute("select n from parked order by n", PAGE).await.unwrap();
        let mut rows = session.fetch(PAGE).await.unwrap().batch.num_rows();
        cluster.psql("postgres", "delete from parked");
        loop {
            let next = session.fetch(PAGE).await.unwrap();
            rows += next.batch.num_rows();
            if !next.more {
                break;
            }
        }
        assert_eq!(rows, 2_500);
        session.finish().await.unwrap();
    }
}

#[tokio::test]
async fn exactly_a_page_of_rows_has_no_more() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        for rows in [0, 1, 9, 10, 11, 20, 21] {
            session.execute(&format!("select generate_series(1, {rows})"), Bound { rows: 10, bytes: 1 << 20 }).await.unwrap();
            let mut seen = 0;
            loop {
                let fetched = session.fetch(Bound { rows: 10, bytes: 1 << 20 }).await.unwrap();
                seen += fetched.batch.num_rows();
                assert_eq!(fetched.more, seen < rows);
                if !fetched.more {
                    break;
                }
            }
            assert_eq!(seen, rows);
            session.finish().await.unwrap();
        }
    }
}

#[tokio::test]
async fn wide_rows_end_a_page_early_and_lose_nothing() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let bound = Bound { rows: 100, bytes: 100_000 };
        session.execute("select n, repeat('ä', 20000) from generate_series(1, 250) n", bound).await.unwrap();
        let mut seen = 0;
        loop {
            let fetched = session.fetch(bound).await.unwrap();
            assert_eq!(fetched.batch.num_rows(), if seen == 249 { 1 } else { 3 });
            seen += fetched.batch.num_rows();
            if !fetched.more {
                break;
            }
        }
        assert_eq!(seen, 250);
        session.finish().await.unwrap();
        session.execute("select n, repeat('x', 3000000) from generate_series(1, 50) n", Bound { rows: 100, bytes: 1 }).await.unwrap();
        assert_eq!(session.fetch(Bound { rows: 100, bytes: 1 }).await.unwrap().batch.num_rows(), 1);
        session.finish().await.unwrap();
        assert_eq!(value(session.as_mut(), "select 1").await, "1");
    }
}

#[tokio::test]
async fn a_row_over_the_cap_is_skipped_with_a_clear_error() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let error = run(session.as_mut(), "select repeat('x', 70000000)").await.unwrap_err();
        let told = (error.problem.code, error.problem.message.as_str());
        assert_eq!(told, (ErrorCode::TooLarge, "A row of this result has 66 MiB; Sheaf takes 64 MiB."));
        let notice = "do $$ begin raise notice '%', repeat('x', 70000000); end $$";
        let error = run(session.as_mut(), notice).await.unwrap_err();
        let told = (error.problem.code, error.problem.message.as_str());
        assert_eq!(told, (ErrorCode::TooLarge, "the server sent one message of 66 MiB, more than the 64 MiB that are read at once"));
        assert_eq!(value(session.as_mut(), "select length(repeat('x', 70000000))").await, "70000000");
        assert_eq!(value(session.as_mut(), "select repeat('x', 30000000)").await.len(), 30_000_000);
    }
}

#[tokio::test]
async fn names_of_types_are_asked_for_once_and_built_in_ones_never() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop type if exists shade cascade; create type shade as enum ('hell')");
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = behind(&relay).await;
        for flights in [2, 1] {
            session.execute("select 'hell'::shade, 1 from generate_series(1, 3)", PAGE).await.unwrap();
            session.fetch(PAGE).await.unwrap();
            assert_eq!(relay.passed().flights, flights);
            session.finish().await.unwrap();
            relay.passed();
        }
    }
}

#[tokio::test]
async fn at_forty_milliseconds_a_page_takes_one_round_trip_of_time() {
    let Some(cluster) = clusters().last() else { return };
    let relay = Relay::start(cluster.port, Duration::from_millis(20)).await;
    let mut session = behind(&relay).await;
    for _ in 0..3 {
        let start = std::time::Instant::now();
        session.execute("select generate_series(1, 100000)", PAGE).await.unwrap();
        session.fetch(PAGE).await.unwrap();
        let first = start.elapsed();
        session.fetch(PAGE).await.unwrap();
        println!("first page {first:?}, next {:?}", start.elapsed() - first);
        assert_eq!(relay.passed().flights, 2);
        session.finish().await.unwrap();
        relay.passed();
    }
}
