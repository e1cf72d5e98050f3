//! What the parts around the rows show: signals that the grid sets and the component reads.

use super::selection::Place;
use crate::api;
use leptos::prelude::*;
use shared::problem::Problem;

/// Reading on, before the grid can go where it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The row that is being read to, counted from 1; `None` for the end.
    pub to_row: Option<u64>,
}

/// One sentence about what was just done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// Something did not succeed.
    pub failed: bool,
    /// It goes by itself after a while.
    pub passes: bool,
}

impl Note {
    /// Something to know.
    pub fn told(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false, passes: false }
    }

    /// Something that did not succeed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true, passes: false }
    }

    /// The same, for a while: what it tells of is over.
    #[must_use]
    pub fn passing(self) -> Self {
        Self { passes: true, ..self }
    }

    /// Rows did not come. Of a server that does not answer the status line tells, for as long as it is so.
    pub fn unread(problem: &Problem) -> Self {
        Self::failed(if api::is_unanswered(problem) { "The rest could not be read" } else { problem.message.as_str() })
    }
}

/// How much is selected, where it is more than one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows of those that are read.
    pub rows: u64,
    /// Columns.
    pub columns: usize,
}

/// A count in groups of three, for words (a value is never grouped).
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count of rows in words.
pub fn rows_text(rows: u64) -> String {
    format!("{} {}", grouped(rows), if rows == 1 { "row" } else { "rows" })
}

/// The signals.
#[derive(Clone, Copy)]
pub struct Ui {
    /// A page of the window did not come.
    pub failure: RwSignal<Option<Problem>>,
    /// The grid reads on.
    pub reading: RwSignal<Option<Reading>>,
    /// A sentence.
    pub note: RwSignal<Option<Note>>,
    /// The active cell.
    pub active: RwSignal<Place>,
    /// The cell viewer is open.
    pub viewer: RwSignal<bool>,
    /// The question for a row number is open.
    pub going: RwSignal<bool>,
    /// What is selected.
    pub summary: RwSignal<Summary>,
    /// Counts pages that came: a viewer over a row that was not here reads it again.
    pub pages: RwSignal<u32>,
    /// `aria-rowcount`: rows and the head, -1 while unknown.
    pub aria_rows: RwSignal<i64>,
    /// The result has no rows.
    pub empty: RwSignal<bool>,
}

impl Ui {
    /// All quiet.
    pub fn new() -> Self {
        Self {
            failure: RwSignal::new(None),
            reading: RwSignal::new(None),
            note: RwSignal::new(None),
            active: RwSignal::new(Place::default()),
            viewer: RwSignal::new(false),
            going: RwSignal::new(false),
            summary: RwSignal::new(Summary::default()),
            pages: RwSignal::new(0),
            aria_rows: RwSignal::new(-1),
            empty: RwSignal::new(false),
        }
    }
}

impl Default for Ui {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_in_words() {
        assert_eq!([1, 999, 1_000, 1_234_567].map(rows_text), ["1 row", "999 rows", "1,000 rows", "1,234,567 rows"]);
    }
}
