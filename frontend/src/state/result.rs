//! The result that a grid shows.

use arrow_array::RecordBatch;
use leptos::prelude::*;
use shared::ids::RunId;
use shared::wire::run::RunStatus;
use std::sync::Arc;

/// A run whose rows are shown. A new run makes a new grid; this never changes but through `status`.
#[derive(Clone)]
pub struct ActiveRun {
    /// The run.
    pub id: RunId,
    /// Rows of each page but the last: row `r` is in page `r / page_rows`.
    pub page_rows: u32,
    /// Page 0, which came with the answer to the run request.
    pub first_page: Arc<RecordBatch>,
    /// Where the run stands: follows the event stream. Lives as long as the view that was given this.
    pub status: RwSignal<RunStatus>,
}
