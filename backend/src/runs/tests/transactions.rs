//! A console whose transactions end by hand: opened for the statement that needs one, never by its text.

use super::*;
use shared::wire::run::{TransactionMode, TransactionState};

fn by_hand(sql: &str) -> StartRun {
    StartRun { transaction: TransactionMode::Manual, ..on_console(sql, "k") }
}

#[tokio::test(start_paused = true)]
async fn the_first_statement_opens_a_transaction_and_the_next_is_in_it() {
    let house = house();
    let opened = house.start(by_hand("change n=1")).await.unwrap();
    assert_eq!((opened.status.rows_affected, opened.status.transaction), (Some(1), TransactionState::Open));
    assert_eq!(house.world.get(|w| &w.executes), 2, "the statement, and before it one that opens");
    assert_eq!(house.start(by_hand("rows n=7")).await.unwrap().status.transaction, TransactionState::Open);
    assert_eq!(house.world.get(|w| &w.executes), 3);
    assert_eq!(house.start(by_hand("commit")).await.unwrap().status.transaction, TransactionState::None);
    assert_eq!((house.world.get(|w| &w.commits), house.world.get(|w| &w.executes)), (1, 4));
    assert_eq!(house.start(on_console("change n=1", "k")).await.unwrap().status.transaction, TransactionState::None);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_waits_for_its_reader_says_what_is_open() {
    let house = house();
    let waiting = house.start(by_hand("rows n=5000")).await.unwrap().status;
    assert_eq!((waiting.state, waiting.transaction), (RunState::Paused, TransactionState::Open));
}

#[tokio::test(start_paused = true)]
async fn a_refused_first_statement_leaves_no_transaction_behind_and_a_later_one_does() {
    let house = house();
    for refused in ["change n=1 fail=execute", "rows n=5 fail=fetch", "rows n=5 fail=finish", "change n=1 fail=finish"] {
        let problem = house.start(by_hand(refused)).await.unwrap_err();
        assert_eq!(problem.transaction, Some(TransactionState::None), "{refused}");
    }
    // Rows were seen: it is the person's transaction.
    let seen = house.start(by_hand("rows n=5000 fail=fetch at=3")).await.unwrap().status.id;
    house.runs.read_to_end(&house.grant, &seen).unwrap();
    assert_eq!(house.until(&seen, |status| status.state.is_final()).await.transaction, TransactionState::Open);
    let problem = house.start(by_hand("change n=1 fail=execute")).await.unwrap_err();
    assert_eq!(problem.transaction, Some(TransactionState::Open), "what was open before stays open");
    assert_eq!(house.world.get(|w| &w.connects), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_first_statement_leaves_none_either() {
    let house = house();
    let start = house.start_later(StartRun { token: Some("t".to_owned()), ..by_hand("change n=1 gate=execute") });
    house.world.at_gate.notified().await;
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    let problem = start.await.unwrap().unwrap_err();
    assert_eq!((problem.code, problem.transaction), (ErrorCode::Cancelled, Some(TransactionState::None)));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_had_died_is_replaced_and_the_transaction_opened_in_the_new_one() {
    let house = house();
    house.start(on_console("temp", "k")).await.unwrap();
    house.world.cut_links();
    let begun = house.start(by_hand("change n=1")).await.unwrap().status;
    assert_eq!((begun.transaction, begun.notices.len()), (TransactionState::Open, 1));
    house.world.cut_links();
    let problem = house.start(by_hand("change n=1")).await.unwrap_err();
    assert!(problem.message.contains("open transaction") && problem.message.contains("not sent"), "{}", problem.message);
}

#[tokio::test(start_paused = true)]
async fn it_needs_a_console_and_something_to_commit() {
    let house = house();
    let problem = house.start(StartRun { transaction: TransactionMode::Manual, ..ask("change n=1") }).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidRequest);
    assert_eq!(house.start(by_hand("commit")).await.unwrap().status.transaction, TransactionState::None);
    let mut target = house.world.target();
    target.fields.read_only = true;
    let begun = house.runs.start(&house.grant, target, by_hand("rows n=1")).await.unwrap();
    assert_eq!(begun.status.transaction, TransactionState::None, "nothing is changed there, so nothing is kept open");
    // A catalog is read in a session of its own.
    house.runs.catalog(&house.grant, house.world.target(), ConnectionId("c1".to_owned()), CatalogAsk::First).await.unwrap();
    assert_eq!(house.world.get(|w| &w.executes), 2);
}
