//! What is selected: the active cell and ranges of cells, rows and columns.
//!
//! Invariant: pure, no `web_sys`. The browser's own selection is wrong over recycled nodes, so this one is the only one.
//! A range may reach over rows nobody has read yet (`u64::MAX`): whole columns stay whole while the result grows.

use std::ops::RangeInclusive;

/// A cell by row and column of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Row.
    pub row: u64,
    /// Column.
    pub column: usize,
}

/// A rectangle of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRange {
    /// Rows.
    pub rows: RangeInclusive<u64>,
    /// Columns.
    pub columns: RangeInclusive<usize>,
}

impl CellRange {
    fn spanning(a: Place, b: Place) -> Self {
        Self { rows: a.row.min(b.row)..=a.row.max(b.row), columns: a.column.min(b.column)..=a.column.max(b.column) }
    }

    /// The cell is in it.
    pub fn contains(&self, place: Place) -> bool {
        self.rows.contains(&place.row) && self.columns.contains(&place.column)
    }
}

/// What a range is made of; decides how it is extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Cells.
    Cells,
    /// Whole rows.
    Rows,
    /// Whole columns.
    Columns,
}

/// How a new range joins the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// It replaces them.
    Replace,
    /// It moves the last one's far corner (Shift).
    Extend,
    /// It stands beside them (Ctrl).
    Add,
}

/// The selection of one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    active: Place,
    anchor: Place,
    head: Place,
    unit: Unit,
    before: Vec<CellRange>,
}

impl Default for Selection {
    fn default() -> Self {
        let origin = Place::default();
        Self { active: origin, anchor: origin, head: origin, unit: Unit::Cells, before: Vec::new() }
    }
}

impl Selection {
    /// Where the keys go.
    pub fn active(&self) -> Place {
        self.active
    }

    /// The corner that Shift moves.
    pub fn head(&self) -> Place {
        self.head
    }

    /// All ranges, the last one being the one that grows.
    pub fn ranges(&self, column_count: usize) -> Vec<CellRange> {
        let last_column = column_count.saturating_sub(1);
        let mut current = CellRange::spanning(self.anchor, self.head);
        match self.unit {
            Unit::Cells => {}
            Unit::Rows => current.columns = 0..=last_column,
            Unit::Columns => current.rows = 0..=u64::MAX,
        }
        let mut ranges = self.before.clone();
        ranges.push(current);
        ranges
    }

    /// The cell is selected.
    pub fn contains(&self, place: Place, column_count: usize) -> bool {
        self.ranges(column_count).iter().any(|range| range.contains(place))
    }

    /// One cell is selected and no more.
    pub fn is_single(&self) -> bool {
        self.before.is_empty() && self.unit == Unit::Cells && self.anchor == self.head
    }

    /// Selects by pointing at `place`.
    pub fn select(&mut self, place: Place, unit: Unit, join: Join, column_count: usize) {
        match join {
            Join::Extend if self.unit == unit || unit == Unit::Cells => {
                self.head = place;
                return;
            }
            Join::Add => self.before = self.ranges(column_count),
            Join::Extend | Join::Replace => self.before.clear(),
        }
        self.unit = unit;
        self.active = place;
        self.anchor = place;
        self.head = place;
    }

    /// Moves the active cell there and selects it alone, or takes the selection's far corner there (Shift).
    pub fn move_to(&mut self, place: Place, join: Join) {
        if join == Join::Extend {
            self.head = place;
            return;
        }
        self.before.clear();
        self.unit = Unit::Cells;
        self.active = place;
        self.anchor = place;
        self.head = place;
    }

    /// Selects everything, the active cell staying where it is.
    pub fn select_all(&mut self, column_count: usize) {
        self.before.clear();
        self.unit = Unit::Columns;
        self.anchor = Place { row: 0, column: 0 };
        self.head = Place { row: 0, column: column_count.saturating_sub(1) };
    }

    /// The result turned out to end at `rows`: nothing stands behind it.
    pub fn clamp(&mut self, rows: u64) {
        let last = rows.saturating_sub(1);
        for place in [&mut self.active, &mut self.anchor, &mut self.head] {
            place.row = place.row.min(last);
        }
    }

    /// Rows selected, at most `rows` of the result, in order and without overlap.
    pub fn row_blocks(&self, rows: u64, column_count: usize) -> Vec<std::ops::Range<u64>> {
        let mut blocks: Vec<std::ops::Range<u64>> = self
            .ranges(column_count)
            .iter()
            .map(|range| *range.rows.start()..range.rows.end().saturating_add(1).min(rows))
            .filter(|block| !block.is_empty())
            .collect();
        blocks.sort_by_key(|block| block.start);
        let mut merged: Vec<std::ops::Range<u64>> = Vec::with_capacity(blocks.len());
        for block in blocks {
            match merged.last_mut() {
                Some(last) if block.start <= last.end => last.end = last.end.max(block.end),
                _ => merged.push(block),
            }
        }
        merged
    }

    /// Columns selected by any range, in order.
    pub fn columns(&self, column_count: usize) -> Vec<usize> {
        let ranges = self.ranges(column_count);
        (0..column_count).filter(|column| ranges.iter().any(|range| range.columns.contains(column))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: usize = 5;

    fn at(row: u64, column: usize) -> Place {
        Place { row, column }
    }

    #[test]
    fn shift_moves_the_far_corner_and_keeps_the_anchor() {
        let mut selection = Selection::default();
        selection.move_to(at(10, 2), Join::Replace);
        selection.move_to(at(7, 4), Join::Extend);
        assert_eq!(selection.ranges(COLUMNS), [CellRange { rows: 7..=10, columns: 2..=4 }]);
        assert_eq!(selection.active(), at(10, 2));
        selection.move_to(at(12, 1), Join::Extend);
        assert_eq!(selection.ranges(COLUMNS), [CellRange { rows: 10..=12, columns: 1..=2 }]);
    }

    #[test]
    fn whole_rows_and_columns_reach_from_edge_to_edge() {
        let mut selection = Selection::default();
        selection.select(at(3, 0), Unit::Rows, Join::Replace, COLUMNS);
        selection.select(at(5, 0), Unit::Rows, Join::Extend, COLUMNS);
        assert_eq!(selection.ranges(COLUMNS), [CellRange { rows: 3..=5, columns: 0..=4 }]);
        selection.select(at(0, 2), Unit::Columns, Join::Add, COLUMNS);
        assert!(selection.contains(at(999_999_999, 2), COLUMNS));
        assert!(selection.contains(at(4, 0), COLUMNS));
        assert!(!selection.contains(at(6, 0), COLUMNS));
        assert_eq!(selection.columns(COLUMNS), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn all_is_all_however_much_is_read_later() {
        let mut selection = Selection::default();
        selection.move_to(at(4, 1), Join::Replace);
        selection.select_all(COLUMNS);
        assert_eq!(selection.active(), at(4, 1));
        assert!(selection.contains(at(10_000_000, 4), COLUMNS));
        assert_eq!(selection.row_blocks(1_234, COLUMNS), std::iter::once(0..1_234).collect::<Vec<_>>());
    }

    #[test]
    fn blocks_of_rows_are_merged_and_in_order() {
        let mut selection = Selection::default();
        selection.select(at(20, 0), Unit::Rows, Join::Replace, COLUMNS);
        selection.select(at(3, 0), Unit::Rows, Join::Add, COLUMNS);
        selection.select(at(5, 0), Unit::Rows, Join::Extend, COLUMNS);
        selection.select(at(6, 0), Unit::Rows, Join::Add, COLUMNS);
        assert_eq!(selection.row_blocks(100, COLUMNS), [3..7, 20..21]);
    }

    #[test]
    fn a_result_that_ends_early_pulls_the_selection_back() {
        let mut selection = Selection::default();
        selection.move_to(at(1_500, 1), Join::Replace);
        selection.clamp(1_200);
        assert_eq!(selection.active(), at(1_199, 1));
        assert!(selection.is_single());
    }
}
