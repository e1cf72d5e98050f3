//! Selection: tints under the rows, so that text keeps its contrast; edges over them, so that no hairline cuts them.
//!
//! Invariant: as of [`super`]; rectangles reach no further than the painted rows, whatever is selected.

use super::Frame;
use wasm_bindgen::JsCast;
use web_sys::{Document, HtmlElement};

/// Ranges that are drawn; more than these nobody tells apart.
const DRAWN_MAX: usize = 64;

/// A rectangle's node and where it stands.
type Drawn = (HtmlElement, String);

/// The rectangles.
pub struct Overlay {
    document: Document,
    under: HtmlElement,
    over: HtmlElement,
    /// Tint and edge of each range.
    ranges: Vec<(Drawn, Drawn)>,
    active: Option<Drawn>,
}

impl Overlay {
    /// Over and under which layers.
    pub fn new(document: Document, under: HtmlElement, over: HtmlElement) -> Self {
        Self { document, under, over, ranges: Vec::new(), active: None }
    }

    /// Draws the selection of a frame.
    pub fn draw(&mut self, frame: &Frame<'_>, single: bool) {
        let ranges = if single { &[] } else { frame.ranges };
        let mut used = 0;
        for range in ranges.iter().take(DRAWN_MAX) {
            let first = (*range.rows.start()).max(frame.rows.start.saturating_sub(1));
            let end = range.rows.end().saturating_add(1).min(frame.rows.end.saturating_add(1)).min(frame.scroll.rows());
            let last_column = (*range.columns.end()).min(frame.edges.count().saturating_sub(1));
            if first >= end || *range.columns.start() > last_column {
                continue;
            }
            let left = frame.edges.left_px(*range.columns.start());
            let right = frame.edges.left_px(last_column + 1);
            let top = frame.scroll.row_top_px(first);
            let place = [left, top, right - left, frame.scroll.row_top_px(end) - top];
            if used == self.ranges.len() {
                let (Some(tint), Some(edge)) = (self.node("range-tint", &self.under), self.node("range-edge", &self.over)) else { break };
                self.ranges.push(((tint, String::new()), (edge, String::new())));
            }
            if let Some((tint, edge)) = self.ranges.get_mut(used) {
                let [left, top, width, height] = place;
                set(tint, place);
                // One pixel up: on the hairline above, as its lower side is on the hairline below.
                set(edge, [left, top - 1.0, width, height + 1.0]);
            }
            used += 1;
        }
        for (tint, edge) in self.ranges.iter_mut().skip(used) {
            hide(tint);
            hide(edge);
        }
        self.draw_active(frame);
    }

    fn draw_active(&mut self, frame: &Frame<'_>) {
        let row = frame.active.row;
        if self.active.is_none() {
            self.active = self.node("active-cell", &self.over).map(|node| (node, String::new()));
        }
        let Some(slot) = &mut self.active else { return };
        if !frame.rows.contains(&row) || frame.active.column >= frame.edges.count() {
            return hide(slot);
        }
        let column = frame.active.column;
        let place = [frame.edges.left_px(column), frame.scroll.row_top_px(row), frame.edges.width_px(column), frame.scroll.row_px()];
        set(slot, place);
    }

    fn node(&self, class: &str, layer: &HtmlElement) -> Option<HtmlElement> {
        let node: HtmlElement = self.document.create_element("div").ok()?.dyn_into().ok()?;
        node.set_class_name(class);
        layer.append_child(&node).ok()?;
        Some(node)
    }
}

fn set(slot: &mut Drawn, [left, top, width, height]: [f64; 4]) {
    let key = format!("{left} {top} {width} {height}");
    if slot.1 == key {
        return;
    }
    let style = slot.0.style();
    if slot.1.is_empty() {
        let _ = style.remove_property("display");
    }
    slot.1 = key;
    let _ = style.set_property("transform", &format!("translate({left}px, {top}px)"));
    let _ = style.set_property("width", &format!("{width}px"));
    let _ = style.set_property("height", &format!("{height}px"));
}

fn hide(slot: &mut Drawn) {
    if !slot.1.is_empty() {
        slot.1.clear();
        let _ = slot.0.style().set_property("display", "none");
    }
}
