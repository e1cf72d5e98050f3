//! The first answer: page 0, the end without rows, or a refusal.

use super::*;
use shared::limits::{NOTICES_MAX, PAGE_ROWS_MAX, SQL_BYTES_MAX};

#[tokio::test(start_paused = true)]
async fn page_0_comes_with_the_start_and_an_abandoned_run_moves_nothing_more() {
    let house = house();
    let begun = house.sql("rows n=1000000 tag=a").await;
    let page0 = begun.page0.unwrap();
    assert_eq!(rows_of(&page0), numbers(0, 1000));
    assert_eq!((begun.status.state, begun.status.page_rows, begun.status.total_rows), (RunState::Paused, 1000, None));
    assert_eq!(
        begun.status.columns.iter().map(|c| (c.name.as_str(), c.type_name.as_str())).collect::<Vec<_>>(),
        [("n", "bigint"), ("t", "text")]
    );
    house.settle().await;
    assert_eq!((house.world.get(|w| &w.fetches), house.world.get(|w| &w.rows_moved)), (1, 1000));
    // Asking for page 0 again is no wish for more.
    assert_eq!(house.page(&begun.status.id, 0).await.unwrap(), page0);
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.fetches), 1);
}

#[tokio::test(start_paused = true)]
async fn a_small_result_is_done_and_knows_its_total() {
    let house = house();
    let begun = house.sql("rows n=7 tag=a").await;
    assert_eq!((begun.status.state, begun.status.total_rows, begun.status.rows_ready), (RunState::Done, Some(7), 7));
    assert_eq!(rows_of(&begun.page0.unwrap()), numbers(0, 7));
    assert_eq!(begun.status.page_rows, 1000);
    assert_eq!(house.world.get(|w| &w.finishes), 1);
}

#[tokio::test(start_paused = true)]
async fn a_result_of_exactly_one_page_has_no_second() {
    let house = house();
    let begun = house.sql("rows n=1000").await;
    assert_eq!((begun.status.state, begun.status.total_rows), (RunState::Done, Some(1000)));
    assert_eq!(house.page(&begun.status.id, 1).await.unwrap_err().code, ErrorCode::PastTheEnd);
}

#[tokio::test(start_paused = true)]
async fn an_empty_result_has_a_page_of_no_rows() {
    let house = house();
    let begun = house.sql("rows n=0").await;
    assert_eq!((begun.status.state, begun.status.total_rows), (RunState::Done, Some(0)));
    let batch = batch_of(&begun.page0.unwrap());
    assert_eq!((batch.num_rows(), batch.num_columns()), (0, 2));
    assert_eq!(house.page(&begun.status.id, 1).await.unwrap_err().code, ErrorCode::PastTheEnd);
}

#[tokio::test(start_paused = true)]
async fn a_statement_without_rows_tells_how_many_it_changed() {
    let house = house();
    let begun = house.sql("change n=5").await;
    assert!(begun.page0.is_none());
    assert_eq!((begun.status.state, begun.status.rows_affected, begun.status.total_rows), (RunState::Done, Some(5), None));
    assert_eq!(house.page(&begun.status.id, 0).await.unwrap_err().code, ErrorCode::PastTheEnd);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_the_answer_with_its_place_and_the_session_stands() {
    let house = house();
    let problem = house.start(ask("rows fail=execute")).await.unwrap_err();
    assert_eq!((problem.code, problem.position, problem.message.as_str()), (ErrorCode::Rejected, Some(7), "division by zero"));
    house.settle().await;
    assert_eq!(house.runs.census().kept, 0);
    house.sql("rows n=1").await;
    assert_eq!(house.world.get(|w| &w.connects), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_first_row_or_at_the_very_end_is_one_too() {
    let house = house();
    assert_eq!(house.start(ask("rows n=5 fail=fetch")).await.unwrap_err().code, ErrorCode::Rejected);
    assert_eq!(house.start(ask("rows n=5 fail=finish")).await.unwrap_err().code, ErrorCode::Rejected);
    assert_eq!(house.start(ask("change n=5 fail=finish")).await.unwrap_err().code, ErrorCode::Rejected);
    house.settle().await;
    assert_eq!((house.runs.census().kept, house.runs.census().active), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_there_is_told_as_such() {
    let house = house();
    house.world.refuse_connects.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(house.start(ask("rows n=1")).await.unwrap_err().code, ErrorCode::ConnectFailed);
    assert_eq!(house.start(on_console("rows n=1", "k")).await.unwrap_err().code, ErrorCode::ConnectFailed);
    assert_eq!(house.runs.census().sessions, 0);
}

#[tokio::test(start_paused = true)]
async fn notices_are_kept_in_order_and_bounded() {
    let house = house();
    let begun = house.sql("change n=0 notices=3").await;
    assert_eq!(begun.status.notices.iter().map(|n| n.message.as_str()).collect::<Vec<_>>(), ["notice 0", "notice 1", "notice 2"]);
    let begun = house.sql("change n=0 notices=100000").await;
    assert_eq!(begun.status.notices.len(), NOTICES_MAX + 1);
    assert!(begun.status.notices.last().unwrap().message.contains("left off"));
}

#[tokio::test(start_paused = true)]
async fn what_is_over_a_limit_is_refused_before_anything_is_sent() {
    let house = house();
    for page_rows in [0, PAGE_ROWS_MAX + 1] {
        let problem = house.start(StartRun { page_rows: Some(page_rows), ..ask("rows n=1") }).await.unwrap_err();
        assert_eq!(problem.code, ErrorCode::InvalidRequest);
    }
    let long = format!("rows n=1 {}", " ".repeat(SQL_BYTES_MAX));
    assert_eq!(house.start(ask(&long)).await.unwrap_err().code, ErrorCode::TooLarge);
    assert_eq!(house.world.get(|w| &w.connects), 0);
    let most = house.start(StartRun { page_rows: Some(PAGE_ROWS_MAX), ..ask("rows n=20000") }).await.unwrap();
    assert_eq!(most.status.page_rows, PAGE_ROWS_MAX);
}

#[tokio::test(start_paused = true)]
async fn too_many_columns_are_refused_and_the_session_stands() {
    let house = house();
    let problem = house.start(ask("rows columns=4097")).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::TooLarge);
    assert!(problem.message.contains("4097 columns"), "{}", problem.message);
    house.settle().await;
    assert_eq!((house.world.get(|w| &w.finishes), house.world.get(|w| &w.open)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_start_whose_caller_vanished_is_closed_unless_a_window_knows_it() {
    let house = house();
    let start = house.start_later(ask("rows n=5000 gate=execute"));
    house.world.at_gate.notified().await;
    start.abort();
    house.settle().await;
    assert_eq!((house.runs.census().kept, house.runs.census().active), (0, 0));
    assert_eq!(house.world.get(|w| &w.cancels), 1);

    let start = house.start_later(in_window("rows n=5000 gate=execute", "w"));
    house.world.at_gate.notified().await;
    start.abort();
    house.world.gate.add_permits(1);
    house.settle().await;
    assert_eq!((house.runs.census().kept, house.runs.census().active), (1, 1));
    assert_eq!(house.world.get(|w| &w.cancels), 1);
}

#[tokio::test(start_paused = true)]
async fn there_is_a_most_of_active_runs_and_sessions() {
    let house = house_with(|config| config.sessions_per_target = 100);
    for _ in 0..16 {
        house.sql("rows n=5000").await;
    }
    let problem = house.start(ask("rows n=5000")).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::TooMany);
    assert!(problem.retry_after_ms.is_some());

    let house = house_with(|config| config.sessions_per_target = 3);
    let first = house.sql("rows n=5000").await;
    house.sql("rows n=5000").await;
    assert_eq!(house.start(ask("rows n=5000")).await.unwrap_err().code, ErrorCode::TooMany);
    // A catalog still has its slot, and a closed run frees one.
    let catalog = house.runs.catalog(&house.grant, house.world.target(), ConnectionId("c1".to_owned()), CatalogAsk::First).await.unwrap();
    assert_eq!(catalog.database, house.world.name);
    house.settle().await;
    house.close(&first.status.id).await;
    house.sql("rows n=5000").await;
}

#[tokio::test(start_paused = true)]
async fn a_test_tells_the_server_and_leaves_no_session() {
    let house = house();
    let result = house.runs.test(&house.grant, house.world.target()).await.unwrap();
    assert_eq!((result.ok, result.server.as_str()), (true, "Fake 1.0"));
    assert_eq!((house.world.get(|w| &w.connects), house.world.get(|w| &w.open)), (1, 0));
}
