//! Cancel: at any time, out of band, never another statement.

use super::*;
use std::sync::atomic::Ordering::SeqCst;

fn with_token(sql: &str, token: &str) -> StartRun {
    StartRun { token: Some(token.to_owned()), ..ask(sql) }
}

#[tokio::test(start_paused = true)]
async fn a_statement_is_cancelled_before_its_first_row_by_its_token() {
    let house = house();
    let start = house.start_later(with_token("rows n=5 tag=a gate=execute", "t1"));
    house.world.at_gate.notified().await;
    house.runs.cancel_by_token(&house.grant, "t1").unwrap();
    house.runs.cancel_by_token(&house.grant, "t1").unwrap();
    assert_eq!(start.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.cancels), 1);
    assert_eq!(*house.world.interrupted.lock().unwrap(), ["a"]);
    // The session is whole: the next statement uses it.
    house.sql("rows n=5").await;
    assert_eq!(house.world.get(|w| &w.connects), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_overtakes_its_start_is_remembered() {
    let house = house();
    house.runs.cancel_by_token(&house.grant, "early").unwrap();
    assert_eq!(house.start(with_token("change n=1", "early")).await.unwrap_err().code, ErrorCode::Cancelled);
    assert_eq!(house.world.get(|w| &w.executes), 0);
    // Once: a token is for one start.
    house.start(with_token("change n=1", "early")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_read_keeps_what_was_read() {
    let house = house();
    house.world.gate.add_permits(3);
    let begun = house.sql("rows n=1000000 tag=r gate=fetch").await;
    let id = begun.status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    house.until(&id, |s| s.rows_ready == 3000).await;
    house.settle().await;
    house.cancel(&id);
    let status = house.until(&id, |s| s.state.is_final()).await;
    assert_eq!((status.state, status.rows_ready, status.total_rows, status.reading_to_end), (RunState::Cancelled, 3000, None, false));
    assert_eq!(rows_of(&house.page(&id, 2).await.unwrap()), numbers(2000, 3000));
    let problem = house.page(&id, 3).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::Cancelled);
    assert_eq!((status.problem.as_ref(), problem.sqlstate.as_deref()), (Some(&problem), Some("57014")));
    house.cancel(&id);
    assert_eq!(house.status(&id).unwrap(), status);
}

#[tokio::test(start_paused = true)]
async fn rows_of_a_page_that_was_under_way_stay_too() {
    let house = house();
    house.world.gate.add_permits(4);
    // The page size is 10; each later fetch brings 4.
    let begun = house.start(StartRun { page_rows: Some(4), ..ask("rows n=100 gate=fetch narrow=4") }).await.unwrap();
    assert_eq!(begun.status.page_rows, 4);
    let begun = house.start(StartRun { page_rows: Some(10), ..ask("rows n=100 gate=fetch tag=u width=120000") }).await.unwrap();
    assert_eq!(begun.status.page_rows, 8);
    let reader = house.page_later(&begun.status.id, 50);
    house.until(&begun.status.id, |s| s.rows_ready == 24).await;
    house.cancel(&begun.status.id);
    assert_eq!(reader.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_paused_result_is_cancelled_without_a_request_to_the_server() {
    let house = house();
    let begun = house.sql("rows n=5000").await;
    house.cancel(&begun.status.id);
    let status = house.until(&begun.status.id, |s| s.state.is_final()).await;
    assert_eq!((status.state, status.rows_ready), (RunState::Cancelled, 1000));
    assert_eq!((house.world.get(|w| &w.cancels), house.world.get(|w| &w.finishes)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_change_that_had_happened_is_told_though_its_rows_were_not_wanted() {
    let house = house();
    let begun = house.sql("rows n=5000 affects").await;
    house.cancel(&begun.status.id);
    let status = house.until(&begun.status.id, |s| s.state.is_final()).await;
    assert_eq!((status.state, status.rows_affected), (RunState::Cancelled, Some(5000)));
    assert_eq!(status.problem.unwrap().detail.unwrap(), "The statement itself had finished: it changed 5000 rows");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_was_refused_at_its_end_is_told_though_its_rows_were_not_wanted() {
    let house = house();
    for (fate, told) in [
        ("idle", "The statement itself did not take effect: division by zero"),
        ("lost", "Whether the statement itself took effect is not known: server closed the connection unexpectedly"),
    ] {
        let begun = house.sql(&format!("rows n=5000 affects fail=finish fate={fate}")).await;
        house.cancel(&begun.status.id);
        let status = house.until(&begun.status.id, |s| s.state.is_final()).await;
        assert_eq!((status.state, status.rows_affected), (RunState::Cancelled, None));
        assert_eq!(status.problem.unwrap().detail.unwrap(), told);
    }
    let begun = house.sql("rows n=5000 affects gate=finish stubborn").await;
    house.cancel(&begun.status.id);
    tokio::time::sleep(10 * SECOND).await;
    let status = house.status(&begun.status.id).unwrap();
    assert!(status.problem.unwrap().detail.unwrap().contains("whether the statement took effect is not known"));
}

#[tokio::test(start_paused = true)]
async fn a_statement_that_does_not_stop_is_asked_again_and_again_then_its_session_is_closed() {
    let house = house();
    let start = house.start_later(with_token("change n=5 gate=execute stubborn", "t"));
    house.world.at_gate.notified().await;
    let begun = tokio::time::Instant::now();
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    let problem = start.await.unwrap().unwrap_err();
    assert_eq!(problem.code, ErrorCode::ConnectionLost);
    assert!(problem.message.contains("did not stop"), "{}", problem.message);
    assert_eq!(house.cancelled_after(begun), [0, 50, 150, 350, 750, 1550, 3150]);
    house.settle().await;
    assert_eq!((house.world.get(|w| &w.open), house.runs.census().sessions), (0, 0));
    assert_eq!(house.world.get(|w| &w.cancels), 7, "none after its end");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_the_database_forgets_is_sent_again_until_it_is_heard() {
    let house = house();
    house.world.forgets.store(3, SeqCst);
    let start = house.start_later(with_token("rows n=5 tag=a gate=execute", "t"));
    house.world.at_gate.notified().await;
    let begun = tokio::time::Instant::now();
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    assert_eq!(start.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    assert_eq!(house.cancelled_after(begun), [0, 50, 150, 350]);
    assert_eq!(*house.world.interrupted.lock().unwrap(), ["a"]);
    house.sql("rows n=5").await;
    assert_eq!(house.world.get(|w| &w.connects), 1, "its session is whole");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_sent_again_only_once_the_former_one_is_off_the_way() {
    let house = house();
    house.world.slow_cancels.store(true, SeqCst);
    house.world.forgets.store(1, SeqCst);
    let start = house.start_later(with_token("rows n=5 gate=execute", "t"));
    house.world.at_gate.notified().await;
    let begun = tokio::time::Instant::now();
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    tokio::time::sleep(SECOND).await;
    assert_eq!(house.world.get(|w| &w.cancels), 1);
    house.world.cancel_gate.add_permits(2);
    assert_eq!(start.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    assert_eq!(house.cancelled_after(begun), [0, 1050]);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_nobody_waits_for_has_a_second_before_it_is_cancelled() {
    let house = house();
    let begun = house.sql("rows n=5000 affects gate=finish").await;
    let asked = tokio::time::Instant::now();
    house.cancel(&begun.status.id);
    tokio::time::sleep(2 * SECOND).await;
    assert!(house.status(&begun.status.id).unwrap().state.is_final());
    assert_eq!(house.cancelled_after(asked), [1000]);
}

#[tokio::test(start_paused = true)]
async fn a_session_waits_for_its_cancel_request_before_the_next_statement() {
    let house = house();
    house.world.slow_cancels.store(true, SeqCst);
    let start = house.start_later(StartRun { token: Some("t".to_owned()), ..on_console("change n=1 tag=first gate=execute", "k") });
    house.world.at_gate.notified().await;
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    house.settle().await;
    // The statement ends by itself while the request is still on its way; the next one must not meet it.
    house.world.gate.add_permits(1);
    let next = house.start_later(on_console("change n=1 tag=second gate=execute", "k"));
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.executes), 1, "the second is not sent while the cancel is under way");
    house.world.cancel_gate.add_permits(1);
    assert_eq!(start.await.unwrap().unwrap().status.state, RunState::Done, "it had finished before");
    house.world.gate.add_permits(1);
    assert_eq!(next.await.unwrap().unwrap().status.state, RunState::Done);
    assert!(house.world.interrupted.lock().unwrap().is_empty());
    assert_eq!(house.world.get(|w| &w.connects), 1);
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_cancel_request_hangs_is_not_used_again() {
    let house = house();
    house.world.slow_cancels.store(true, SeqCst);
    let start = house.start_later(StartRun { token: Some("t".to_owned()), ..on_console("change n=1 gate=execute", "k") });
    house.world.at_gate.notified().await;
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    house.settle().await;
    house.world.gate.add_permits(1);
    let _ = start.await.unwrap();
    house.start(on_console("change n=1", "k")).await.unwrap();
    assert_eq!(house.world.get(|w| &w.connects), 2);
}

#[tokio::test(start_paused = true)]
async fn cancel_while_it_still_connects_sends_nothing() {
    let house = house();
    let start = house.start_later(with_token("change n=5", "t"));
    tokio::task::yield_now().await;
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    assert_eq!(start.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.executes), 0);
    assert_eq!(house.world.get(|w| &w.open), house.runs.census().sessions as u64);
    house.sql("change n=5").await;
}

#[tokio::test(start_paused = true)]
async fn closing_a_working_run_stops_its_statement() {
    let house = house();
    let start = house.start_later(in_window("rows n=5 gate=execute tag=z", "w"));
    house.world.at_gate.notified().await;
    let mut watch = Box::pin(house.runs.watch(&house.grant, WindowId("w".to_owned())));
    let id = futures_util::StreamExt::next(&mut watch).await.unwrap().id;
    house.close(&id).await;
    assert!(start.await.unwrap().is_err());
    assert_eq!(*house.world.interrupted.lock().unwrap(), ["z"]);
    assert_eq!(house.runs.census().active, 0);
}
