//! A console that one window has is no other's: not by a start, not by an end, not by a copy of the page.

use super::leases::{adopt_as, watch};
use super::*;
use shared::wire::run::TransactionState;
use tokio::time::sleep;

fn of(window: &str, sql: &str) -> StartRun {
    StartRun { window: Some(WindowId(window.to_owned())), ..on_console(sql, "k") }
}

#[tokio::test(start_paused = true)]
async fn two_windows_never_run_in_one_session() {
    let house = house();
    let (_a, _b) = (watch(&house, "a"), watch(&house, "b"));
    house.start(of("a", "begin")).await.unwrap();
    let problem = house.start(of("b", "rows n=7")).await.unwrap_err();
    assert_eq!((problem.code, problem.transaction), (ErrorCode::Elsewhere, None));
    assert!(problem.message.contains("not sent"), "{}", problem.message);
    assert_eq!(house.start(on_console("rows n=7", "k")).await.unwrap_err().code, ErrorCode::Elsewhere, "nor does who has no window");
    assert_eq!(house.world.get(|w| &w.executes), 1);
    // The same statement runs in a session of another name, and what the first has open is its own.
    let apart = StartRun { session: Some(SessionId("k of b".to_owned())), token: Some("t".to_owned()), ..of("b", "rows n=7") };
    assert_eq!(house.start(apart).await.unwrap().status.transaction, TransactionState::None);
    assert!(house.start(of("a", "rows n=7")).await.unwrap().status.transaction.is_open());
    assert_eq!(house.world.get(|w| &w.connects), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_start_is_gone_without_a_trace() {
    let house = house();
    let mut window = watch(&house, "b");
    house.start(of("a", "begin")).await.unwrap();
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    let late = StartRun { token: Some("t".to_owned()), ..of("b", "rows n=7") };
    assert_eq!(house.start(late.clone()).await.unwrap_err().code, ErrorCode::Elsewhere);
    house.settle().await;
    assert!(futures_util::FutureExt::now_or_never(futures_util::StreamExt::next(&mut window)).is_none(), "no run, no news");
    let apart = StartRun { session: Some(SessionId("k of b".to_owned())), ..late };
    assert_eq!(house.start(apart).await.unwrap_err().code, ErrorCode::Cancelled, "the cancel is for the statement, wherever it is sent");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_was_left_has_its_console_until_another_takes_it_over() {
    let house = house();
    let a = watch(&house, "a");
    house.start(of("a", "begin")).await.unwrap();
    drop(a);
    house.settle().await;
    // No statement finds itself in a transaction that nobody has shown.
    assert_eq!(house.start(of("b", "rows n=7")).await.unwrap_err().code, ErrorCode::Elsewhere);
    let status = adopt_as(&house, "k", "b", None).await.unwrap();
    assert_eq!((status.transaction, status.elsewhere), (TransactionState::Open, false));
    assert!(house.start(of("b", "rows n=7")).await.unwrap().status.transaction.is_open());
    assert_eq!(
        house.start(of("a", "rows n=7")).await.unwrap_err().code,
        ErrorCode::Elsewhere,
        "the one that comes back late has it no more"
    );
}

#[tokio::test(start_paused = true)]
async fn of_two_windows_that_open_at_once_one_takes_over() {
    let house = house();
    let old = watch(&house, "old");
    house.start(of("old", "begin")).await.unwrap();
    drop(old);
    house.settle().await;
    assert!(!adopt_as(&house, "k", "one", None).await.unwrap().elsewhere);
    assert!(adopt_as(&house, "k", "other", None).await.unwrap().elsewhere, "the first is not watched yet, but neither is it left");
    assert!(!adopt_as(&house, "k", "one", None).await.unwrap().elsewhere, "who has it may ask again");
    // Loaded anew before its event stream stood.
    assert!(!adopt_as(&house, "k", "one more", Some("one")).await.unwrap().elsewhere);
    assert_eq!(house.start(of("one", "rows n=7")).await.unwrap_err().code, ErrorCode::Elsewhere);
    sleep(31 * SECOND).await;
    assert_eq!(house.runs.census().sessions, 0, "who never comes to watch is gone with the lease");
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_a_page_does_not_get_what_the_page_has() {
    let house = house();
    let _page = watch(&house, "page");
    house.start(of("page", "begin")).await.unwrap();
    let copy = adopt_as(&house, "k", "copy", Some("page")).await.unwrap();
    assert_eq!((copy.elsewhere, copy.run), (true, None));
    assert_eq!(house.start(of("copy", "commit")).await.unwrap_err().code, ErrorCode::Elsewhere);
    assert_eq!(house.world.get(|w| &w.commits), 0);
}

#[tokio::test(start_paused = true)]
async fn a_console_without_a_session_is_taken_over_as_well() {
    let house = house();
    let old = watch(&house, "old");
    house.start(of("old", "change n=1 fail=execute fate=lost")).await.unwrap_err();
    assert!(adopt_as(&house, "k", "other", None).await.unwrap().elsewhere);
    drop(old);
    house.settle().await;
    assert_eq!(adopt_as(&house, "k", "new", Some("old")).await, None, "there is nothing to find");
    house.start(of("new", "change n=1")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_console_that_is_closed_in_one_window_stays_open_in_the_one_that_has_it() {
    let house = house();
    let close = async |window: Option<&str>| {
        let window = window.map(|window| WindowId(window.to_owned()));
        house.runs.forget_session(&house.grant, ConnectionId("c1".to_owned()), SessionId("k".to_owned()), window).await;
    };
    let _a = watch(&house, "a");
    house.start(of("a", "begin")).await.unwrap();
    close(Some("b")).await;
    assert!(house.start(of("a", "rows n=7")).await.unwrap().status.transaction.is_open());
    close(Some("a")).await;
    assert!(!house.start(of("a", "rows n=7")).await.unwrap().status.transaction.is_open());
    close(None).await;
    house.start(on_console("rows n=7", "k")).await.unwrap();
    close(Some("b")).await;
    assert_eq!(house.world.get(|w| &w.open), 0, "what no window has is anybody's to close");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_has_what_the_database_said_before_it() {
    let house = house();
    let problem = house.start(ask("rows n=7 notices=2 fail=fetch")).await.unwrap_err();
    let said: Vec<_> = problem.notices.iter().map(|notice| notice.message.as_str()).collect();
    assert_eq!((problem.code, said), (ErrorCode::Rejected, vec!["notice 0", "notice 1"]));
}
