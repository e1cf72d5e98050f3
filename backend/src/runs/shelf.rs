//! Where the pages and whole values of one run are kept, and how they are named.
//!
//! Invariant: a page never changes: the same bytes and entity tag until the shelf is cleared.

use super::state::internal;
use super::{StoredPage, WholeCell};
use crate::spool::{Record, Segment, SpoolError};
use bytes::Bytes;
use shared::ids::RunId;
use shared::limits::CELL_BYTES_MAX;
use shared::problem::{ErrorCode, Problem};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct Shelf {
    segment: Segment,
    index: Mutex<Index>,
}

#[derive(Default)]
struct Index {
    closed: bool,
    pages: Vec<Record>,
    /// Whole values of cells that were cut, by row of the result and column.
    cells: HashMap<(u64, u32), Kept>,
}

#[derive(Clone)]
struct Kept {
    text: bool,
    /// None: longer than is ever sent.
    record: Option<Record>,
}

/// The whole value of a cell that was cut.
pub(super) struct CutCell {
    pub row: u64,
    pub column: u32,
    pub text: bool,
    /// None: longer than is ever sent.
    pub whole: Option<Bytes>,
}

impl Shelf {
    pub fn new(segment: Segment) -> Self {
        Self { segment, index: Mutex::default() }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the next page and what was cut from it. Only the actor calls it.
    pub async fn add(&self, page: Bytes, cut: Vec<CutCell>) -> Result<(), SpoolError> {
        let mut cells = Vec::with_capacity(cut.len());
        for CutCell { row, column, text, whole } in cut {
            let record = match whole {
                Some(bytes) => Some(self.segment.append(bytes).await?),
                None => None,
            };
            cells.push(((row, column), Kept { text, record }));
        }
        let page = self.segment.append(page).await?;
        let mut index = self.index();
        if index.closed {
            return Err(SpoolError::Closed);
        }
        index.cells.extend(cells);
        index.pages.push(page);
        Ok(())
    }

    /// Page `n`, if it is there.
    pub async fn page(&self, run: &RunId, n: u32) -> Result<StoredPage, Problem> {
        let record = {
            let index = self.index();
            if index.closed {
                return Err(gone());
            }
            index.pages.get(n as usize).cloned().ok_or_else(internal)?
        };
        let bytes = self.segment.read(&record).await.map_err(|error| read_problem(&error))?;
        let etag = format!("\"{run}-{n}-{:08x}\"", record.crc());
        Ok(StoredPage { bytes, etag, crc32: record.crc() })
    }

    /// The whole value of a cell that was cut; `None` for a cell that stands whole in its page.
    pub async fn cell(&self, row: u64, column: u32) -> Result<Option<WholeCell>, Problem> {
        let kept = {
            let index = self.index();
            if index.closed {
                return Err(gone());
            }
            match index.cells.get(&(row, column)) {
                Some(kept) => kept.clone(),
                None => return Ok(None),
            }
        };
        let Some(record) = kept.record else {
            let message = format!("The value is longer than the {} MiB that are sent of one value", CELL_BYTES_MAX / (1024 * 1024));
            return Err(Problem::new(ErrorCode::TooLarge, message));
        };
        let bytes = self.segment.read(&record).await.map_err(|error| read_problem(&error))?;
        Ok(Some(if kept.text { WholeCell::Text(bytes) } else { WholeCell::Binary(bytes) }))
    }

    /// Gives the space back.
    pub fn clear(&self) {
        *self.index() = Index { closed: true, ..Index::default() };
        self.segment.discard();
    }
}

pub(super) fn gone() -> Problem {
    Problem::new(ErrorCode::Gone, "This result is closed; run the statement again")
}

/// Why a page could not be kept, as a person reads it.
pub(super) fn write_problem(error: &SpoolError) -> Problem {
    match error {
        SpoolError::RunFull(bytes) => Problem::new(
            ErrorCode::SpoolFull,
            format!("The result is larger than the {} MiB one result may have; what was read stays", bytes / (1024 * 1024)),
        ),
        SpoolError::Full => {
            let mut problem =
                Problem::new(ErrorCode::SpoolFull, "The space for results is used up: the rest was given up, what was read stays");
            problem.hint = Some("Close other results, or free space on the server's disk, then run the statement again".to_owned());
            problem
        }
        SpoolError::Disk(error) => {
            tracing::error!(%error, "a page could not be written to the spool");
            Problem::new(ErrorCode::SpoolFull, "The disk for results failed: the rest was given up, what was read stays")
        }
        SpoolError::Damaged | SpoolError::Closed => gone(),
    }
}

fn read_problem(error: &SpoolError) -> Problem {
    match error {
        SpoolError::Closed => gone(),
        error => {
            tracing::error!(%error, "a page could not be read from the spool");
            Problem::new(ErrorCode::Internal, "This part of the result was damaged on the server's disk; run the statement again")
        }
    }
}
