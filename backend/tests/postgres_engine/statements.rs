//! Any statement at all goes the same way: one flight, the text untouched, no BEGIN.

use crate::setting::{PAGE, cell, connect, run, session, target, value};
use backend::engine::{Fate, Session};
use shared::page::{ORIGIN_KEY, TYPE_KEY};
use shared::problem::ErrorCode;
use std::time::Duration;
use testing::postgres::clusters;
use testing::relay::Relay;

#[tokio::test]
async fn a_query_gives_its_rows() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        assert!(session.server().starts_with("PostgreSQL "), "{}", session.server());
        let (batch, finished) = run(session.as_mut(), "select 1 as one, 'zwei' as two, null::int as three").await.unwrap();
        assert_eq!(batch.unwrap().num_rows(), 1);
        assert_eq!(finished.rows_affected, None);
        assert!(!finished.in_transaction);
        session.close().await;
    }
}

#[tokio::test]
async fn statements_that_are_no_query_give_rows_too() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        assert_eq!(value(session, "show server_encoding").await, "UTF8");
        assert_eq!(value(session, "values ('first'), ('second')").await, "first");
        assert!(value(session, "explain select 1").await.starts_with("Result"));
        assert!(value(session, "explain (analyze, format json) select 1").await.contains("Actual Total Time"));
        assert_eq!(value(session, "table pg_catalog.pg_database limit 0").await, "");
        let (batch, _) = run(session, "select from generate_series(1, 3)").await.unwrap();
        assert_eq!((batch.as_ref().unwrap().num_rows(), batch.unwrap().num_columns()), (3, 0));
    }
}

#[tokio::test]
async fn changes_tell_how_many_rows_and_are_there_for_others() {
    for cluster in clusters() {
        let (mut one, mut other) = (session(cluster).await, session(cluster).await);
        let (one, other) = (one.as_mut(), other.as_mut());
        let (batch, finished) = run(one, "create table changes (n int)").await.unwrap();
        assert!(batch.is_none());
        assert_eq!(finished.rows_affected, None);
        assert_eq!(run(one, "insert into changes select generate_series(1, 5)").await.unwrap().1.rows_affected, Some(5));
        let (batch, finished) = run(one, "update changes set n = n + 1 where n > 2 returning n").await.unwrap();
        assert_eq!((batch.unwrap().num_rows(), finished.rows_affected), (3, Some(3)));
        assert_eq!(run(one, "delete from changes where n = 2").await.unwrap().1.rows_affected, Some(1));
        assert_eq!(value(other, "select count(*) from changes").await, "4");
        let moved = "with gone as (delete from changes returning n) select n from gone";
        assert_eq!(run(one, moved).await.unwrap().0.unwrap().num_rows(), 4);
        assert_eq!(value(other, "select count(*) from changes").await, "0");
        assert_eq!(run(one, "create table changes_2 as select generate_series(1, 7) n").await.unwrap().1.rows_affected, Some(7));
        run(one, "drop table changes, changes_2").await.unwrap();
    }
}

#[tokio::test]
async fn commands_that_refuse_a_transaction_run() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        run(session, "vacuum pg_catalog.pg_description").await.unwrap();
        run(session, "create database from_sheaf").await.unwrap();
        assert_eq!(value(session, "select count(*) from pg_database where datname = 'from_sheaf'").await, "1");
        run(session, "drop database from_sheaf").await.unwrap();
        run(session, "create table concurrent (n int)").await.unwrap();
        run(session, "create index concurrently on concurrent (n)").await.unwrap();
        run(session, "drop table concurrent").await.unwrap();
    }
}

#[tokio::test]
async fn notices_come_in_order_with_their_words() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let text = "do $$ begin raise notice 'eins'; raise warning 'zwei' using hint = 'Rat'; raise notice 'drei'; end $$";
        let (batch, _) = run(session.as_mut(), text).await.unwrap();
        assert!(batch.is_none());
        let notices = session.take_notices();
        let said: Vec<(&str, &str)> = notices.iter().map(|notice| (notice.severity.as_str(), notice.message.as_str())).collect();
        assert_eq!(said, [("NOTICE", "eins"), ("WARNING", "zwei\nHINT: Rat"), ("NOTICE", "drei")]);
        run(session.as_mut(), "listen news").await.unwrap();
        run(session.as_mut(), "notify news, 'fresh'").await.unwrap();
        assert_eq!(value(session.as_mut(), "select 1").await, "1");
        assert_eq!(session.take_notices()[0].message, "news: fresh");
    }
}

#[tokio::test]
async fn an_error_points_at_its_byte_and_leaves_the_session_idle() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let text = "select 'Gößweinstein 🦀 村', nirgendwo from pg_class";
        let error = session.execute(text, PAGE).await.unwrap_err();
        assert_eq!(error.fate, Fate::Idle);
        assert_eq!(error.problem.code, ErrorCode::Rejected);
        assert_eq!(error.problem.sqlstate.as_deref(), Some("42703"));
        assert_eq!(error.problem.position.map(|at| &text[at as usize..at as usize + 9]), Some("nirgendwo"));
        assert_eq!(error.problem.message, "column \"nirgendwo\" does not exist");
        let error = run(session.as_mut(), "select relnam from pg_class").await.unwrap_err();
        assert!(error.problem.hint.unwrap().contains("relname"));
        let error = run(session.as_mut(), "select 1; select 2").await.unwrap_err();
        assert_eq!(error.problem.sqlstate.as_deref(), Some("42601"));
        let error = run(session.as_mut(), "select $1::int").await.unwrap_err();
        assert_eq!(error.fate, Fate::Idle);
        let error = run(session.as_mut(), "select 'a\0b'").await.unwrap_err();
        assert_eq!((error.fate, error.problem.code), (Fate::Idle, ErrorCode::Rejected));
        assert_eq!(value(session.as_mut(), "select 1").await, "1");
    }
}

#[tokio::test]
async fn an_error_after_the_first_page_and_one_at_the_commit_are_told() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        session.execute("select 1 / (1500 - n) from generate_series(1, 2000) n", PAGE).await.unwrap();
        assert!(session.fetch(PAGE).await.unwrap().more);
        let error = session.fetch(PAGE).await.unwrap_err();
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("22012")));
        let session = session.as_mut();
        run(session, "create table late (n int unique deferrable initially deferred)").await.unwrap();
        let error = run(session, "insert into late values (1), (1)").await.unwrap_err();
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("23505")));
        assert_eq!(value(session, "select count(*) from late").await, "0");
        run(session, "drop table late").await.unwrap();
    }
}

#[tokio::test]
async fn a_transaction_of_the_users_lasts_and_a_reset_undoes_it() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        assert!(run(session, "begin").await.unwrap().1.in_transaction);
        run(session, "create temporary table kept (n int)").await.unwrap();
        assert!(run(session, "select * from kept").await.unwrap().1.in_transaction);
        assert!(!run(session, "commit").await.unwrap().1.in_transaction);
        run(session, "set search_path = pg_catalog").await.unwrap();
        run(session, "begin").await.unwrap();
        run(session, "select 1/0").await.unwrap_err();
        let error = run(session, "select 1").await.unwrap_err();
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("25P02")));
        session.reset().await.unwrap();
        assert_eq!(value(session, "show search_path").await, "\"$user\", public");
        assert_eq!(run(session, "select * from kept").await.unwrap_err().problem.sqlstate.as_deref(), Some("42P01"));
    }
}

#[tokio::test]
async fn copy_is_refused_in_clear_words_and_leaves_the_session_idle() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        run(session, "create temporary table copied (n int)").await.unwrap();
        for text in ["copy copied from stdin", "copy (select generate_series(1, 3000000)) to stdout", "copy copied to stdout"] {
            let error = run(session, text).await.unwrap_err();
            assert_eq!((error.fate, error.problem.code, error.cancelled), (Fate::Idle, ErrorCode::Rejected, false), "{text}");
            assert!(error.problem.message.contains("COPY"), "{}", error.problem.message);
            assert_eq!(value(session, "select 1").await, "1");
        }
    }
}

#[tokio::test]
async fn a_read_only_connection_can_not_be_talked_into_writing() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop table if exists guarded; create table guarded (n int); alter table guarded owner to writer");
        let mut target = target(cluster.port, "writer");
        target.fields.read_only = true;
        let mut session = connect(&target).await.unwrap();
        let session = session.as_mut();
        let attempts = [
            "set transaction read write",
            "set default_transaction_read_only = off",
            "set session characteristics as transaction read write",
            "begin read write",
            "commit",
            "rollback",
            "do $$ begin set transaction read write; insert into guarded values (1); end $$",
            "insert into guarded values (1)",
            "with put as (insert into guarded values (1) returning n) select * from put",
            "truncate guarded",
            "vacuum guarded",
        ];
        for text in attempts {
            match run(session, text).await {
                Ok((_, finished)) => assert!(!finished.in_transaction, "{text}"),
                Err(error) => assert_eq!(error.fate, Fate::Idle, "{text}"),
            }
            let error = run(session, "insert into guarded values (2)").await.unwrap_err();
            assert_eq!(error.problem.sqlstate.as_deref(), Some("25006"), "after {text}");
        }
        assert_eq!(value(session, "select count(*) from guarded").await, "0");
        run(session, "set search_path = pg_catalog").await.unwrap();
        assert_eq!(value(session, "show search_path").await, "pg_catalog");
    }
}

#[tokio::test]
async fn what_a_read_only_transaction_takes_as_no_write_is_undone_and_that_is_told() {
    for cluster in clusters() {
        cluster.psql(
            "postgres",
            "drop table if exists firm; create table firm as select 1 as n; create index on firm (n); alter table firm owner to writer",
        );
        let mut target = target(cluster.port, "writer");
        target.fields.read_only = true;
        let mut session = connect(&target).await.unwrap();
        let session = session.as_mut();
        for (sql, told) in [("analyze firm", "ANALYZE"), ("reindex table firm", "REINDEX"), ("do $$ begin end $$", "DO")] {
            let finished = run(session, sql).await.unwrap().1;
            assert_eq!(finished.rows_affected, None, "{sql}");
            let notices: Vec<String> = session.take_notices().into_iter().map(|notice| notice.message).collect();
            assert_eq!(notices, [format!("This connection is read-only: whatever {told} changed was undone with its transaction.")]);
        }
        assert_eq!(cluster.psql("postgres", "select count(*) from pg_statistic where starelid = 'firm'::regclass"), "0\n");
        for sql in ["set search_path = pg_catalog", "listen firm", "prepare reading as select 1", "execute reading", "show search_path"] {
            run(session, sql).await.unwrap();
            assert!(session.take_notices().is_empty(), "{sql}");
        }
        assert_eq!(value(session, "select array_agg(c)::text from pg_listening_channels() c").await, "{firm}");
        let error = run(session, "prepare transaction 'left'").await.unwrap_err();
        assert!(error.problem.message.contains("PREPARE TRANSACTION is not sent"), "{}", error.problem.message);
        assert_eq!(cluster.psql("postgres", "select count(*) from pg_prepared_xacts"), "0\n");
    }
}

#[tokio::test]
async fn columns_tell_their_type_and_where_they_come_from() {
    for cluster in clusters() {
        cluster.psql(
            "postgres",
            "drop schema if exists named cascade; create schema named; set search_path = named;
             create type mood as enum ('froh', 'müde'); create domain positive as int check (value > 0);
             create table people (\"Größe\" numeric(12,2), m mood, ms mood[], p positive, name varchar(40), t timestamptz(3))",
        );
        let mut session = session(cluster).await;
        let text = "select *, count(*) over () as c, '{1}'::int4[] as a, interval '1' day as i, 'x'::char(3) as k from named.people";
        let described = |schema: arrow_schema::SchemaRef, key: &str| -> Vec<String> {
            schema.fields().iter().map(|field| field.metadata().get(key).cloned().unwrap_or_default()).collect()
        };
        let schema = session.execute(text, PAGE).await.unwrap().schema.unwrap();
        assert_eq!(
            described(schema, TYPE_KEY),
            [
                "numeric(12,2)",
                "named.mood",
                "named.mood[]",
                "int4",
                "varchar(40)",
                "timestamptz(3)",
                "int8",
                "int4[]",
                "interval day",
                "char(3)"
            ]
        );
        session.fetch(PAGE).await.unwrap();
        session.finish().await.unwrap();
        let schema = session.execute(text, PAGE).await.unwrap().schema.unwrap();
        assert_eq!(described(schema, ORIGIN_KEY)[..2], ["named.people.Größe", "named.people.m"]);
        assert_eq!(session.fetch(PAGE).await.unwrap().batch.schema().field(6).metadata().get(ORIGIN_KEY), None);
        session.finish().await.unwrap();
        let (batch, _) = run(session.as_mut(), "select 'froh'::named.mood as m, 1 as m").await.unwrap();
        let batch = batch.unwrap();
        assert_eq!(batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>(), ["m", "m"]);
        assert_eq!(cell(&batch, 0, 0), "froh");
    }
}

#[tokio::test]
async fn the_first_page_tells_origins_that_another_session_has_learnt_at_no_cost() {
    for cluster in clusters() {
        cluster
            .psql("postgres", "drop table if exists learnt, learnt_later; create table learnt (a int); create table learnt_later (b int)");
        // A target of its own: nothing else in this process has asked there.
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let target = target(relay.port, "postgres");
        let first_origin = async |session: &mut dyn Session, sql: &str| {
            relay.passed();
            let schema = session.execute(sql, PAGE).await.unwrap().schema.unwrap();
            session.fetch(PAGE).await.unwrap();
            assert_eq!(relay.passed().flights, 1, "{sql}");
            session.finish().await.unwrap();
            schema.field(0).metadata().get(ORIGIN_KEY).cloned()
        };
        let mut session = connect(&target).await.unwrap();
        assert_eq!(first_origin(session.as_mut(), "select a from learnt").await, None, "nobody has read the catalog");
        session.close().await;
        let mut session = connect(&target).await.unwrap();
        assert_eq!(first_origin(session.as_mut(), "select a from learnt").await.as_deref(), Some("public.learnt.a"));
        assert_eq!(first_origin(session.as_mut(), "select 1").await, None);
        session.close().await;
        let mut browsing = connect(&target).await.unwrap();
        relay.passed();
        browsing.catalog().await.unwrap();
        assert_eq!(relay.passed().flights, 1);
        let mut session = connect(&target).await.unwrap();
        assert_eq!(first_origin(session.as_mut(), "select b from learnt_later").await.as_deref(), Some("public.learnt_later.b"));
        run(session.as_mut(), "alter table learnt_later rename to learnt_anew").await.unwrap();
        first_origin(session.as_mut(), "select b from learnt_anew").await;
        assert_eq!(first_origin(browsing.as_mut(), "select b from learnt_anew").await.as_deref(), Some("public.learnt_anew.b"));
    }
}
