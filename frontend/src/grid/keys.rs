//! Keys of the grid: one table from a key to what it means.
//!
//! Invariant: pure, no `web_sys`. Keys that the grid doesn't know are left to the browser and the rest of the interface.

use super::selection::Place;

/// What a key asks of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridKey {
    /// Move the active cell, or with Shift the selection's far corner.
    Move(Motion),
    /// Read to the end, then go there.
    End,
    /// Select everything.
    SelectAll,
    /// Ask for a row number.
    GoToRow,
    /// Make the active cell's column so much wider.
    Widen(i32),
    /// Make the active cell's column as wide as what it shows.
    Fit,
    /// Open the cell viewer.
    Open,
    /// Stop reading to the end.
    Cancel,
}

/// A way to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// By rows, negative upwards.
    Rows(i64),
    /// By columns, negative to the left.
    Columns(i64),
    /// By windows, negative upwards.
    Windows(i64),
    /// First column.
    FirstColumn,
    /// Last column.
    LastColumn,
    /// First row and column.
    Origin,
}

/// Held keys that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// None, or Shift alone.
    Plain,
    /// Ctrl, or Cmd on a Mac.
    Control,
    /// Alt and Shift.
    AltShift,
    /// Anything else: not for the grid.
    Other,
}

/// Pixels that a column grows by a key.
const WIDEN_PX: i32 = 16;

/// The meaning of a key, by its name in `KeyboardEvent.key`.
pub fn meaning(key: &str, held: Held) -> Option<GridKey> {
    let plain = [
        ("ArrowUp", GridKey::Move(Motion::Rows(-1))),
        ("ArrowDown", GridKey::Move(Motion::Rows(1))),
        ("ArrowLeft", GridKey::Move(Motion::Columns(-1))),
        ("ArrowRight", GridKey::Move(Motion::Columns(1))),
        ("PageUp", GridKey::Move(Motion::Windows(-1))),
        ("PageDown", GridKey::Move(Motion::Windows(1))),
        ("Home", GridKey::Move(Motion::FirstColumn)),
        ("End", GridKey::Move(Motion::LastColumn)),
        ("Enter", GridKey::Open),
        ("Escape", GridKey::Cancel),
    ];
    let control = [
        ("Home", GridKey::Move(Motion::Origin)),
        ("End", GridKey::End),
        ("ArrowUp", GridKey::Move(Motion::Rows(i64::MIN))),
        ("ArrowDown", GridKey::Move(Motion::Rows(i64::MAX))),
        ("ArrowLeft", GridKey::Move(Motion::FirstColumn)),
        ("ArrowRight", GridKey::Move(Motion::LastColumn)),
        ("a", GridKey::SelectAll),
        ("g", GridKey::GoToRow),
    ];
    let alt_shift = [("ArrowLeft", GridKey::Widen(-WIDEN_PX)), ("ArrowRight", GridKey::Widen(WIDEN_PX)), ("ArrowUp", GridKey::Fit)];
    let table: &[(&str, GridKey)] = match held {
        Held::Plain => &plain,
        Held::Control => &control,
        Held::AltShift => &alt_shift,
        Held::Other => &[],
    };
    table.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, meaning)| *meaning)
}

/// Where a motion leads from a place, in a result of so many rows and columns.
pub fn moved(from: Place, motion: Motion, window_rows: u64, rows: u64, columns: usize) -> Place {
    let last_row = i64::try_from(rows.saturating_sub(1)).unwrap_or(i64::MAX);
    let last_column = columns.saturating_sub(1);
    let by_rows = |by: i64| {
        let row = i64::try_from(from.row).unwrap_or(i64::MAX).saturating_add(by).clamp(0, last_row);
        Place { row: row.unsigned_abs(), ..from }
    };
    match motion {
        Motion::Rows(by) => by_rows(by),
        Motion::Windows(by) => by_rows(by.saturating_mul(i64::try_from(window_rows).unwrap_or(1))),
        Motion::Columns(by) if by < 0 => Place { column: from.column.saturating_sub(1), ..from },
        Motion::Columns(_) => Place { column: (from.column + 1).min(last_column), ..from },
        Motion::FirstColumn => Place { column: 0, ..from },
        Motion::LastColumn => Place { column: last_column, ..from },
        Motion::Origin => Place::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(row: u64, column: usize) -> Place {
        Place { row, column }
    }

    #[test]
    fn keys_mean_what_the_table_says() {
        assert_eq!(meaning("ArrowDown", Held::Plain), Some(GridKey::Move(Motion::Rows(1))));
        assert_eq!(meaning("End", Held::Control), Some(GridKey::End));
        assert_eq!(meaning("A", Held::Control), Some(GridKey::SelectAll));
        assert_eq!(meaning("a", Held::Plain), None);
        assert_eq!(meaning("ArrowLeft", Held::AltShift), Some(GridKey::Widen(-16)));
        assert_eq!(meaning("ArrowDown", Held::Other), None);
    }

    #[test]
    fn motions_stop_at_the_edges() {
        assert_eq!(moved(at(0, 0), Motion::Rows(-1), 30, 100, 5), at(0, 0));
        assert_eq!(moved(at(95, 4), Motion::Windows(1), 30, 100, 5), at(99, 4));
        assert_eq!(moved(at(95, 4), Motion::Columns(1), 30, 100, 5), at(95, 4));
        assert_eq!(moved(at(95, 4), Motion::Rows(i64::MIN), 30, 100, 5), at(0, 4));
        assert_eq!(moved(at(5, 1), Motion::Rows(i64::MAX), 30, 100, 5), at(99, 1));
        assert_eq!(moved(at(95, 4), Motion::FirstColumn, 30, 100, 5), at(95, 0));
        assert_eq!(moved(at(95, 4), Motion::Origin, 30, 100, 5), at(0, 0));
        assert_eq!(moved(at(3, 3), Motion::Rows(1), 30, 0, 0), at(0, 3));
    }
}
