//! One cell's node.
//!
//! Invariant: the node's text is exactly the value (up to [`super::CELL_CHARS_MAX`] characters), and one text node but for what can't be
//! seen, which has marks. NULL has no text: a mark drawn by the style sheet, and an `aria-label`. A cell is clipped only where its text is
//! wider than its column: clipping each one costs 2.7 ms a frame.

use super::super::columns::{Column, PADDING_PX};
use super::super::held::HeldPage;
use super::{CELL_CHARS_MAX, Frame};
use crate::ui::marks;
use crate::ui::unseen::{Lines, Part, parts};
use shared::format::Cell;
use shared::types::ColumnKind;
use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlElement, Text};

/// How a cell looks; its class is derived from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    null: bool,
    unreadable: bool,
    clipped: bool,
    kind: Option<ColumnKind>,
}

impl Look {
    fn class(self) -> String {
        let mut class = String::from("cell");
        match self.kind {
            Some(ColumnKind::Number) => class.push_str(" number"),
            Some(ColumnKind::Boolean) => class.push_str(" boolean"),
            Some(ColumnKind::Binary) => class.push_str(" bytes"),
            _ => {}
        }
        for (on, name) in [(self.null, " null"), (self.unreadable, " unreadable"), (self.clipped, " clipped")] {
            if on {
                class.push_str(name);
            }
        }
        class
    }
}

/// A cell of the pool.
pub(super) struct CellSlot {
    node: HtmlElement,
    text: Text,
    look: Look,
    empty: bool,
    /// Marks and texts stand behind the text node, which is empty.
    marked: bool,
    selected: bool,
}

impl CellSlot {
    pub(super) fn new(document: &Document, row: &Element) -> Option<Self> {
        let node: HtmlElement = document.create_element("div").ok()?.dyn_into().ok()?;
        let text = document.create_text_node("");
        node.append_child(&text).ok()?;
        node.set_class_name("cell");
        node.set_attribute("role", "gridcell").ok()?;
        row.append_child(&node).ok()?;
        Some(Self { node, text, look: Look::default(), empty: true, marked: false, selected: false })
    }

    /// The same cell in a copy of its row.
    pub(super) fn twin(&self, node: HtmlElement) -> Option<Self> {
        let text = node.first_child()?.unchecked_into();
        Some(Self { node, text, ..*self })
    }

    pub(super) fn node(&self) -> &HtmlElement {
        &self.node
    }

    /// Takes the place of a column, or of none.
    pub(super) fn place(&self, column: Option<usize>, frame: &Frame<'_>) {
        let style = self.node.style();
        let Some(column) = column else {
            let _ = style.set_property("display", "none");
            return;
        };
        let _ = style.remove_property("display");
        let _ = style.set_property("left", &format!("{}px", frame.edges.left_px(column)));
        let _ = style.set_property("width", &format!("{}px", frame.edges.width_px(column)));
        let _ = self.node.set_attribute("aria-colindex", &(column + 1).to_string());
    }

    /// Shows a value of a page.
    pub(super) fn show(&mut self, page: &HeldPage, row: usize, column: usize, info: &Column, frame: &Frame<'_>) {
        if column >= page.batch.num_columns() {
            return self.clear();
        }
        let cell = page.cell(row, column);
        let mut look = Look { kind: Some(info.kind), null: cell == Cell::Null, unreadable: cell == Cell::Unreadable, ..Look::default() };
        match cell.prefix(CELL_CHARS_MAX) {
            None => self.set_text(""),
            Some((text, cut)) => {
                let room = frame.edges.width_px(column) - PADDING_PX + 2.0;
                let parts = parts(&text, Lines::One);
                look.clipped = cut || frame.advances.line_px(&text, parts.as_deref(), room) > room;
                match parts {
                    None => self.set_text(&text),
                    Some(parts) => self.set_parts(&parts),
                }
            }
        }
        self.set_look(look);
    }

    /// Shows nothing.
    pub(super) fn clear(&mut self) {
        self.set_text("");
        self.set_look(Look::default());
    }

    fn set_text(&mut self, text: &str) {
        if self.marked {
            self.marked = false;
            while let Some(behind) = self.text.next_sibling() {
                let _ = self.node.remove_child(&behind);
            }
        }
        if !(self.empty && text.is_empty()) {
            self.text.set_data(text);
            self.empty = text.is_empty();
        }
    }

    fn set_parts(&mut self, parts: &[Part<'_>]) {
        self.set_text("");
        self.marked = true;
        if let Some(document) = self.node.owner_document() {
            marks::add(&document, &self.node, parts);
        }
    }

    fn set_look(&mut self, look: Look) {
        if look == self.look {
            return;
        }
        if look.null != self.look.null || look.unreadable != self.look.unreadable {
            let _ = match (look.null, look.unreadable) {
                (true, _) => self.node.set_attribute("aria-label", "NULL"),
                (_, true) => self.node.set_attribute("aria-label", "A value this version can't show"),
                _ => self.node.remove_attribute("aria-label"),
            };
        }
        self.look = look;
        self.node.set_class_name(&look.class());
    }

    pub(super) fn select(&mut self, selected: bool) {
        if selected != self.selected {
            self.selected = selected;
            let _ = if selected { self.node.set_attribute("aria-selected", "true") } else { self.node.remove_attribute("aria-selected") };
        }
    }
}
