//! Column heads: name, type, key glyph, the grip that resizes.
//!
//! Invariant: as of [`super`].

use super::super::columns::{Column, ColumnKey};
use super::{Frame, Layers};
use crate::ui::marks;
use crate::ui::unseen::spelled;
use shared::types::ColumnKind;
use wasm_bindgen::JsCast;
use web_sys::{CssStyleDeclaration, Document, HtmlElement, Text};

/// What changes in the heads beside the columns themselves.
#[derive(Clone, Debug, Default)]
pub struct HeadTexts {
    /// Key of each column, once the catalog is known.
    pub keys: Vec<Option<ColumnKey>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Shown {
    column: usize,
    left_px: f64,
    width_px: f64,
    key: Option<ColumnKey>,
    active: bool,
}

/// A head of the pool.
pub(super) struct HeadSlot {
    node: HtmlElement,
    style: CssStyleDeclaration,
    glyph: HtmlElement,
    name: HtmlElement,
    type_name: Text,
    shown: Option<Shown>,
    hidden: bool,
}

fn part(document: &Document, parent: &HtmlElement, tag: &str, class: &str) -> Option<HtmlElement> {
    let node: HtmlElement = document.create_element(tag).ok()?.dyn_into().ok()?;
    node.set_class_name(class);
    parent.append_child(&node).ok()?;
    Some(node)
}

impl HeadSlot {
    pub(super) fn new(layers: &Layers) -> Option<Self> {
        let document = &layers.document;
        let node = part(document, &layers.head, "div", "head-cell")?;
        node.set_attribute("role", "columnheader").ok()?;
        let title = part(document, &node, "div", "head-title")?;
        let glyph = part(document, &title, "span", "head-key")?;
        let name = part(document, &title, "span", "head-name")?;
        let type_name = document.create_text_node("");
        part(document, &node, "div", "head-type")?.append_child(&type_name).ok()?;
        part(document, &node, "div", "head-grip")?.set_attribute("aria-hidden", "true").ok()?;
        let style = node.style();
        Some(Self { node, style, glyph, name, type_name, shown: None, hidden: false })
    }

    pub(super) fn paint(&mut self, column: Option<usize>, frame: &Frame<'_>, texts: &HeadTexts) {
        let (Some(column), Some(info)) = (column, column.and_then(|column| frame.infos.get(column))) else {
            if !self.hidden {
                self.hidden = true;
                self.shown = None;
                let _ = self.style.set_property("display", "none");
            }
            return;
        };
        let wanted = Shown {
            column,
            left_px: frame.edges.left_px(column),
            width_px: frame.edges.width_px(column),
            key: texts.keys.get(column).copied().flatten(),
            active: frame.active.column == column,
        };
        if self.shown != Some(wanted) {
            self.show(wanted, info);
        }
    }

    fn show(&mut self, wanted: Shown, info: &Column) {
        if self.hidden {
            self.hidden = false;
            let _ = self.style.remove_property("display");
        }
        let _ = self.style.set_property("left", &format!("{}px", wanted.left_px));
        let _ = self.style.set_property("width", &format!("{}px", wanted.width_px));
        let node = &self.node;
        if self.shown.is_none_or(|shown| shown.column != wanted.column) {
            if let Some(document) = node.owner_document() {
                marks::put(&document, &self.name, info.field.name());
            }
            self.type_name.set_data(info.type_name());
            let _ = node.set_attribute("aria-colindex", &(wanted.column + 1).to_string());
            let _ = node.set_attribute("title", &title(info));
        }
        let aligned = match info.kind {
            ColumnKind::Number => " number",
            ColumnKind::Boolean => " boolean",
            _ => "",
        };
        node.set_class_name(&format!("head-cell{aligned}{}", if wanted.active { " active" } else { "" }));
        let (class, label) = match wanted.key {
            None => ("head-key", None),
            Some(ColumnKey::Primary) => ("head-key primary", Some("Primary key")),
            Some(ColumnKey::Foreign) => ("head-key foreign", Some("Foreign key")),
        };
        self.glyph.set_class_name(class);
        let _ = match label {
            Some(label) => self.glyph.set_attribute("role", "img").and_then(|()| self.glyph.set_attribute("aria-label", label)),
            None => self.glyph.remove_attribute("role").and_then(|()| self.glyph.remove_attribute("aria-label")),
        };
        self.shown = Some(wanted);
    }
}

fn title(info: &Column) -> String {
    let origin = info.field.metadata().get(shared::page::ORIGIN_KEY).map(String::as_str).unwrap_or_default();
    [&spelled(info.field.name()), info.type_name(), &spelled(origin)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}
