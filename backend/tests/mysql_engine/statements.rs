//! What becomes of every kind of statement: as the server's own client has it, the text untouched.

use crate::setting::{PAGE, connect, rows, run, session, target, texts, value};
use backend::engine::{Fate, Started};
use testing::mariadb::mariadb;

#[tokio::test]
async fn an_error_has_its_number_its_state_and_its_place_and_the_session_stands() {
    let mut session = session().await;
    let error = run(session.as_mut(), "SELECT *\nFORM counted").await.unwrap_err();
    assert_eq!(
        (error.fate, error.problem.sqlstate.as_deref(), error.problem.detail.as_deref()),
        (Fate::Idle, Some("42000"), Some("ERROR 1064"))
    );
    assert_eq!(error.problem.position, Some(9));
    let error = run(session.as_mut(), "SELECT * FROM nothing_here").await.unwrap_err();
    assert_eq!((error.problem.sqlstate.as_deref(), error.cancelled), (Some("42S02"), false));
    assert!(run(session.as_mut(), "SELECT 1; SELECT 2").await.is_err(), "one statement at a time");
    assert_eq!(value(session.as_mut(), "SELECT 1").await, "1");
}

#[tokio::test]
async fn an_error_in_the_middle_of_rows_comes_after_them() {
    let mut session = session().await;
    let sql = "SELECT seq, IF(seq = 1500, (SELECT 1 UNION SELECT 2), 1) FROM shop.numbers_to_3000 ORDER BY seq";
    run(session.as_mut(), "SET max_recursive_iterations = 10000").await.unwrap();
    run(session.as_mut(), "CREATE OR REPLACE TABLE numbers_to_3000 (seq INT PRIMARY KEY)").await.unwrap();
    run(
        session.as_mut(),
        "INSERT INTO numbers_to_3000 WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n",
    )
    .await
    .unwrap();
    session.execute(sql, PAGE).await.unwrap();
    assert_eq!(session.fetch(PAGE).await.unwrap().batch.num_rows(), 1_000);
    let error = session.fetch(PAGE).await.unwrap_err();
    assert_eq!((error.fate, error.problem.detail.as_deref()), (Fate::Idle, Some("ERROR 1242")));
    assert_eq!(value(session.as_mut(), "SELECT 1").await, "1");
}

#[tokio::test]
async fn warnings_and_the_servers_words_are_notices() {
    let mut session = session().await;
    run(session.as_mut(), "SELECT CAST('12x' AS SIGNED)").await.unwrap();
    let notices = session.take_notices();
    assert_eq!((notices.len(), notices[0].severity.as_str()), (1, "WARNING"));
    assert!(notices[0].message.contains("12x") && notices[0].message.ends_with("(1292)"), "{notices:?}");
    run(session.as_mut(), "DROP TABLE IF EXISTS nothing_here").await.unwrap();
    assert_eq!(session.take_notices()[0].severity, "NOTE");
    run(session.as_mut(), "CREATE OR REPLACE TABLE told (n INT)").await.unwrap();
    run(session.as_mut(), "INSERT INTO told VALUES (1),(2)").await.unwrap();
    assert_eq!(session.take_notices()[0].message, "Records: 2  Duplicates: 0  Warnings: 0");
}

#[tokio::test]
async fn s21_a_comment_at_the_end_hides_nothing_and_limits_nothing() {
    let mut session = session().await;
    run(
        session.as_mut(),
        "CREATE OR REPLACE TABLE s21 AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n",
    )
    .await
    .unwrap();
    let mut count = async |sql: &str| {
        session.execute(sql, PAGE).await.unwrap();
        let fetched = session.fetch(PAGE).await.unwrap();
        session.finish().await.unwrap();
        (fetched.batch.num_rows(), fetched.more)
    };
    assert_eq!(count("SELECT a.* FROM s21 a, s21 b -- all of it").await, (1_000, true));
    assert_eq!(count("SELECT a.* FROM s21 a, s21 b LIMIT 7 # all of it").await, (7, false));
    assert_eq!(count("SELECT a.* FROM s21 a, s21 b LIMIT 1500").await, (1_000, true));
}

#[tokio::test]
async fn s23_a_locking_clause_stays_the_last_word_and_locks_every_row() {
    let mut session = session().await;
    run(session.as_mut(), "CREATE OR REPLACE TABLE s23 (i INT PRIMARY KEY) AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i FROM n")
        .await
        .unwrap();
    run(session.as_mut(), "START TRANSACTION").await.unwrap();
    assert_eq!(rows(session.as_mut(), "SELECT * FROM s23 FOR UPDATE").await.len(), 50);
    let mut other = crate::setting::session().await;
    let error = run(other.as_mut(), "SELECT * FROM s23 WHERE i = 50 FOR UPDATE NOWAIT").await.unwrap_err();
    assert_eq!(error.problem.detail.as_deref(), Some("ERROR 1205"));
    run(session.as_mut(), "ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn a_call_with_several_results_gives_each_and_runs_to_its_end_without_a_reader() {
    let mut session = session().await;
    let body = "CREATE OR REPLACE PROCEDURE several() BEGIN SELECT 1 AS a; SELECT 2 AS b, 'x' AS c; CREATE OR REPLACE TABLE several_done (n INT); INSERT INTO several_done VALUES (1),(2); SELECT 3 AS d; END";
    run(session.as_mut(), body).await.unwrap();
    session.take_notices();
    let mut started = Some(session.execute("CALL several()", PAGE).await.unwrap());
    let mut seen = Vec::new();
    while let Some(Started { schema: Some(schema) }) = started {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        seen.push((names.join(","), texts(&session.fetch(PAGE).await.unwrap().batch).concat().join(",")));
        assert!(session.has_further());
        started = session.next_result().await.unwrap();
    }
    assert!(!session.has_further());
    session.finish().await.unwrap();
    assert_eq!(seen, [("a", "1"), ("b,c", "2,x"), ("d", "3")].map(|(names, cells)| (names.to_owned(), cells.to_owned())));
    run(session.as_mut(), "DROP TABLE several_done").await.unwrap();

    assert_eq!(rows(session.as_mut(), "CALL several()").await, [["1"]], "the others are not wanted");
    assert_eq!(value(session.as_mut(), "SELECT COUNT(*) FROM several_done").await, "2", "it ran to its end");
    session.execute("CALL several()", PAGE).await.unwrap();
    session.fetch(PAGE).await.unwrap();
    session.next_result().await.unwrap().unwrap();
    session.finish().await.unwrap();
    assert_eq!(value(session.as_mut(), "SELECT 'clean'").await, "clean", "given up in the second");
    run(session.as_mut(), "CREATE OR REPLACE PROCEDURE silent() BEGIN DO 1; END").await.unwrap();
    assert!(run(session.as_mut(), "CALL silent()").await.unwrap().0.is_none());
}

#[tokio::test]
async fn returning_into_outfile_and_show_are_the_servers_own() {
    let mut session = session().await;
    run(session.as_mut(), "CREATE OR REPLACE TABLE own (n INT AUTO_INCREMENT PRIMARY KEY, t TEXT)").await.unwrap();
    assert_eq!(rows(session.as_mut(), "INSERT INTO own(t) VALUES ('a'),('b') RETURNING n, t").await, [["1", "a"], ["2", "b"]]);
    let file = mariadb().folder.join(format!("out-{}", std::process::id()));
    run(session.as_mut(), "SET max_recursive_iterations = 10000").await.unwrap();
    let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n";
    let sql = format!("SELECT * INTO OUTFILE '{}' FROM ({many}) AS m", file.display());
    let (batch, finished) = run(session.as_mut(), &sql).await.unwrap();
    assert!(batch.is_none());
    assert_eq!((finished.rows_affected, std::fs::read_to_string(&file).unwrap().lines().count()), (Some(3_000), 3_000));
    assert_eq!(rows(session.as_mut(), "SHOW TABLES LIKE 'own'").await, [["own"]]);
    assert!(!rows(session.as_mut(), "EXPLAIN SELECT * FROM own").await.is_empty());
}

#[tokio::test]
async fn a_returning_that_is_given_up_has_its_whole_effect() {
    let mut session = session().await;
    run(session.as_mut(), "CREATE OR REPLACE TABLE whole (n INT)").await.unwrap();
    let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n";
    run(session.as_mut(), "SET max_recursive_iterations = 10000").await.unwrap();
    session.execute(&format!("INSERT INTO whole {many} RETURNING n"), PAGE).await.unwrap();
    assert!(session.fetch(PAGE).await.unwrap().more);
    session.finish().await.unwrap();
    assert_eq!(value(session.as_mut(), "SELECT COUNT(*) FROM whole").await, "5000");
}

#[tokio::test]
async fn a_session_is_kept_between_statements_and_forgotten_at_a_reset() {
    let mut session = session().await;
    for sql in
        ["CREATE TEMPORARY TABLE mine (n INT)", "SET @x = 7", "SET SESSION sql_mode = 'ANSI_QUOTES'", "USE mysql", "START TRANSACTION"]
    {
        run(session.as_mut(), sql).await.unwrap();
    }
    assert_eq!(rows(session.as_mut(), "SELECT @x, (SELECT COUNT(*) FROM shop.mine), DATABASE()").await, [["7", "0", "mysql"]]);
    session.reset().await.unwrap();
    assert_eq!(
        rows(session.as_mut(), "SELECT @x, DATABASE(), @@sql_mode LIKE '%ANSI%', @@in_transaction").await,
        [["NULL", "shop", "0", "0"]]
    );
    assert!(run(session.as_mut(), "SELECT * FROM mine").await.is_err());
    assert_eq!(rows(session.as_mut(), "SELECT @@net_write_timeout, @@character_set_results").await, [["86400", "utf8mb4"]]);
}

#[tokio::test]
async fn a_session_without_a_database_is_not_handed_on_in_one() {
    let mut target = target(mariadb().port, "root");
    target.fields.database = None;
    let mut session = connect(&target).await.unwrap();
    session.reset().await.unwrap();
    assert_eq!(value(session.as_mut(), "SELECT DATABASE()").await, "NULL");
    run(session.as_mut(), "USE shop").await.unwrap();
    assert!(session.reset().await.is_err());
}
