//! Copying the selection as tab-separated text.
//!
//! Invariant: what is copied is exact and whole: rows that are not here are fetched, cut cells are fetched whole, and where that is
//! not possible one sentence says so and the clipboard stays as it was.

use super::held::HeldPage;
use super::selection::{CellRange, Place};
use super::source::RunSource;
use super::ui::{Note, grouped, rows_text};
use super::view::{Grid, GridView};
use crate::ui::unseen::spelled;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::format::{Cell, hex};
use shared::grid::copy::Tsv;
use shared::problem::Problem;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen_futures::JsFuture;
use web_sys::ClipboardEvent;

/// Bytes of text that one copy may have; more is an export.
const COPY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What is to be copied.
pub struct Wanted {
    rows: Vec<Range<u64>>,
    columns: Vec<usize>,
    /// The ranges, where there are several: their rows and columns cross in cells that none of them holds.
    ranges: Option<Vec<CellRange>>,
    /// The selection has rows that nobody has read.
    open_ended: bool,
}

impl Wanted {
    fn has(&self, row: u64, column: usize) -> bool {
        self.ranges.as_ref().is_none_or(|ranges| ranges.iter().any(|range| range.contains(Place { row, column })))
    }

    fn row_count(&self) -> u64 {
        self.rows.iter().map(|block| block.end - block.start).sum()
    }
}

/// What stands in the way of copying at once.
enum Gap {
    Page,
    Cut,
    TooLong,
}

enum Refusal {
    Stopped,
    Told(String),
    Failed(Problem),
    /// The value of a column in a row, counted from 0.
    Value(Problem, String, u64),
}

impl Refusal {
    /// What is said of it; nothing where a person stopped it.
    fn words(self) -> Option<String> {
        match self {
            Self::Stopped => None,
            Self::Told(sentence) => Some(sentence),
            Self::Failed(problem) => Some(format!("Not copied: {}", problem.message)),
            Self::Value(problem, column, row) => {
                Some(format!("Not copied, for {} in row {}: {}", spelled(&column), grouped(row + 1), problem.message))
            }
        }
    }
}

impl Grid {
    /// The browser's copy: at once where every row is here.
    pub fn copy_event(self, event: &ClipboardEvent) {
        event.prevent_default();
        event.stop_propagation();
        let Some(text) = self.with(|view| view.copied.take().or_else(|| view.copy_now())).flatten() else {
            return self.copy_later();
        };
        let taken = event.clipboard_data().and_then(|clipboard| clipboard.set_data("text/plain", &text).ok());
        if taken.is_none() {
            self.copy_later();
        } else {
            self.with(|view| view.tell_copied(&view.wanted()));
        }
    }

    /// A command's copy.
    pub fn copy_tsv(self) {
        self.copy_later();
    }

    fn copy_later(self) {
        let begun = self.with(|view| (view.wanted(), view.begin_copying()));
        let Some((wanted, turn)) = begun else { return };
        self.ui.note.set(Some(Note::told(format!("Copying {}; Esc stops", rows_text(wanted.row_count())))));
        spawn_local(async move {
            let collected = self.collect(&wanted, turn).await;
            self.with(|view| view.end_copying(turn));
            match collected {
                Ok(text) => self.put(text, &wanted).await,
                Err(refusal) => {
                    if let Some(sentence) = refusal.words() {
                        self.ui.note.set(Some(Note::failed(sentence).passing()));
                    }
                }
            }
        });
    }

    /// Text of all rows, page by page; nothing but the text is kept of pages that were not here.
    async fn collect(self, wanted: &Wanted, turn: u32) -> Result<String, Refusal> {
        let gone = || Refusal::Told("The result is closed".to_owned());
        let (source, page_rows) = self.with(|view| (view.source(), view.page_rows())).ok_or_else(gone)?;
        let mut text = Tsv::new();
        for block in &wanted.rows {
            let mut row = block.start;
            while row < block.end {
                if self.with(|view| view.copy_turn) != Some(turn) {
                    return Err(Refusal::Stopped);
                }
                let n = u32::try_from(row / page_rows).map_err(|_| gone())?;
                let page = match self.with(|view| view.cached(n)).ok_or_else(gone)? {
                    Some(page) => page,
                    None => Arc::new(HeldPage::new(source.page(n, None).await.map_err(Refusal::Failed)?)),
                };
                let end = block.end.min((u64::from(n) + 1) * page_rows);
                for row in row..end {
                    for column in &wanted.columns {
                        self.add(&mut text, wanted, &page, &source, row, *column).await?;
                    }
                    text.end_row();
                }
                if text.bytes() > COPY_BYTES_MAX {
                    return Err(Refusal::Told("The selection is over 64 MiB of text: select fewer rows".to_owned()));
                }
                row = end;
            }
        }
        Ok(text.finish())
    }

    async fn add(
        self,
        text: &mut Tsv,
        wanted: &Wanted,
        page: &HeldPage,
        source: &Rc<dyn RunSource>,
        row: u64,
        column: usize,
    ) -> Result<(), Refusal> {
        let added = self
            .with(|view| view.add_cell(text, wanted, page, row, column))
            .ok_or_else(|| Refusal::Told("The result is closed".to_owned()))?;
        let Err(Gap::Cut) = added else { return Ok(()) };
        let name = || page.batch.schema_ref().fields().get(column).map(|field| field.name().clone()).unwrap_or_default();
        let bytes = source.cell(row, u32::try_from(column).unwrap_or(u32::MAX)).await;
        let bytes = bytes.map_err(|problem| Refusal::Value(problem, name(), row))?;
        let in_page = usize::try_from(row % self.with(|view| view.page_rows()).unwrap_or(1)).unwrap_or(usize::MAX);
        let binary = matches!(page.cell(in_page, column), Cell::Bytes(_));
        let value = if binary { hex(&bytes) } else { String::from_utf8_lossy(&bytes).into_owned() };
        text.cell(Some(&value));
        Ok(())
    }

    async fn put(self, text: String, wanted: &Wanted) {
        let written = match web_sys::window() {
            Some(window) => JsFuture::from(window.navigator().clipboard().write_text(&text)).await.is_ok(),
            None => false,
        };
        self.with(|view| {
            if written {
                view.tell_copied(wanted);
            } else {
                // The browser lets a page write to the clipboard only in the moment of a key: keep it for the next.
                view.copied = Some(text);
                self.ui.note.set(Some(Note::told(format!("{} ready: press the copy key again", rows_text(wanted.row_count())))));
            }
        });
    }
}

impl GridView {
    fn begin_copying(&mut self) -> u32 {
        self.copy_turn = self.copy_turn.wrapping_add(1);
        self.copying = true;
        self.copy_turn
    }

    fn end_copying(&mut self, turn: u32) {
        self.copying &= self.copy_turn != turn;
    }

    /// Gives up a copy that is still collecting its rows.
    pub fn stop_copying(&mut self) {
        if self.copying {
            self.copying = false;
            self.copy_turn = self.copy_turn.wrapping_add(1);
            self.tell(Note::told("Nothing was copied").passing());
        }
    }

    fn wanted(&self) -> Wanted {
        let (known, columns) = (self.known_rows(), self.column_count());
        let selection = self.selection();
        let ranges = selection.ranges(columns);
        let open_ended = !self.is_complete() && ranges.iter().any(|range| *range.rows.end() >= known);
        let ranges = (ranges.len() > 1).then_some(ranges);
        Wanted { ranges, rows: selection.row_blocks(known, columns), columns: selection.columns(columns), open_ended }
    }

    /// The text, if every row is here, whole, and not too long for one moment.
    fn copy_now(&mut self) -> Option<String> {
        let wanted = self.wanted();
        self.collect_now(&wanted).ok()
    }

    fn collect_now(&mut self, wanted: &Wanted) -> Result<String, Gap> {
        const AT_ONCE_BYTES_MAX: usize = 8 * 1024 * 1024;
        let mut text = Tsv::new();
        for row in wanted.rows.iter().cloned().flatten() {
            let n = u32::try_from(row / self.page_rows()).unwrap_or(u32::MAX);
            let page = self.cached(n).ok_or(Gap::Page)?;
            for column in &wanted.columns {
                self.add_cell(&mut text, wanted, &page, row, *column)?;
            }
            text.end_row();
            if text.bytes() > AT_ONCE_BYTES_MAX {
                return Err(Gap::TooLong);
            }
        }
        Ok(text.finish())
    }

    fn add_cell(&self, text: &mut Tsv, wanted: &Wanted, page: &HeldPage, row: u64, column: usize) -> Result<(), Gap> {
        let in_page = usize::try_from(row % self.page_rows()).unwrap_or(usize::MAX);
        if !wanted.has(row, column) {
            text.cell(None);
        } else if page.cut_bytes(in_page, column).is_some() {
            return Err(Gap::Cut);
        } else {
            text.cell(page.cell(in_page, column).text().as_deref());
        }
        Ok(())
    }

    fn tell_copied(&self, wanted: &Wanted) {
        let rows = wanted.row_count();
        if wanted.open_ended {
            self.tell(Note::told(format!("Copied the {} read so far; the result goes on", rows_text(rows))).passing());
        } else if rows > 1 || wanted.columns.len() > 1 {
            self.tell(Note::told(format!("Copied {}", rows_text(rows))).passing());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::problem::ErrorCode;

    #[test]
    fn what_was_not_copied_is_named() {
        let problem = Problem::new(ErrorCode::TooLarge, "The value is too long");
        let refusal = Refusal::Value(problem.clone(), "bo\u{202e}dy".to_owned(), 1_233);
        assert_eq!(refusal.words().as_deref(), Some("Not copied, for bo⟨RLO⟩dy in row 1,234: The value is too long"));
        assert_eq!(Refusal::Failed(problem).words().as_deref(), Some("Not copied: The value is too long"));
        assert_eq!(Refusal::Stopped.words(), None);
    }
}
