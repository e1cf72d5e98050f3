//! Statements that give several results: each a run of its own, one after the other, in one session.

use super::*;
use futures_util::{FutureExt, StreamExt};
use shared::wire::run::TransactionState;
use tokio::time::sleep;

const THREE: &str = "rows n=3 tag=a | rows n=0 tag=b | rows n=2500 tag=c affects";

impl House {
    async fn next(&self, begun: &Begun) -> Result<Begun, Problem> {
        self.runs.next(&self.grant, &begun.status.id).await
    }

    fn next_later(&self, begun: &Begun) -> tokio::task::JoinHandle<Result<Begun, Problem>> {
        let (runs, grant, id) = (self.runs.clone(), self.grant.clone(), begun.status.id.clone());
        tokio::spawn(async move { runs.next(&grant, &id).await })
    }

    /// Nothing is at the database, and the console takes the next statement in the same session.
    async fn expect_clean(&self, console: &str) {
        self.start(on_console("look", console)).await.unwrap();
        self.settle().await;
        assert_eq!((self.runs.census().active, self.world.get(|w| &w.connects)), (0, 1));
    }
}

/// A console that knows its session again.
async fn with_console() -> House {
    let house = house();
    house.start(on_console("temp", "k")).await.unwrap();
    house
}

#[tokio::test(start_paused = true)]
async fn each_result_is_a_run_of_its_own_and_the_statement_is_sent_once() {
    let house = with_console().await;
    let a = house.start(on_console(THREE, "k")).await.unwrap();
    assert_eq!((a.status.state, a.status.total_rows, a.status.further), (RunState::Paused, Some(3), true));
    assert_eq!(house.page(&a.status.id, 1).await.unwrap_err().code, ErrorCode::PastTheEnd);
    let b = house.next(&a).await.unwrap();
    assert_eq!((b.status.total_rows, b.status.further), (Some(0), true));
    assert_eq!(rows_of(&b.page0.clone().unwrap()), numbers(0, 0));
    let before = house.status(&a.status.id).unwrap();
    assert_eq!((before.state, before.further), (RunState::Done, true));
    let c = house.next(&b).await.unwrap();
    assert_eq!((c.status.state, c.status.further), (RunState::Paused, false));
    assert_eq!(texts_of(&house.page(&c.status.id, 2).await.unwrap())[499], "c:2499");
    let end = house.until(&c.status.id, |status| status.state.is_final()).await;
    assert_eq!((end.state, end.total_rows, end.rows_affected, end.further), (RunState::Done, Some(2_500), Some(2_500), false));
    assert_eq!(texts_of(&house.page(&a.status.id, 0).await.unwrap()), ["a:0", "a:1", "a:2"]);
    let problem = house.next(&c).await.unwrap_err();
    assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::PastTheEnd, "The statement has no further result"));
    assert_eq!((house.world.get(|w| &w.executes), house.world.get(|w| &w.finishes)), (2, 2));
    house.expect_clean("k").await;
}

#[tokio::test(start_paused = true)]
async fn asked_again_the_next_result_is_the_same() {
    let house = house();
    let a = house.sql(THREE).await;
    let (one, two) = (house.next_later(&a), house.next_later(&a));
    let (one, two) = (one.await.unwrap().unwrap(), two.await.unwrap().unwrap());
    assert_eq!((&one.status.id, one.page0), (&two.status.id, two.page0));
    house.close(&one.status.id).await;
    assert_eq!(house.next(&a).await.unwrap_err().code, ErrorCode::Gone);
    assert_eq!(house.runs.census().active, 0, "who closes the result that has the statement ends that");
}

#[tokio::test(start_paused = true)]
async fn a_statement_of_one_result_is_at_its_end_with_that() {
    let house = house();
    for sql in ["rows n=3 maybe", "rows n=3 | ", "rows n=3 tag=a maybe | "] {
        let one = house.sql(sql).await;
        assert_eq!((one.status.state, one.status.further), (RunState::Done, false), "{sql}");
        assert_eq!(house.next(&one).await.unwrap_err().code, ErrorCode::PastTheEnd, "{sql}");
    }
    house.settle().await;
    assert_eq!((house.runs.census().active, house.runs.census().sessions), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn asking_for_the_next_reads_what_is_left_of_this_one() {
    let house = house();
    let a = house.sql("rows n=2500 tag=a maybe | rows n=1 tag=b").await;
    assert_eq!((a.status.state, a.status.further, a.status.total_rows), (RunState::Paused, true, None));
    let b = house.next(&a).await.unwrap();
    assert_eq!(texts_of(&b.page0.unwrap()), ["b:0"]);
    assert_eq!(house.status(&a.status.id).unwrap().total_rows, Some(2_500));
    assert_eq!(rows_of(&house.page(&a.status.id, 2).await.unwrap()), numbers(2_000, 2_500));
    // It may have had another, and has none: its rows are read all the same.
    let only = house.sql("rows n=2500 maybe").await;
    assert!(only.status.further);
    assert_eq!(house.next(&only).await.unwrap_err().code, ErrorCode::PastTheEnd);
    let end = house.status(&only.status.id).unwrap();
    assert_eq!((end.state, end.total_rows, end.further), (RunState::Done, Some(2_500), false));
    assert_eq!(house.runs.census().kept, 3, "the run that was asked for in vain is none");
}

#[tokio::test(start_paused = true)]
async fn a_statement_of_more_results_than_are_given_is_run_to_its_end_and_says_so() {
    let house = house_with(|config| config.results_max = 2);
    house.start(on_console("temp", "k")).await.unwrap();
    let a = house.start(on_console("rows n=3 tag=a | rows n=2 tag=b | rows n=1 tag=c | rows n=1 tag=d affects", "k")).await.unwrap();
    let b = house.next(&a).await.unwrap();
    assert_eq!(texts_of(&b.page0.clone().unwrap()), ["b:0", "b:1"]);
    let end = house.until(&b.status.id, |status| status.state.is_final()).await;
    assert_eq!((end.state, end.total_rows, end.further), (RunState::Partial, Some(2), true));
    for _ in 0..2 {
        let problem = house.next(&b).await.unwrap_err();
        let words = "The statement has more than 2 results: the further ones were dropped, and it was run to its end";
        assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::Partial, words));
    }
    assert_eq!((house.world.get(|w| &w.executes), house.world.get(|w| &w.finishes)), (2, 2));
    // Just as many as are given is nothing to speak of.
    let a = house.start(on_console("rows n=3 | rows n=2", "k")).await.unwrap();
    let b = house.next(&a).await.unwrap();
    assert_eq!(house.next(&b).await.unwrap_err().code, ErrorCode::PastTheEnd);
    house.expect_clean("k").await;
}

#[tokio::test(start_paused = true)]
async fn a_rest_that_has_no_room_is_dropped_and_said_to_be() {
    let house = house_with(|config| config.bytes_per_run = 50_000);
    let a = house.sql("rows n=100000 tag=a maybe | rows n=2 tag=b").await;
    let b = house.next(&a).await.unwrap();
    assert_eq!(texts_of(&b.page0.unwrap()), ["b:0", "b:1"]);
    let cut = house.status(&a.status.id).unwrap();
    assert_eq!((cut.state, cut.problem.unwrap().code, cut.total_rows), (RunState::Partial, ErrorCode::SpoolFull, None));
    assert!(cut.rows_ready < 100_000);
    house.page(&a.status.id, 0).await.unwrap();
    assert_eq!(house.page(&a.status.id, 99).await.unwrap_err().code, ErrorCode::SpoolFull);
    let only = house.sql("rows n=100000 tag=a maybe").await;
    assert_eq!(house.next(&only).await.unwrap_err().code, ErrorCode::SpoolFull);
}

#[tokio::test(start_paused = true)]
async fn an_error_behind_a_result_is_told_by_the_next_and_what_was_read_stays() {
    let house = with_console().await;
    let a = house.start(on_console("rows n=3 tag=a | rows n=2 tag=b | rows n=1 fail=next", "k")).await.unwrap();
    let b = house.next(&a).await.unwrap();
    assert!(b.status.further);
    let problem = house.next(&b).await.unwrap_err();
    assert_eq!((problem.code, problem.message.as_str(), problem.position), (ErrorCode::Rejected, "division by zero", Some(7)));
    assert_eq!(house.next(&b).await.unwrap_err().message, "division by zero", "again the same");
    let last = house.status(&b.status.id).unwrap();
    assert_eq!((last.state, last.total_rows, last.further), (RunState::Partial, Some(2), true));
    for (begun, text) in [(&a, "a:0"), (&b, "b:0")] {
        assert_eq!(texts_of(&house.page(&begun.status.id, 0).await.unwrap())[0], text);
    }
    house.expect_clean("k").await;

    // In the rows of the next one.
    let a = house.start(on_console("rows n=3 | rows n=2000 tag=b fail=fetch at=2", "k")).await.unwrap();
    let b = house.next(&a).await.unwrap();
    assert_eq!(house.page(&b.status.id, 1).await.unwrap_err().message, "division by zero");
    let a = house.start(on_console("rows n=3 | rows n=2000 tag=b fail=fetch", "k")).await.unwrap();
    assert_eq!(house.next(&a).await.unwrap_err().code, ErrorCode::Rejected);
    house.expect_clean("k").await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_statement_shows_what_it_has_and_takes_no_other_beside_it() {
    let house = with_console().await;
    let start = house.start_later(on_console("rows n=3 tag=a | rows n=2 tag=b gate=next", "k"));
    house.world.at_gate.notified().await;
    let a = start.await.unwrap().unwrap();
    assert_eq!((a.status.state, a.status.total_rows, a.status.further), (RunState::Running, Some(3), true));
    let refused = house.start(on_console("look", "k")).await.unwrap_err();
    assert_eq!(refused.message, "This console is still running a statement");
    sleep(600 * SECOND).await;
    let next = house.next_later(&a);
    house.settle().await;
    house.world.gate.add_permits(1);
    assert_eq!(texts_of(&next.await.unwrap().unwrap().page0.unwrap()), ["b:0", "b:1"]);
    house.expect_clean("k").await;

    // The same while the second result is read.
    let a = house.start(on_console("rows n=3 tag=a | rows n=2 tag=b gate=fetch", "k")).await.unwrap();
    let next = house.next_later(&a);
    house.world.at_gate.notified().await;
    let refused = house.start(on_console("look", "k")).now_or_never().expect("it is refused at once").unwrap_err();
    assert_eq!(refused.message, "This console is still running a statement");
    house.world.gate.add_permits(1);
    next.await.unwrap().unwrap();
    house.expect_clean("k").await;

    // However long it took to come, there is time to ask for it.
    let a = house.start_later(on_console("rows n=3 tag=a | rows n=2 tag=b gate=next", "k")).await.unwrap().unwrap();
    sleep(600 * SECOND).await;
    house.world.gate.add_permits(1);
    sleep(59 * SECOND).await;
    assert_eq!(house.status(&a.status.id).unwrap().state, RunState::Paused);
    house.next(&a).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_rows_of_a_query_are_shown_before_its_end_is_known() {
    let house = with_console().await;
    let a = house.start(on_console("rows n=3 tag=a query gate=finish", "k")).await.unwrap();
    assert_eq!((a.status.state, a.status.total_rows, a.status.further), (RunState::Running, Some(3), false));
    assert_eq!(texts_of(&a.page0.clone().unwrap()), ["a:0", "a:1", "a:2"]);
    // The console's next statement waits for the end, and so does who asks what follows.
    let look = house.start_later(on_console("look", "k"));
    house.settle().await;
    assert!(!look.is_finished());
    house.world.gate.add_permits(1);
    look.await.unwrap().unwrap();
    assert_eq!(house.next(&a).await.unwrap_err().code, ErrorCode::PastTheEnd);
    let b = house.start(on_console("rows n=3 query gate=finish", "k")).await.unwrap();
    let next = house.next_later(&b);
    house.settle().await;
    assert!(!next.is_finished());
    house.world.gate.add_permits(1);
    assert_eq!(next.await.unwrap().unwrap_err().code, ErrorCode::PastTheEnd);
    let end = house.status(&a.status.id).unwrap();
    assert_eq!((end.state, end.total_rows, end.further), (RunState::Done, Some(3), false));
    house.expect_clean("k").await;

    // One that is refused at its end; one whose end is there at once; and a result of several pages, whose first was answered before.
    let a = house.start_later(on_console("rows n=3 query gate=finish fail=finish", "k")).await.unwrap().unwrap();
    assert_eq!(a.status.total_rows, Some(3));
    house.world.gate.add_permits(1);
    assert_eq!(house.next(&a).await.unwrap_err().message, "division by zero");
    assert_eq!(house.status(&a.status.id).unwrap().state, RunState::Rejected);
    let a = house.start(on_console("rows n=3 query", "k")).await.unwrap();
    assert_eq!((a.status.state, a.status.further), (RunState::Done, false));
    let a = house.start(on_console("rows n=1500 query gate=finish", "k")).await.unwrap();
    house.page(&a.status.id, 1).await.unwrap();
    house.settle().await;
    assert!(!house.status(&a.status.id).unwrap().further);
    house.world.gate.add_permits(1);
    house.expect_clean("k").await;

    // What changes something is told when that is certain.
    let start = house.start_later(on_console("rows n=3 affects gate=finish", "k"));
    house.world.at_gate.notified().await;
    sleep(600 * SECOND).await;
    assert!(!start.is_finished());
    house.world.gate.add_permits(1);
    assert_eq!(start.await.unwrap().unwrap().status.state, RunState::Done);
}

#[tokio::test(start_paused = true)]
async fn results_that_nobody_asks_for_let_go_of_the_session_and_say_so() {
    let house = with_console().await;
    let parked = house.start(on_console(THREE, "k")).await.unwrap();
    sleep(61 * SECOND).await;
    let status = house.status(&parked.status.id).unwrap();
    assert_eq!((status.state, status.total_rows, status.further), (RunState::Partial, Some(3), true));
    let problem = house.next(&parked).await.unwrap_err();
    assert!(problem.code == ErrorCode::Partial && problem.message.contains("nobody asked"), "{problem:?}");

    let left = house.start(on_console(THREE, "k")).await.unwrap();
    house.start(on_console("look", "k")).await.unwrap();
    let problem = house.next(&left).await.unwrap_err();
    assert!(problem.message.contains("when the console ran another statement"), "{problem:?}");
    assert_eq!(rows_of(&house.page(&left.status.id, 0).await.unwrap()), numbers(0, 3));
    house.expect_clean("k").await;
}

#[tokio::test(start_paused = true)]
async fn closing_stops_the_statement_where_it_stands_and_leaves_the_session_clean() {
    let house = with_console().await;
    // Before the next is asked for; while it is waited for; while its rows are read.
    let a = house.start(on_console(THREE, "k")).await.unwrap();
    house.close(&a.status.id).await;
    house.expect_clean("k").await;
    for which in ["rows n=3 | rows n=2 gate=next", "rows n=3 | rows n=2 gate=fetch"] {
        let a = house.start_later(on_console(which, "k")).await.unwrap().unwrap();
        let next = house.next_later(&a);
        house.world.at_gate.notified().await;
        house.settle().await;
        if which.ends_with("next") {
            house.close(&a.status.id).await;
        } else {
            // The first result is at its end: who closes it closes no other.
            house.close(&a.status.id).await;
            house.settle().await;
            assert_eq!(house.runs.census().active, 1);
            house.runs.forget_session(&house.grant, ConnectionId("c1".to_owned()), SessionId("k".to_owned()), None).await;
        }
        assert!(matches!(next.await.unwrap().unwrap_err().code, ErrorCode::Cancelled | ErrorCode::Rejected), "{which}");
        house.settle().await;
        assert_eq!(house.runs.census().active, 0, "{which}");
    }
    assert_eq!(house.world.get(|w| &w.cancels), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_reaches_whichever_result_the_statement_is_at() {
    let house = with_console().await;
    let named = |sql: &str| StartRun { token: Some("t".to_owned()), ..on_console(sql, "k") };
    let by_token = || house.runs.cancel_by_token(&house.grant, "t").unwrap();

    // The rest of the first, for the sake of the second.
    house.world.gate.add_permits(1);
    let a = house.start(named("rows n=2500 tag=a maybe gate=fetch | rows n=1")).await.unwrap();
    let next = house.next_later(&a);
    house.world.at_gate.notified().await;
    house.settle().await;
    by_token();
    assert_eq!(next.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    assert_eq!(house.status(&a.status.id).unwrap().state, RunState::Cancelled);
    assert_eq!(rows_of(&house.page(&a.status.id, 0).await.unwrap()), numbers(0, 1_000));
    house.expect_clean("k").await;

    // The second result, by the token of the start and by its id.
    for by_id in [false, true] {
        house.world.gate.add_permits(1);
        let a = house.start(named("rows n=3 | rows n=2500 tag=b gate=fetch")).await.unwrap();
        let b = house.next(&a).await.unwrap();
        house.runs.read_to_end(&house.grant, &b.status.id).unwrap();
        house.world.at_gate.notified().await;
        if by_id {
            house.cancel(&b.status.id)
        } else {
            by_token()
        }
        let end = house.until(&b.status.id, |status| status.state.is_final()).await;
        assert_eq!((end.state, end.rows_ready), (RunState::Cancelled, 1_000));
        assert_eq!(house.status(&a.status.id).unwrap().state, RunState::Done);
        house.expect_clean("k").await;
    }

    // Between two results, where nothing is at work: nothing need be interrupted.
    let cancels = house.world.get(|w| &w.cancels);
    let a = house.start(named(THREE)).await.unwrap();
    by_token();
    let end = house.until(&a.status.id, |status| status.state.is_final()).await;
    assert_eq!((end.state, house.world.get(|w| &w.cancels)), (RunState::Cancelled, cancels));
    assert_eq!(house.next(&a).await.unwrap_err().code, ErrorCode::Cancelled);
    house.expect_clean("k").await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_without_a_window_who_vanishes_takes_the_statement_with_him() {
    let house = house();
    let a = house.start_later(ask("rows n=3 | rows n=2 gate=next")).await.unwrap().unwrap();
    let next = house.next_later(&a);
    house.settle().await;
    next.abort();
    house.settle().await;
    assert_eq!((house.runs.census().active, house.runs.census().sessions), (0, 1));
    assert_eq!(house.status(&a.status.id).unwrap().state, RunState::Cancelled);
    assert_eq!(house.next(&a).await.unwrap_err().code, ErrorCode::Gone);

    // One of a window goes on without him, and is found again.
    let a = house.start_later(in_window("rows n=3 | rows n=2 gate=next", "w")).await.unwrap().unwrap();
    let next = house.next_later(&a);
    house.settle().await;
    next.abort();
    house.world.gate.add_permits(1);
    assert_eq!(rows_of(&house.next(&a).await.unwrap().page0.unwrap()), numbers(0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_window_hears_of_every_result_by_the_token_of_the_start_and_takes_all_with_it() {
    let house = house();
    let mut events = Box::pin(house.runs.watch(&house.grant, WindowId("w".to_owned())));
    let a = house.start(StartRun { token: Some("t".to_owned()), ..in_window(THREE, "w") }).await.unwrap();
    let b = house.next(&a).await.unwrap();
    let mut heard = Vec::new();
    while heard.last() != Some(&b.status.id) {
        let status = events.next().await.unwrap();
        assert_eq!(status.token.as_deref(), Some("t"));
        heard.push(status.id);
    }
    assert!(heard.contains(&a.status.id));
    drop(events);
    sleep(31 * SECOND).await;
    for begun in [&a, &b] {
        assert_eq!(house.status(&begun.status.id).unwrap_err().code, ErrorCode::Gone);
    }
    assert_eq!((house.runs.census().active, house.runs.census().kept), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_panic_behind_a_result_ends_the_statement_and_who_waits_is_told() {
    let house = house();
    for (sql, code) in [("rows n=3 | rows n=2 panic=next", ErrorCode::Internal), ("rows n=3 | rows n=2 panic=fetch", ErrorCode::Internal)] {
        let problem = match house.start(ask(sql)).await {
            Ok(a) => house.next(&a).await.unwrap_err(),
            Err(problem) => problem,
        };
        assert_eq!(problem.code, code, "{sql}");
        house.settle().await;
        assert_eq!((house.runs.census().active, house.runs.census().sessions), (0, 0), "{sql}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_was_opened_for_it_is_the_persons_once_a_result_was_seen() {
    let house = house();
    let by_hand = |sql: &str| StartRun { transaction: TransactionMode::Manual, ..on_console(sql, "k") };
    let a = house.start(by_hand("rows n=3 | rows n=2 fail=fetch")).await.unwrap();
    let problem = house.next(&a).await.unwrap_err();
    assert_eq!(problem.transaction, Some(TransactionState::Open));
    let a = house.start(by_hand(THREE)).await.unwrap();
    let b = house.next(&a).await.unwrap();
    let states = [&a.status.id, &b.status.id].map(|id| house.status(id).unwrap().transaction);
    assert_eq!(states, [TransactionState::Open, TransactionState::Open]);
}

#[tokio::test(start_paused = true)]
async fn shutting_down_ends_a_statement_between_two_results() {
    let house = house();
    let waiting = house.sql(THREE).await;
    let a = house.start_later(ask("rows n=3 | rows n=2 gate=next")).await.unwrap().unwrap();
    let next = house.next_later(&a);
    house.settle().await;
    house.runs.shut_down().await;
    assert!(next.await.unwrap().is_err());
    assert!(house.next(&waiting).await.is_err());
    assert_eq!((house.runs.census().active, house.runs.census().sessions), (0, 0));
}
