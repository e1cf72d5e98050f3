//! The one task that drives a database session for a run: start, read on as asked, let go.
//!
//! Invariant: nothing else polls the session's futures; the standing turns final once, after everything that was read is kept.
//! Start at [`Actor::work`]; what lies behind a result's last row is in `further`.

use super::RunsConfig;
use super::drive::{Driven, Patience, Reach, drive};
use super::mailbox::Order;
use super::paginate::{FIRST_BYTES, Paginator};
use super::registry::Registry;
use super::run::Run;
use super::seat::{Health, Seat, Seats, alive};
use super::shelf::{CutCell, write_problem};
use super::state::{self, Ending, Standing, cancelled, count, internal};
use crate::engine::notices::Heard;
use crate::engine::{Bound, EngineError, Fate, Param, Started};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use shared::limits::{COLUMNS_MAX, FETCH_BYTES_MAX};
use shared::page::{ORIGIN_KEY, TYPE_KEY};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{ColumnInfo, RunState, TransactionState};
use std::sync::{Arc, Weak};
use tokio::time::{Instant, sleep_until};

pub(super) struct Actor {
    pub run: Arc<Run>,
    pub config: Arc<RunsConfig>,
    pub seats: Seats,
    pub sql: String,
    pub params: Vec<Param>,
    /// Where no transaction is open, one is opened for the statement.
    pub opens: bool,
}

/// How the work at the database ended.
pub(super) struct Outcome {
    pub ending: Ending,
    pub health: Health,
    pub in_transaction: bool,
}

/// Where a result led.
pub(super) enum Came {
    /// To the end of the statement.
    ToEnd(Outcome),
    /// To the statement's next result, which this run is to have; how this one ended.
    ToNext(Arc<Run>, Started, Ending),
}

/// What a statement left of a transaction.
fn transaction_after(outcome: &Outcome, seat: &Seat) -> TransactionState {
    TransactionState::of(outcome.in_transaction, seat.lease.session.transaction_failed())
}

/// A run with its session, from the statement's answer on.
pub(super) struct Reading {
    pub run: Arc<Run>,
    pub config: Arc<RunsConfig>,
    pub registry: Weak<Registry>,
    pub seat: Seat,
    pub reach: Reach,
    pub pages: Paginator,
    /// The engine has more rows.
    pub more: bool,
    /// When the reader had the last word.
    pub ready_at: Instant,
}

/// A statement that did not end well.
struct Unended {
    /// What the engine said; `None` where it did not stop in time.
    error: Option<EngineError>,
    fit: bool,
}

/// What reading one page came to.
pub(super) enum Step {
    More,
    Last,
    Stopped(Outcome),
    /// The rest is not wanted; the session still holds the statement.
    GiveUp(Ending),
    /// The rest cannot be kept.
    NoRoom(Ending),
}

impl Actor {
    /// From waiting for a session to giving it back.
    pub async fn work(self) {
        let run = self.run.clone();
        // Waiting for a session can be dropped: what is being opened goes to the pool.
        let seat = tokio::select! {
            biased;
            () = run.mailbox.stopping() => Err(Ending::cancelled()),
            seat = self.seats.take() => seat,
        };
        let seat = match seat {
            Ok(seat) => seat,
            Err(ending) => return end(&run, ending, None),
        };
        match self.execute(seat).await {
            Ok((reading, started)) => reading.read(started).await,
            Err(Some((mut seat, outcome))) => {
                let outcome = without_own_begin(&run, &self.config, &mut seat, outcome).await;
                let transaction = transaction_after(&outcome, &seat);
                end(&run, outcome.ending, Some(transaction));
                seat.leave(outcome.health, outcome.in_transaction).await;
            }
            // The ending is told, the seat is gone.
            Err(None) => {}
        }
    }

    /// Sends the statement; once more in a new session where the old one had died before.
    async fn execute(&self, mut seat: Seat) -> Result<(Reading, Started), Option<(Seat, Outcome)>> {
        let mut replaced = false;
        loop {
            if let Some(gone) = seat.replaced.take() {
                self.run.update(|standing| standing.hear(vec![gone.notice()].into()));
            }
            let pages = Paginator::new(self.run.standing().page_rows as usize);
            let bound = Bound { rows: pages.page_rows(), bytes: FIRST_BYTES };
            let reach = Reach::of(seat.lease.session.as_ref());
            seat.opens = self.opens && !seat.is_in_transaction();
            let (opens, rested, session) = (seat.opens, seat.rested, &mut seat.lease.session);
            let call = async {
                alive(session.as_mut(), rested).await?;
                match opens {
                    true => session.execute_in_transaction(&self.sql, &self.params, bound).await,
                    false => session.execute_with(&self.sql, &self.params, bound).await,
                }
            };
            let Driven { result, fit } = drive(call, &reach, &self.run, &self.config, Patience::UntilStopped).await;
            let may_replace = !replaced && (seat.has_state || seat.lease.reused) && !self.run.mailbox.is_stopping();
            match result {
                Some(Ok(started)) if fit => {
                    hear(&self.run, &mut seat);
                    if seat.is_in_transaction() {
                        // A result may wait for its reader for long: until its end it is in what was open when it began.
                        self.run.update(|standing| standing.transaction = TransactionState::Open);
                    }
                    let (run, config, registry) = (self.run.clone(), self.config.clone(), self.seats.registry.clone());
                    let (more, ready_at) = (started.schema.is_some(), Instant::now());
                    return Ok((Reading { run, config, registry, seat, reach, pages, more, ready_at }, started));
                }
                Some(Err(error)) if error.fate == Fate::NotSent && may_replace => {
                    replaced = true;
                    seat = match self.seats.replace(seat).await {
                        Ok(seat) => seat,
                        Err(problem) => {
                            end(&self.run, Ending::rejected(problem), Some(TransactionState::None));
                            return Err(None);
                        }
                    };
                }
                result => {
                    if fit {
                        hear(&self.run, &mut seat);
                    }
                    let outcome = failed(result.and_then(Result::err), fit, &seat, self.run.mailbox.is_stopping(), false);
                    return Err(Some((seat, outcome)));
                }
            }
        }
    }
}

impl Reading {
    /// From a result's columns to its end, and on to the next or the end of the statement.
    pub async fn read(mut self, started: Started) {
        let came = match started.schema {
            None => self.reach_end(Ending::done()).await,
            Some(schema) if schema.fields().len() > COLUMNS_MAX => {
                let message = format!("The result has {} columns, more than the {COLUMNS_MAX} of a result", schema.fields().len());
                Came::ToEnd(self.give_up(Ending::rejected(Problem::new(ErrorCode::TooLarge, message))).await)
            }
            Some(schema) => {
                let columns = Arc::new(columns(&schema));
                self.run.update(|standing| standing.columns = columns);
                self.read_pages().await
            }
        };
        let outcome = match came {
            Came::ToEnd(outcome) => outcome,
            Came::ToNext(next, started, ending) => return self.hand_over(next, started, ending),
        };
        let outcome = without_own_begin(&self.run, &self.config, &mut self.seat, outcome).await;
        let transaction = transaction_after(&outcome, &self.seat);
        end(&self.run, outcome.ending, Some(transaction));
        self.seat.leave(outcome.health, outcome.in_transaction).await;
    }

    async fn read_pages(&mut self) -> Came {
        let mut step = self.read_page().await;
        loop {
            match step {
                Step::Last => return self.reach_end(Ending::done()).await,
                Step::Stopped(outcome) => return Came::ToEnd(outcome),
                Step::NoRoom(ending) if self.run.mailbox.is_next_asked() => return self.skip_rest(ending).await,
                Step::GiveUp(ending) | Step::NoRoom(ending) => return Came::ToEnd(self.give_up(ending).await),
                Step::More => {}
            }
            let ready = self.run.standing().pages_ready;
            step = match self.run.mailbox.order(ready) {
                Order::Close => Step::GiveUp(Ending::given_up(state::GIVEN_UP_CLOSED)),
                Order::Cancel => Step::GiveUp(Ending::cancelled()),
                Order::GiveUp(reason) => Step::GiveUp(Ending::given_up(reason)),
                Order::Read { to_end } => {
                    self.run.update(|standing| {
                        standing.reading_to_end = to_end;
                        standing.work(Instant::now());
                    });
                    self.read_page().await
                }
                Order::Wait { asked_at } => self.park(asked_at).await,
                // Behind the last row only.
                Order::Next(_) => Step::GiveUp(Ending::partial(internal())),
            };
        }
    }

    /// Waits for a wish; gives up where none comes for too long.
    pub(super) async fn park(&mut self, asked_at: Instant) -> Step {
        if self.run.standing().state != RunState::Paused {
            self.run.update(|standing| standing.pause(Instant::now()));
        }
        // Nobody can ask for what is not there: the time counts from when it was.
        let since = |asked_at: Instant| asked_at.max(self.ready_at) + self.config.parked;
        tokio::select! {
            biased;
            () = self.run.mailbox.bell() => Step::More,
            () = sleep_until(since(asked_at)) => {
                // A page that was ready may have been asked for meanwhile: that rings no bell.
                let is_over = since(self.run.mailbox.asked_at()) <= Instant::now();
                if is_over { Step::GiveUp(Ending::given_up(state::GIVEN_UP_PARKED)) } else { Step::More }
            }
        }
    }

    async fn read_page(&mut self) -> Step {
        let is_first = self.run.standing().pages_ready == 0;
        let mut cut = Vec::new();
        let mut fetched = 0_usize;
        let mut stopped = None;
        while self.more && self.pages.missing() > 0 && !(is_first && fetched > 0) {
            let bytes = if is_first { FIRST_BYTES } else { FETCH_BYTES_MAX };
            let call = self.seat.lease.session.fetch(Bound { rows: self.pages.missing(), bytes });
            let Driven { result, fit } = drive(call, &self.reach, &self.run, &self.config, Patience::UntilStopped).await;
            if fit {
                hear(&self.run, &mut self.seat);
            }
            match result {
                Some(Ok(rows)) if fit && (rows.batch.num_rows() > 0 || !rows.more) => {
                    fetched += 1;
                    self.more = rows.more;
                    // An empty batch is a page only where it is the whole result.
                    if rows.batch.num_rows() > 0 || (is_first && !self.pages.has_rows()) {
                        cut.append(&mut self.pages.push(rows.batch));
                    }
                }
                // Rows are promised and do not come: the engine is at fault.
                Some(Ok(_)) if fit => return Step::GiveUp(Ending::partial(internal())),
                result => {
                    let is_stopping = self.run.mailbox.is_stopping();
                    let has_rows = !is_first || self.pages.has_rows();
                    stopped = Some(failed(result.and_then(Result::err), fit, &self.seat, is_stopping, has_rows));
                    break;
                }
            }
        }
        let kept = if self.pages.has_rows() || (is_first && stopped.is_none()) { self.keep(cut).await } else { Ok(()) };
        match (stopped, kept) {
            (Some(outcome), Ok(())) => Step::Stopped(outcome),
            (Some(outcome), Err(ending)) => Step::Stopped(Outcome { ending, ..outcome }),
            (None, Err(ending)) => Step::NoRoom(ending),
            (None, Ok(())) if self.more || self.pages.has_rows() => Step::More,
            (None, Ok(())) => Step::Last,
        }
    }

    /// Makes a page of the rows that are here and puts it on the shelf.
    async fn keep(&mut self, mut cut: Vec<CutCell>) -> Result<(), Ending> {
        let (page, mut more_cut) = self.pages.page(self.more).map_err(|error| {
            tracing::error!(%error, "a page could not be made");
            Ending::partial(Problem::new(
                ErrorCode::Internal,
                "The next rows do not fit a page; the rest was given up, what was read stays",
            ))
        })?;
        cut.append(&mut more_cut);
        let bytes: Bytes = page.bytes;
        self.run.shelf.add(bytes, cut).await.map_err(|error| Ending::partial(write_problem(&error)))?;
        let page_rows = u32::try_from(self.pages.page_rows()).unwrap_or(u32::MAX);
        let more = self.more || self.pages.has_rows();
        let further = more && self.seat.lease.session.has_further();
        self.ready_at = Instant::now();
        self.run.update(|standing| {
            // A result that is all here is told when its statement has ended well, or goes on.
            standing.executing &= !more;
            standing.further = further;
            standing.page_came(page.rows as u64, page_rows);
        });
        Ok(())
    }

    /// Ends a statement that has given all its rows.
    pub(super) async fn finish(&mut self) -> Outcome {
        match self.end_statement(Patience::UntilStopped).await {
            Ok(outcome) => outcome,
            // Refused at the very end (a deferred constraint): the statement as a whole did not happen, whatever rows it showed.
            Err(Unended { error, fit }) => failed(error, fit, &self.seat, self.run.mailbox.is_stopping(), false),
        }
    }

    /// Ends a statement whose rest is not wanted.
    pub(super) async fn give_up(&mut self, ending: Ending) -> Outcome {
        if self.seat.is_nobodys() {
            let call = self.seat.lease.session.drop_rest();
            let Driven { result, fit } = drive(call, &self.reach, &self.run, &self.config, Patience::GivingUp).await;
            if !fit || !matches!(result, Some(Ok(false))) {
                return Outcome { ending, health: Health::Broken, in_transaction: false };
            }
        }
        match self.end_statement(Patience::GivingUp).await {
            Ok(outcome) => Outcome { ending: with_effect(ending, self.run.standing().rows_affected), ..outcome },
            Err(Unended { error, fit }) => {
                let ending = without_effect(ending, error.as_ref());
                Outcome { ending, ..failed(error, fit, &self.seat, self.run.mailbox.is_stopping(), false) }
            }
        }
    }

    async fn end_statement(&mut self, patience: Patience) -> Result<Outcome, Unended> {
        let call = self.seat.lease.session.finish();
        let Driven { result, fit } = drive(call, &self.reach, &self.run, &self.config, patience).await;
        if fit {
            hear(&self.run, &mut self.seat);
        }
        let finished = match result {
            Some(Ok(finished)) => finished,
            other => return Err(Unended { error: other.and_then(Result::err), fit }),
        };
        self.run.update(|standing| standing.rows_affected = finished.rows_affected);
        let health = if fit { Health::Fit } else { Health::Broken };
        Ok(Outcome { ending: Ending::done(), health, in_transaction: finished.in_transaction })
    }
}

/// A transaction that was opened for a statement which then gave nothing holds nothing: it is not left to the person to be ended.
async fn without_own_begin(run: &Arc<Run>, config: &RunsConfig, seat: &mut Seat, outcome: Outcome) -> Outcome {
    // Nobody was answered: all there will be is the refusal.
    let gave_nothing = matches!(outcome.ending.state, RunState::Rejected | RunState::Cancelled) && run.standing().executing;
    if !(seat.opens && gave_nothing && outcome.in_transaction && outcome.health == Health::Fit) {
        return outcome;
    }
    let reach = Reach::of(seat.lease.session.as_ref());
    let session = &mut seat.lease.session;
    let call = async {
        session.execute("ROLLBACK", Bound { rows: 1, bytes: FIRST_BYTES }).await?;
        session.finish().await
    };
    let Driven { result, fit } = drive(call, &reach, run, config, Patience::GivingUp).await;
    let is_idle = match result {
        Some(Ok(_)) => true,
        Some(Err(error)) => error.fate == Fate::Idle,
        None => false,
    };
    Outcome { in_transaction: false, health: if fit && is_idle { Health::Fit } else { Health::Broken }, ..outcome }
}

/// Writes the final state.
pub(super) fn end(run: &Arc<Run>, ending: Ending, transaction: Option<TransactionState>) {
    run.update(|standing: &mut Standing| {
        if let Some(transaction) = transaction {
            standing.transaction = transaction;
        }
        standing.end(ending, Instant::now());
    });
}

pub(super) fn hear(run: &Arc<Run>, seat: &mut Seat) {
    // First what is counted with it, where the session has such a place.
    let heard = seat.lease.session.notices().map(|notices| notices.take()).unwrap_or_default();
    let heard = if heard.is_empty() { Heard::from(seat.lease.session.take_notices()) } else { heard };
    if !heard.is_empty() {
        run.update(|standing| standing.hear(heard));
    }
}

/// What a call that brought nothing more means for the run. Without an error it did not stop in time, or a cancel request of it is
/// still on its way: its session cannot be used on.
pub(super) fn failed(error: Option<EngineError>, fit: bool, seat: &Seat, is_stopping: bool, has_rows: bool) -> Outcome {
    let Some(error) = error else {
        let ending = Ending { state: stopped_state(has_rows), problem: Some(did_not_stop()) };
        return Outcome { ending, health: Health::Broken, in_transaction: false };
    };
    let ending = match error.fate {
        _ if error.cancelled && is_stopping => Ending::interrupted(&error.problem),
        _ if has_rows => Ending::partial(error.problem),
        Fate::Idle | Fate::NotSent => Ending::rejected(error.problem),
        Fate::Unknown => Ending::unknown(error.problem),
    };
    let health = if error.fate == Fate::Idle && fit { Health::Fit } else { Health::Broken };
    // A refusal may end a transaction (a COMMIT) or open one; where the engine can't tell, what was open is taken to be open still.
    let in_transaction = health == Health::Fit && seat.lease.session.in_transaction().unwrap_or_else(|| seat.is_in_transaction());
    Outcome { ending, health, in_transaction }
}

/// Rows that were read stay; of a statement without rows it is not known what it did.
fn stopped_state(has_rows: bool) -> RunState {
    if has_rows { RunState::Cancelled } else { RunState::Unknown }
}

fn did_not_stop() -> Problem {
    Problem::new(
        ErrorCode::ConnectionLost,
        "The database did not stop the statement in time; its session was closed, and whether the statement took effect is not known",
    )
}

/// A statement that changed rows has done so, whoever did not want its rows.
fn with_effect(mut ending: Ending, rows_affected: Option<u64>) -> Ending {
    if let Some(rows) = rows_affected {
        let problem = ending.problem.get_or_insert_with(cancelled);
        problem.detail = Some(format!("The statement itself had finished: it changed {}", count(rows, "row", "rows")));
    }
    ending
}

/// A statement whose end was refused has changed nothing, whatever rows it showed; where the link broke, nobody knows.
fn without_effect(mut ending: Ending, error: Option<&EngineError>) -> Ending {
    let detail = match error {
        Some(error) if error.fate == Fate::Unknown => {
            format!("Whether the statement itself took effect is not known: {}", error.problem.message)
        }
        Some(error) => format!("The statement itself did not take effect: {}", error.problem.message),
        None => did_not_stop().message,
    };
    ending.problem.get_or_insert_with(cancelled).detail = Some(detail);
    ending
}

fn columns(schema: &SchemaRef) -> Vec<ColumnInfo> {
    let fields = schema.fields().iter();
    fields
        .map(|field| ColumnInfo {
            name: field.name().clone(),
            type_name: field.metadata().get(TYPE_KEY).cloned().unwrap_or_default(),
            origin: field.metadata().get(ORIGIN_KEY).cloned(),
        })
        .collect()
}
