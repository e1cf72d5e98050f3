//! What the parts around the view ask of it.

use super::super::held::HeldPage;
use super::super::selection::{Place, Selection};
use super::super::source::RunSource;
use super::super::ui::Note;
use super::GridView;
use arrow_schema::Field;
use leptos::prelude::*;
use std::rc::Rc;
use std::sync::Arc;

impl GridView {
    /// Where rows come from.
    pub fn source(&self) -> Rc<dyn RunSource> {
        self.source.clone()
    }

    /// Rows of a page.
    pub fn page_rows(&self) -> u64 {
        u64::from(self.page_rows)
    }

    /// A page, if it is here.
    pub fn cached(&mut self, n: u32) -> Option<Arc<HeldPage>> {
        self.cache.get(n)
    }

    /// A column's field.
    pub fn field(&self, column: usize) -> Option<&Field> {
        self.columns.get(column).map(|column| &column.field)
    }

    /// Columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Rows that are known to exist.
    pub fn known_rows(&self) -> u64 {
        self.extent.known_rows()
    }

    /// No more rows will be learnt.
    pub fn is_complete(&self) -> bool {
        self.extent.total_rows().is_some()
    }

    /// What is selected.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The corner of the selection that moves.
    pub fn head(&self) -> Place {
        self.selection.head()
    }

    /// The first row of the window.
    pub fn first_seen_row(&self) -> u64 {
        self.scroll.window().first
    }

    /// Width of the gutter.
    pub fn gutter_width(&self) -> f64 {
        self.gutter_px()
    }

    /// Says a sentence.
    pub fn tell(&self, note: Note) {
        self.grid.ui.note.set(Some(note));
    }

    /// The sentence was read.
    pub fn forget_note(&self) {
        if self.grid.ui.note.with_untracked(Option::is_some) {
            self.grid.ui.note.set(None);
        }
    }
}
