//! Reading on to a row that nobody has read yet: the end, or one that was asked for.

use super::super::keys::Motion;
use super::super::selection::Join;
use super::super::ui::{Note, Reading, rows_text};
use super::GridView;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::RunStatus;
use web_sys::AbortController;

/// Where to go once it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The last row; with `Extend` the selection reaches there.
    End(Join),
    /// A row, counted from 0.
    Row(u64),
}

impl GridView {
    /// Goes to the last row; reads the rest of the result first.
    pub fn go_to_end(&mut self, join: Join) {
        if self.extent.total_rows().is_some() {
            return self.go(Motion::Rows(i64::MAX), join);
        }
        if self.goal.is_some() {
            return;
        }
        self.goal = Some(Goal::End(join));
        self.tell_reading();
        let answer = self.source.read_to_end();
        let grid = self.grid;
        spawn_local(async move {
            if let Err(problem) = answer.await {
                grid.with(|view| view.reading_failed(problem));
            }
        });
    }

    /// Goes to a row, counted from 1; reads up to it first.
    pub fn go_to_row(&mut self, number: u64) {
        let row = number.saturating_sub(1);
        if self.extent.total_rows().is_some() || row < self.extent.known_rows() {
            return self.arrive_at(row);
        }
        let Ok(request) = AbortController::new() else { return };
        self.goal = Some(Goal::Row(row));
        self.tell_reading();
        let n = u32::try_from(row / u64::from(self.page_rows)).unwrap_or(u32::MAX);
        let answer = self.source.page(n, Some(request.signal()));
        self.stop_reading = Some(request);
        let grid = self.grid;
        spawn_local(async move {
            let answer = answer.await;
            grid.with(|view| match answer.and_then(|batch| view.keep(n, batch)) {
                Ok(()) => view.reading_done(),
                Err(problem) if problem.code == ErrorCode::PastTheEnd => {
                    // The last row is known once the status or a page tells; the end is where this leads.
                    view.goal = None;
                    view.go_to_end(Join::Replace);
                }
                Err(problem) => view.reading_failed(problem),
            });
        });
    }

    fn arrive_at(&mut self, row: u64) {
        let last = self.extent.known_rows().saturating_sub(1);
        if row > last {
            self.grid.ui.note.set(Some(Note::told(format!("The result has {}", rows_text(self.extent.known_rows())))));
        }
        self.jump(row.min(last));
    }

    /// Follows the run while it reads.
    pub(super) fn reading_moved(&mut self, status: &RunStatus) {
        if self.goal.is_none() {
            return;
        }
        if status.state.is_final() {
            self.reading_done();
        } else {
            self.tell_reading();
        }
    }

    fn reading_done(&mut self) {
        let goal = self.goal.take();
        self.stop_reading = None;
        self.grid.ui.reading.set(None);
        match goal {
            Some(Goal::End(join)) => self.go(Motion::Rows(i64::MAX), join),
            Some(Goal::Row(row)) => self.arrive_at(row),
            None => self.refresh(),
        }
    }

    fn reading_failed(&mut self, problem: Problem) {
        self.closed(&problem);
        let stopped = self.goal.take().is_none() || problem.code == ErrorCode::Cancelled;
        self.stop_reading = None;
        self.grid.ui.reading.set(None);
        if !stopped {
            self.grid.ui.note.set(Some(Note::unread(&problem)));
        }
        self.refresh();
    }

    fn tell_reading(&self) {
        let to_row = match self.goal {
            Some(Goal::Row(row)) => Some(row + 1),
            _ => None,
        };
        self.grid.ui.reading.set(Some(Reading { to_row }));
    }

    /// Stops reading; what was read stays.
    pub fn stop_reading(&mut self) {
        let Some(goal) = self.goal.take() else { return };
        self.grid.ui.reading.set(None);
        if let Some(request) = self.stop_reading.take() {
            request.abort();
        }
        if matches!(goal, Goal::End(_)) {
            let answer = self.source.cancel();
            let grid = self.grid;
            spawn_local(async move {
                if let Err(problem) = answer.await {
                    grid.with(|view| view.grid.ui.note.set(Some(Note::unread(&problem))));
                }
            });
        }
        self.refresh();
    }

    /// The grid reads on to somewhere.
    pub fn is_reading(&self) -> bool {
        self.goal.is_some()
    }
}
