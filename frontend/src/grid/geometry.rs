//! Where rows and columns lie: scroll positions to rows, widths to columns.
//!
//! Invariant: pure arithmetic, no `web_sys`. Two lengths are told apart: the *content* (every row at full height, up to 240,000,000 px
//! for ten million rows) and the *sizer* (what the browser scrolls, at most [`SIZER_PX_MAX`]; Chromium ends at 33,554,428 px, Firefox
//! at 17,895,698). Up to the cap they are equal. Beyond it a small scroll still moves the content by just as much; only a jump of the
//! thumb is proportional, and the first and last [`EXACT_PX`] are exact even then, so both ends are reached without a snap.

use std::ops::Range;

/// Tallest sizer.
pub const SIZER_PX_MAX: f64 = 8_000_000.0;
/// At each end of a capped sizer, so much of it is the content itself.
const EXACT_PX: f64 = 1_000_000.0;
/// A scroll event that moves further is a jump of the thumb, not a wheel or a fling.
const JUMP_PX: f64 = 6_000.0;

/// Where the content stands under the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowScroll {
    rows: u64,
    row_px: f64,
    window_px: f64,
    /// The browser's scroll position, as last seen.
    sizer_top_px: f64,
    /// Content position less sizer position.
    shift_px: f64,
}

/// A scroll position as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowWindow {
    /// First row that shows at least one pixel.
    pub first: u64,
    /// Row behind the last one that does.
    pub end: u64,
}

impl RowScroll {
    /// At the top of `rows` rows.
    pub fn new(rows: u64, row_px: f64, window_px: f64) -> Self {
        Self { rows, row_px, window_px, sizer_top_px: 0.0, shift_px: 0.0 }
    }

    #[allow(clippy::cast_precision_loss)] // rows × pixels stay far under 2^53
    fn content_px(&self) -> f64 {
        self.rows as f64 * self.row_px
    }

    /// Height of the sizer.
    pub fn sizer_px(&self) -> f64 {
        self.content_px().min(SIZER_PX_MAX)
    }

    fn content_end_px(&self) -> f64 {
        (self.content_px() - self.window_px).max(0.0)
    }

    fn sizer_end_px(&self) -> f64 {
        (self.sizer_px() - self.window_px).max(0.0)
    }

    fn capped(&self) -> bool {
        self.content_px() > SIZER_PX_MAX
    }

    /// The content's position under the window's upper edge.
    pub fn content_top_px(&self) -> f64 {
        (self.sizer_top_px + self.shift_px).clamp(0.0, self.content_end_px())
    }

    /// Top of a row in sizer coordinates.
    #[allow(clippy::cast_precision_loss)]
    pub fn row_top_px(&self, row: u64) -> f64 {
        row as f64 * self.row_px - self.shift_px
    }

    /// Rows of the whole.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The window's height.
    pub fn window_px(&self) -> f64 {
        self.window_px
    }

    /// A row's height.
    pub fn row_px(&self) -> f64 {
        self.row_px
    }

    /// How far content and sizer are apart; every row's place changes with it.
    pub fn shift_px(&self) -> f64 {
        self.shift_px
    }

    /// More rows became known, or the window changed. Returns the scroll position to set, where the old one no longer fits.
    pub fn resize(&mut self, rows: u64, window_px: f64) -> Option<f64> {
        let top = self.content_top_px();
        self.rows = rows;
        self.window_px = window_px;
        let top = top.min(self.content_end_px());
        let kept = top - self.shift_px;
        if (0.0..=self.sizer_end_px()).contains(&kept) && (self.capped() || self.shift_px == 0.0) {
            return (kept != self.sizer_top_px).then(|| self.place(top, kept));
        }
        Some(self.place(top, self.proportional_sizer(top)))
    }

    fn place(&mut self, content_top_px: f64, sizer_top_px: f64) -> f64 {
        self.sizer_top_px = sizer_top_px.round();
        self.shift_px = content_top_px.round() - self.sizer_top_px;
        self.sizer_top_px
    }

    /// The browser scrolled to `sizer_top_px`. Returns a position to set instead, where an end was met on one side only.
    pub fn scrolled(&mut self, sizer_top_px: f64) -> Option<f64> {
        let moved = sizer_top_px - self.sizer_top_px;
        self.sizer_top_px = sizer_top_px;
        if !self.capped() {
            self.shift_px = 0.0;
            return None;
        }
        if moved.abs() > JUMP_PX {
            self.shift_px = (self.proportional_content(sizer_top_px) - sizer_top_px).round();
            return None;
        }
        let wanted = sizer_top_px + self.shift_px;
        let at_one_end_only =
            (sizer_top_px <= 0.0) != (wanted <= 0.0) || (sizer_top_px >= self.sizer_end_px()) != (wanted >= self.content_end_px());
        let off = wanted < 0.0 || wanted > self.content_end_px() || at_one_end_only;
        off.then(|| {
            let top = wanted.clamp(0.0, self.content_end_px());
            self.place(top, self.proportional_sizer(top))
        })
    }

    /// Scrolling came to rest: the thumb goes to where it belongs, the picture stays. Returns the position to set.
    pub fn rested(&mut self) -> Option<f64> {
        let top = self.content_top_px();
        let right = self.proportional_sizer(top);
        // Within a screen or two nobody sees the thumb's place.
        ((right - self.sizer_top_px).abs() > 2.0 * self.window_px).then(|| self.place(top, right))
    }

    /// Brings the content to a position. Returns the scroll position to set.
    pub fn go_to(&mut self, content_top_px: f64) -> f64 {
        let top = content_top_px.clamp(0.0, self.content_end_px());
        let kept = top - self.shift_px;
        let near = (top - self.content_top_px()).abs() <= JUMP_PX && kept > 0.0 && kept < self.sizer_end_px();
        let sizer = if near && top > 0.0 && top < self.content_end_px() { kept } else { self.proportional_sizer(top) };
        self.place(top, sizer)
    }

    /// Brings a row wholly into the window, by the shortest way. Returns the scroll position to set, if any.
    pub fn reveal(&mut self, row: u64) -> Option<f64> {
        let top = self.row_top_px(row) + self.shift_px;
        let now = self.content_top_px();
        if top < now {
            Some(self.go_to(top))
        } else if top + self.row_px > now + self.window_px {
            Some(self.go_to(top + self.row_px - self.window_px))
        } else {
            None
        }
    }

    /// Rows in the window.
    pub fn window(&self) -> RowWindow {
        let top = self.content_top_px();
        RowWindow { first: self.row_under(top), end: self.row_under(top + self.window_px - 0.01).saturating_add(1).min(self.rows) }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn row_under(&self, content_px: f64) -> u64 {
        (content_px.max(0.0) / self.row_px) as u64
    }

    /// The row under a point of the window (from its upper edge); the nearest one if there is none.
    pub fn row_at(&self, window_y_px: f64) -> Option<u64> {
        let last = self.rows.checked_sub(1)?;
        Some(self.row_under(self.content_top_px() + window_y_px).min(last))
    }

    /// Whole rows in a window: how far PgUp and PgDn go.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn page_rows(&self) -> u64 {
        ((self.window_px / self.row_px) as u64).saturating_sub(1).max(1)
    }

    fn proportional_content(&self, sizer_top_px: f64) -> f64 {
        let (sizer_end, content_end) = (self.sizer_end_px(), self.content_end_px());
        if sizer_top_px <= EXACT_PX {
            return sizer_top_px.max(0.0);
        }
        if sizer_top_px >= sizer_end - EXACT_PX {
            return content_end - (sizer_end - sizer_top_px).max(0.0);
        }
        EXACT_PX + (sizer_top_px - EXACT_PX) * (content_end - 2.0 * EXACT_PX) / (sizer_end - 2.0 * EXACT_PX)
    }

    fn proportional_sizer(&self, content_top_px: f64) -> f64 {
        let (sizer_end, content_end) = (self.sizer_end_px(), self.content_end_px());
        if !self.capped() || content_top_px <= EXACT_PX {
            return content_top_px;
        }
        if content_top_px >= content_end - EXACT_PX {
            return sizer_end - (content_end - content_top_px);
        }
        EXACT_PX + (content_top_px - EXACT_PX) * (sizer_end - 2.0 * EXACT_PX) / (content_end - 2.0 * EXACT_PX)
    }
}

/// Where columns lie: the left edge of each, and the right edge of the last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnEdges {
    edges_px: Vec<f64>,
}

impl ColumnEdges {
    /// From widths, the first column at `start_px`.
    pub fn new(start_px: f64, widths_px: impl Iterator<Item = f64>) -> Self {
        let mut edge = start_px;
        let mut edges_px = vec![edge];
        edges_px.extend(widths_px.map(|width| {
            edge += width;
            edge
        }));
        Self { edges_px }
    }

    /// How many columns.
    pub fn count(&self) -> usize {
        self.edges_px.len().saturating_sub(1)
    }

    /// Left edge.
    pub fn left_px(&self, column: usize) -> f64 {
        self.edges_px.get(column).copied().unwrap_or_else(|| self.end_px())
    }

    /// Width.
    pub fn width_px(&self, column: usize) -> f64 {
        self.left_px(column + 1) - self.left_px(column)
    }

    /// Right edge of the last column.
    pub fn end_px(&self) -> f64 {
        self.edges_px.last().copied().unwrap_or_default()
    }

    /// Columns that show at least one pixel between two places.
    pub fn between(&self, from_px: f64, to_px: f64) -> Range<usize> {
        let first = self.edges_px.partition_point(|edge| *edge <= from_px).saturating_sub(1);
        let end = self.edges_px.partition_point(|edge| *edge < to_px).min(self.count());
        first.min(end)..end
    }

    /// The column under a place; the nearest one if there is none.
    pub fn at(&self, x_px: f64) -> Option<usize> {
        let last = self.count().checked_sub(1)?;
        Some(self.edges_px.partition_point(|edge| *edge <= x_px).saturating_sub(1).min(last))
    }

    /// The column whose right edge lies within `reach_px` of a place.
    pub fn edge_near(&self, x_px: f64, reach_px: f64) -> Option<usize> {
        (0..self.count()).find(|column| (self.left_px(column + 1) - x_px).abs() <= reach_px)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: f64 = 24.0;
    const WINDOW: f64 = 780.0;

    fn ten_million() -> RowScroll {
        RowScroll::new(10_000_000, ROW, WINDOW)
    }

    #[test]
    fn a_short_result_scrolls_exactly() {
        let mut scroll = RowScroll::new(1_000, ROW, WINDOW);
        assert_eq!(scroll.sizer_px(), 24_000.0);
        assert_eq!(scroll.scrolled(12_000.0), None);
        assert_eq!(scroll.window(), RowWindow { first: 500, end: 533 });
        assert_eq!(scroll.row_top_px(500), 12_000.0);
        assert_eq!(scroll.rested(), None);
    }

    #[test]
    fn a_long_result_has_a_capped_sizer_and_both_ends() {
        let mut scroll = ten_million();
        assert_eq!(scroll.sizer_px(), SIZER_PX_MAX);
        scroll.scrolled(SIZER_PX_MAX - WINDOW);
        assert_eq!(scroll.window().end, 10_000_000);
        assert_eq!(scroll.row_top_px(9_999_999) + ROW, SIZER_PX_MAX);
        scroll.scrolled(0.0);
        assert_eq!(scroll.window().first, 0);
        assert_eq!(scroll.row_top_px(0), 0.0);
    }

    #[test]
    fn a_thumb_jump_is_proportional_and_a_wheel_step_exact_after_it() {
        let mut scroll = ten_million();
        scroll.scrolled(4_000_000.0);
        let middle = scroll.content_top_px();
        assert!((middle - 120_000_000.0).abs() < 20_000.0, "{middle}");
        scroll.scrolled(4_000_120.0);
        assert_eq!(scroll.content_top_px() - middle, 120.0);
    }

    #[test]
    fn coming_to_rest_moves_the_thumb_and_not_the_picture() {
        let mut scroll = ten_million();
        scroll.go_to(3_000_000.0);
        let mut at = scroll.sizer_top_px;
        for _ in 0..1_000 {
            at += 5_000.0;
            assert_eq!(scroll.scrolled(at), None);
        }
        let top = scroll.content_top_px();
        assert!(scroll.rested().is_some());
        assert_eq!(scroll.content_top_px(), top);
        assert_eq!(scroll.rested(), None);
    }

    #[test]
    fn every_row_can_be_revealed() {
        let mut scroll = ten_million();
        for row in [0, 1, 41_666, 5_000_000, 9_999_998, 9_999_999, 3] {
            scroll.reveal(row);
            let window = scroll.window();
            assert!(window.first <= row && row < window.end, "{row} in {window:?}");
            let y = scroll.row_top_px(row) - scroll.sizer_top_px;
            assert!((0.0..=WINDOW - ROW).contains(&y), "{row} at {y}");
            assert_eq!(scroll.row_at(y + 1.0), Some(row));
        }
    }

    #[test]
    fn an_end_met_on_one_side_only_is_mended() {
        let mut scroll = ten_million();
        scroll.scrolled(4_000_000.0);
        // A long run of small steps up to the sizer's top, far from the content's.
        let mut at = 4_000_000.0;
        let mut mended = false;
        while at > 0.0 {
            at = (at - 5_900.0_f64).max(0.0);
            if let Some(set) = scroll.scrolled(at) {
                assert!(set > 0.0);
                mended = true;
                break;
            }
        }
        assert!(mended);
        assert!(scroll.content_top_px() > 0.0);
    }

    #[test]
    fn growing_keeps_the_rows_where_they_are() {
        let mut scroll = RowScroll::new(2_000, ROW, WINDOW);
        scroll.scrolled(24_000.0);
        assert_eq!(scroll.resize(3_000, WINDOW), None);
        assert_eq!(scroll.window().first, 1_000);
        assert_eq!(scroll.resize(10_000_000, WINDOW), None);
        assert_eq!(scroll.window().first, 1_000);
    }

    #[test]
    fn shrinking_stays_inside() {
        let mut scroll = RowScroll::new(2_000, ROW, WINDOW);
        scroll.scrolled(40_000.0);
        assert_eq!(scroll.resize(100, WINDOW), Some(2_400.0 - WINDOW));
        assert_eq!(scroll.window().end, 100);
        assert_eq!(RowScroll::new(0, ROW, WINDOW).window(), RowWindow { first: 0, end: 0 });
        assert_eq!(RowScroll::new(0, ROW, WINDOW).row_at(5.0), None);
    }

    #[test]
    fn columns_are_found_by_place() {
        let edges = ColumnEdges::new(50.0, [100.0, 60.0, 200.0].into_iter());
        assert_eq!(edges.end_px(), 410.0);
        assert_eq!(edges.between(50.0, 151.0), 0..2);
        assert_eq!(edges.between(150.0, 210.0), 1..2);
        assert_eq!(edges.between(300.0, 4_000.0), 2..3);
        assert_eq!(edges.at(0.0), Some(0));
        assert_eq!(edges.at(211.0), Some(2));
        assert_eq!(edges.at(9_999.0), Some(2));
        assert_eq!(edges.edge_near(153.0, 4.0), Some(0));
        assert_eq!(ColumnEdges::new(0.0, std::iter::empty()).between(0.0, 100.0), 0..0);
    }
}
