//! Behind a result's last row: the end of its statement, or the statement's next result, which is a run of its own.
//!
//! Invariant: the statement is sent once, and its session goes from run to run with it: the run that has the session drives it, and the one
//! before is at its end. Nothing is left behind unread but what could not be kept, and the result whose rest that was says so.
//! Start at [`Reading::reach_end`].

use super::actor::{Came, Outcome, Reading, Step, end, failed, hear};
use super::drive::{Driven, Patience, drive};
use super::mailbox::Order;
use super::paginate::Paginator;
use super::run::Run;
use super::state::{self, Ending, Standing, internal};
use crate::engine::{Bound, Started};
use shared::limits::FETCH_BYTES_MAX;
use shared::wire::run::{RunState, TransactionState};
use std::sync::Arc;
use tokio::time::{Instant, sleep};

impl Reading {
    /// Every row of the result was read. Where the statement goes on, that is followed at once, asked for or not: one that has no further
    /// result after all holds no session for it.
    pub async fn reach_end(&mut self, ending: Ending) -> Came {
        let whole = ending.state == RunState::Done;
        if !self.seat.lease.session.has_further() {
            let outcome = if whole { self.finish_in_sight().await } else { self.finish().await };
            return Came::ToEnd(told_as(ending, outcome));
        }
        let Driven { result, fit } = self.look_further(whole).await;
        if fit {
            hear(&self.run, &mut self.seat);
        }
        match result {
            Some(Ok(None)) if fit => {
                let outcome = self.finish().await;
                Came::ToEnd(told_as(ending, outcome))
            }
            Some(Ok(Some(_))) if fit && self.run.nth >= self.config.results_max => Came::ToEnd(self.drop_further(whole).await),
            Some(Ok(Some(started))) if fit => self.wait_for_reader(started, ending).await,
            // What was read is whole; what comes to nothing is the rest of the statement.
            result => {
                self.run.update(|standing| standing.go_on(whole));
                let error = result.and_then(Result::err);
                Came::ToEnd(failed(error, fit, &self.seat, self.run.mailbox.is_stopping(), true))
            }
        }
    }

    /// Whoever waits for this result has its rows before the end of its query is known, where that takes a way to the server and back.
    async fn finish_in_sight(&mut self) -> Outcome {
        let is_waited_for = {
            let standing = self.run.standing();
            standing.executing && standing.pages_ready > 0
        };
        if !is_waited_for || !self.seat.lease.session.shows_before_its_end() {
            return self.finish().await;
        }
        let (run, ending) = (self.run.clone(), self.config.ending);
        let finish = self.finish();
        tokio::pin!(finish);
        tokio::select! {
            biased;
            outcome = &mut finish => outcome,
            () = sleep(ending) => {
                run.update(Standing::all_but_end);
                finish.await
            }
        }
    }

    /// Enough results were given: the statement is run to its end, so that its effect is whole, and what else it gives is dropped.
    async fn drop_further(&mut self, whole: bool) -> Outcome {
        self.run.update(|standing| standing.go_on(whole));
        let outcome = self.finish().await;
        told_as(Ending::given_up(&state::too_many_results(self.run.nth)), outcome)
    }

    /// Whoever waits for this result waits for a moment longer, to know whether there is another.
    async fn look_further(&mut self, whole: bool) -> Driven<Option<Started>> {
        let call = self.seat.lease.session.next_result();
        let driven = drive(call, &self.reach, &self.run, &self.config, Patience::UntilStopped);
        tokio::pin!(driven);
        tokio::select! {
            biased;
            driven = &mut driven => driven,
            () = sleep(self.config.further) => {
                self.run.update(|standing| standing.go_on(whole));
                driven.await
            }
        }
    }

    /// The next result is there: until somebody asks for it, or for too long.
    async fn wait_for_reader(&mut self, started: Started, ending: Ending) -> Came {
        self.ready_at = Instant::now();
        let whole = ending.state == RunState::Done;
        self.run.update(|standing| standing.wait(whole, Instant::now()));
        loop {
            let given_up = match self.run.mailbox.order_behind() {
                Order::Next(next) => return Came::ToNext(next, started, ending),
                Order::Close => Ending::given_up(state::GIVEN_UP_CLOSED),
                Order::Cancel => Ending::cancelled(),
                Order::GiveUp(reason) => Ending::given_up(reason),
                Order::Wait { asked_at } => match self.park(asked_at).await {
                    Step::GiveUp(ending) => ending,
                    _ => continue,
                },
                // There is nothing to read.
                Order::Read { .. } => Ending::partial(internal()),
            };
            return Came::ToEnd(self.give_up(given_up).await);
        }
    }

    /// Reads the rows that cannot be kept, for the sake of what comes behind them.
    pub async fn skip_rest(&mut self, ending: Ending) -> Came {
        while self.more {
            let call = self.seat.lease.session.fetch(Bound { rows: self.pages.page_rows(), bytes: FETCH_BYTES_MAX });
            let Driven { result, fit } = drive(call, &self.reach, &self.run, &self.config, Patience::UntilStopped).await;
            match result {
                Some(Ok(rows)) if fit => self.more = rows.more,
                result => {
                    let error = result.and_then(Result::err);
                    return Came::ToEnd(failed(error, fit, &self.seat, self.run.mailbox.is_stopping(), true));
                }
            }
        }
        self.reach_end(ending).await
    }

    /// This result is at its end; its session and the statement are the next run's.
    pub fn hand_over(self, next: Arc<Run>, started: Started, ending: Ending) {
        let Self { run, config, registry, mut seat, reach, .. } = self;
        let session = &seat.lease.session;
        let open = session.in_transaction().unwrap_or_else(|| seat.is_in_transaction());
        let transaction = TransactionState::of(open, session.transaction_failed());
        seat.keep_transaction();
        run.update(|standing| {
            standing.transaction = transaction;
            standing.end(ending, Instant::now());
            // It can be asked for again.
            standing.further = true;
        });
        let Some(registry_here) = registry.upgrade() else {
            // The process ends; the session is closed with its seat.
            end(&next, Ending::unknown(internal()), None);
            return next.set_ended();
        };
        next.update(|standing| standing.transaction = transaction);
        let (pages, more, ready_at) = (Paginator::new(next.page_rows as usize), started.schema.is_some(), Instant::now());
        let reading = Self { run: next.clone(), config, registry, seat, reach, pages, more, ready_at };
        registry_here.spawn(&next, reading.read(started));
    }
}

/// A result whose rows could not all be kept is not whole, however well its statement ended.
fn told_as(ending: Ending, outcome: Outcome) -> Outcome {
    match outcome.ending.state {
        RunState::Done => Outcome { ending, ..outcome },
        _ => outcome,
    }
}
