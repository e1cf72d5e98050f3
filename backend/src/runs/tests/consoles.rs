//! Consoles keep their session; everybody else gets a clean one.

use super::super::actor::Actor;
use super::super::console::Desk;
use super::super::run::{NewRun, Run};
use super::super::seat::Seats;
use super::*;
use shared::wire::run::TransactionState;
use std::sync::atomic::Ordering::SeqCst;

#[tokio::test(start_paused = true)]
async fn a_console_keeps_its_session_and_what_is_in_it() {
    let house = house();
    house.start(on_console("temp", "k")).await.unwrap();
    assert_eq!(house.start(on_console("look", "k")).await.unwrap().status.state, RunState::Done);
    assert_eq!(house.start(on_console("look", "other")).await.unwrap_err().code, ErrorCode::Rejected);
    assert_eq!(house.start(ask("look")).await.unwrap_err().code, ErrorCode::Rejected);
    assert_eq!(house.world.get(|w| &w.connects), 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_of_the_pool_is_reset_before_the_next_borrower() {
    let house = house();
    house.sql("temp").await;
    house.settle().await;
    assert_eq!(house.start(ask("look")).await.unwrap_err().code, ErrorCode::Rejected);
    assert_eq!(house.world.get(|w| &w.connects), 1);
}

#[tokio::test(start_paused = true)]
async fn the_next_statement_gives_up_the_rest_of_the_one_before() {
    let house = house();
    let first = house.start(on_console("rows n=5000", "k")).await.unwrap().status.id;
    let second = house.start(on_console("rows n=7", "k")).await.unwrap();
    assert_eq!(second.status.state, RunState::Done);
    let status = house.status(&first).unwrap();
    assert_eq!(status.state, RunState::Partial);
    let problem = status.problem.unwrap();
    assert_eq!(
        (problem.code, problem.message.as_str()),
        (ErrorCode::Partial, "The rest was given up when the console ran another statement")
    );
    assert_eq!(rows_of(&house.page(&first, 0).await.unwrap()), numbers(0, 1000));
    assert_eq!(house.page(&first, 1).await.unwrap_err(), problem);
    assert_eq!((house.world.get(|w| &w.connects), house.world.get(|w| &w.cancels)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_all_read_stays_done() {
    let house = house();
    let first = house.start(on_console("rows n=1500", "k")).await.unwrap().status.id;
    house.page(&first, 1).await.unwrap();
    house.start(on_console("rows n=7", "k")).await.unwrap();
    assert_eq!(house.status(&first).unwrap().state, RunState::Done);
}

#[tokio::test(start_paused = true)]
async fn a_console_that_still_works_refuses_the_next() {
    let house = house();
    let first = house.start_later(on_console("change n=1 gate=execute", "k"));
    house.world.at_gate.notified().await;
    let problem = house.start(on_console("change n=1", "k")).await.unwrap_err();
    assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::TooMany, "This console is still running a statement"));
    house.start(on_console("change n=1", "another")).await.unwrap();
    house.world.gate.add_permits(1);
    first.await.unwrap().unwrap();

    house.world.gate.add_permits(1);
    let reading = house.start(on_console("rows n=50000 gate=fetch", "k")).await.unwrap().status.id;
    house.runs.read_to_end(&house.grant, &reading).unwrap();
    assert_eq!(house.start(on_console("change n=1", "k")).await.unwrap_err().code, ErrorCode::TooMany);
}

#[tokio::test(start_paused = true)]
async fn after_a_cancel_the_next_start_waits_for_the_session() {
    let house = house();
    let first = house.start_later(StartRun { token: Some("t".to_owned()), ..on_console("change n=1 gate=execute", "k") });
    house.world.at_gate.notified().await;
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    let second = house.start(on_console("change n=2", "k")).await.unwrap();
    assert_eq!(second.status.rows_affected, Some(2));
    assert_eq!(first.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    assert_eq!(house.world.get(|w| &w.connects), 1);
}

#[tokio::test(start_paused = true)]
async fn an_open_transaction_stays_open_and_is_told() {
    let house = house();
    assert!(house.start(on_console("begin", "k")).await.unwrap().status.transaction.is_open());
    assert!(house.start(on_console("rows n=7", "k")).await.unwrap().status.transaction.is_open());
    let refused = house.start(on_console("rows n=7 fail=execute", "k")).await.unwrap_err();
    assert_eq!((refused.code, refused.transaction), (ErrorCode::Rejected, Some(TransactionState::Open)));
    tokio::time::advance(3600 * SECOND).await;
    assert_eq!((house.world.get(|w| &w.commits), house.world.get(|w| &w.resets)), (0, 0));

    let house = self::house();
    house.start(on_console("begin", "k")).await.unwrap();
    let waiting = house.start(on_console("rows n=5000", "k")).await.unwrap().status;
    let parked = waiting.id;
    assert!(!house.start(on_console("commit", "k")).await.unwrap().status.transaction.is_open());
    assert_eq!((waiting.state, waiting.transaction), (RunState::Paused, TransactionState::Open), "while it waits for its reader, too");
    assert!(house.status(&parked).unwrap().transaction.is_open(), "as it was when that run ended");
    assert_eq!(house.world.get(|w| &w.commits), 1);
}

#[tokio::test(start_paused = true)]
async fn a_broken_session_is_replaced_and_the_loss_is_told_once() {
    let house = house();
    house.start(on_console("temp", "k")).await.unwrap();
    let problem = house.start(on_console("change n=1 fail=execute fate=lost", "k")).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::ConnectionLost);
    let next = house.start(on_console("change n=1", "k")).await.unwrap();
    assert_eq!(next.status.notices.len(), 1);
    assert!(next.status.notices[0].message.contains("temporary tables"), "{:?}", next.status.notices);
    assert!(house.start(on_console("change n=1", "k")).await.unwrap().status.notices.is_empty());
    assert_eq!(house.world.get(|w| &w.executes), 4, "nothing was sent twice");
}

#[tokio::test(start_paused = true)]
async fn a_link_that_died_while_idle_is_replaced_before_the_statement_is_sent() {
    let house = house();
    house.start(on_console("temp", "k")).await.unwrap();
    house.sql("change n=1").await;
    house.settle().await;
    house.world.cut_links();
    let on_it = house.start(on_console("change n=1", "k")).await.unwrap();
    assert_eq!(on_it.status.notices.len(), 1);
    assert!(house.sql("change n=1").await.status.notices.is_empty());
    let catalog = house.runs.catalog(&house.grant, house.world.target(), ConnectionId("c1".to_owned()), CatalogAsk::First).await;
    assert!(catalog.is_ok());
    assert_eq!(house.world.get(|w| &w.connects), 4);
}

#[tokio::test(start_paused = true)]
async fn a_lost_transaction_is_never_gone_on_with() {
    let house = house();
    house.start(on_console("begin", "k")).await.unwrap();
    house.world.cut_links();
    let problem = house.start(on_console("change n=1", "k")).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::ConnectionLost);
    assert!(problem.message.contains("open transaction") && problem.message.contains("not sent"), "{}", problem.message);
    assert_eq!(house.world.get(|w| &w.executes), 1);
    assert!(!house.start(on_console("change n=1", "k")).await.unwrap().status.transaction.is_open());
}

#[tokio::test(start_paused = true)]
async fn a_link_lost_while_reading_leaves_what_was_read() {
    let house = house();
    let id = house.start(on_console("rows n=5000 fail=fetch at=3 fate=lost", "k")).await.unwrap().status.id;
    assert_eq!(house.page(&id, 2).await.unwrap_err().code, ErrorCode::Partial);
    let status = house.status(&id).unwrap();
    assert_eq!((status.state, status.problem.unwrap().code, status.rows_ready), (RunState::Partial, ErrorCode::ConnectionLost, 2000));
    assert_eq!(rows_of(&house.page(&id, 1).await.unwrap()), numbers(1000, 2000));
    let next = house.start(on_console("change n=1", "k")).await.unwrap();
    assert_eq!((next.status.state, next.status.notices.len()), (RunState::Done, 1));
}

#[tokio::test(start_paused = true)]
async fn a_closed_console_has_no_session_and_its_run_can_still_be_read() {
    let house = house();
    let id = house.start(on_console("rows n=5000", "k")).await.unwrap().status.id;
    house.runs.forget_session(&house.grant, ConnectionId("c1".to_owned()), SessionId("k".to_owned()), None).await;
    assert_eq!((house.world.get(|w| &w.open), house.status(&id).unwrap().state), (0, RunState::Partial));
    assert_eq!(rows_of(&house.page(&id, 0).await.unwrap()), numbers(0, 1000));
    house.runs.forget_session(&house.grant, ConnectionId("c1".to_owned()), SessionId("k".to_owned()), None).await;
    assert!(house.start(on_console("change n=1", "k")).await.unwrap().status.notices.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_finds_its_console_closed_is_cancelled() {
    let house = house();
    let registry = &house.runs.registry;
    let (id, connection) = (RunId("r".to_owned()), ConnectionId("c1".to_owned()));
    let principal = Principal::LocalOwner;
    let new = NewRun {
        id,
        principal: principal.clone(),
        connection: connection.clone(),
        window: None,
        token: None,
        console: None,
        page_rows: 10,
    };
    let run = Run::new(new, registry.spool.segment(), registry.windows.clone());
    let closed = Desk { closed: true, ..Desk::default() };
    let seats = Seats { desk: Some(Arc::new(closed.into())), ..registry.seats(principal, &connection, house.world.target()) };
    Actor { run: run.clone(), config: registry.config.clone(), seats, sql: "change n=1".to_owned(), params: Vec::new(), opens: false }
        .work()
        .await;
    let standing = run.standing().clone();
    assert_eq!((standing.state, standing.failure().unwrap().code), (RunState::Cancelled, ErrorCode::Cancelled));
    assert_eq!(house.world.get(|w| &w.connects), 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_forgotten_leaves_nothing_in_the_pool() {
    let house = house();
    for _ in 0..3 {
        // The console first: otherwise it takes the session that the other left idle in the pool.
        house.start(on_console("change n=1", "k")).await.unwrap();
        house.sql("change n=1").await;
        house.settle().await;
        assert_eq!((house.world.get(|w| &w.open), house.runs.registry.pool.places()), (2, 1));
        house.runs.forget_connection(&ConnectionId("c1".to_owned())).await;
        house.settle().await;
        assert_eq!((house.world.get(|w| &w.open), house.runs.registry.pool.places()), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_connection_closes_its_sessions_and_stops_its_statements() {
    let house = house();
    let paused = house.start(on_console("rows n=5000", "k")).await.unwrap().status.id;
    house.sql("change n=1").await;
    let working = house.start_later(on_console("change n=1 gate=execute", "w"));
    house.world.at_gate.notified().await;
    let elsewhere = house.start(StartRun { connection: ConnectionId("c2".to_owned()), ..on_console("rows n=5000", "k") }).await.unwrap();
    house.runs.forget_connection(&ConnectionId("c1".to_owned())).await;
    assert_eq!(working.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    assert_eq!(house.status(&paused).unwrap().state, RunState::Partial);
    assert_eq!(house.status(&elsewhere.status.id).unwrap().state, RunState::Paused);
    assert_eq!(house.world.get(|w| &w.open), 1);
}

#[tokio::test(start_paused = true)]
async fn a_session_to_what_the_connection_was_before_is_never_used() {
    let house = house();
    house.start(on_console("temp", "k")).await.unwrap();
    house.sql("change n=1").await;
    house.settle().await;
    let mut changed = house.world.target();
    changed.secrets.password = Some(shared::wire::secrets::Secret::new("new"));
    let begun = house.runs.start(&house.grant, changed.clone(), on_console("look", "k")).await;
    assert_eq!(begun.unwrap_err().code, ErrorCode::Rejected);
    house.runs.start(&house.grant, changed, ask("change n=1")).await.unwrap();
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.open), 2);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_of_the_pool_is_closed_after_a_while() {
    let house = house();
    house.sql("change n=1").await;
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.open), 1);
    tokio::time::sleep(299 * SECOND).await;
    assert_eq!(house.world.get(|w| &w.open), 1);
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!((house.world.get(|w| &w.open), house.runs.census().sessions), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_catalog_is_read_beside_a_busy_console() {
    let house = house();
    let busy = house.start_later(on_console("change n=1 gate=execute", "k"));
    house.world.at_gate.notified().await;
    house.runs.catalog(&house.grant, house.world.target(), ConnectionId("c1".to_owned()), CatalogAsk::First).await.unwrap();
    house.world.gate.add_permits(1);
    busy.await.unwrap().unwrap();
    house.world.refuse_connects.store(true, SeqCst);
    house.settle().await;
    house.runs.catalog(&house.grant, house.world.target(), ConnectionId("c1".to_owned()), CatalogAsk::First).await.unwrap();
}
