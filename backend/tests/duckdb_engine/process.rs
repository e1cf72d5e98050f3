//! DuckDB's process: its end ends its sessions and nothing else, and it may do little.

use super::support::{Db, PAGE, bound, one, refusal, run};
use backend::engine::Fate;
use shared::problem::ErrorCode;
use std::fs::{read_dir, read_link, read_to_string};
use testing::processes;

/// Hides its word from everything that reads the text. From then on DuckDB refuses every statement, and its process ends in a fault.
const FATAL: &str = "SELECT * FROM query('FROM enable_' || 'logging(''QueryLog'', storage = ''file'', storage_path = ''/nowhere/log'')')";
/// The same, told by its own end.
const FATAL_CALL: &str = "CALL enable_logging('QueryLog', storage = 'file', storage_path = '/nowhere/log')";

#[tokio::test]
async fn a_text_that_ends_duckdb_ends_its_file_s_sessions_and_nothing_else() {
    for text in [FATAL, FATAL_CALL] {
        let (db, other) = (Db::new(&["CREATE TABLE t AS SELECT 1 AS a"]), Db::file("other.csv", "a\n2\n"));
        let (mut session, mut beside, mut elsewhere) = (db.session().await, db.session().await, other.session().await);
        run(&mut elsewhere, &["CREATE TEMP TABLE kept AS SELECT 3 AS a"]).await;
        let (lost, fate) = match session.execute(text, PAGE).await {
            Ok(_) => {
                session.finish().await.unwrap();
                (refusal(&mut session, "SELECT 1").await, Fate::NotSent)
            }
            Err(e) => (e, Fate::Unknown),
        };
        let message = &lost.problem.message;
        assert!(
            message.starts_with("DuckDB takes no statement of this file any more and was ended. It said: Permission Error"),
            "{message}"
        );
        assert_eq!((lost.fate, lost.cancelled, lost.problem.code), (fate, false, ErrorCode::ConnectionLost));
        assert!(matches!(refusal(&mut session, "SELECT 1").await.fate, Fate::NotSent | Fate::Unknown));
        assert!(matches!(refusal(&mut beside, "SELECT 1").await.fate, Fate::NotSent | Fate::Unknown));
        assert_eq!(one(&mut elsewhere, "SELECT a FROM kept").await, [["3"]]);
        assert_eq!(one(&mut db.session().await, "SELECT a FROM t").await, [["1"]]);
    }
}

#[tokio::test]
async fn logging_that_reaches_no_file_is_allowed() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    run(&mut session, &["CALL enable_logging('QueryLog')", "CREATE TABLE t(a INTEGER)"]).await;
    assert_eq!(one(&mut session, "SELECT count(*) > 0 FROM duckdb_logs WHERE message LIKE '%CREATE TABLE t%'").await, [["true"]]);
}

#[tokio::test]
async fn a_process_that_is_killed_between_two_fetches_is_told_and_started_anew() {
    let db = Db::new(&["CREATE TABLE t AS SELECT range AS a FROM range(100000)"]);
    let mut session = db.session().await;
    session.execute("SELECT a FROM t", bound(10)).await.unwrap();
    session.fetch(bound(10)).await.unwrap();
    processes::signal(processes::the_one_of(db.path()), "-KILL");
    let refused = loop {
        match session.fetch(bound(10)).await {
            Ok(_) => tokio::task::yield_now().await,
            Err(e) => break e,
        }
    };
    let message = &refused.problem.message;
    assert!(message.contains("by being killed (signal 9)") && message.contains("; the rest of its rows will not come, "), "{message}");
    assert_eq!(refused.fate, Fate::Unknown);
    assert_eq!(one(&mut db.session().await, "SELECT count(*) FROM t").await, [["100000"]]);
}

/// A stopped process stands for a statement that hears nothing. The clock runs ahead by itself while nothing happens.
#[tokio::test]
async fn a_statement_that_does_not_hear_a_stop_is_ended_with_its_process() {
    let db = Db::new(&["CREATE TABLE t AS SELECT 1 AS a"]);
    let mut session = db.session().await;
    let pid = processes::the_one_of(db.path());
    processes::signal(pid, "-STOP");
    tokio::time::pause();
    let handle = session.cancel_handle();
    let (stopped, cancelled) = tokio::join!(session.execute("SELECT 1", PAGE), async {
        tokio::task::yield_now().await;
        handle.cancel().await
    });
    cancelled.unwrap();
    let refused = stopped.err().unwrap();
    assert!(refused.problem.message.contains("since it did not stop the statement"), "{}", refused.problem.message);
    assert_eq!(refused.fate, Fate::Unknown);
    tokio::time::resume();
    assert_eq!(one(&mut db.session().await, "SELECT a FROM t").await, [["1"]]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_process_has_its_limits_and_no_new_rights() {
    let db = Db::new(&[]);
    let mut session = db.read_only().await;
    one(&mut session, "SELECT 1").await;
    let pid = processes::the_one_of(db.path());
    let limits = read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let limit = |name: &str| limits.lines().find_map(|line| Some(line.strip_prefix(name)?.split_whitespace().nth(1)?.to_owned())).unwrap();
    assert_eq!(limit("Max core file size"), "0");
    assert_eq!(limit("Max data size"), (3_u64 << 30).to_string());
    assert_eq!(limit("Max file size"), (4_u64 << 30).to_string());
    let status = read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert!(
        read_to_string(format!("/proc/{pid}/environ"))
            .unwrap()
            .split('\0')
            .all(|entry| ["", "TZ", "TZDIR", "DUCKDB_JE_MALLOC_CONF"].contains(&entry.split('=').next().unwrap()))
    );
    let open = read_dir(format!("/proc/{pid}/fd")).unwrap().filter_map(|fd| read_link(fd.unwrap().path()).ok());
    let files: Vec<_> = open.filter(|open| open.is_absolute() && !open.starts_with("/dev/null")).collect();
    assert_eq!(files, [db.path().canonicalize().unwrap()]);
}

#[tokio::test]
async fn a_process_ends_with_its_last_session() {
    let db = Db::new(&[]);
    let (session, other) = (db.session().await, db.session().await);
    let pid = processes::the_one_of(db.path());
    session.close().await;
    assert!(processes::is_there(pid));
    other.close().await;
    assert!(!processes::is_there(pid));
}

#[test]
fn a_process_whose_link_closes_ends() {
    use std::process::{Command, Stdio};
    let child = Command::new(env!("CARGO_BIN_EXE_sheaf")).arg(backend::engine::duckdb::COMMAND).stdin(Stdio::piped()).spawn().unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}
