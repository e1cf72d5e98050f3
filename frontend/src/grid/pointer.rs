//! The pointer: selecting, dragging beyond an edge, resizing columns.
//!
//! Invariant: what is under the pointer comes from the geometry, not from the node it hit: nodes are recycled. Frames are asked for
//! only while the pointer drags beyond an edge.

use super::selection::{Join, Place, Unit};
use super::view::{Grid, GridView, HEAD_PX};
use leptos::prelude::*;
use web_sys::{MouseEvent, PointerEvent};

/// Pixels a frame while dragging beyond an edge, for each pixel beyond it.
const PULL: f64 = 0.4;
const PULL_PX_MAX: f64 = 120.0;

/// What the pointer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drag {
    /// Nothing.
    #[default]
    Nothing,
    /// The far corner of a selection.
    Selection {
        /// Of what.
        unit: Unit,
        /// Where the pointer is, from the scroller's left edge.
        x_px: f64,
        /// And from its upper edge.
        y_px: f64,
        /// A frame is asked for, to scroll on.
        pulling: bool,
    },
    /// A column's right edge.
    Edge {
        /// Whose.
        column: usize,
        /// Where it was taken, in the page.
        from_px: f64,
        /// How wide the column was.
        width_px: f64,
    },
}

/// Whether selected cells may be joined to others by Ctrl: rows and columns may (Ctrl and a click on a cell is kept for related rows).
fn join_of(event: &MouseEvent, unit: Unit) -> Join {
    if event.shift_key() {
        Join::Extend
    } else if (event.ctrl_key() || event.meta_key()) && unit != Unit::Cells {
        Join::Add
    } else {
        Join::Replace
    }
}

fn place_in(view: &GridView, event: &MouseEvent) -> (f64, f64) {
    let frame = view.scroller().get_bounding_client_rect();
    (f64::from(event.client_x()) - frame.left(), f64::from(event.client_y()) - frame.top())
}

impl Grid {
    /// The pointer went down in the scroller.
    pub fn pointer_down(self, event: &PointerEvent) {
        if event.button() != 0 || event.pointer_type() == "touch" {
            return;
        }
        self.with(|view| {
            if view.press(event) {
                let _ = view.scroller().set_pointer_capture(event.pointer_id());
            }
        });
    }

    /// A tap: touch scrolls natively, and selects only when it neither moved nor lasted.
    pub fn tapped(self, event: &MouseEvent) {
        use wasm_bindgen::JsCast;
        if event.dyn_ref::<PointerEvent>().is_some_and(|pointer| pointer.pointer_type() == "touch") {
            self.with(|view| {
                view.press(event);
                view.drag = Drag::Nothing;
            });
        }
    }

    /// The pointer moved.
    pub fn pointer_moved(self, event: &PointerEvent) {
        self.with(|view| view.dragged(self, event));
    }

    /// The pointer went up, or was taken away.
    pub fn pointer_up(self) {
        self.with(|view| view.drag = Drag::Nothing);
    }

    /// Twice in a row: fits a column, or opens a cell.
    pub fn double_clicked(self, event: &MouseEvent) {
        self.with(|view| {
            let (x, y) = place_in(view, event);
            match (y < HEAD_PX, view.edge_at(x)) {
                (true, Some(column)) => view.fit_column(column),
                (false, _) if !view.in_gutter(x) && view.is_inside(x, y) => self.ui.viewer.set(true),
                _ => {}
            }
        });
    }
}

impl GridView {
    fn is_inside(&self, x_px: f64, y_px: f64) -> bool {
        let scroller = self.scroller();
        x_px < f64::from(scroller.client_width()) && y_px < f64::from(scroller.client_height())
    }

    /// Returns whether a drag began.
    fn press(&mut self, event: &MouseEvent) -> bool {
        let (x, y) = place_in(self, event);
        if !self.is_inside(x, y) {
            return false; // the scroll bars
        }
        self.forget_note();
        let row = self.row_at((y - HEAD_PX).max(0.0));
        let column = self.column_at(x);
        let (unit, place) = if y < HEAD_PX {
            if self.in_gutter(x) {
                self.key(super::keys::GridKey::SelectAll, Join::Replace);
                return false;
            }
            if let Some(column) = self.edge_at(x) {
                self.drag = Drag::Edge { column, from_px: f64::from(event.client_x()), width_px: self.width_of(column) };
                return true;
            }
            (Unit::Columns, column.map(|column| Place { row: self.first_seen_row(), column }))
        } else if self.in_gutter(x) {
            (Unit::Rows, row.map(|row| Place { row, column: self.active().column }))
        } else {
            (Unit::Cells, row.zip(column).map(|(row, column)| Place { row, column }))
        };
        let Some(place) = place else { return false };
        self.select(place, unit, join_of(event, unit));
        self.drag = Drag::Selection { unit, x_px: x, y_px: y, pulling: false };
        true
    }

    fn dragged(&mut self, grid: Grid, event: &PointerEvent) {
        match self.drag {
            Drag::Nothing => {}
            Drag::Edge { column, from_px, width_px } => self.set_width(column, width_px + f64::from(event.client_x()) - from_px),
            Drag::Selection { unit, pulling, .. } => {
                let (x_px, y_px) = place_in(self, event);
                self.drag = Drag::Selection { unit, x_px, y_px, pulling };
                self.extend_to_pointer();
                if !pulling && self.pull() != (0.0, 0.0) {
                    self.drag = Drag::Selection { unit, x_px, y_px, pulling: true };
                    request_animation_frame(move || pull_on(grid));
                }
            }
        }
    }

    fn extend_to_pointer(&mut self) {
        let Drag::Selection { unit, x_px, y_px, .. } = self.drag else { return };
        let (width, height) = (f64::from(self.scroller().client_width()), f64::from(self.scroller().client_height()));
        let head = self.head();
        let row = self.row_at(y_px.clamp(HEAD_PX, height - 1.0) - HEAD_PX);
        let column = self.column_at(x_px.clamp(self.gutter_width() + 1.0, width - 1.0));
        let place = match unit {
            Unit::Cells => Place { row: row.unwrap_or(head.row), column: column.unwrap_or(head.column) },
            Unit::Rows => Place { row: row.unwrap_or(head.row), column: head.column },
            Unit::Columns => Place { row: head.row, column: column.unwrap_or(head.column) },
        };
        self.extend(place);
    }

    /// How far to scroll in a frame, by how far the pointer is beyond an edge.
    fn pull(&self) -> (f64, f64) {
        let Drag::Selection { unit, x_px, y_px, .. } = self.drag else { return (0.0, 0.0) };
        let beyond = |at: f64, from: f64, to: f64| {
            let distance = if at < from { at - from } else { (at - to).max(0.0) };
            (distance * PULL).clamp(-PULL_PX_MAX, PULL_PX_MAX)
        };
        let scroller = self.scroller();
        let x = beyond(x_px, self.gutter_width(), f64::from(scroller.client_width()));
        let y = beyond(y_px, HEAD_PX, f64::from(scroller.client_height()));
        match unit {
            Unit::Cells => (x, y),
            Unit::Rows => (0.0, y),
            Unit::Columns => (x, 0.0),
        }
    }
}

fn pull_on(grid: Grid) {
    grid.with(|view| {
        let (x, y) = view.pull();
        if let Drag::Selection { pulling, .. } = &mut view.drag {
            *pulling = (x, y) != (0.0, 0.0);
            if !*pulling {
                return;
            }
            view.scroll_by(x, y);
            view.extend_to_pointer();
            request_animation_frame(move || pull_on(grid));
        }
    });
}
