//! Engines that panic, and the end of the process.

use super::*;
use std::sync::atomic::Ordering::SeqCst;

#[tokio::test(start_paused = true)]
async fn a_panic_in_an_engine_ends_one_run_only() {
    let house = house();
    let parked = house.start(on_console("rows n=5000", "other")).await.unwrap().status.id;
    for call in ["execute", "fetch", "finish"] {
        // All rows had come when `finish` failed: they are shown, and the result says that its end is not certain.
        let started = house.start(on_console(&format!("rows n=5 panic={call}"), "k")).await;
        let problem = started.map_or_else(|problem| problem, |begun| begun.status.problem.unwrap());
        assert_eq!(problem.code, ErrorCode::Internal, "{call}");
        house.settle().await;
        assert_eq!((house.world.get(|w| &w.open), house.runs.census().active), (1, 1), "{call}");
        let next = house.start(on_console("change n=1", "k")).await.unwrap();
        assert_eq!(next.status.notices.len(), 1, "the session was lost: {call}");
        house.runs.forget_session(&house.grant, ConnectionId("c1".to_owned()), SessionId("k".to_owned()), None).await;
    }
    assert_eq!(rows_of(&house.page(&parked, 1).await.unwrap()), numbers(1000, 2000));
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_reading_leaves_what_was_read() {
    let house = house();
    let id = house.sql("rows n=2500 panic=finish").await.status.id;
    // The last page is there; the end of the statement is not.
    let _ = house.page(&id, 2).await;
    let status = house.until(&id, |s| s.state.is_final()).await;
    assert_eq!((status.state, status.problem.unwrap().code), (RunState::Partial, ErrorCode::Internal));
    assert_eq!(rows_of(&house.page(&id, 1).await.unwrap()), numbers(1000, 2000));
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_connecting_is_a_problem_and_no_slot_is_lost() {
    let house = house();
    house.world.panic_connects.store(true, SeqCst);
    for _ in 0..20 {
        assert_eq!(house.start(ask("rows n=1")).await.unwrap_err().code, ErrorCode::Internal);
        assert_eq!(house.runs.test(&house.grant, house.world.target()).await.unwrap_err().code, ErrorCode::Internal);
        let catalog = house.runs.catalog(&house.grant, house.world.target(), ConnectionId("c1".to_owned()), CatalogAsk::First).await;
        assert_eq!(catalog.unwrap_err().code, ErrorCode::Internal);
    }
    house.world.panic_connects.store(false, SeqCst);
    house.settle().await;
    assert_eq!(house.runs.census().sessions, 0);
    house.sql("rows n=1").await;
}

#[tokio::test(start_paused = true)]
async fn shutting_down_stops_all_and_leaves_nothing() {
    let house = house_with(|config| config.memory_per_run = 0);
    house.start(on_console("rows n=5000", "parked")).await.unwrap();
    house.start(on_console("begin", "idle")).await.unwrap();
    house.sql("rows n=7").await;
    let working = house.start_later(ask("change n=1 gate=execute"));
    house.world.at_gate.notified().await;
    let stubborn = house.start_later(ask("change n=1 gate=execute stubborn"));
    house.world.at_gate.notified().await;
    assert!(house.files() > 0);
    let told = house.start(in_window("rows n=5000", "w")).await.unwrap().status.id;
    let mut events = Box::pin(house.runs.watch(&house.grant, WindowId("w".to_owned())));
    let begin = tokio::time::Instant::now();
    house.runs.shut_down().await;
    assert!(begin.elapsed() <= 10 * SECOND);
    house.settle().await;
    assert_eq!((house.world.get(|w| &w.open), house.files()), (0, 0));
    assert!(working.await.unwrap().is_err() && stubborn.await.unwrap().is_err());
    assert!(house.start(ask("rows n=7")).await.is_err());
    let last = futures_util::StreamExt::next(&mut events).await.unwrap();
    assert_eq!((last.id, last.state), (told, RunState::Partial));
    house.runs.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn promised_rows_that_never_come_are_no_endless_loop() {
    let house = house();
    let problem = house.start(ask("rows n=5 narrow=0")).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::Internal);
}
