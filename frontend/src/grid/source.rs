//! Where a grid's rows come from.
//!
//! Invariant: the grid asks through this trait alone, so that it can be shown over rows that no server has.

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

impl RunSource for ServerRun {
    fn page(&self, n: u32, abort: Option<AbortSignal>) -> Answer<RecordBatch> {
        let run = self.0.clone();
        Box::pin(async move { api::page(&run, n, abort.as_ref()).await })
    }

    fn cell(&self, row: u64, column: u32) -> Answer<Vec<u8>> {
        let run = self.0.clone();
        Box::pin(async move { api::cell(&run, row, column).await })
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
