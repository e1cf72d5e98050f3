//! Pages on their way, and pages that came.

use super::super::held::HeldPage;
use super::GridView;
use crate::state::result::closed;
use arrow_array::RecordBatch;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::RunStatus;
use std::sync::Arc;
use web_sys::AbortController;

impl GridView {
    pub(super) fn ask(&mut self, n: u32) {
        let Ok(request) = AbortController::new() else { return };
        let answer = self.source.page(n, Some(request.signal()));
        self.in_flight.insert(n, request.clone());
        let grid = self.grid;
        spawn_local(async move {
            let answer = answer.await;
            grid.with(|view| view.answered(n, &request, answer));
        });
    }

    fn answered(&mut self, n: u32, request: &AbortController, answer: Result<RecordBatch, Problem>) {
        // A newer request for the same page may be on its way; this one was given up then.
        if self.in_flight.get(&n) == Some(request) {
            self.in_flight.remove(&n);
        } else if answer.is_err() {
            return;
        }
        match answer.and_then(|batch| self.keep(n, batch)) {
            Ok(()) => {}
            Err(problem) if problem.code == ErrorCode::PastTheEnd => {
                self.extent.past_the_end(n);
                self.extent_changed();
            }
            Err(problem) => {
                self.closed(&problem);
                self.failed.insert(n, problem);
            }
        }
        self.refresh();
    }

    /// The server has closed the run: its status says so from now on.
    pub(super) fn closed(&self, problem: &Problem) {
        if problem.code == ErrorCode::Gone
            && let Some(ended) = self.status.with_untracked(|status| closed(status, problem))
        {
            // After the change at hand: those who follow the status ask the grid.
            let status = self.status;
            request_animation_frame(move || {
                status.try_set(ended);
            });
        }
    }

    /// Takes a page into the cache.
    pub(super) fn keep(&mut self, n: u32, batch: RecordBatch) -> Result<(), Problem> {
        if batch.num_columns() != self.columns.len() || batch.num_rows() > usize::try_from(self.page_rows).unwrap_or(usize::MAX) {
            return Err(Problem::new(
                ErrorCode::Internal,
                "The server's answer can't be read: the page has another shape than the first one",
            ));
        }
        let rows = u64::try_from(batch.num_rows()).unwrap_or(0);
        let page = HeldPage::new(batch);
        let bytes = page.bytes();
        self.failed.remove(&n);
        self.cache.insert(n, Arc::new(page), bytes, self.seen_pages());
        if self.grid.ui.viewer.get_untracked() {
            self.grid.ui.pages.update(|count| *count = count.wrapping_add(1));
        }
        let before = self.extent;
        self.extent.page(n, rows);
        if self.extent != before {
            self.extent_changed();
        }
        Ok(())
    }

    /// Asks again for pages that did not come.
    pub fn retry(&mut self) {
        self.failed.clear();
        self.refresh();
    }

    /// The server answers again: what was told of its silence is no longer so.
    pub fn recover(&mut self) {
        if self.grid.ui.note.with_untracked(|note| note.as_ref().is_some_and(|note| note.failed)) {
            self.grid.ui.note.set(None);
        }
        if !self.failed.is_empty() {
            self.retry();
        }
    }

    /// The run's status moved on.
    pub fn status_changed(&mut self, status: &RunStatus) {
        if self.extent.status(status) {
            self.extent_changed();
            self.refresh();
        }
        self.reading_moved(status);
    }
}
