//! What a statement may not reach: files, programs, the network, settings, the process.

use super::support::{Db, one, refusal, run};

#[tokio::test]
async fn statements_reach_the_opened_file_and_nothing_else() {
    let other = Db::file("other.csv", "secret\n1\n");
    let path = other.path().to_str().unwrap();
    let out = other.folder().join("out").to_str().unwrap().to_owned();
    let files = [Db::new(&["CREATE TABLE t AS SELECT 1 AS a"]), Db::file("t.csv", "a\n1\n")];
    for db in &files {
        let before = std::fs::read(db.path()).unwrap();
        let own = db.path().to_str().unwrap();
        let mut session = db.session().await;
        for sql in [
            "SELECT * FROM read_csv('/etc/passwd')".to_owned(),
            format!("SELECT * FROM '{path}'"),
            format!("SELECT * FROM read_text('{path}')"),
            format!("SELECT * FROM read_blob('{path}')"),
            format!("SELECT * FROM glob('{}/*')", other.folder().display()),
            format!("SELECT * FROM query('SELECT * FROM read_text(''{path}'')')"),
            format!("COPY t TO '{out}'"),
            format!("COPY (SELECT 1) TO '{own}' (USE_TMP_FILE false)"),
            format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{own}' (USE_TMP_FILE false)"),
            format!("PREPARE p AS COPY (SELECT 1) TO '{own}' (USE_TMP_FILE false)"),
            format!("EXPORT DATABASE '{out}'"),
            format!("ATTACH '{out}.duckdb'"),
            format!("ATTACH '{own}' AS again"),
            "INSTALL httpfs".to_owned(),
            "LOAD httpfs".to_owned(),
            format!("LOAD '{out}.duckdb_extension'"),
            "SELECT * FROM read_csv('https://127.0.0.1:1/a.csv')".to_owned(),
            "CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')".to_owned(),
            "SET memory_limit = '100GB'".to_owned(),
            "RESET memory_limit".to_owned(),
            "PRAGMA memory_limit = '100GB'".to_owned(),
            "SET enable_external_access = true".to_owned(),
            "SET allowed_configs = ['enable_external_access']".to_owned(),
            "SET lock_configuration = false".to_owned(),
            format!("SET temp_directory = '{out}'"),
            format!("SET profiling_output = '{out}'"),
        ] {
            refusal(&mut session, &sql).await;
            assert_eq!(one(&mut session, "SELECT a FROM t").await, [["1"]], "after {sql}");
        }
        drop(session);
        assert_eq!(std::fs::read(db.path()).unwrap(), before);
    }
    assert_eq!(std::fs::read_dir(other.folder()).unwrap().count(), 1);
}

#[tokio::test]
async fn what_stays_free_works() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    run(
        &mut session,
        &["CREATE SCHEMA s", "USE s", "CREATE TABLE t AS SELECT 1 AS a", "SET search_path = 'main'", "ATTACH ':memory:' AS m"],
    )
    .await;
    assert_eq!(one(&mut session, "SELECT a FROM s.t").await, [["1"]]);
    run(&mut session, &["SET TimeZone = 'Asia/Tokyo'", "DETACH m", "CHECKPOINT"]).await;
}

#[tokio::test]
async fn more_than_the_memory_goes_to_a_folder_that_is_taken_away() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    let folder = one(&mut session, "SELECT current_setting('temp_directory')").await[0][0].clone();
    assert!(folder.contains("sheaf-duckdb-"), "{folder}");
    session.close().await;
    assert!(!std::path::Path::new(&folder).exists());
}
