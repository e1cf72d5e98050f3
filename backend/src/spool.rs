//! The spool: encoded pages and whole values of the runs, in memory first, in one file a run beyond that.
//!
//! Invariant: what is read back is byte for byte what was appended, or an error; nothing here knows what the bytes mean. A file
//! lives no longer than its [`Segment`], and what an earlier process left is deleted before the first new one.
//! Start at [`Segment::append`]; `quota` counts, `volume` is the disk.

pub mod quota;
mod segment;
pub mod volume;

#[cfg(test)]
mod tests;

pub use segment::{Record, Segment};

use quota::{Budgets, Quota};
use std::path::PathBuf;
use std::sync::Arc;
use volume::{Directory, Volume};

/// Why bytes were not kept or not found.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// This run has as much as one run may have.
    #[error("the result is larger than one run may keep ({0} bytes)")]
    RunFull(u64),
    /// All runs together have as much as they may have, or the disk does not have more to give.
    #[error("the space for results is used up")]
    Full,
    /// The disk failed.
    #[error("the disk failed: {0}")]
    Disk(#[source] std::io::Error),
    /// What lies there is not what was written.
    #[error("what was kept of the result is damaged on disk")]
    Damaged,
    /// The run was closed meanwhile.
    #[error("the result is closed")]
    Closed,
}

/// The spool of this process. Cheap to clone.
#[derive(Clone)]
pub struct Spool {
    quota: Arc<Quota>,
    volume: Arc<dyn Volume>,
}

impl Spool {
    /// A spool whose files go to `directory` (made on first need). Deletes what an earlier process left there.
    pub fn new(directory: PathBuf, budgets: Budgets) -> Self {
        let volume = Directory::new(directory);
        volume.remove_stale();
        Self::on(Arc::new(volume), budgets)
    }

    /// A spool on any volume.
    pub fn on(volume: Arc<dyn Volume>, budgets: Budgets) -> Self {
        Self { quota: Arc::new(Quota::new(budgets)), volume }
    }

    /// Room for one run.
    pub fn segment(&self) -> Segment {
        Segment::new(self.quota.clone(), self.volume.clone())
    }

    /// Bytes in memory and on disk of all runs.
    pub fn used(&self) -> (u64, u64) {
        self.quota.used()
    }
}
