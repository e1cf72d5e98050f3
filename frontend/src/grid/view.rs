//! One grid: what it knows, and what happens to it.
//!
//! Invariant: every change ends in [`GridView::refresh`], which paints what differs and asks for the pages the window needs; between
//! changes nothing runs: no timer, no frame. The document's nodes are touched by [`super::paint`] alone.
//! Start at [`GridView::refresh`]; then `view/moving` (keys), `view/loading` (pages), `view/reading` (to the end).

mod asking;
mod loading;
mod moving;
mod reading;
mod sizing;

use super::advance::Advances;
use super::columns::{self, Column};
use super::extent::Extent;
use super::fetch_plan::{Look, plan};
use super::geometry::{ColumnEdges, RowScroll};
use super::held::HeldPage;
use super::measure::advances_of;
use super::page_cache::{CACHE_BYTES_MAX, PageCache};
use super::paint::{Frame, HeadTexts, Layers, Overlay, Pool};
use super::selection::{Place, Selection};
use super::source::RunSource;
use super::ui::Ui;
use crate::state::result::ActiveRun;
use leptos::prelude::*;
use reading::Goal;
use shared::problem::Problem;
use shared::wire::run::RunStatus;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;
use web_sys::{AbortController, Document, HtmlElement};

/// Height of the head: `--grid-head` of the style sheet.
pub const HEAD_PX: f64 = 42.0;
/// Height of a row: `--row` of the style sheet.
pub const ROW_PX: f64 = 24.0;
/// Rows painted beyond the window, so that a scroll that runs ahead of us shows rows.
const OVERSCAN_ROWS: u64 = 6;

/// The elements a grid is made of, in the document.
pub struct Nodes {
    /// The document.
    pub document: Document,
    /// What scrolls; the `grid` of the accessibility tree, and what has the focus.
    pub scroller: HtmlElement,
    /// As large as all rows and columns, up to the cap.
    pub sizer: HtmlElement,
    /// The row of column heads.
    pub head: HtmlElement,
    /// Over the gutter in the head.
    pub corner: HtmlElement,
    /// Row numbers.
    pub gutter: HtmlElement,
    /// Under the rows: selection.
    pub under: HtmlElement,
    /// Rows.
    pub body: HtmlElement,
    /// Over the rows: the active cell's edge.
    pub over: HtmlElement,
    /// An unseen cell whose font is measured.
    pub probe: HtmlElement,
}

impl Nodes {
    /// Takes away what a grid before this one painted: the framework may keep the elements and change what they belong to.
    fn empty(&self) {
        for layer in [&self.head, &self.gutter, &self.under, &self.body, &self.over] {
            layer.set_text_content(None);
        }
        let _ = self.scroller.remove_attribute("aria-activedescendant");
        self.scroller.set_scroll_top(0);
        self.scroller.set_scroll_left(0);
    }
}

/// A grid by handle: cheap to copy into any closure, harmless once the grid is gone.
#[derive(Clone, Copy)]
pub struct Grid {
    view: StoredValue<Option<GridView>, LocalStorage>,
    /// What the parts around the rows show.
    pub ui: Ui,
}

impl Grid {
    /// One that is not in the document yet.
    pub fn new() -> Self {
        Self { view: StoredValue::new_local(None), ui: Ui::new() }
    }

    /// Does something with the grid, if it is still there.
    pub fn with<T>(self, change: impl FnOnce(&mut GridView) -> T) -> Option<T> {
        self.view.try_update_value(|view| view.as_mut().map(change)).flatten()
    }

    /// Puts it into the document.
    pub fn mount(self, run: &ActiveRun, source: Rc<dyn RunSource>, nodes: Nodes) {
        nodes.empty();
        let view = GridView::new(self, run, source, nodes);
        self.view.try_update_value(|slot| *slot = Some(view));
        self.with(GridView::resized);
    }
}

impl Default for Grid {
    fn default() -> Self {
        Self::new()
    }
}

/// The state of one grid.
pub struct GridView {
    grid: Grid,
    source: Rc<dyn RunSource>,
    status: RwSignal<RunStatus>,
    page_rows: u32,
    nodes: Nodes,
    advances: Advances,
    columns: Vec<Column>,
    edges: ColumnEdges,
    heads: HeadTexts,
    extent: Extent,
    scroll: RowScroll,
    left_px: f64,
    width_px: f64,
    speed_rows: f64,
    frame_asked: bool,
    cache: PageCache<HeldPage>,
    in_flight: HashMap<u32, AbortController>,
    failed: HashMap<u32, Problem>,
    selection: Selection,
    pool: Pool,
    overlay: Overlay,
    goal: Option<Goal>,
    stop_reading: Option<AbortController>,
    /// Copied text that the browser did not take without a key.
    pub(super) copied: Option<String>,
    /// Counts copies; a later one, or Esc, ends the one that is still collecting.
    pub(super) copy_turn: u32,
    pub(super) copying: bool,
    pub(super) drag: super::pointer::Drag,
    active_id: Option<String>,
}

impl GridView {
    fn new(grid: Grid, run: &ActiveRun, source: Rc<dyn RunSource>, nodes: Nodes) -> Self {
        let first = HeldPage::new(run.first_page.as_ref().clone());
        let rows = u64::try_from(first.batch.num_rows()).unwrap_or(0);
        let extent = run.status.with_untracked(|status| Extent::new(run.page_rows, rows, status));
        let advances = advances_of(&nodes.probe);
        let mut columns = columns::columns_of(first.batch.schema_ref());
        columns::fit_to_page(&mut columns, &first.batch, &advances);
        let mut cache = PageCache::new(CACHE_BYTES_MAX);
        let bytes = first.bytes();
        cache.insert(0, Arc::new(first), bytes, 0..=0);
        let document = &nodes.document;
        let layers =
            Layers { document: document.clone(), body: nodes.body.clone(), gutter: nodes.gutter.clone(), head: nodes.head.clone() };
        let overlay = Overlay::new(document.clone(), nodes.under.clone(), nodes.over.clone());
        let mut view = Self {
            grid,
            source,
            status: run.status,
            page_rows: run.page_rows.max(1),
            advances,
            columns,
            edges: ColumnEdges::default(),
            heads: HeadTexts::default(),
            scroll: RowScroll::new(extent.rows(), ROW_PX, 0.0),
            extent,
            left_px: 0.0,
            width_px: 0.0,
            speed_rows: 0.0,
            frame_asked: false,
            cache,
            in_flight: HashMap::new(),
            failed: HashMap::new(),
            selection: Selection::default(),
            pool: Pool::new(layers),
            overlay,
            goal: None,
            stop_reading: None,
            copied: None,
            copy_turn: 0,
            copying: false,
            drag: super::pointer::Drag::default(),
            active_id: None,
            nodes,
        };
        view.lay_out_columns();
        view
    }

    /// Paints what changed, asks for what is missing.
    pub fn refresh(&mut self) {
        let window = self.scroll.window();
        let rows = window.first.saturating_sub(OVERSCAN_ROWS)..(window.end + OVERSCAN_ROWS).min(self.scroll.rows());
        let ranges = self.selection.ranges(self.columns.len());
        let frame = Frame {
            rows,
            columns: self.edges.between(self.left_px + self.gutter_px(), self.left_px + self.width_px),
            scroll: &self.scroll,
            edges: &self.edges,
            infos: &self.columns,
            advances: &self.advances,
            ranges: &ranges,
            active: self.selection.active(),
            page_rows: self.page_rows,
        };
        let cache = &mut self.cache;
        let active_id = self.pool.paint(&frame, &self.heads, |n| cache.get(n));
        self.overlay.draw(&frame, self.selection.is_single());
        self.tell_active(active_id);
        self.load_window();
        self.tell_failure();
    }

    fn tell_active(&mut self, id: Option<String>) {
        if self.active_id == id {
            return;
        }
        let _ = match &id {
            Some(id) => self.nodes.scroller.set_attribute("aria-activedescendant", id),
            None => self.nodes.scroller.remove_attribute("aria-activedescendant"),
        };
        self.active_id = id;
    }

    fn load_window(&mut self) {
        let window = self.scroll.window();
        let rows = window.first..window.end;
        let look = Look { rows, speed_rows: self.speed_rows, page_rows: self.page_rows, extent_rows: self.extent.rows() };
        let in_flight: Vec<u32> = self.in_flight.keys().copied().collect();
        let plan = plan(&look, |n| self.cache.contains(n) || self.failed.contains_key(&n), &in_flight);
        for n in plan.give_up {
            if let Some(request) = self.in_flight.remove(&n) {
                request.abort();
            }
        }
        for n in plan.ask {
            self.ask(n);
        }
    }

    /// Pages of which the window shows a row.
    fn seen_pages(&self) -> RangeInclusive<u32> {
        let window = self.scroll.window();
        let page = |row: u64| u32::try_from(row / u64::from(self.page_rows)).unwrap_or(u32::MAX);
        page(window.first)..=page(window.end.saturating_sub(1).max(window.first))
    }

    fn tell_failure(&self) {
        let problem = self.seen_pages().find_map(|n| self.failed.get(&n)).cloned();
        if self.grid.ui.failure.with_untracked(|shown| *shown != problem) {
            self.grid.ui.failure.set(problem);
        }
    }

    /// The browser scrolled: one frame from now this is painted.
    pub fn scrolled(&mut self) {
        if self.frame_asked {
            return;
        }
        self.frame_asked = true;
        let grid = self.grid;
        request_animation_frame(move || {
            grid.with(GridView::paint_scrolled);
        });
    }

    #[allow(clippy::cast_precision_loss)]
    fn paint_scrolled(&mut self) {
        self.frame_asked = false;
        let before = self.scroll.content_top_px();
        if let Some(set) = self.scroll.scrolled(f64::from(self.nodes.scroller.scroll_top())) {
            self.set_scroll_top(set);
        }
        self.left_px = f64::from(self.nodes.scroller.scroll_left());
        self.speed_rows = (self.scroll.content_top_px() - before) / ROW_PX;
        self.refresh();
    }

    /// Scrolling came to rest: the thumb goes where it belongs, and pages beside the window are asked for.
    pub fn rested(&mut self) {
        self.speed_rows = 0.0;
        if let Some(set) = self.scroll.rested() {
            self.set_scroll_top(set);
        }
        self.refresh();
    }

    #[allow(clippy::cast_possible_truncation)] // the sizer is at most 8,000,000 px
    fn set_scroll_top(&self, top_px: f64) {
        self.nodes.scroller.set_scroll_top(top_px as i32);
    }

    /// The active cell.
    pub fn active(&self) -> Place {
        self.selection.active()
    }

    /// Gives up all requests: the grid goes away.
    pub fn leave(&mut self) {
        for (_, request) in self.in_flight.drain() {
            request.abort();
        }
        if let Some(request) = self.stop_reading.take() {
            request.abort();
        }
    }
}
