//! One row's node with its cells, and its number in the gutter.
//!
//! Invariant: as of [`super`]; a row whose page is not there has the texture and no text.

use super::super::held::HeldPage;
use super::super::selection::Place;
use super::cell::CellSlot;
use super::{Frame, Layers, Placed};
use wasm_bindgen::JsCast;
use web_sys::{CssStyleDeclaration, Document, HtmlElement, Text};

/// A row of the pool.
pub(super) struct RowSlot {
    node: HtmlElement,
    style: CssStyleDeclaration,
    number: HtmlElement,
    number_style: CssStyleDeclaration,
    number_text: Text,
    cells: Vec<CellSlot>,
    row: Option<u64>,
    top_px: f64,
    /// What the cells show is still right.
    fresh: bool,
    /// The columns' version its cells are placed by.
    version: u64,
    missing: bool,
    active: bool,
}

impl RowSlot {
    pub(super) fn new(layers: &Layers, columns: usize) -> Option<Self> {
        let document = &layers.document;
        let element = || document.create_element("div").ok()?.dyn_into::<HtmlElement>().ok();
        let node = element()?;
        node.set_class_name("row");
        node.set_attribute("role", "row").ok()?;
        let number = element()?;
        number.set_class_name("number");
        let number_text = document.create_text_node("");
        number.append_child(&number_text).ok()?;
        let mut slot = Self {
            style: node.style(),
            number_style: number.style(),
            node,
            number,
            number_text,
            cells: Vec::new(),
            row: None,
            top_px: f64::NAN,
            fresh: false,
            version: 0,
            missing: false,
            active: false,
        };
        slot.grow(document, columns);
        layers.body.append_child(&slot.node).ok()?;
        layers.gutter.append_child(&slot.number).ok()?;
        Some(slot)
    }

    /// A copy of a row that was painted, in one step of the document: its cells have their places and most of their looks already.
    /// Made one by one, the nodes of a first page took longer than its rows took to come.
    pub(super) fn twin(&self, layers: &Layers) -> Option<Self> {
        let copy = |node: &HtmlElement| node.clone_node_with_deep(true).ok()?.dyn_into::<HtmlElement>().ok();
        let (node, number) = (copy(&self.node)?, copy(&self.number)?);
        let mut cells = Vec::with_capacity(self.cells.len());
        let mut next = node.first_element_child();
        for cell in &self.cells {
            let twin = next?.unchecked_into::<HtmlElement>();
            next = twin.next_element_sibling();
            cells.push(cell.twin(twin)?);
        }
        layers.body.append_child(&node).ok()?;
        layers.gutter.append_child(&number).ok()?;
        let number_text = number.first_child()?.unchecked_into();
        Some(Self { style: node.style(), number_style: number.style(), node, number, number_text, cells, ..*self })
    }

    pub(super) fn grow(&mut self, document: &Document, columns: usize) {
        while self.cells.len() < columns {
            let Some(cell) = CellSlot::new(document, &self.node) else { return };
            self.cells.push(cell);
        }
        self.fresh = false;
        self.version = 0;
    }

    pub(super) fn row(&self) -> Option<u64> {
        self.row
    }

    pub(super) fn cell(&self, at: usize) -> Option<&HtmlElement> {
        self.cells.get(at).map(CellSlot::node)
    }

    pub(super) fn forget(&mut self) {
        self.fresh = false;
    }

    pub(super) fn hide(&mut self) {
        if self.row.take().is_some() || self.top_px.is_nan() {
            self.top_px = f64::INFINITY;
            let _ = self.style.set_property("display", "none");
            let _ = self.number_style.set_property("display", "none");
        }
    }

    pub(super) fn paint(&mut self, row: u64, page: Option<&HeldPage>, frame: &Frame<'_>, columns: &Placed) {
        self.place(row, frame);
        self.mark_missing(page.is_none());
        // A row that was hidden in an earlier change has more to catch up with than this frame's.
        let behind = self.version != columns.version && !(columns.moved && self.version + 1 == columns.version);
        let all = behind || self.version == 0;
        let changes = columns.moved || behind;
        self.version = columns.version;
        for ((cell, column), changed) in self.cells.iter_mut().zip(&columns.shown).zip(&columns.changed) {
            let changed = all || (changes && *changed);
            if changed {
                cell.place(*column, frame);
            }
            let Some(column) = *column else { continue };
            cell.select(frame.ranges.iter().any(|range| range.contains(Place { row, column })));
            if self.fresh && !changed {
                continue;
            }
            match (page, frame.infos.get(column)) {
                (Some(page), Some(info)) => cell.show(page, row_in_page(row, frame.page_rows), column, info, frame),
                _ => cell.clear(),
            }
        }
        self.fresh = true;
    }

    fn place(&mut self, row: u64, frame: &Frame<'_>) {
        if self.row.is_none() && !self.top_px.is_nan() {
            let _ = self.style.remove_property("display");
            let _ = self.number_style.remove_property("display");
        }
        if self.row != Some(row) {
            self.row = Some(row);
            self.fresh = false;
            let _ = self.node.set_attribute("aria-rowindex", &(row + 2).to_string());
            self.number_text.set_data(&(row + 1).to_string());
        }
        let top_px = frame.scroll.row_top_px(row);
        if self.top_px != top_px {
            self.top_px = top_px;
            let place = format!("translateY({top_px}px)");
            let _ = self.style.set_property("transform", &place);
            let _ = self.number_style.set_property("transform", &place);
        }
        let active = frame.active.row == row;
        if self.active != active {
            self.active = active;
            self.number.set_class_name(if active { "number active" } else { "number" });
        }
    }

    fn mark_missing(&mut self, missing: bool) {
        if self.missing != missing {
            self.missing = missing;
            self.fresh = false;
            self.node.set_class_name(if missing { "row missing" } else { "row" });
            let _ = if missing { self.node.set_attribute("aria-busy", "true") } else { self.node.remove_attribute("aria-busy") };
        }
    }
}

fn row_in_page(row: u64, page_rows: u32) -> usize {
    usize::try_from(row % u64::from(page_rows.max(1))).unwrap_or(usize::MAX)
}
