//! How many rows the result has, as far as is known.
//!
//! Invariant: no `web_sys`. Rows are only ever learnt: from the run's status, from a page that came, from a page that is not there.
//! While the database has more, one page of rows that may exist lies below the known ones, so that scrolling just goes on.

use shared::wire::run::{RunState, RunStatus};

/// What is known of a result's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    page_rows: u32,
    known_rows: u64,
    total_rows: Option<u64>,
}

impl Extent {
    /// After page 0.
    pub fn new(page_rows: u32, first_page_rows: u64, status: &RunStatus) -> Self {
        let mut extent = Self { page_rows, known_rows: first_page_rows, total_rows: None };
        extent.status(status);
        extent
    }

    /// The run's status moved on. Returns whether anything changed.
    pub fn status(&mut self, status: &RunStatus) -> bool {
        let before = *self;
        self.known_rows = self.known_rows.max(status.rows_ready);
        if self.total_rows.is_none() {
            // `Running` with a total tells what will come; the rows still have to.
            self.total_rows = match status.state {
                RunState::Running | RunState::Paused => status.total_rows,
                _ => Some(status.total_rows.unwrap_or(0).max(self.known_rows)),
            };
        }
        self.known_rows = self.total_rows.map_or(self.known_rows, |total| self.known_rows.max(total));
        *self != before
    }

    /// Page `n` came with so many rows; a short one is the last.
    pub fn page(&mut self, n: u32, rows: u64) {
        let end = u64::from(n) * u64::from(self.page_rows) + rows;
        self.known_rows = self.known_rows.max(end);
        if rows < u64::from(self.page_rows) {
            self.total_rows.get_or_insert(self.known_rows);
        }
    }

    /// There is no page `n`.
    pub fn past_the_end(&mut self, n: u32) {
        let end = u64::from(n) * u64::from(self.page_rows);
        self.total_rows = Some(self.total_rows.unwrap_or(self.known_rows).min(end.max(self.known_rows)));
    }

    /// The rows of the whole, once known.
    pub fn total_rows(&self) -> Option<u64> {
        self.total_rows
    }

    /// Rows that are known to exist.
    pub fn known_rows(&self) -> u64 {
        self.total_rows.unwrap_or(self.known_rows)
    }

    /// Rows to lay out.
    pub fn rows(&self) -> u64 {
        self.total_rows.unwrap_or(self.known_rows + u64::from(self.page_rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::ids::RunId;
    use shared::wire::run::TransactionState;

    fn status(state: RunState, rows_ready: u64, total_rows: Option<u64>) -> RunStatus {
        RunStatus {
            id: RunId("r".to_owned()),
            state,
            columns: Vec::new(),
            page_rows: 1_000,
            rows_ready,
            total_rows,
            rows_affected: None,
            notices: Vec::new(),
            elapsed_ms: 0.0,
            problem: None,
            reading_to_end: false,
            further: false,
            transaction: TransactionState::None,
            token: None,
        }
    }

    #[test]
    fn a_result_that_goes_on_has_a_page_more_than_is_known() {
        let mut extent = Extent::new(1_000, 1_000, &status(RunState::Paused, 1_000, None));
        assert_eq!((extent.total_rows(), extent.known_rows(), extent.rows()), (None, 1_000, 2_000));
        assert!(extent.status(&status(RunState::Paused, 5_000, None)));
        assert_eq!(extent.rows(), 6_000);
        assert!(!extent.status(&status(RunState::Paused, 4_000, None)));
        extent.page(5, 1_000);
        assert_eq!(extent.rows(), 7_000);
    }

    #[test]
    fn the_end_is_learnt_from_any_side() {
        let start = Extent::new(1_000, 1_000, &status(RunState::Paused, 1_000, None));
        let mut by_status = start;
        by_status.status(&status(RunState::Done, 1_500, Some(1_500)));
        assert_eq!((by_status.total_rows(), by_status.rows()), (Some(1_500), 1_500));
        let mut by_short_page = start;
        by_short_page.page(1, 500);
        assert_eq!(by_short_page.total_rows(), Some(1_500));
        let mut by_absence = start;
        by_absence.past_the_end(1);
        assert_eq!(by_absence.total_rows(), Some(1_000));
    }

    #[test]
    fn a_stopped_result_ends_with_what_was_read() {
        let extent = Extent::new(1_000, 1_000, &status(RunState::Cancelled, 3_000, None));
        assert_eq!((extent.total_rows(), extent.rows()), (Some(3_000), 3_000));
    }

    #[test]
    fn an_empty_result_has_no_rows() {
        let extent = Extent::new(1_000, 0, &status(RunState::Done, 0, Some(0)));
        assert_eq!(extent.rows(), 0);
    }
}
