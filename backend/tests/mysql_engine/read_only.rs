//! A read-only connection: the server refuses what changes something.

use crate::setting::{connect, rows, run, session, target, value, with_password};
use backend::engine::{Fate, Session, Target};
use shared::problem::ErrorCode;
use testing::mariadb::{PASSWORD, mariadb};

async fn read_only() -> Box<dyn Session> {
    connect(&read_only_target("native_user")).await.unwrap()
}

/// Of a user with the password of all.
fn read_only_target(user: &str) -> Target {
    let mut target = with_password(target(mariadb().port, user), PASSWORD);
    target.fields.read_only = true;
    target
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
async fn z33_what_a_read_only_transaction_does_not_stop_needs_rights_that_are_refused() {
    let mut session = read_only().await;
    // Outside of what read-only means; docs/decisions/0007-mysql.md says so.
    assert_eq!(value(session.as_mut(), "SELECT GET_LOCK('z33', 1)").await, "1");
    let file = mariadb().folder.join("z33");
    mariadb().sql(&format!("SELECT 'of the server' INTO OUTFILE '{}'", file.display()));
    assert_eq!(value(session.as_mut(), &format!("SELECT LOAD_FILE('{}')", file.display())).await, "NULL");
    let error = run(session.as_mut(), &format!("SELECT 1 INTO OUTFILE '{}-too'", file.display())).await.unwrap_err();
    assert_eq!(error.problem.detail.as_deref(), Some("ERROR 1227"));
    assert!(!mariadb().folder.join("z33-too").exists());
}

#[tokio::test]
async fn a_read_only_connection_refuses_a_user_who_can_get_around_it() {
    let mut script = String::from("CREATE ROLE z33_files, z33_outer; GRANT FILE ON *.* TO z33_files; GRANT z33_files TO z33_outer;");
    for (user, granted) in [
        ("z33_one", "GRANT SELECT, FILE, SHUTDOWN ON *.* TO z33_one;"),
        ("z33_all", "GRANT ALL ON *.* TO z33_all;"),
        ("z33_super", "GRANT SUPER, PROCESS ON *.* TO z33_super;"),
        ("z33_role", "GRANT z33_outer TO z33_role; GRANT SELECT ON shop.* TO z33_role;"),
        ("z33_good", "GRANT ALL ON shop.* TO z33_good WITH GRANT OPTION; GRANT SELECT, RELOAD ON *.* TO z33_good;"),
    ] {
        script.push_str(&format!("CREATE USER {user} IDENTIFIED BY '{PASSWORD}'; {granted}"));
    }
    mariadb().sql(&script);
    for (user, rights) in
        [("z33_one", "FILE, SHUTDOWN"), ("z33_all", "ALL PRIVILEGES"), ("z33_super", "SUPER, PROCESS"), ("z33_role", "FILE")]
    {
        let mut target = read_only_target(user);
        target.fields.database = None;
        let error = connect(&target).await.err().unwrap_or_else(|| panic!("{user} got in"));
        assert_eq!((error.fate, error.problem.code), (Fate::NotSent, ErrorCode::ReadOnlyRefused));
        let rights: Vec<&str> = rights.split(", ").collect();
        assert!(rights.iter().all(|right| error.problem.message.contains(right)), "{}", error.problem.message);
        assert!(error.problem.message.starts_with("A read-only connection needs a user who can't get around it, and this one has "));
        target.fields.read_only = false;
        assert!(connect(&target).await.is_ok(), "{user} may still write");
    }
    connect(&read_only_target("z33_good")).await.unwrap();
}
