//! The painted part of the grid: a pool of nodes that is recycled while rows and columns pass by.
//!
//! Invariant: text reaches the document through text nodes alone, places through the CSSOM alone. A node is touched only if what it
//! shows changed. Row `r` lives in slot `r mod slots` and column `c` likewise, so that a scroll by one row repaints one row.
//! Slots that left the window are hidden, or they would show rows that are not there.

mod cell;
mod head;
mod overlay;
mod row;

pub use head::HeadTexts;
pub use overlay::Overlay;

use super::advance::Advances;
use super::columns::Column;
use super::geometry::{ColumnEdges, RowScroll};
use super::held::HeldPage;
use super::selection::{CellRange, Place};
use head::HeadSlot;
use row::RowSlot;
use std::ops::Range;
use std::sync::Arc;
use web_sys::{Document, HtmlElement};

/// Characters of a value that stand in the document; the viewer has the rest.
pub const CELL_CHARS_MAX: usize = 400;

/// Everything a painting depends on.
pub struct Frame<'a> {
    /// Rows to paint.
    pub rows: Range<u64>,
    /// Columns to paint.
    pub columns: Range<usize>,
    /// Where rows lie.
    pub scroll: &'a RowScroll,
    /// Where columns lie.
    pub edges: &'a ColumnEdges,
    /// What columns are.
    pub infos: &'a [Column],
    /// What fits.
    pub advances: &'a Advances,
    /// Selected ranges.
    pub ranges: &'a [CellRange],
    /// The active cell.
    pub active: Place,
    /// Rows of a page.
    pub page_rows: u32,
}

/// Where the pool's nodes hang.
pub struct Layers {
    /// The document.
    pub document: Document,
    /// Rows.
    pub body: HtmlElement,
    /// Row numbers.
    pub gutter: HtmlElement,
    /// Column heads.
    pub head: HtmlElement,
}

/// Which column each column slot shows, and how that changed: rows that were hidden meanwhile must catch up.
#[derive(Default)]
struct Placed {
    shown: Vec<Option<usize>>,
    changed: Vec<bool>,
    /// Counts changes.
    version: u64,
    /// The last frame changed something.
    moved: bool,
    /// Places and widths are to be set anew, whatever slots show.
    stale: bool,
}

/// The nodes.
pub struct Pool {
    layers: Layers,
    rows: Vec<RowSlot>,
    heads: Vec<HeadSlot>,
    columns: Placed,
    active: Option<HtmlElement>,
}

impl Pool {
    /// An empty pool.
    pub fn new(layers: Layers) -> Self {
        Self { layers, rows: Vec::new(), heads: Vec::new(), columns: Placed::default(), active: None }
    }

    /// Columns lie elsewhere, or have other widths.
    pub fn forget_columns(&mut self) {
        self.columns.stale = true;
    }

    /// Paints. Returns the active cell's id, if the cell is painted.
    pub fn paint(&mut self, frame: &Frame<'_>, heads: &HeadTexts, mut page: impl FnMut(u32) -> Option<Arc<HeldPage>>) -> Option<String> {
        self.grow_columns(frame);
        self.place_columns(frame, heads);
        let wanted = usize::try_from(frame.rows.end - frame.rows.start).unwrap_or(0);
        if wanted > self.rows.len() {
            self.rows.iter_mut().for_each(RowSlot::forget);
            // Or its id would be copied with it.
            self.active.take().map(|cell| cell.remove_attribute("id"));
        }
        let slots = wanted.max(self.rows.len());
        let mut held: Option<(u32, Option<Arc<HeldPage>>)> = None;
        for at in 0..slots {
            let row = row_of_slot(at, slots, &frame.rows);
            let Some(slot) = slot(&mut self.rows, &self.layers, self.columns.shown.len(), at) else { break };
            let Some(row) = row else {
                slot.hide();
                continue;
            };
            let n = u32::try_from(row / u64::from(frame.page_rows.max(1))).unwrap_or(u32::MAX);
            if held.as_ref().is_none_or(|(of, _)| *of != n) {
                held = Some((n, page(n)));
            }
            let page = held.as_ref().and_then(|(_, page)| page.as_deref());
            slot.paint(row, page, frame, &self.columns);
        }
        self.mark_active(frame)
    }

    fn grow_columns(&mut self, frame: &Frame<'_>) {
        let columns = frame.columns.len();
        if columns <= self.columns.shown.len() {
            return;
        }
        self.columns = Placed { shown: vec![None; columns], changed: vec![true; columns], stale: true, ..self.columns };
        while self.heads.len() < columns {
            let Some(head) = HeadSlot::new(&self.layers) else { return };
            self.heads.push(head);
        }
        for slot in &mut self.rows {
            slot.grow(&self.layers.document, columns);
        }
    }

    /// Gives each column slot its column.
    fn place_columns(&mut self, frame: &Frame<'_>, heads: &HeadTexts) {
        let Placed { shown, changed, version, moved, stale } = &mut self.columns;
        let slots = shown.len();
        *moved = *stale;
        for (at, ((shown, changed), head)) in shown.iter_mut().zip(changed).zip(&mut self.heads).enumerate() {
            let wanted = column_of_slot(at, slots, &frame.columns);
            *changed = *stale || *shown != wanted;
            *moved |= *changed;
            *shown = wanted;
            head.paint(wanted, frame, heads);
        }
        *stale = false;
        *version += u64::from(*moved);
    }

    /// The active cell carries an id that names its place, so that a screen reader hears every move.
    fn mark_active(&mut self, frame: &Frame<'_>) -> Option<String> {
        let Place { row, column } = frame.active;
        let slot = self.rows.iter().find(|slot| slot.row() == Some(row));
        let at = self.columns.shown.iter().position(|shown| *shown == Some(column));
        let node = slot.zip(at).and_then(|(slot, at)| slot.cell(at)).cloned();
        if let Some(old) = self.active.take()
            && node.as_ref() != Some(&old)
        {
            let _ = old.remove_attribute("id");
        }
        let node = node?;
        let id = format!("cell-{row}-{column}");
        if node.id() != id {
            node.set_id(&id);
        }
        self.active = Some(node);
        Some(id)
    }
}

/// A slot, made if it is the next one.
fn slot<'a>(rows: &'a mut Vec<RowSlot>, layers: &Layers, columns: usize, at: usize) -> Option<&'a mut RowSlot> {
    if at == rows.len() {
        let made = match rows.first() {
            Some(painted) => painted.twin(layers),
            None => RowSlot::new(layers, columns),
        };
        rows.push(made?);
    }
    rows.get_mut(at)
}

fn row_of_slot(at: usize, slots: usize, rows: &Range<u64>) -> Option<u64> {
    let (at, slots) = (u64::try_from(at).ok()?, u64::try_from(slots).ok()?);
    let first = rows.start + (at + slots - rows.start % slots) % slots;
    (first < rows.end).then_some(first)
}

fn column_of_slot(at: usize, slots: usize, columns: &Range<usize>) -> Option<usize> {
    let first = columns.start + (at + slots - columns.start % slots) % slots;
    (first < columns.end).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_one_slot_and_each_slot_at_most_one_row() {
        for start in [0_u64, 1, 7, 1_000_003] {
            let rows: Vec<_> = (0..10).map(|at| row_of_slot(at, 10, &(start..start + 8))).collect();
            let mut found: Vec<_> = rows.iter().flatten().copied().collect();
            found.sort_unstable();
            assert_eq!(found, (start..start + 8).collect::<Vec<_>>());
            assert!(rows.iter().enumerate().all(|(at, row)| row.is_none_or(|row| row % 10 == at as u64)));
        }
        assert_eq!(column_of_slot(0, 4, &(2..5)), Some(4));
        assert_eq!(column_of_slot(1, 4, &(2..5)), None);
    }
}
