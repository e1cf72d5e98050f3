//! What a query does beside giving rows is done for all of them or for none, however few of them are read.

use crate::setting::{PAGE, connect, run, session, target, value};
use backend::engine::{Fate, Session};
use std::time::Duration;
use testing::postgres::clusters;
use testing::relay::Relay;

/// `act` writes down that it was called, `"Act 2"` too; `act_slowly` takes its time.
const FUNCTIONS: [&str; 5] = [
    "drop table if exists acted",
    "create table acted (n int)",
    "create or replace function act(n int) returns int language sql as 'insert into acted values (n) returning n'",
    "create or replace function \"Act 2\"(n int) returns int language sql volatile as 'insert into acted values (n) returning n'",
    "create or replace function act_slowly(n int) returns int language sql as 'select pg_sleep(0.01); insert into acted values (n) returning n'",
];

async fn set_up(session: &mut dyn Session) {
    for sql in FUNCTIONS {
        run(session, sql).await.unwrap();
    }
}

async fn first_page(session: &mut dyn Session, sql: &str) {
    session.execute(sql, PAGE).await.unwrap();
    let fetched = session.fetch(PAGE).await.unwrap();
    assert_eq!((fetched.batch.num_rows(), fetched.more), (1_000, true), "{sql}");
}

/// One test, since all of it goes by what one table holds.
#[tokio::test]
async fn a_query_that_acts_is_not_left_half_done() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        set_up(session).await;
        session.take_notices();
        for sql in [
            "select act(n) from generate_series(1, 5000) n",
            "select n from generate_series(1, 5000) n where \"Act 2\"(n) > 0",
            "with a as materialized (select n from generate_series(1, 5000) n) select public . act(n) from a",
        ] {
            first_page(session, sql).await;
            // A session of nobody's is asked first whether it had better be left; this one waits, and is not.
            assert!(!session.drop_rest().await.unwrap());
            let finished = tokio::time::timeout(Duration::from_secs(60), session.finish()).await.expect("it ends").unwrap();
            assert!(!finished.in_transaction);
            let told = session.take_notices();
            assert!(matches!(told.as_slice(), [one] if one.message.contains("was done for all of them")), "{told:?}");
            assert_eq!(value(session, "select count(*) || ' ' || count(distinct n) from acted").await, "5000 5000", "{sql}");
            run(session, "truncate acted").await.unwrap();
        }

        // The same in a transaction, which goes on.
        run(session, "begin").await.unwrap();
        first_page(session, "select act(n) from generate_series(1, 5000) n").await;
        assert!(session.finish().await.unwrap().in_transaction);
        assert_eq!(value(session, "select count(*) from acted").await, "5000");
        run(session, "rollback").await.unwrap();

        // Where one of the rows fails the query has not happened.
        first_page(session, "select act(n), 1 / (4000 - n) from generate_series(1, 5000) n").await;
        let error = session.finish().await.unwrap_err();
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("22012")));
        assert_eq!(value(session, "select count(*) from acted").await, "0");

        // Nor where it is cancelled on its way.
        let handle = session.cancel_handle();
        first_page(session, "select case when n > 1000 then act_slowly(n) else act(n) end from generate_series(1, 5000) n").await;
        let (finished, ()) = tokio::join!(session.finish(), async {
            let busy = "select count(*) from pg_stat_activity where query like '%act_slowly(n) else%' and wait_event = 'PgSleep'";
            while cluster.psql("postgres", busy).trim() != "1" {
                tokio::task::yield_now().await;
            }
            handle.cancel().await.unwrap();
        });
        assert!(finished.unwrap_err().cancelled);
        assert_eq!(value(session, "select count(*) from acted").await, "0");
    }
}

/// What the text does not show: the calls stand behind a view, an operator, a domain and an attribute.
const BEHIND: [&str; 9] = [
    "drop schema if exists behind cascade",
    "create schema behind",
    "create table behind.acted (n int)",
    "create function behind.act(n int) returns int language sql as 'insert into behind.acted values (n) returning n'",
    "create view behind.acting as select behind.act(n) from generate_series(1, 5000) n",
    "create operator behind.@@@ (rightarg = int, function = behind.act)",
    "create function behind.holds(n int) returns bool language sql as 'insert into behind.acted values (n) returning true'",
    "create domain behind.checked as int check (behind.holds(value))",
    "create table behind.source as select n from generate_series(1, 5000) n",
];

#[tokio::test]
async fn what_acts_unseen_is_undone_when_it_is_given_up() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        for sql in BEHIND {
            run(session, sql).await.unwrap();
        }
        for sql in [
            "select * from behind.acting",
            "table behind.acting",
            "with a as (select * from behind.acting) select * from a",
            "select operator(behind.@@@) n from behind.source",
            "select n::behind.checked from behind.source",
        ] {
            first_page(session, sql).await;
            let error = session.finish().await.unwrap_err();
            assert_eq!(error.fate, Fate::Idle, "{sql}");
            assert!(error.problem.message.starts_with("It changed something beside giving rows"), "{sql}: {}", error.problem.message);
            assert_eq!(value(session, "select count(*) from behind.acted").await, "0", "{sql}");
        }
        // Read to its end it has happened, and what locks or only reads is given up without a word.
        session.execute("select * from behind.acting", PAGE).await.unwrap();
        while session.fetch(PAGE).await.unwrap().more {}
        session.finish().await.unwrap();
        assert_eq!(value(session, "select count(*) from behind.acted").await, "5000");
        for sql in ["table behind.source", "select n from behind.source for update", "update behind.source set n = n + 1 returning n"] {
            first_page(session, sql).await;
            session.finish().await.unwrap();
        }
        assert_eq!(value(session, "select min(n) from behind.source").await, "2", "a change has happened before its first row");
    }
}

#[tokio::test]
async fn a_query_that_only_reads_is_given_up_where_it_stands() {
    for cluster in clusters() {
        set_up_elsewhere(cluster).await;
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = connect(&target(relay.port, "postgres")).await.unwrap();
        first_page(session.as_mut(), "select reading.read_one(n) from generate_series(1, 50000) n").await;
        relay.passed();
        session.finish().await.unwrap();
        let passed = relay.passed();
        assert!(passed.to_client < 10_000, "{passed:?}");
        assert_eq!(passed.flights, 2, "the question, and the end");
        first_page(session.as_mut(), "select upper(repeat('x', 1000)) from generate_series(1, 50000) n").await;
        relay.passed();
        session.finish().await.unwrap();
        assert_eq!(relay.passed().flights, 1, "what is known needs no question");
    }
}

async fn set_up_elsewhere(cluster: &'static testing::postgres::Cluster) {
    let mut session = session(cluster).await;
    for sql in [
        "create schema if not exists reading",
        "create or replace function reading.read_one(n int) returns text language sql stable as 'select repeat(''x'', 1000) || n'",
    ] {
        run(session.as_mut(), sql).await.unwrap();
    }
    session.close().await;
}
