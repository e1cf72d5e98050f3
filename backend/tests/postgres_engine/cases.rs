//! Public reports about other clients (their ids begin the names): what went wrong there is right here.

use crate::setting::{PAGE, cell, connect, run, session, target, value};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use backend::engine::{Fate, Session};
use shared::page::TYPE_KEY;
use shared::sql::dialects::dialect;
use shared::sql::splitter::split;
use shared::wire::connection::EngineKind;
use testing::postgres::{Cluster, clusters};

async fn rows(session: &mut dyn Session, sql: &str) -> RecordBatch {
    run(session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).0.unwrap()
}

/// The first row's cells.
async fn first(session: &mut dyn Session, sql: &str) -> Vec<String> {
    let batch = rows(session, sql).await;
    (0..batch.num_columns()).map(|column| cell(&batch, 0, column)).collect()
}

/// A session in a database of its own, made anew.
async fn in_database(cluster: &Cluster, name: &str, options: &str, user: &str, set_up: &str) -> Box<dyn Session> {
    cluster.psql("postgres", &format!("drop database if exists {name}"));
    cluster.psql("postgres", &format!("create database {name} {options}"));
    cluster.psql(name, set_up);
    let mut target = target(cluster.port, user);
    target.fields.database = Some(name.to_owned());
    connect(&target).await.unwrap()
}

/// Each statement's first row, as it must be shown.
const SHOWN: &[(&str, &str, &[&str])] = &[
    (
        "f03",
        "select '12345678901234567890123'::text as a, '00012'::text as b, '1e5'::text as c",
        &["12345678901234567890123", "00012", "1e5"],
    ),
    ("f05", "select (-3297260625658750771)::bigint", &["-3297260625658750771"]),
    ("f08", "select 'NaN'::real as r, 'NaN'::numeric as n, 'intact'", &["NaN", "NaN", "intact"]),
    (
        "f09",
        "select 'Infinity'::float8 as a, '-Infinity'::float8 as b, 'NaN'::float8 as c, array[2.5,'NaN',-1,'Infinity']::float8[] as d",
        &["Infinity", "-Infinity", "NaN", "{2.5,NaN,-1,Infinity}"],
    ),
    ("f10", "select 'Infinity'::real as r", &["Infinity"]),
    ("f19", "select array['2024-07-01 12:00:00.123456'::timestamp] as a", &["{\"2024-07-01 12:00:00.123456\"}"]),
    ("f21", "select interval '3 years 5 mons 12 days 07:08:09.25' as i", &["3 years 5 mons 12 days 07:08:09.25"]),
    ("f36", "select '{\"b\":1, \"a\" : 10.00,\"a\":2}'::json as j", &["{\"b\":1, \"a\" : 10.00,\"a\":2}"]),
    ("f38", "select '[]'::jsonb as a, json_build_array() as b, '{}'::jsonb as c", &["[]", "[]", "{}"]),
    ("f39", "select '{\"k\":7,\"gone\":null}'::jsonb as j", &["{\"k\": 7, \"gone\": null}"]),
    ("f41", "select 'empty'::int4range as e", &["empty"]),
    ("z34", "select 'please update me' as s", &["please update me"]),
];

#[tokio::test]
async fn f03_f05_f08_f09_f10_f19_f21_f36_f38_f39_f41_z34_values_are_shown_as_they_are() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        for (id, sql, expected) in SHOWN {
            assert_eq!(first(session.as_mut(), sql).await, *expected, "{id}");
        }
        if cluster.is_since(14) {
            assert_eq!(first(session.as_mut(), "select '{[1,3),[5,9)}'::int4multirange").await, ["{[1,3),[5,9)}"], "f41");
        }
    }
}

#[tokio::test]
async fn f11_f17_f40_f45_f55_one_odd_value_spoils_no_other() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        let batch = rows(session, "select n from (values ('NaN'::numeric), (1.5)) as q (n)").await;
        assert_eq!([cell(&batch, 0, 0), cell(&batch, 1, 0)], ["NaN", "1.5"]);
        let batch = rows(session, "select '0003-05-01 12:00:00.000001 BC'::timestamp as t union all select '2024-01-01'").await;
        assert_eq!([cell(&batch, 0, 0), cell(&batch, 1, 0)], ["0003-05-01 12:00:00.000001 BC", "2024-01-01 00:00:00"]);
        run(session, "drop type if exists f40").await.unwrap();
        run(session, "create type f40 as (x int, label text)").await.unwrap();
        assert_eq!(first(session, "select row(1, 'a \"q\", b')::f40 as c").await, ["(1,\"a \"\"q\"\", b\")"]);
        assert!(rows(session, "select cast(null as timestamp) as t").await.column(0).is_null(0));
        assert_eq!(first(session, "select 1 as id, 0.4::real as r").await, ["1", "0.4"]);
    }
}

#[tokio::test]
async fn f18_timestamptz_shows_the_session_zone() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        run(session.as_mut(), "set time zone 'Asia/Kolkata'").await.unwrap();
        assert_eq!(first(session.as_mut(), "select '2024-01-01 00:00:00+00'::timestamptz as z").await, ["2024-01-01 05:30:00+05:30"]);
    }
}

#[tokio::test]
async fn f52_half_a_letter_aborts_nothing() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let shown = first(session.as_mut(), "select 'é'::\"char\" as c, 1 as ok").await;
        assert!([r"\303", r"\xc3"].contains(&shown[0].as_str()) && shown[1] == "1", "{shown:?}");
    }
}

const RAW: &str = "encoding 'SQL_ASCII' template template0 lc_collate 'C' lc_ctype 'C'";

#[tokio::test]
async fn f53_b06_bytes_that_are_no_utf8_harm_no_other_row_and_no_other_table() {
    for cluster in clusters() {
        let set_up = "create table a (n int, t text); insert into a values (1, 'plain'), (2, E'caf\\xe9');
                      create table b (n int); comment on table a is E'caf\\xe9'";
        let mut session = in_database(cluster, "f53", RAW, "postgres", set_up).await;
        let batch = rows(session.as_mut(), "select t from a order by n").await;
        assert_eq!([cell(&batch, 0, 0), cell(&batch, 1, 0)], ["plain", r"caf\xe9"]);
        let catalog = session.catalog().await.unwrap();
        let public = catalog.schemas.iter().find(|schema| schema.name == "public").unwrap();
        let listed: Vec<_> = public.relations.iter().map(|relation| (relation.name.as_str(), relation.comment.as_deref())).collect();
        assert_eq!(listed, [("a", Some(r"caf\xe9")), ("b", None)]);
        session.close().await;
    }
}

#[tokio::test]
async fn f54_an_error_of_a_single_byte_database_is_the_servers_own() {
    for cluster in clusters() {
        let options = "encoding 'WIN1252' template template0 lc_collate 'C' lc_ctype 'C'";
        let mut session = in_database(cluster, "f54", options, "postgres", "").await;
        let error = run(session.as_mut(), "select 1 from missing_tbl where 'ç' = 'ç'").await.unwrap_err();
        assert_eq!(error.problem.message, "relation \"missing_tbl\" does not exist");
        assert_eq!((error.problem.sqlstate.as_deref(), error.problem.position), (Some("42P01"), Some(14)));
        session.close().await;
    }
}

#[tokio::test]
async fn b04_without_the_catalog_the_statements_work_and_the_tree_says_denied() {
    for cluster in clusters() {
        let set_up = "create table hidden as select 7 as n; create view b04_view as select n from hidden;
             grant select on b04_view to writer;
             revoke select on pg_class, pg_attribute, pg_namespace, pg_type, pg_proc from public;";
        let mut session = in_database(cluster, "b04", "", "writer", set_up).await;
        assert_eq!(value(session.as_mut(), "select n from b04_view").await, "7");
        let error = session.catalog().await.unwrap_err();
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("42501")));
        assert_eq!(value(session.as_mut(), "select n from b04_view").await, "7");
        session.close().await;
    }
}

#[tokio::test]
async fn b05_a_schema_that_may_not_be_used_takes_nothing_else_with_it() {
    for cluster in clusters() {
        let set_up =
            "create schema closed; create table closed.t (n int); create table public.t (n int); grant select on public.t to writer";
        let mut session = in_database(cluster, "b05", "", "writer", set_up).await;
        let catalog = session.catalog().await.unwrap();
        for (name, denied) in [("closed", true), ("public", false), ("pg_catalog", false)] {
            let found = catalog.schemas.iter().find(|schema| schema.name == name).expect(name);
            assert_eq!(found.denied, denied, "{name}");
        }
        let error = run(session.as_mut(), "select * from closed.t").await.unwrap_err();
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("42501")));
        assert_eq!(value(session.as_mut(), "select count(*) from public.t").await, "0");
        session.close().await;
    }
}

#[tokio::test]
async fn e04_notices_before_an_exception_are_kept_in_order() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let text = "do $$ begin raise notice 'step %', 1; raise notice 'step %', 2; raise exception 'boom'; end $$";
        let error = run(session.as_mut(), text).await.unwrap_err();
        assert_eq!((error.problem.message.as_str(), error.problem.sqlstate.as_deref()), ("boom", Some("P0001")));
        let said: Vec<_> = session.take_notices().into_iter().map(|notice| format!("{} {}", notice.severity, notice.message)).collect();
        assert_eq!(said, ["NOTICE step 1", "NOTICE step 2"]);
    }
}

#[tokio::test]
async fn e08_e09_reading_leaves_no_transaction_open() {
    for cluster in clusters() {
        for read_only in [false, true] {
            let mut target = target(cluster.port, "writer");
            target.fields.read_only = read_only;
            let mut session = connect(&target).await.unwrap();
            let pid = value(session.as_mut(), "select pg_backend_pid()").await;
            session.catalog().await.unwrap();
            assert!(!run(session.as_mut(), "select 1").await.unwrap().1.in_transaction);
            assert_eq!(cluster.psql("postgres", &format!("select state from pg_stat_activity where pid = {pid}")), "idle\n");
            session.close().await;
        }
        let mut session = session(cluster).await;
        assert!(run(session.as_mut(), "begin").await.unwrap().1.in_transaction);
        session.catalog().await.unwrap();
        assert!(run(session.as_mut(), "select 1").await.unwrap().1.in_transaction);
        assert!(!run(session.as_mut(), "commit").await.unwrap().1.in_transaction);
    }
}

#[tokio::test]
async fn e11_a_temporary_table_of_a_transaction_is_seen_by_its_next_statement() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        for text in ["begin", "create temp table tx on commit drop as select 5 as v"] {
            run(session.as_mut(), text).await.unwrap();
        }
        assert_eq!(value(session.as_mut(), "select v from tx").await, "5");
        run(session.as_mut(), "commit").await.unwrap();
    }
}

#[tokio::test]
async fn e17_pages_neither_repeat_nor_skip_a_row() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        run(session, "create temporary table pg as select i % 3 as a, i as b from generate_series(1, 30000) i").await.unwrap();
        for (text, begin) in [("select a, b from pg order by a", false), ("select a, b from pg order by a", true)] {
            if begin {
                run(session, "begin").await.unwrap();
            }
            session.execute(text, PAGE).await.unwrap();
            let mut seen = std::collections::HashSet::new();
            loop {
                let page = session.fetch(PAGE).await.unwrap();
                for row in 0..page.batch.num_rows() {
                    assert!(seen.insert(cell(&page.batch, row, 1)));
                }
                if !page.more {
                    break;
                }
            }
            assert_eq!(seen.len(), 30_000);
            session.finish().await.unwrap();
        }
        run(session, "rollback").await.unwrap();
    }
}

#[tokio::test]
async fn s22_a_changing_statement_with_a_cte_is_sent_as_it_is() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let session = session.as_mut();
        run(session, "create temporary table t as select 1 as id, 0 as v").await.unwrap();
        let (batch, finished) =
            run(session, "with src as (select 1 as a) update t set v = src.a from src where t.id = src.a;").await.unwrap();
        assert!(batch.is_none());
        assert_eq!(finished.rows_affected, Some(1));
        assert_eq!(value(session, "select v from t").await, "1");
    }
}

#[tokio::test]
async fn z27_names_and_comments_are_data() {
    for cluster in clusters() {
        let name = "x'); CREATE ROLE evil SUPERUSER; --";
        let set_up = format!("create table \"{name}\" (id int); comment on table \"{name}\" is 'it''s'; insert into \"{name}\" values (1)");
        let mut session = in_database(cluster, "z27", "", "postgres", &set_up).await;
        let catalog = session.catalog().await.unwrap();
        let public = catalog.schemas.iter().find(|schema| schema.name == "public").unwrap();
        assert_eq!((public.relations[0].name.as_str(), public.relations[0].comment.as_deref()), (name, Some("it's")));
        let written = dialect(EngineKind::Postgres).write_name(name);
        assert_eq!(value(session.as_mut(), &format!("select id from {written}")).await, "1");
        assert_eq!(value(session.as_mut(), "select count(*) from pg_roles where rolname = 'evil'").await, "0");
        session.close().await;
    }
}

#[test]
fn z28_no_two_names_are_written_alike() {
    let postgres = dialect(EngineKind::Postgres);
    assert_eq!(postgres.write_name("a"), "a");
    assert_eq!(postgres.write_name("\"a\""), "\"\"\"a\"\"\"");
    assert_eq!(postgres.write_name("\""), "\"\"\"\"");
    let names = ["a", "A", "\"a\"", "\"", "\"\"", "'", "`a`", "[a]", "a.b", "", " a"];
    let written: std::collections::HashSet<String> = names.iter().map(|name| postgres.write_name(name)).collect();
    assert_eq!(written.len(), names.len());
}

/// A read-only session of somebody who may write, with a table of his.
async fn guarded(cluster: &Cluster, table: &str) -> Box<dyn Session> {
    cluster.psql("postgres", &format!("drop table if exists {table}; create table {table} (n int); alter table {table} owner to writer"));
    let mut target = target(cluster.port, "writer");
    target.fields.read_only = true;
    connect(&target).await.unwrap()
}

#[tokio::test]
async fn z30_a_write_inside_a_cte_is_refused_by_the_server() {
    for cluster in clusters() {
        let mut session = guarded(cluster, "z30").await;
        for text in [
            "with w as (insert into z30 values (9) returning 1) select * from w",
            "explain analyze insert into z30 values (9)",
            "select count(*) from z30 for update",
            "create temporary table t as select 1 as n",
        ] {
            match run(session.as_mut(), text).await {
                Err(error) => assert!(["25006", "0A000"].contains(&error.problem.sqlstate.as_deref().unwrap()), "{text}: {error:?}"),
                Ok(_) => assert!(text.contains("temporary"), "{text}"),
            }
        }
        assert_eq!(value(session.as_mut(), "select count(*) from z30").await, "0");
    }
}

#[tokio::test]
async fn z32_a_commit_behind_a_backslash_is_seen_and_never_sent_along() {
    let text = r"SELECT 'a\'; COMMIT; DROP TABLE z32; --';";
    let parts = split(text, EngineKind::Postgres);
    assert_eq!(parts.len(), 3);
    for cluster in clusters() {
        let mut session = guarded(cluster, "z32").await;
        let error = run(session.as_mut(), text).await.unwrap_err();
        assert_eq!((error.fate, error.problem.sqlstate.as_deref()), (Fate::Idle, Some("42601")), "one text is one statement");
        assert_eq!(value(session.as_mut(), &text[parts[0].clone()]).await, r"a\");
        run(session.as_mut(), &text[parts[1].clone()]).await.unwrap();
        let error = run(session.as_mut(), &text[parts[2].clone()]).await.unwrap_err();
        assert_eq!(error.problem.sqlstate.as_deref(), Some("25006"));
    }
}

/// A type of that name whose text is kept as it is written, as that of PostGIS is in hexadecimal.
const GEOMETRY: &str = "create schema spatial; set search_path = spatial; create type geometry;
    create function geometry_in(cstring) returns geometry language internal immutable strict as 'textin';
    create function geometry_out(geometry) returns cstring language internal immutable strict as 'textout';
    create type geometry (input = geometry_in, output = geometry_out, like = text);";

#[tokio::test]
async fn f50_f51_a_geometry_is_the_servers_own_text_whatever_came_before_it() {
    for cluster in clusters() {
        cluster.psql("postgres", GEOMETRY);
        let mut session = session(cluster).await;
        let in_space = "01010000A0E6100000000000000000F03F00000000000000400000000000000840";
        let plain = "0101000020E6100000000000000000F03F0000000000000040";
        let other_system = "01010000208A1100000000000000E059400000000000803E40";
        for text in [in_space, plain, other_system, plain] {
            let batch = rows(session.as_mut(), &format!("select '{text}'::spatial.geometry as g")).await;
            assert_eq!(batch.schema_ref().field(0).metadata()[TYPE_KEY], "spatial.geometry");
            assert_eq!(cell(&batch, 0, 0), text);
        }
    }
}

#[tokio::test]
async fn z33_what_a_read_only_transaction_does_not_stop_needs_a_role_that_is_refused() {
    for cluster in clusters() {
        let mut session = guarded(cluster, "z33").await;
        run(session.as_mut(), "select pg_advisory_lock(33), pg_advisory_unlock(33)").await.unwrap();
        let error = run(session.as_mut(), "select pg_read_file('/etc/hostname')").await.unwrap_err();
        assert_eq!(error.problem.sqlstate.as_deref(), Some("42501"));
        let error = run(session.as_mut(), "copy z33 to program 'true'").await.unwrap_err();
        assert_eq!(error.problem.sqlstate.as_deref(), Some("42501"));
    }
}

#[tokio::test]
async fn a_notification_is_a_notice_and_columns_may_share_a_name() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        run(session.as_mut(), "listen sheaf_news").await.unwrap();
        run(session.as_mut(), "notify sheaf_news, 'for you'").await.unwrap();
        run(session.as_mut(), "select 1").await.unwrap();
        let said: Vec<_> = session.take_notices().into_iter().map(|notice| (notice.severity, notice.message)).collect();
        assert_eq!(said, [("NOTIFICATION".to_owned(), "sheaf_news: for you".to_owned())]);
        let batch = rows(session.as_mut(), "select 1 as a, 2 as a, 3, 4, 'five' as \" \"").await;
        let names: Vec<_> = batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["a", "a", "?column?", "?column?", " "]);
        assert_eq!(*batch.column(0).data_type(), DataType::Int32);
    }
}
