//! The active cell and the selection, moved by keys, pointer and commands.

use super::super::keys::{GridKey, Motion, moved};
use super::super::selection::{Join, Place, Unit};
use super::super::ui::Summary;
use super::{GridView, ROW_PX};
use leptos::prelude::*;

impl GridView {
    /// A key of the grid.
    pub fn key(&mut self, key: GridKey, join: Join) {
        self.grid.ui.note.set(None);
        match key {
            GridKey::Move(motion) => self.go(motion, join),
            GridKey::End => self.go_to_end(join),
            GridKey::SelectAll => {
                self.selection.select_all(self.columns.len());
                self.selection_changed();
            }
            GridKey::GoToRow => self.grid.ui.going.set(true),
            GridKey::Widen(by_px) => {
                let column = self.selection.active().column;
                self.set_width(column, self.width_of(column) + f64::from(by_px));
                self.reveal(self.selection.active());
            }
            GridKey::Fit => self.fit_column(self.selection.active().column),
            GridKey::Open => self.grid.ui.viewer.set(true),
            GridKey::Cancel => {
                self.stop_copying();
                self.stop_reading();
            }
        }
    }

    /// Moves, and shows where it led.
    pub(super) fn go(&mut self, motion: Motion, join: Join) {
        let from = if join == Join::Extend { self.selection.head() } else { self.selection.active() };
        // Rows that may exist can be walked into: their page is asked for. A leap goes to the last that is known.
        let leap = matches!(motion, Motion::Rows(i64::MAX));
        let rows = if leap { self.extent.known_rows() } else { self.extent.rows() };
        let to = moved(from, motion, self.scroll.page_rows(), rows, self.columns.len());
        self.selection.move_to(to, join);
        self.reveal(to);
        self.selection_changed();
    }

    pub(super) fn jump(&mut self, row: u64) {
        let to = Place { row, column: self.selection.active().column };
        self.selection.move_to(to, Join::Replace);
        // In the middle of the window: the rows around it are what one wants to see.
        let middle = self.scroll.row_top_px(row) + self.scroll.shift_px() - (self.scroll.window_px() - ROW_PX) / 2.0;
        let top = self.scroll.go_to(middle);
        self.set_scroll_top(top);
        self.selection_changed();
    }

    /// Selects by pointing.
    pub fn select(&mut self, place: Place, unit: Unit, join: Join) {
        self.selection.select(place, unit, join, self.columns.len());
        self.selection_changed();
    }

    /// Takes the selection's far corner there.
    pub fn extend(&mut self, place: Place) {
        if self.selection.head() != place {
            self.selection.select(place, Unit::Cells, Join::Extend, self.columns.len());
            self.selection_changed();
        }
    }

    fn selection_changed(&mut self) {
        let ui = self.grid.ui;
        let active = self.selection.active();
        if ui.active.get_untracked() != active {
            ui.active.set(active);
        }
        let summary = self.summary();
        if ui.summary.with_untracked(|shown| *shown != summary) {
            ui.summary.set(summary);
        }
        self.refresh();
    }

    fn summary(&self) -> Summary {
        if self.selection.is_single() {
            return Summary::default();
        }
        let columns = self.selection.columns(self.columns.len()).len();
        let blocks = self.selection.row_blocks(self.extent.known_rows(), self.columns.len());
        Summary { rows: blocks.iter().map(|block| block.end - block.start).sum(), columns }
    }

    /// Brings a cell into the window, by the shortest way.
    pub(super) fn reveal(&mut self, place: Place) {
        self.speed_rows = 0.0;
        if let Some(top) = self.scroll.reveal(place.row) {
            self.set_scroll_top(top);
        }
        let (left, right) = (self.edges.left_px(place.column), self.edges.left_px(place.column + 1));
        let seen_from = self.left_px + self.gutter_px();
        let wanted = if left < seen_from {
            left - self.gutter_px()
        } else if right > self.left_px + self.width_px {
            (right - self.width_px).min(left - self.gutter_px())
        } else {
            return;
        };
        self.set_scroll_left(wanted);
    }

    #[allow(clippy::cast_possible_truncation)]
    fn set_scroll_left(&mut self, left_px: f64) {
        self.nodes.scroller.set_scroll_left(left_px.round() as i32);
        self.left_px = f64::from(self.nodes.scroller.scroll_left());
    }

    /// Scrolls by so much: the pointer drags beyond an edge.
    pub fn scroll_by(&mut self, x_px: f64, y_px: f64) {
        if x_px != 0.0 {
            self.set_scroll_left(self.left_px + x_px);
        }
        if y_px != 0.0 {
            let top = self.scroll.go_to(self.scroll.content_top_px() + y_px);
            self.set_scroll_top(top);
        }
        self.refresh();
    }

    /// The row under a point of the window.
    pub fn row_at(&self, y_px: f64) -> Option<u64> {
        self.scroll.row_at(y_px)
    }

    /// The column under a point of the scroller.
    pub fn column_at(&self, x_px: f64) -> Option<usize> {
        self.edges.at(x_px + self.left_px)
    }

    /// The column whose right edge is at a point of the scroller.
    pub fn edge_at(&self, x_px: f64) -> Option<usize> {
        self.edges.edge_near(x_px + self.left_px, 5.0)
    }

    /// A point is over the gutter.
    pub fn in_gutter(&self, x_px: f64) -> bool {
        x_px < self.gutter_px()
    }

    /// The element that scrolls.
    pub fn scroller(&self) -> &web_sys::HtmlElement {
        &self.nodes.scroller
    }
}
