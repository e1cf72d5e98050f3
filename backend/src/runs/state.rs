//! What a run may become, and the sentences for it. Pure: the times come from outside.
//!
//! Invariant: a final state never changes; `rows_ready` and `pages_ready` only grow.
//! Start at [`Standing`].

use crate::engine::notices::Heard;
use shared::ids::RunId;
use shared::limits::{NOTICE_BYTES_MAX, NOTICES_MAX};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{ColumnInfo, Notice, RunState, RunStatus, TransactionState};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Why the rest of a result was given up.
pub(super) const GIVEN_UP_FOR_NEXT: &str = "The rest was given up when the console ran another statement";
pub(super) const GIVEN_UP_PARKED: &str =
    "The rest was given up because nobody asked for it for too long; run the statement again to read on";
pub(super) const GIVEN_UP_CLOSED: &str = "The rest was given up when the result was closed";
pub(super) const GIVEN_UP_CONNECTION: &str = "The rest was given up when the connection was changed or removed";

/// Why nothing is shown behind the last result that a statement may give.
pub(super) fn too_many_results(given: u32) -> String {
    format!("The statement has more than {given} results: the further ones were dropped, and it was run to its end")
}

/// Where a run stands, as its actor last wrote it.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub state: RunState,
    /// Neither page 0 with more to come nor the end is here: the statement itself works.
    pub executing: bool,
    /// It ended before its start could answer with more than a Problem.
    pub failed_at_start: bool,
    /// Its session is given back or closed: nothing of the run is left at the database.
    pub ended: bool,
    pub columns: Arc<Vec<ColumnInfo>>,
    pub page_rows: u32,
    pub pages_ready: u32,
    pub rows_ready: u64,
    pub total_rows: Option<u64>,
    pub rows_affected: Option<u64>,
    pub notices: Arc<Vec<Notice>>,
    notice_bytes: usize,
    /// Notices for which there was no room.
    left_off: u64,
    pub problem: Option<Problem>,
    pub reading_to_end: bool,
    /// Every row of the result is here, whatever comes of the rest of the statement.
    pub all_here: bool,
    /// The statement works on behind this result.
    pub goes_on: bool,
    /// Another result of the statement follows, or may.
    pub further: bool,
    /// What the session has open: before the statement, and once it has ended after it.
    pub transaction: TransactionState,
    worked: Duration,
    working_since: Option<Instant>,
}

impl Standing {
    pub fn new(page_rows: u32, now: Instant) -> Self {
        Self {
            state: RunState::Running,
            executing: true,
            failed_at_start: false,
            ended: false,
            columns: Arc::default(),
            page_rows,
            pages_ready: 0,
            rows_ready: 0,
            total_rows: None,
            rows_affected: None,
            notices: Arc::default(),
            notice_bytes: 0,
            left_off: 0,
            problem: None,
            reading_to_end: false,
            all_here: false,
            goes_on: false,
            further: false,
            transaction: TransactionState::None,
            worked: Duration::ZERO,
            working_since: Some(now),
        }
    }

    /// The database works, or rows are read.
    pub fn work(&mut self, now: Instant) {
        if !self.state.is_final() {
            self.state = RunState::Running;
            self.working_since.get_or_insert(now);
        }
    }

    /// Rows wait in the database.
    pub fn pause(&mut self, now: Instant) {
        if !self.state.is_final() {
            self.state = RunState::Paused;
            self.executing = false;
            self.rest(now);
        }
    }

    /// The last row was read (every one, where the result is whole), and the statement is not at its end.
    pub fn go_on(&mut self, whole: bool) {
        if whole && self.pages_ready > 0 {
            self.total_rows = Some(self.rows_ready);
        }
        self.all_here = whole;
        (self.executing, self.reading_to_end) = (false, false);
        (self.goes_on, self.further) = (true, true);
    }

    /// The last row was read, and the statement is all but at its end: the next one of its console waits for that.
    pub fn all_but_end(&mut self) {
        self.go_on(true);
        (self.goes_on, self.further) = (false, false);
    }

    /// The statement's next result waits to be asked for.
    pub fn wait(&mut self, whole: bool, now: Instant) {
        self.go_on(whole);
        self.goes_on = false;
        self.pause(now);
    }

    /// The database works, or is taken to: a session in this state is not given up for the next statement.
    pub fn is_working(&self) -> bool {
        !self.state.is_final() && (self.executing || self.goes_on)
    }

    /// The last change.
    pub fn end(&mut self, ending: Ending, now: Instant) {
        if self.state.is_final() {
            return;
        }
        self.state = ending.state;
        self.problem = ending.problem;
        if ending.state == RunState::Done && self.pages_ready > 0 {
            self.total_rows = Some(self.rows_ready);
        }
        self.goes_on = false;
        // Why nothing came behind a whole result, who asks for that is told.
        self.further &= self.all_here && ending.state != RunState::Done;
        let is_refusal = matches!(self.state, RunState::Rejected | RunState::Unknown);
        self.failed_at_start = self.executing && (is_refusal || (self.pages_ready == 0 && self.state != RunState::Done));
        self.executing = false;
        self.reading_to_end = false;
        self.close_notices();
        self.rest(now);
    }

    fn rest(&mut self, now: Instant) {
        if let Some(since) = self.working_since.take() {
            self.worked += now.saturating_duration_since(since);
        }
    }

    /// A page of `rows` rows is in the spool.
    pub fn page_came(&mut self, rows: u64, page_rows: u32) {
        self.pages_ready += 1;
        self.rows_ready += rows;
        self.page_rows = page_rows;
    }

    /// What the database said, as far as there is room for it.
    pub fn hear(&mut self, more: Heard) {
        let notices = Arc::make_mut(&mut self.notices);
        for notice in more.notices {
            self.notice_bytes = self.notice_bytes.saturating_add(notice.severity.len() + notice.message.len());
            if self.left_off > 0 || notices.len() >= NOTICES_MAX || self.notice_bytes > NOTICE_BYTES_MAX {
                self.left_off += 1;
            } else {
                notices.push(notice);
            }
        }
        self.left_off += more.left_off;
    }

    /// Says how many were left off, once it is known.
    fn close_notices(&mut self) {
        if self.left_off > 0 {
            let (kept, left_off) = (self.notices.len() as u64, std::mem::take(&mut self.left_off));
            let kept = count(kept, "message of a statement was", "messages of a statement were");
            let message = format!("The first {kept} kept; {} left off", count(left_off, "further one is", "further ones are"));
            Arc::make_mut(&mut self.notices).push(Notice { severity: "WARNING".to_owned(), message });
        }
    }

    pub fn status(&self, id: &RunId, now: Instant) -> RunStatus {
        let running = self.working_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        RunStatus {
            id: id.clone(),
            state: self.state,
            columns: self.columns.to_vec(),
            page_rows: self.page_rows,
            rows_ready: self.rows_ready,
            total_rows: self.total_rows,
            rows_affected: self.rows_affected,
            notices: self.notices.to_vec(),
            elapsed_ms: (self.worked + running).as_secs_f64() * 1e3,
            problem: self.problem.clone(),
            reading_to_end: self.reading_to_end,
            further: self.further,
            transaction: self.transaction,
            token: None,
        }
    }

    /// What the start answers when the run failed before it could answer better.
    pub fn failure(&self) -> Option<Problem> {
        let problem = match (&self.problem, self.state) {
            _ if !self.failed_at_start => return None,
            (problem, RunState::Cancelled) => problem.as_ref().map_or_else(cancelled, as_cancelled),
            (problem, _) => problem.clone().unwrap_or_else(internal),
        };
        Some(Problem { transaction: Some(self.transaction), ..problem })
    }

    /// Why page `n` will not come, once that is certain.
    pub fn refusal(&self, n: u32) -> Option<Problem> {
        if n < self.pages_ready || !(self.state.is_final() || self.all_here) {
            return None;
        }
        let cause = self.problem.as_ref();
        let past_the_end = || {
            let pages = count(self.pages_ready.into(), "page", "pages");
            Problem::new(ErrorCode::PastTheEnd, format!("There is no page {n}: the result has {pages}"))
        };
        Some(match self.state {
            _ if self.all_here => past_the_end(),
            RunState::Done | RunState::Running | RunState::Paused => past_the_end(),
            RunState::Cancelled => cause.map_or_else(cancelled, as_cancelled),
            RunState::Rejected | RunState::Unknown => cause.cloned().unwrap_or_else(internal),
            RunState::Partial => match cause {
                Some(problem) if problem.code == ErrorCode::SpoolFull => problem.clone(),
                Some(problem) => Problem { code: ErrorCode::Partial, ..problem.clone() },
                None => Problem::new(ErrorCode::Partial, "The rest of the result will not come"),
            },
        })
    }
}

impl Standing {
    /// Why the statement has no further result behind this one, once that is certain.
    pub fn no_further(&self) -> Problem {
        match (self.state, &self.problem) {
            (RunState::Cancelled, cause) => cause.as_ref().map_or_else(cancelled, as_cancelled),
            (RunState::Partial | RunState::Rejected | RunState::Unknown, Some(problem)) => problem.clone(),
            _ => Problem::new(ErrorCode::PastTheEnd, "The statement has no further result"),
        }
    }
}

/// A final state and its cause.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ending {
    pub state: RunState,
    pub problem: Option<Problem>,
}

impl Ending {
    pub fn done() -> Self {
        Self { state: RunState::Done, problem: None }
    }

    /// Stopped while the database had nothing to say to it.
    pub fn cancelled() -> Self {
        Self { state: RunState::Cancelled, problem: None }
    }

    /// Stopped, in the database's words.
    pub fn interrupted(problem: &Problem) -> Self {
        Self { state: RunState::Cancelled, problem: Some(as_cancelled(problem)) }
    }

    pub fn rejected(problem: Problem) -> Self {
        Self { state: RunState::Rejected, problem: Some(problem) }
    }

    pub fn partial(problem: Problem) -> Self {
        Self { state: RunState::Partial, problem: Some(problem) }
    }

    pub fn given_up(reason: &str) -> Self {
        Self::partial(Problem::new(ErrorCode::Partial, reason))
    }

    pub fn unknown(problem: Problem) -> Self {
        Self { state: RunState::Unknown, problem: Some(problem) }
    }
}

pub(super) fn cancelled() -> Problem {
    Problem::new(ErrorCode::Cancelled, "The statement was cancelled")
}

fn as_cancelled(problem: &Problem) -> Problem {
    Problem { code: ErrorCode::Cancelled, ..problem.clone() }
}

pub(super) fn internal() -> Problem {
    Problem::new(ErrorCode::Internal, "Sheaf failed while it ran the statement; its session is closed, nothing else is lost")
}

pub(super) fn past_the_end(row: u64) -> Problem {
    Problem::new(ErrorCode::PastTheEnd, format!("The result has no such value (row {row}, counted from 0)"))
}

/// `1 page`, `2 pages`.
pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
