//! What ends when nobody cares any more, and what is told to those who do.

use super::*;
use futures_util::{Stream, StreamExt};
use shared::wire::run::{AdoptSession, SessionStatus, TransactionState};
use std::pin::Pin;
use tokio::time::{Instant, advance, sleep};

pub(super) type Watch = Pin<Box<dyn Stream<Item = RunStatus> + Send>>;

pub(super) fn watch(house: &House, window: &str) -> Watch {
    Box::pin(house.runs.watch(&house.grant, WindowId(window.to_owned())))
}

/// Everything that can be told without the time going on.
async fn heard(house: &House, watch: &mut Watch) -> Vec<RunStatus> {
    house.settle().await;
    let mut all = Vec::new();
    while let Some(Some(status)) = futures_util::FutureExt::now_or_never(watch.next()) {
        all.push(status);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_parked_result_lets_go_of_its_session_when_nobody_asks() {
    let house = house();
    let id = house.sql("rows n=5000").await.status.id;
    sleep(59 * SECOND).await;
    // Asking keeps it, also for a page that is there.
    house.page(&id, 0).await.unwrap();
    sleep(59 * SECOND).await;
    assert_eq!(house.status(&id).unwrap().state, RunState::Paused);
    sleep(2 * SECOND).await;
    let status = house.status(&id).unwrap();
    assert_eq!(status.state, RunState::Partial);
    assert!(status.problem.unwrap().message.contains("nobody asked"));
    assert_eq!(rows_of(&house.page(&id, 0).await.unwrap()), numbers(0, 1000));
    assert_eq!(house.page(&id, 1).await.unwrap_err().code, ErrorCode::Partial);
    assert_eq!((house.runs.census().active, house.world.get(|w| &w.finishes)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_took_long_to_come_waits_for_its_reader_as_long_as_any() {
    let house = house();
    let start = house.start_later(ask("rows n=5000 gate=execute"));
    house.world.at_gate.notified().await;
    sleep(600 * SECOND).await;
    house.world.gate.add_permits(1);
    let id = start.await.unwrap().unwrap().status.id;
    sleep(59 * SECOND).await;
    assert_eq!(house.status(&id).unwrap().state, RunState::Paused);
    sleep(2 * SECOND).await;
    assert_eq!(house.status(&id).unwrap().state, RunState::Partial);
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_window_lives_half_an_hour_after_its_last_use() {
    let house = house();
    let id = house.sql("rows n=7").await.status.id;
    sleep(29 * 60 * SECOND).await;
    house.status(&id).unwrap();
    sleep(29 * 60 * SECOND).await;
    house.page(&id, 0).await.unwrap();
    sleep(31 * 60 * SECOND).await;
    assert_eq!(house.status(&id).unwrap_err().code, ErrorCode::Gone);
    assert_eq!((house.runs.census().kept, house.runs.census().memory_bytes, house.runs.census().sessions), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_console_without_a_window_ends_as_late() {
    let house = house();
    house.start(on_console("temp", "k")).await.unwrap();
    sleep(29 * 60 * SECOND).await;
    house.start(on_console("look", "k")).await.unwrap();
    sleep(31 * 60 * SECOND).await;
    assert_eq!((house.world.get(|w| &w.open), house.runs.census().sessions), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_window_that_closes_takes_its_runs_and_consoles_with_it() {
    let house = house();
    let mut events = watch(&house, "w");
    let parked =
        house.start(StartRun { session: Some(SessionId("k".to_owned())), ..in_window("rows n=5000", "w") }).await.unwrap().status.id;
    let done = house.start(in_window("rows n=7", "w")).await.unwrap().status.id;
    let other = house.start(in_window("rows n=7", "elsewhere")).await.unwrap().status.id;
    let _others = watch(&house, "elsewhere");
    events.next().await.unwrap();
    drop(events);
    sleep(29 * SECOND).await;
    assert!(house.status(&parked).is_ok());
    sleep(2 * SECOND).await;
    assert_eq!(house.status(&parked).unwrap_err().code, ErrorCode::Gone);
    assert_eq!(house.status(&done).unwrap_err().code, ErrorCode::Gone);
    assert!(house.status(&other).is_ok());
    assert_eq!((house.runs.census().active, house.runs.census().kept), (0, 1));
    sleep(301 * SECOND).await;
    assert_eq!(house.world.get(|w| &w.open), 0);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_was_left_gives_its_sessions_up_early_where_they_are_short() {
    let house = house();
    let parked = |window: &str| StartRun { session: Some(SessionId(window.to_owned())), ..in_window("rows n=5000", window) };
    let mut left = Vec::new();
    for window in ["a", "b", "c", "d", "e", "f", "g"] {
        let events = watch(&house, window);
        left.push(house.start(parked(window)).await.unwrap().status.id);
        drop(events);
    }
    // All seven are within their lease, and one more is wanted.
    let next = house.start(parked("h")).await.unwrap().status;
    assert_eq!(next.state, RunState::Paused);
    for id in &left {
        assert_eq!(house.status(id).unwrap_err().code, ErrorCode::Gone);
    }
    assert_eq!(house.runs.census().sessions, 1);
}

#[tokio::test(start_paused = true)]
async fn windows_that_are_watched_keep_their_sessions_however_short_they_are() {
    let house = house();
    let parked = |window: &str| StartRun { session: Some(SessionId(window.to_owned())), ..in_window("rows n=5000", window) };
    let mut watched = Vec::new();
    for window in ["a", "b", "c", "d", "e", "f", "g"] {
        watched.push((watch(&house, window), house.start(parked(window)).await.unwrap().status.id));
    }
    assert_eq!(house.start(parked("h")).await.unwrap_err().code, ErrorCode::TooMany);
    assert!(watched.iter().all(|(_, id)| house.status(id).is_ok()));
}

#[tokio::test(start_paused = true)]
async fn the_console_that_has_rested_longest_gives_its_session_up_where_they_are_short() {
    let house = house();
    let _events = watch(&house, "w");
    let in_console = |sql: &str, console: &str| StartRun { session: Some(SessionId(console.to_owned())), ..in_window(sql, "w") };
    for console in ["a", "b", "c", "d", "e", "f", "g"] {
        house.start(in_console("rows n=7", console)).await.unwrap();
        sleep(SECOND).await;
    }
    house.start(in_console("rows n=7", "h")).await.unwrap();
    assert_eq!(house.runs.census().sessions, 7);
    // The second still has its session, the first is told that it has a new one.
    assert!(house.start(in_console("rows n=7", "b")).await.unwrap().status.notices.is_empty());
    let first = house.start(in_console("rows n=7", "a")).await.unwrap().status;
    let sentence = "This console's database session was given up for other consoles, with its temporary tables and settings; \
                    the statement ran in a new one";
    assert_eq!(first.notices.iter().map(|notice| notice.message.as_str()).collect::<Vec<_>>(), [sentence]);
    // It is told once.
    assert!(house.start(in_console("rows n=7", "a")).await.unwrap().status.notices.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_window_that_comes_back_in_time_keeps_its_runs() {
    let house = house();
    let events = watch(&house, "w");
    let id = house.start(in_window("rows n=7", "w")).await.unwrap().status.id;
    for _ in 0..5 {
        sleep(20 * SECOND).await;
    }
    drop(events);
    sleep(29 * SECOND).await;
    // Two at once: the one that is left counts.
    let (again, more) = (watch(&house, "w"), watch(&house, "w"));
    drop(again);
    sleep(100 * SECOND).await;
    assert!(house.status(&id).is_ok());
    drop(more);
    sleep(31 * SECOND).await;
    assert_eq!(house.status(&id).unwrap_err().code, ErrorCode::Gone);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_never_listened_ends_as_well() {
    let house = house();
    let start = house.start_later(in_window("change n=1 gate=execute", "never"));
    house.world.at_gate.notified().await;
    sleep(31 * SECOND).await;
    assert!(start.await.unwrap().is_err());
    assert_eq!((house.runs.census().active, house.runs.census().kept, house.world.get(|w| &w.cancels)), (0, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_hears_every_state_and_nothing_when_nothing_changes() {
    let house = house();
    let mut events = watch(&house, "w");
    assert!(heard(&house, &mut events).await.is_empty());
    let id = house.start(in_window("rows n=5000", "w")).await.unwrap().status.id;
    let first = heard(&house, &mut events).await;
    assert_eq!(first[0].id, id);
    advance(SECOND).await;
    let then = heard(&house, &mut events).await;
    let last = then.last().or(first.last()).unwrap();
    assert_eq!((last.state, last.rows_ready), (RunState::Paused, 1000));
    advance(5 * SECOND).await;
    assert!(heard(&house, &mut events).await.is_empty(), "no ticks");
    house.cancel(&id);
    let last = heard(&house, &mut events).await;
    assert_eq!(last.iter().map(|s| s.state).collect::<Vec<_>>(), [RunState::Cancelled], "an end is told at once, once");
    advance(5 * SECOND).await;
    assert!(heard(&house, &mut events).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_though_the_run_is_gone() {
    let house = house();
    let mut events = watch(&house, "w");
    house.start(in_window("rows fail=execute", "w")).await.unwrap_err();
    let told = heard(&house, &mut events).await;
    let last = told.last().unwrap();
    assert_eq!((last.state, last.problem.as_ref().unwrap().position), (RunState::Rejected, Some(7)));
    assert_eq!(house.status(&last.id).unwrap_err().code, ErrorCode::Gone);
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_ten_times_a_second_and_the_end_at_once() {
    let house = house();
    let mut events = watch(&house, "w");
    house.world.gate.add_permits(1);
    let id = house.start(in_window("rows n=100000 gate=fetch", "w")).await.unwrap().status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    let runs = house.world.clone();
    // A page each 10 ms, for a second.
    let feeding = tokio::spawn(async move {
        for _ in 0..99 {
            sleep(std::time::Duration::from_millis(10)).await;
            runs.gate.add_permits(1);
        }
    });
    let (mut told, mut last_at) = (0, None::<Instant>);
    loop {
        let status = events.next().await.unwrap();
        if status.state.is_final() {
            assert_eq!((status.state, status.total_rows), (RunState::Done, Some(100_000)));
            break;
        }
        if let Some(at) = last_at {
            assert!(at.elapsed() >= std::time::Duration::from_millis(100));
        }
        last_at = Some(Instant::now());
        told += 1;
    }
    feeding.await.unwrap();
    assert!((5..=11).contains(&told), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_new_watcher_is_told_what_is_there() {
    let house = house();
    let kept = watch(&house, "w");
    let one = house.start(in_window("rows n=7", "w")).await.unwrap().status.id;
    let two = house.start(in_window("rows n=5000", "w")).await.unwrap().status.id;
    let mut late = watch(&house, "w");
    let mut told: Vec<RunId> = heard(&house, &mut late).await.into_iter().map(|s| s.id).collect();
    told.sort();
    let mut both = vec![one, two];
    both.sort();
    assert_eq!(told, both);
    drop(kept);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_was_loaded_anew_takes_its_consoles_over() {
    let house = house();
    let adopt = async |console: &str, window: &str| {
        let status = adopt_as(&house, console, window, None).await;
        status.map(|status| (status.transaction, status.run, status.elsewhere))
    };
    let old = watch(&house, "old");
    house.start(StartRun { window: Some(WindowId("old".to_owned())), ..on_console("begin", "k") }).await.unwrap();
    // Another window asks while the first is open: it is told, and takes nothing.
    assert_eq!(adopt("k", "other").await, Some((TransactionState::Open, None, true)));
    sleep(120 * SECOND).await;
    assert_eq!(house.runs.census().sessions, 1);
    drop(old);
    house.settle().await;
    assert_eq!(adopt("k", "new").await, Some((TransactionState::Open, None, false)));
    let new = watch(&house, "new");
    house.settle().await;
    sleep(120 * SECOND).await;
    assert_eq!(house.runs.census().sessions, 1, "it lives by the new window");
    drop(new);
    sleep(31 * SECOND).await;
    assert_eq!(house.runs.census().sessions, 0);
    assert_eq!((adopt("k", "later").await, adopt("stranger", "later").await), (None, None));
}

/// A statement of the window `old` that waits at the gate, and whose start nobody waits for any more.
async fn left_at_the_gate(house: &House, sql: &str) {
    let old = watch(house, "old");
    let start = StartRun { window: Some(WindowId("old".to_owned())), token: Some("t".to_owned()), ..on_console(sql, "k") };
    let start = house.start_later(start);
    house.world.at_gate.notified().await;
    start.abort();
    drop(old);
    house.settle().await;
}

pub(super) async fn adopt_as(house: &House, console: &str, window: &str, former: Option<&str>) -> Option<SessionStatus> {
    let (connection, session) = (ConnectionId("c1".to_owned()), SessionId(console.to_owned()));
    let request = AdoptSession { window: WindowId(window.to_owned()), former: former.map(|former| WindowId(former.to_owned())) };
    house.runs.adopt_session(&house.grant, connection, session, request).await
}

async fn adopt_console(house: &House, window: &str) -> Option<SessionStatus> {
    adopt_as(house, "k", window, None).await
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_loaded_anew_waits_for_the_end_of_what_it_was_before() {
    let house = Arc::new(house());
    let old = watch(&house, "old");
    let sql = "rows n=7 gate=execute";
    let start = house.start_later(StartRun { window: Some(WindowId("old".to_owned())), ..on_console(sql, "k") });
    house.world.at_gate.notified().await;
    start.abort();
    let later = |former: &'static str| {
        let house = house.clone();
        tokio::spawn(async move { adopt_as(&house, "k", "new", Some(former)).await.unwrap() })
    };
    // Who was another one before does not wait, and takes nothing.
    let begun = Instant::now();
    let status = later("stranger").await.unwrap();
    assert_eq!((status.run, status.elsewhere, begun.elapsed()), (None, true, Duration::ZERO));
    // Nor does who was this one take it from a copy of the page that is open still, after a moment.
    let status = later("old").await.unwrap();
    assert_eq!((status.run, status.elsewhere, begun.elapsed()), (None, true, 2 * SECOND));
    let adopting = later("old");
    house.settle().await;
    assert!(!adopting.is_finished());
    drop(old);
    let status = adopting.await.unwrap();
    assert_eq!((status.sql.as_deref(), status.elsewhere, begun.elapsed()), (Some(sql), false, 2 * SECOND));
    assert_eq!(status.run.unwrap().state, RunState::Running);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_was_loaded_anew_takes_over_what_runs() {
    let house = house();
    left_at_the_gate(&house, "rows n=7 gate=execute").await;
    let mut new = watch(&house, "new");
    assert!(heard(&house, &mut new).await.is_empty());
    let run = adopt_console(&house, "new").await.unwrap().run.unwrap();
    assert_eq!((run.state, run.token.as_deref()), (RunState::Running, Some("t")));
    assert_eq!(heard(&house, &mut new).await.first().map(|told| told.id.clone()), Some(run.id.clone()), "its news are the new window's");
    // Long after the lease of the window that started it.
    sleep(120 * SECOND).await;
    let again = StartRun { window: Some(WindowId("new".to_owned())), ..on_console("rows n=1", "k") };
    assert_eq!(house.start(again).await.unwrap_err().code, ErrorCode::TooMany);
    house.world.gate.add_permits(1);
    assert_eq!(rows_of(&house.page(&run.id, 0).await.unwrap()), numbers(0, 7));
    assert_eq!(house.status(&run.id).unwrap().total_rows, Some(7), "a result of one page is whole when it is given");
    drop(new);
    sleep(31 * SECOND).await;
    assert_eq!(house.status(&run.id).unwrap_err().code, ErrorCode::Gone, "it lives by the new window");
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_over_can_be_cancelled_and_its_end_is_told_to_who_waits() {
    let house = house();
    left_at_the_gate(&house, "rows n=7 gate=execute").await;
    let run = adopt_console(&house, "new").await.unwrap().run.unwrap();
    let first = house.page_later(&run.id, 0);
    house.settle().await;
    house.runs.cancel_by_token(&house.grant, "t").unwrap();
    let problem = first.await.unwrap().unwrap_err();
    assert_eq!((problem.code, problem.transaction), (ErrorCode::Cancelled, Some(TransactionState::None)));
    assert_eq!(adopt_console(&house, "new").await.unwrap().run, None, "what has ended is not taken over");
    house.start(StartRun { window: Some(WindowId("new".to_owned())), ..on_console("rows n=1", "k") }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_next_result_that_is_waited_for_is_taken_over_with_the_one_before() {
    let house = house();
    let old = watch(&house, "old");
    let start = StartRun { window: Some(WindowId("old".to_owned())), ..on_console("rows n=7 | rows n=8 gate=next", "k") };
    let before = house.start(start).await.unwrap().status;
    assert!(before.further);
    let (runs, grant, id) = (house.runs.clone(), house.grant.clone(), before.id);
    let next = tokio::spawn(async move { runs.next(&grant, &id).await });
    house.settle().await;
    next.abort();
    drop(old);
    house.settle().await;
    let new = watch(&house, "new");
    let run = adopt_console(&house, "new").await.unwrap().run.unwrap();
    sleep(120 * SECOND).await;
    house.world.gate.add_permits(1);
    assert_eq!(rows_of(&house.page(&run.id, 0).await.unwrap()).len(), 8);
    drop(new);
}
