//! Where a grid's rows come from.
//!
//! Invariant: the grid asks through this trait alone, so that it can be shown over rows that no server has. What the server puts off is
//! asked for again when it said so: to the grid the page is still on its way.

use super::fetch_plan::ask_again_after;
use crate::api;
use arrow_array::RecordBatch;
use shared::ids::RunId;
use shared::problem::Problem;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use web_sys::AbortSignal;

/// An answer to come.
pub type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Problem>>>>;

/// Pages and cells of one run.
pub trait RunSource {
    /// Page `n`; waits until it is read.
    fn page(&self, n: u32, abort: Option<AbortSignal>) -> Answer<RecordBatch>;
    /// One whole cell.
    fn cell(&self, row: u64, column: u32) -> Answer<Vec<u8>>;
    /// Starts reading the rest; progress comes by the run's status.
    fn read_to_end(&self) -> Answer<()>;
    /// Stops the run.
    fn cancel(&self) -> Answer<()>;
}

/// The server's.
pub struct ServerRun(pub RunId);

impl ServerRun {
    /// A run of the server as a source.
    pub fn source(id: &RunId) -> Rc<dyn RunSource> {
        Rc::new(Self(id.clone()))
    }
}

/// Asks until the server does not put it off. A request that was given up meanwhile ends at its next turn, without a way to the server.
async fn patiently<T>(ask: impl AsyncFn() -> Result<T, Problem>) -> Result<T, Problem> {
    loop {
        let answer = ask().await;
        match answer.as_ref().err().and_then(ask_again_after) {
            Some(ms) => api::timer::rest(ms).await,
            None => return answer,
        }
    }
}

impl RunSource for ServerRun {
    fn page(&self, n: u32, abort: Option<AbortSignal>) -> Answer<RecordBatch> {
        let run = self.0.clone();
        Box::pin(async move { patiently(async || api::page(&run, n, abort.as_ref()).await).await })
    }

    fn cell(&self, row: u64, column: u32) -> Answer<Vec<u8>> {
        let run = self.0.clone();
        Box::pin(async move { patiently(async || api::cell(&run, row, column).await).await })
    }

    fn read_to_end(&self) -> Answer<()> {
        let run = self.0.clone();
        Box::pin(async move { api::read_to_end(&run).await })
    }

    fn cancel(&self) -> Answer<()> {
        let run = self.0.clone();
        Box::pin(async move { api::cancel(&run).await })
    }
}
