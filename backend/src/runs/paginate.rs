//! Rows to pages: page 0 settles the rows of a page, every later page has exactly as many but the last.
//!
//! Invariant: every row is in one page, once, in order; no page has more than `PAGE_BYTES_MAX` of values, whatever the rows are;
//! what is cut to keep that is handed out whole. Pure: no session, no spool, no time.
//! Start at [`Paginator::push`].

mod cut;
mod join;

use super::shelf::CutCell;
use arrow_array::RecordBatch;
use bytes::Bytes;
use shared::limits::{CELL_BYTES_IN_PAGE, PAGE_BYTES_MAX, PAGE_BYTES_TARGET};
use shared::page::{CUT_KEY, PageError, encode};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Left for validity bits, padding and the page's own frame.
const FRAME_BYTES: usize = 64 * 1024;
/// Cells are not cut shorter than this: then there is nothing to win.
const CELL_BYTES_LEAST: usize = 64;

pub(super) struct Paginator {
    page_rows: usize,
    settled: bool,
    /// The row of the result that the page to come starts with.
    first_row: u64,
    /// What is there of the page to come.
    pieces: Vec<RecordBatch>,
    rows: usize,
    /// The longest a cell of the page to come may be.
    limit: usize,
    /// Cut cells not yet in a page, with their full length.
    cut: BTreeMap<(u64, u32), u64>,
}

/// A finished page.
#[derive(Debug)]
pub(super) struct Page {
    pub bytes: Bytes,
    pub rows: usize,
}

impl Paginator {
    pub fn new(page_rows: usize) -> Self {
        Self { page_rows, settled: false, first_row: 0, pieces: Vec::new(), rows: 0, limit: CELL_BYTES_IN_PAGE, cut: BTreeMap::new() }
    }

    /// Rows of a page: asked for, then settled by page 0.
    pub fn page_rows(&self) -> usize {
        self.page_rows
    }

    /// Rows the page to come still lacks; 0 when it is full.
    pub fn missing(&self) -> usize {
        self.page_rows.saturating_sub(self.rows)
    }

    /// Rows are here that are in no page yet.
    pub fn has_rows(&self) -> bool {
        self.rows > 0
    }

    /// Takes rows; hands out the whole values of the cells it cut.
    pub fn push(&mut self, batch: RecordBatch) -> Vec<CutCell> {
        let mut whole = Vec::new();
        let at = self.first_row + self.rows as u64;
        self.rows += batch.num_rows();
        let batch = trim(batch, at, self.limit, &mut self.cut, &mut whole);
        self.pieces.push(batch);
        if self.settled {
            self.shorten(&mut whole);
        }
        whole
    }

    /// Cuts the longest cells shorter until the page to come fits.
    fn shorten(&mut self, whole: &mut Vec<CutCell>) {
        let room = PAGE_BYTES_MAX - FRAME_BYTES;
        if self.pieces.iter().map(RecordBatch::get_array_memory_size).sum::<usize>() <= room {
            return;
        }
        let mut limit = self.limit;
        let size = |limit: usize, pieces: &[RecordBatch]| pieces.iter().map(|piece| cut::size(piece, limit)).sum::<usize>();
        while size(limit, &self.pieces) > room && limit > CELL_BYTES_LEAST {
            limit /= 2;
        }
        if limit == self.limit {
            return;
        }
        self.limit = limit;
        let mut at = self.first_row;
        for piece in &mut self.pieces {
            let rows = piece.num_rows() as u64;
            let taken = std::mem::replace(piece, RecordBatch::new_empty(piece.schema()));
            *piece = trim(taken, at, limit, &mut self.cut, whole);
            at += rows;
        }
    }

    /// The page of what was pushed, and the whole values of cells it had to cut. `more` rows come after them.
    pub fn page(&mut self, more: bool) -> Result<(Page, Vec<CutCell>), PageError> {
        let mut whole = Vec::new();
        let mut batch = join::join(&std::mem::take(&mut self.pieces)).map_err(|error| PageError::Damaged(error.to_string()))?;
        if !self.settled {
            let fits = cut::rows_that_fit(&batch, PAGE_BYTES_MAX - FRAME_BYTES).min(self.page_rows).max(1);
            if batch.num_rows() > fits || (more && batch.num_rows() > 0) {
                self.page_rows = batch.num_rows().min(fits);
            }
            self.settled = true;
        }
        let kept = batch.num_rows().min(self.page_rows);
        let rest = batch.num_rows() - kept;
        let carry = (rest > 0).then(|| join::rows(&batch, kept, rest)).transpose();
        if rest > 0 {
            batch = join::rows(&batch, 0, kept).map_err(|error| PageError::Damaged(error.to_string()))?;
        }
        // Page 0 has been bounded by its rows; one row alone may still be too long.
        self.pieces = vec![batch];
        self.rows = kept;
        self.shorten(&mut whole);
        let batch = self.pieces.pop().ok_or(PageError::Short)?;
        let end = self.first_row + kept as u64;
        let later = self.cut.split_off(&(end, 0));
        let cut = std::mem::replace(&mut self.cut, later);
        let bytes = encode(&mark(batch, self.first_row, &cut)?)?;
        if bytes.len() > 2 * PAGE_BYTES_MAX {
            return Err(PageError::TooLong(bytes.len()));
        }
        self.first_row = end;
        self.limit = CELL_BYTES_IN_PAGE;
        let carry = carry.map_err(|error| PageError::Damaged(error.to_string()))?;
        self.rows = rest;
        self.pieces = carry.into_iter().collect();
        Ok((Page { bytes: Bytes::from(bytes), rows: kept }, whole))
    }
}

/// Writes the cut cells into the page's metadata.
fn mark(batch: RecordBatch, first_row: u64, cut: &BTreeMap<(u64, u32), u64>) -> Result<RecordBatch, PageError> {
    if cut.is_empty() {
        return Ok(batch);
    }
    let cells: Vec<(u64, u32, u64)> = cut.iter().map(|((row, column), bytes)| (row - first_row, *column, *bytes)).collect();
    let damaged = |error: &dyn std::fmt::Display| PageError::Damaged(error.to_string());
    let text = serde_json::to_string(&cells).map_err(|error| damaged(&error))?;
    let mut schema = batch.schema().as_ref().clone();
    schema.metadata.insert(CUT_KEY.to_owned(), text);
    batch.with_schema(Arc::new(schema)).map_err(|error| damaged(&error))
}

/// Cuts what is longer than `limit`; a cell that was cut before keeps the length and the whole value it had then.
fn trim(batch: RecordBatch, at: u64, limit: usize, cut: &mut BTreeMap<(u64, u32), u64>, whole: &mut Vec<CutCell>) -> RecordBatch {
    cut::trim(batch, limit, &mut |row, column, text, value| {
        let key = (at + row as u64, column);
        if let std::collections::btree_map::Entry::Vacant(entry) = cut.entry(key) {
            entry.insert(value.len() as u64);
            let fits = value.len() <= shared::limits::CELL_BYTES_MAX;
            whole.push(CutCell { row: key.0, column, text, whole: fits.then(|| Bytes::copy_from_slice(value)) });
        }
    })
}

/// What a fetch for page 0 may bring.
pub(super) const FIRST_BYTES: usize = PAGE_BYTES_TARGET;

#[cfg(test)]
mod tests;
