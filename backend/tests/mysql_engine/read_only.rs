//! A read-only connection: the server refuses what changes something.

use crate::setting::{connect, rows, run, session, target, value};
use backend::engine::Session;
use testing::mariadb::mariadb;

async fn read_only() -> Box<dyn Session> {
    let mut target = target(mariadb().port, "root");
    target.fields.read_only = true;
    connect(&target).await.unwrap()
}

#[tokio::test]
async fn what_writes_is_refused_by_the_server_and_what_reads_is_not() {
    run(session().await.as_mut(), "CREATE OR REPLACE TABLE kept AS SELECT 1 AS n").await.unwrap();
    let mut session = read_only().await;
    for sql in [
        "INSERT INTO kept VALUES (2)",
        "UPDATE kept SET n = 2",
        "DELETE FROM kept",
        "DROP TABLE kept",
        "CREATE TABLE kept_too (n INT)",
        "TRUNCATE kept",
        "ALTER TABLE kept ADD m INT",
        "/*!50000 INSERT INTO kept VALUES (2)*/",
    ] {
        run(session.as_mut(), sql).await.unwrap_err();
        assert_eq!(rows(session.as_mut(), "SELECT n FROM kept").await, [["1"]], "{sql}");
    }
    let error = run(session.as_mut(), "DELETE FROM kept").await.unwrap_err();
    assert_eq!(error.problem.detail.as_deref(), Some("ERROR 1792"), "the server's own refusal");
    let finished = run(session.as_mut(), "SELECT n FROM kept").await.unwrap().1;
    assert!(!finished.in_transaction);
}

#[tokio::test]
async fn no_statement_talks_itself_out_of_it() {
    run(session().await.as_mut(), "CREATE OR REPLACE TABLE firm AS SELECT 1 AS n").await.unwrap();
    run(
        session().await.as_mut(),
        "CREATE OR REPLACE PROCEDURE loosen() BEGIN COMMIT; SET SESSION TRANSACTION READ WRITE; INSERT INTO firm VALUES (3); END",
    )
    .await
    .unwrap();
    let mut session = read_only().await;
    for sql in [
        "SET SESSION TRANSACTION READ WRITE",
        "COMMIT",
        "START TRANSACTION READ WRITE",
        "BEGIN NOT ATOMIC COMMIT; SET SESSION TRANSACTION READ WRITE; INSERT INTO firm VALUES (2); END",
        "CALL loosen()",
        "EXECUTE IMMEDIATE 'CALL loosen()'",
        "SET STATEMENT max_statement_time = 9 FOR CALL loosen()",
        "/*!CALL loosen()*/",
        "INSERT INTO firm VALUES (4)",
    ] {
        let _ = run(session.as_mut(), sql).await;
        let _ = run(session.as_mut(), "INSERT INTO firm VALUES (5)").await;
        assert_eq!(rows(session.as_mut(), "SELECT n FROM firm").await, [["1"]], "{sql}");
    }
}

#[tokio::test]
async fn z33_a_function_with_an_effect_beside_tables_runs() {
    // Outside of what read-only means; docs/decisions/0007-mysql.md says so.
    assert_eq!(value(read_only().await.as_mut(), "SELECT GET_LOCK('z33', 1)").await, "1");
}
