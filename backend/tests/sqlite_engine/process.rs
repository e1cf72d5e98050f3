//! A session's process: its end ends that session and nothing else, and it may do little.

use super::support::{Db, PAGE, bound, one, run};
use backend::engine::Fate;
use shared::problem::ErrorCode;
use std::fs::read_to_string;
use testing::processes;

/// One call of a function, from within which SQLite does not look up.
const DEAF: &str = "SELECT instr(replace(hex(zeroblob(20000000)), '00', 'a'), replace(hex(zeroblob(400000)), '00', 'a') || 'b')";
/// A statement that gives no row and never ends.
const RUNAWAY: &str = "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";

#[tokio::test]
async fn each_session_has_a_process_of_its_own_which_ends_with_it() {
    let db = Db::new("CREATE TABLE t(a)");
    let session = db.session().await;
    let first = processes::the_one_of(db.path());
    let other = db.session().await;
    assert_eq!(processes::of(db.path()).len(), 2);
    session.close().await;
    assert!(!processes::is_there(first));
    other.close().await;
    assert!(processes::of(db.path()).is_empty());
}

#[tokio::test]
async fn a_process_that_is_killed_in_a_statement_is_told_and_takes_no_other_with_it() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    let pid = processes::the_one_of(db.path());
    let mut other = db.session().await;
    run(&mut other, &["BEGIN IMMEDIATE", "INSERT INTO t VALUES (1)"]).await;
    let (ended, ()) = tokio::join!(session.execute(RUNAWAY, PAGE), async {
        tokio::task::yield_now().await;
        processes::signal(pid, "-KILL");
    });
    let error = ended.unwrap_err();
    let sentence =
        "SQLite ended unexpectedly, by being killed (signal 9), perhaps for its memory; whether the statement took effect is not known.";
    assert_eq!((error.problem.message.as_str(), error.fate), (sentence, Fate::Unknown));
    assert_eq!((error.problem.code, error.cancelled), (ErrorCode::ConnectionLost, false));
    let again = session.execute("SELECT 1", PAGE).await.unwrap_err();
    assert_eq!(again.fate, Fate::NotSent);
    run(&mut other, &["COMMIT"]).await;
    assert_eq!(one(&mut db.session().await, "SELECT a FROM t").await, [["1"]]);
}

#[tokio::test]
async fn a_process_that_is_killed_in_a_transaction_leaves_nothing_of_it() {
    let db = Db::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let mut session = db.session().await;
    // More than is kept in memory: a part of it is in the file already.
    let many = "INSERT INTO t SELECT hex(zeroblob(500)) FROM (WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c LIMIT 2000) SELECT x FROM c)";
    run(&mut session, &["PRAGMA cache_size = 10", "BEGIN", many]).await;
    session.execute("SELECT a FROM t", bound(10)).await.unwrap();
    session.fetch(bound(10)).await.unwrap();
    processes::signal(processes::the_one_of(db.path()), "-KILL");
    let error = loop {
        match session.fetch(bound(10)).await {
            Ok(_) => tokio::task::yield_now().await,
            Err(e) => break e,
        }
    };
    assert!(error.problem.message.contains("; the rest of its rows will not come, "), "{}", error.problem.message);
    let mut next = db.session().await;
    assert_eq!(one(&mut next, "SELECT count(*) FROM t").await, [["1"]]);
    assert_eq!(one(&mut next, "PRAGMA integrity_check").await, [["ok"]]);
}

/// A stopped process stands for one that hears nothing. The clock runs ahead by itself while nothing happens.
#[tokio::test]
async fn a_process_that_does_not_hear_a_stop_is_ended_and_what_that_undid_is_told() {
    let db = Db::new("CREATE TABLE t(a)");
    for (before, sql, left, cancelled) in [
        (&[][..], "SELECT 1", "it had changed nothing", true),
        (&[], "INSERT INTO t VALUES (1)", "whether the statement took effect is not known", false),
        (&["BEGIN", "INSERT INTO t VALUES (1)"], "SELECT 1", "the open transaction of this session was rolled back", true),
        (&["BEGIN", "INSERT INTO t VALUES (1)"], "COMMIT", "whether the statement took effect is not known", false),
    ] {
        let mut session = db.session().await;
        run(&mut session, before).await;
        let pid = processes::the_one_of(db.path());
        processes::signal(pid, "-STOP");
        tokio::time::pause();
        let handle = session.cancel_handle();
        let (stopped, asked) = tokio::join!(session.execute(sql, PAGE), async {
            tokio::task::yield_now().await;
            handle.cancel().await
        });
        tokio::time::resume();
        asked.unwrap();
        let error = stopped.err().unwrap();
        let sentence = format!("The statement did not hear its cancel, so SQLite's process was ended; {left}.");
        assert_eq!((&error.problem.message, error.fate, error.cancelled), (&sentence, Fate::Unknown, cancelled), "{sql}");
        assert!(!processes::is_there(pid), "{sql}");
        assert_eq!(one(&mut db.session().await, "SELECT count(*) FROM t").await, [["0"]], "{sql}");
    }
}

#[tokio::test]
async fn a_session_that_is_dropped_inside_a_long_call_leaves_no_process() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.session().await;
    run(&mut session, &["BEGIN IMMEDIATE"]).await;
    let pid = processes::the_one_of(db.path());
    let begun = processes::worked(pid);
    tokio::select! {
        ended = session.execute(DEAF, PAGE) => panic!("{ended:?}"),
        () = async {
            while processes::worked(pid) < begun + 30 {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    drop(session);
    processes::wait_for_end(pid);
    run(&mut db.session().await, &["INSERT INTO t VALUES (1)"]).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_process_has_its_limits_and_no_new_rights() {
    let db = Db::new("CREATE TABLE t(a)");
    let mut session = db.read_only().await;
    one(&mut session, "SELECT 1").await;
    let pid = processes::the_one_of(db.path());
    let limits = read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let limit = |name: &str| limits.lines().find_map(|line| Some(line.strip_prefix(name)?.split_whitespace().nth(1)?.to_owned())).unwrap();
    assert_eq!(limit("Max core file size"), "0");
    assert_eq!(limit("Max data size"), (4_u64 << 30).to_string());
    let status = read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let known = ["", "TZ", "TZDIR", "TMPDIR", "SQLITE_TMPDIR"];
    let environment = read_to_string(format!("/proc/{pid}/environ")).unwrap();
    assert!(environment.split('\0').all(|entry| known.contains(&entry.split('=').next().unwrap())), "{environment}");
}

#[tokio::test]
async fn a_relative_path_starts_in_the_server_s_folder() {
    let mut session = Db::new("").session().await;
    let attached = session.execute("ATTACH 'Cargo.toml' AS there", PAGE).await.unwrap_err();
    let missing = session.execute("ATTACH 'no/such.db' AS there", PAGE).await.unwrap_err();
    assert_eq!([attached, missing].map(|e| e.problem.sqlstate.unwrap()), ["SQLITE_NOTADB", "SQLITE_CANTOPEN"]);
}

#[cfg(unix)]
#[tokio::test]
async fn what_sqlite_makes_beside_a_file_is_as_open_to_others_as_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let db = Db::new("PRAGMA journal_mode = WAL; CREATE TABLE t(a)");
    std::fs::set_permissions(db.path(), std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut session = db.session().await;
    run(&mut session, &["INSERT INTO t VALUES (1)"]).await;
    let log = db.folder().join("test.db-wal");
    assert_eq!(std::fs::metadata(log).unwrap().permissions().mode() & 0o777, 0o666);
}

#[tokio::test]
async fn a_row_that_is_too_long_for_the_way_is_refused_and_holds_nothing() {
    let db = Db::new("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);");
    let mut session = db.session().await;
    let refused = session.execute("SELECT zeroblob(150000000) FROM t", bound(1)).await.unwrap_err();
    assert_eq!((refused.problem.code, refused.fate), (ErrorCode::TooLarge, Fate::Idle));
    assert!(refused.problem.message.contains("MiB; Sheaf takes 128 MiB"), "{}", refused.problem.message);
    // The statement has ended: nothing of it stands in the way.
    run(&mut db.session().await, &["DROP TABLE t"]).await;
    assert_eq!(one(&mut session, "SELECT length(zeroblob(150000000))").await, [["150000000"]]);
}

#[test]
fn a_process_whose_link_closes_ends() {
    use std::process::{Command, Stdio};
    let child = Command::new(env!("CARGO_BIN_EXE_sheaf")).arg(backend::engine::sqlite::COMMAND).stdin(Stdio::piped()).spawn().unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}
