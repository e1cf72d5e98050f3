//! The grid's measures: its window, its columns, its sizer.

use super::super::columns::ColumnKey;
use super::super::columns::{WIDTH_PX_MAX, WIDTH_PX_MIN, fit_to_page, fit_width_px};
use super::super::geometry::ColumnEdges;
use super::super::measure::advances_of;
use super::{GridView, HEAD_PX};
use leptos::prelude::*;

/// Space of a figure in the gutter, and around the number.
const GUTTER_FIGURE_PX: f64 = 7.0;
const GUTTER_PADDING_PX: f64 = 22.0;
const GUTTER_FIGURES_MIN: u32 = 3;
/// Space behind the last column, so that its grip can be had.
const TAIL_PX: f64 = 24.0;

impl GridView {
    /// The window's size changed.
    pub fn resized(&mut self) {
        let width_px = f64::from(self.nodes.scroller.client_width());
        let narrower = width_px < self.width_px;
        self.width_px = width_px;
        let window_px = (f64::from(self.nodes.scroller.client_height()) - HEAD_PX).max(0.0);
        let set = self.scroll.resize(self.extent.rows(), window_px);
        self.size_rows();
        if let Some(set) = set {
            self.set_scroll_top(set);
        }
        if narrower && self.grid.ui.viewer.get_untracked() {
            self.reveal(self.selection.active()); // the viewer opened over the cell it shows
        }
        self.refresh();
    }

    /// More rows are known, or fewer turned out to exist.
    pub(super) fn extent_changed(&mut self) {
        let gutter = self.gutter_px();
        let set = self.scroll.resize(self.extent.rows(), self.scroll.window_px());
        if self.extent.total_rows().is_some() {
            self.selection.clamp(self.extent.known_rows());
        }
        if gutter != self.edges.left_px(0) {
            self.lay_out_columns();
        }
        self.size_rows();
        if let Some(set) = set {
            self.set_scroll_top(set);
        }
    }

    fn size_rows(&self) {
        let _ = self.nodes.sizer.style().set_property("height", &format!("{}px", HEAD_PX + self.scroll.sizer_px()));
        let count = self.extent.total_rows().map_or(-1, |total| i64::try_from(total).unwrap_or(i64::MAX - 1) + 1);
        let ui = self.grid.ui;
        if ui.aria_rows.get_untracked() != count {
            ui.aria_rows.set(count);
        }
        let empty = self.extent.rows() == 0;
        if ui.empty.get_untracked() != empty {
            ui.empty.set(empty);
        }
    }

    /// Width of the gutter: as many figures as the last row's number has.
    pub(super) fn gutter_px(&self) -> f64 {
        let figures = self.extent.rows().max(1).ilog10() + 1;
        f64::from(figures.max(GUTTER_FIGURES_MIN)) * GUTTER_FIGURE_PX + GUTTER_PADDING_PX
    }

    /// Widths changed: every column gets its place.
    pub(super) fn lay_out_columns(&mut self) {
        let gutter = self.gutter_px();
        self.edges = ColumnEdges::new(gutter, self.columns.iter().map(|column| column.width_px));
        self.pool.forget_columns();
        let width = format!("{gutter}px");
        let _ = self.nodes.gutter.style().set_property("width", &width);
        let _ = self.nodes.corner.style().set_property("width", &width);
        let _ = self.nodes.sizer.style().set_property("width", &format!("{}px", self.edges.end_px() + TAIL_PX));
    }

    /// A column's width, set by hand.
    pub fn set_width(&mut self, column: usize, width_px: f64) {
        let Some(column) = self.columns.get_mut(column) else { return };
        column.width_px = width_px.round().clamp(WIDTH_PX_MIN, WIDTH_PX_MAX);
        column.set_by_hand = true;
        self.lay_out_columns();
        self.refresh();
    }

    /// A column's width now.
    pub fn width_of(&self, column: usize) -> f64 {
        self.edges.width_px(column)
    }

    /// Makes a column as wide as what it holds in the pages the window shows.
    pub fn fit_column(&mut self, column: usize) {
        let pages: Vec<_> = self.seen_pages().filter_map(|n| self.cache.get(n)).collect();
        let Some(info) = self.columns.get(column) else { return };
        let widths = pages
            .iter()
            .filter_map(|page| page.batch.columns().get(column).zip(page.batch.schema_ref().fields().get(column)))
            .map(|(values, field)| fit_width_px(info, (values.as_ref(), field), &self.advances));
        let Some(width) = widths.reduce(f64::max) else { return };
        self.set_width(column, width);
    }

    /// The catalog told which columns are keys.
    pub fn set_keys(&mut self, keys: Vec<Option<ColumnKey>>) {
        self.heads.keys = keys;
        self.refresh();
    }

    /// The grid's font arrived after the first measure.
    pub fn font_changed(&mut self) {
        self.advances = advances_of(&self.nodes.probe);
        if let Some(first) = self.cache.get(0) {
            fit_to_page(&mut self.columns, &first.batch, &self.advances);
        }
        self.lay_out_columns();
        self.refresh();
    }
}
