//! Behind PgBouncer in transaction mode: no session is parked, and each statement gives its server back.

use crate::setting::{PAGE, connect, run, target, value};
use testing::pgbouncer::PgBouncer;
use testing::postgres::clusters;

#[tokio::test]
async fn e16_a_pooler_serves_text_of_any_kind() {
    for cluster in clusters() {
        let pooler = PgBouncer::start(cluster, 1);
        let mut session = connect(&target(pooler.port, "postgres")).await.unwrap();
        assert_eq!(value(session.as_mut(), "select 'é'").await, "é");
        assert_eq!(value(session.as_mut(), "show client_encoding").await, "UTF8");
        if cluster.is_since(14) {
            session.reset().await.unwrap();
            let theirs = value(session.as_mut(), "show client_connection_check_interval").await;
            assert_eq!(theirs, "0", "the process is lent to others too, and keeps nothing of ours");
        }
    }
}

#[tokio::test]
async fn two_sessions_share_one_server_with_their_results_half_read() {
    for cluster in clusters() {
        let pooler = PgBouncer::start(cluster, 1);
        let mut one = connect(&target(pooler.port, "postgres")).await.unwrap();
        let mut other = connect(&target(pooler.port, "postgres")).await.unwrap();
        one.execute("select n, 'x' from generate_series(1, 20000) n", PAGE).await.unwrap();
        let first = one.fetch(PAGE).await.unwrap();
        assert_eq!((first.batch.num_rows(), first.more), (1_000, true));
        assert_eq!(value(other.as_mut(), "select 'not kept waiting'").await, "not kept waiting");
        let mut rows = 1_000;
        loop {
            let next = one.fetch(PAGE).await.unwrap();
            rows += next.batch.num_rows();
            if !next.more {
                break;
            }
        }
        assert_eq!(rows, 20_000);
        one.finish().await.unwrap();
        // More than is read on: given up by a cancel through the pooler.
        one.execute("select n, repeat('x', 100) from generate_series(1, 2000000) n", PAGE).await.unwrap();
        assert!(one.fetch(PAGE).await.unwrap().more);
        one.finish().await.unwrap();
        assert_eq!(value(other.as_mut(), "select 1").await, "1");
        assert_eq!(value(one.as_mut(), "select 2").await, "2");
        one.catalog().await.unwrap();
    }
}

#[tokio::test]
async fn errors_transactions_and_read_only_connections_work_behind_a_pooler() {
    for cluster in clusters() {
        let pooler = PgBouncer::start(cluster, 2);
        let mut session = connect(&target(pooler.port, "postgres")).await.unwrap();
        let session = session.as_mut();
        assert_eq!(run(session, "select 1 / 0").await.unwrap_err().problem.sqlstate.as_deref(), Some("22012"));
        assert!(run(session, "begin").await.unwrap().1.in_transaction);
        run(session, "create temporary table pooled as select generate_series(1, 3000) n").await.unwrap();
        session.execute("select n from pooled", PAGE).await.unwrap();
        assert!(session.fetch(PAGE).await.unwrap().more);
        assert!(session.finish().await.unwrap().in_transaction);
        assert_eq!(value(session, "select count(*) from pooled").await, "3000");
        assert!(!run(session, "rollback").await.unwrap().1.in_transaction);
        assert!(run(session, "copy (select 1) to stdout").await.unwrap_err().problem.message.contains("COPY"));
        assert_eq!(run(session, "create table pooled_made as select 1 as n").await.unwrap().1.rows_affected, Some(1));
        run(session, "drop table pooled_made").await.unwrap();
        let mut guarded = target(pooler.port, "writer");
        guarded.fields.read_only = true;
        let mut guarded = connect(&guarded).await.unwrap();
        for _ in 0..2 {
            let error = run(guarded.as_mut(), "create table never (n int)").await.unwrap_err();
            assert_eq!(error.problem.sqlstate.as_deref(), Some("25006"));
            assert_eq!(value(guarded.as_mut(), "select 3").await, "3");
        }
    }
}
