//! Nothing is made for each row that belongs to the statement: a page of ten times the rows asks for memory as often as a small one, but for what
//! grows with the bytes and by doubling. Counted in the whole process, so this is one test in a program of its own; what SQLite's process makes
//! is counted where its side of the link runs on a thread of this one.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use backend::engine::sqlite::place::Place;
use backend::engine::worker::child::Answers;
use backend::engine::worker::desk::{Command, Desk};
use backend::engine::worker::messages::{ANSWER_BYTES_MAX, read_answer};
use backend::engine::worker::served::Opened as _;
use backend::engine::worker::{frames, signals::Signals};
use backend::engine::{Bound, Param, Session, Target, engine};
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::Secrets;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};
use testing::mariadb::mariadb;
use testing::postgres::clusters;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Rows of the small page; the large one has ten times as many.
const ROWS: usize = 1_000;
/// How much oftener the large page may ask for memory: far from once for each of its 9,000 further rows.
const MORE_MAX: usize = 300;

const SQLITE: &str = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $N) \
                      SELECT n, n * 1.5, 'name ' || n, NULL, date('2024-01-01', n || ' days'), x'00ff', CASE n % 3 WHEN 0 THEN n ELSE 'a' END FROM c";
const POSTGRES: &str = "SELECT n, n * 1.5::float8, 'name ' || n, NULL::text, n::numeric(10,2), n::numeric, '2024-03-31'::timestamp + n * interval '1 hour', \
                        '2024-03-31'::timestamptz + n * interval '1 hour', md5(n::text)::uuid, decode(md5(n::text), 'hex'), n * interval '1 minute', \
                        n % 2 = 0, DATE '2024-01-01' + n FROM generate_series(1, $N) n";
const MARIADB: &str = "SELECT seq, seq * 1.5e0, CONCAT('name ', seq), NULL, CAST(seq AS DECIMAL(10, 2)), TIMESTAMP('2024-01-01') + INTERVAL seq SECOND, \
                       CAST('10:00:00.5' AS TIME(3)), UNHEX(MD5(seq)), DATE('2024-01-01') + INTERVAL seq DAY FROM seq_1_to_$N WHERE seq > $P";

/// How often memory is asked for from the statement to its end.
async fn asked(session: &mut dyn Session, sql: &str, rows: usize, params: &[Param]) -> usize {
    let text = sql.replace("$N", &rows.to_string()).replace("$P", if params.is_empty() { "0" } else { "?" });
    let bound = Bound { rows, bytes: usize::MAX };
    let region = Region::new(ALLOCATOR);
    session.execute_with(&text, params, bound).await.unwrap();
    let fetched = session.fetch(bound).await.unwrap();
    session.finish().await.unwrap();
    let change = region.change();
    assert_eq!((fetched.batch.num_rows(), fetched.more), (rows, false), "{text}");
    change.allocations + change.reallocations
}

async fn compare(name: &str, target: &Target, sql: &str, params: &[Param]) {
    backend::engine::worker::process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
    let mut session = engine(target.fields.engine).connect(target).await.unwrap();
    // What a session learns once, and room it keeps.
    asked(session.as_mut(), sql, ROWS * 10, params).await;
    let small = asked(session.as_mut(), sql, ROWS, params).await;
    let large = asked(session.as_mut(), sql, ROWS * 10, params).await;
    assert_few(name, small, large);
    session.close().await;
}

fn assert_few(name: &str, small: usize, large: usize) {
    println!("{name}: {small} for {ROWS} rows, {large} for {}", ROWS * 10);
    assert!(large <= small + MORE_MAX, "{name}: {small} for {ROWS} rows, {large} for {}", ROWS * 10);
}

/// From the command to the frame of its answer, as the session's thread of SQLite's process does it. What shuts the process in is left
/// off: it would shut in this test.
fn compare_sqlite_process(path: &str) {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let (commands, inbox) = mpsc::channel();
    let place = Arc::new(Place::find(Some(path), false).unwrap());
    let thread = std::thread::spawn(move || {
        let mut desk = Desk::of(0, inbox, Arc::new(Answers::new(OwnedFd::from(theirs).into())), Vec::new());
        place.serve(&Arc::new(Signals::default()), &mut desk).unwrap();
    });
    let mut answer = || read_answer(frames::read(&mut ours, ANSWER_BYTES_MAX).unwrap().unwrap()).unwrap();
    answer().0.done.unwrap();
    let mut asked = |rows: usize| {
        let text = SQLITE.replace("$N", &rows.to_string());
        let region = Region::new(ALLOCATOR);
        commands.send(Command::Execute(text, Vec::new(), Bound { rows, bytes: usize::MAX })).unwrap();
        let (head, batch) = answer();
        let change = region.change();
        assert_eq!(batch.unwrap().num_rows(), rows, "{head:?}");
        change.allocations + change.reallocations
    };
    asked(ROWS * 10);
    let (small, large) = (asked(ROWS), asked(ROWS * 10));
    assert_few("SQLite's process", small, large);
    drop(commands);
    thread.join().unwrap();
}

fn server(kind: EngineKind, port: u16, user: &str, database: &str) -> Target {
    let fields = ConnectionFields {
        host: Some("127.0.0.1".to_owned()),
        port: Some(port),
        user: Some(user.to_owned()),
        database: Some(database.to_owned()),
        ..ConnectionFields::new("test", kind)
    };
    Target::new(fields, Secrets::default())
}

#[tokio::test]
async fn nothing_is_made_for_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (n)").unwrap();
    let fields = ConnectionFields { path: Some(path.to_string_lossy().into_owned()), ..ConnectionFields::new("test", EngineKind::Sqlite) };
    compare_sqlite_process(path.to_str().unwrap());
    compare("SQLite", &Target::new(fields, Secrets::default()), SQLITE, &[]).await;
    for cluster in clusters() {
        compare("PostgreSQL", &server(EngineKind::Postgres, cluster.port, "postgres", "postgres"), POSTGRES, &[]).await;
    }
    let mariadb = server(EngineKind::Mysql, mariadb().port, "root", "shop");
    compare("MariaDB", &mariadb, MARIADB, &[]).await;
    // A float of the binary protocol becomes the server's text by way of its digits, which are a text of their own each time.
    let without_floats = MARIADB.replace("seq * 1.5e0", "seq + 1");
    compare("MariaDB, prepared", &mariadb, &without_floats, &[Param::Integer(0)]).await;
}
