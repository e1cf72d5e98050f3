//! What a page costs: bytes, round trips, and what the database still holds afterwards.

use crate::setting::{PAGE, connect, run, session, target, value};
use backend::engine::mysql::WINDOW_BYTES;
use backend::engine::{Bound, Session};
use std::time::Duration;
use testing::mariadb::mariadb;
use testing::relay::{NARROW_BYTES, Passed, Relay, sent_ahead};

/// 50,000 rows of a number and 256 characters.
pub async fn wide_table() {
    let mut session = session().await;
    run(session.as_mut(), "DO GET_LOCK('wide', 60)").await.unwrap();
    run(session.as_mut(), "CREATE TABLE IF NOT EXISTS wide (id INT PRIMARY KEY, c CHAR(255) NOT NULL, d CHAR(1) NOT NULL)").await.unwrap();
    run(session.as_mut(), "SET max_recursive_iterations = 100000").await.unwrap();
    let fill = "INSERT IGNORE INTO wide WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i, REPEAT('x', 255), 'y' FROM n";
    if value(session.as_mut(), "SELECT COUNT(*) FROM wide").await != "50000" {
        run(session.as_mut(), fill).await.unwrap();
    }
    session.close().await;
}

pub async fn behind(relay: &Relay) -> Box<dyn Session> {
    let session = connect(&target(relay.port, "root")).await.unwrap();
    relay.passed();
    session
}

const WIDE: &str = "SELECT id, CONCAT(c, d) FROM wide";

/// Until nothing passes any more: what the server pushes into a stream that nobody reads.
pub async fn come_to_rest(relay: &Relay) -> Passed {
    let mut all = relay.passed();
    let mut quiet = 0;
    while quiet < 5 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let more = relay.passed();
        quiet = if more.to_client == 0 { quiet + 1 } else { 0 };
        all.to_client += more.to_client;
        all.flights += more.flights;
    }
    all
}

#[tokio::test]
async fn a_page_of_a_parked_result_moves_little_more_than_its_rows() {
    wide_table().await;
    let relay = Relay::narrow(mariadb().port).await;
    let mut session = behind(&relay).await;
    session.execute(WIDE, PAGE).await.unwrap();
    let first = session.fetch(PAGE).await.unwrap();
    assert_eq!((first.batch.num_rows(), first.more), (1_000, true));
    let passed = come_to_rest(&relay).await;
    println!("first page: {passed:?}");
    assert!(passed.to_client <= 420_000, "{passed:?}");
    for _ in 0..3 {
        let next = session.fetch(PAGE).await.unwrap();
        assert_eq!((next.batch.num_rows(), next.more), (1_000, true));
        let passed = come_to_rest(&relay).await;
        println!("next page: {passed:?}");
        assert!(passed.to_client <= 300_000, "{passed:?}");
    }
    // The window and the relay are full, and so is the server's system, which bounds that itself: a session that goes on reads it all.
    let ahead = sent_ahead(mariadb().port).await;
    session.finish().await.unwrap();
    let passed = come_to_rest(&relay).await;
    println!("given up: {passed:?}, {ahead} were sent ahead");
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(WINDOW_BYTES).unwrap();
    let window = u64::from(socket.recv_buffer_size().unwrap());
    assert!(passed.to_client <= window + NARROW_BYTES + ahead + 64 * 1024, "{passed:?}, {ahead}");
    let id = value(session.as_mut(), "SELECT CONNECTION_ID()").await;
    assert_eq!(mariadb().sql(&format!("SELECT COMMAND FROM information_schema.PROCESSLIST WHERE ID = {id}")).trim(), "Sleep");
}

#[tokio::test]
async fn a_page_is_one_flight_and_the_next_one_none() {
    wide_table().await;
    let relay = Relay::start(mariadb().port, Duration::ZERO).await;
    let mut session = behind(&relay).await;
    session.execute(WIDE, PAGE).await.unwrap();
    session.fetch(PAGE).await.unwrap();
    assert_eq!(relay.passed().flights, 1);
    session.fetch(PAGE).await.unwrap();
    assert_eq!(relay.passed().flights, 0);
    session.finish().await.unwrap();
    relay.passed();
    run(session.as_mut(), "SELECT 1").await.unwrap();
    assert_eq!(relay.passed().flights, 1);
    session.reset().await.unwrap();
    assert_eq!(relay.passed().flights, 1);
    session.catalog().await.unwrap();
    assert_eq!(relay.passed().flights, 1);
}

#[tokio::test]
async fn wide_rows_end_a_page_early_and_a_row_over_16_mib_is_whole() {
    let mut session = session().await;
    let bound = Bound { rows: 100, bytes: 100_000 };
    session
        .execute("SELECT id, REPEAT('ä', 20000) FROM (SELECT 1 AS id UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) AS n", bound)
        .await
        .unwrap();
    let mut pages = Vec::new();
    loop {
        let fetched = session.fetch(bound).await.unwrap();
        pages.push(fetched.batch.num_rows());
        if !fetched.more {
            break;
        }
    }
    assert_eq!(pages, [3, 1]);
    session.finish().await.unwrap();
    mariadb().sql("SET GLOBAL max_allowed_packet = 134217728");
    let mut fresh = crate::setting::session().await;
    for length in [16_777_205_usize, 16_777_206, 16_777_215, 16_777_216, 40_000_000] {
        let (batch, _) = run(fresh.as_mut(), &format!("SELECT REPEAT('x', {length}), 7")).await.unwrap();
        let batch = batch.unwrap();
        assert_eq!(crate::setting::cell(&batch, 0, 0).len(), length);
        assert_eq!(crate::setting::cell(&batch, 0, 1), "7");
    }
    let error = run(fresh.as_mut(), "SELECT REPEAT('x', 70000000)").await.unwrap_err();
    let told = (error.problem.code, error.problem.message.as_str());
    assert_eq!(told, (shared::problem::ErrorCode::TooLarge, "A row of this result has 66 MiB; Sheaf takes 64 MiB."));
    assert_eq!(value(fresh.as_mut(), "SELECT 1").await, "1");
}
