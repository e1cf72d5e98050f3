//! A line between two areas that can be moved by pointer and by arrow keys.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

/// Which way the line lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Upright: it moves to the sides.
    Upright,
    /// Level: it moves up and down.
    Level,
}

/// The line. `value` is a size before it, within `bounds`; `per_px` turns pixels of the pointer into its unit.
#[component]
pub fn Splitter(
    /// What it divides.
    label: &'static str,
    /// Which way it lies.
    lie: Lie,
    /// The size before it.
    value: RwSignal<f64>,
    /// Least and most.
    bounds: (f64, f64),
    /// Units a pixel, measured when a move begins.
    per_px: fn(&Element) -> f64,
    /// Units a key press.
    step: f64,
) -> impl IntoView {
    let held = StoredValue::new(None::<(f64, f64, f64)>);
    let along = move |event: &PointerEvent| f64::from(if lie == Lie::Upright { event.client_x() } else { event.client_y() });
    let set = move |to: f64| value.set(to.clamp(bounds.0, bounds.1));
    view! {
        <div
            class=if lie == Lie::Upright { "splitter upright" } else { "splitter level" }
            role="separator"
            tabindex="0"
            aria-label=label
            aria-orientation=if lie == Lie::Upright { "vertical" } else { "horizontal" }
            aria-valuemin=bounds.0.to_string()
            aria-valuemax=bounds.1.to_string()
            aria-valuenow=move || value.get().round().to_string()
            on:pointerdown=move |event| {
                let Some(element) = event.current_target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
                event.prevent_default();
                let _ = element.set_pointer_capture(event.pointer_id());
                held.set_value(Some((along(&event), value.get_untracked(), per_px(&element))));
            }
            on:pointermove=move |event| {
                if let Some((from, size, units)) = held.get_value() {
                    set(size + (along(&event) - from) * units);
                }
            }
            on:pointerup=move |_| held.set_value(None)
            on:pointercancel=move |_| held.set_value(None)
            on:keydown=move |event| {
                let by = match (event.key().as_str(), lie) {
                    ("ArrowLeft", Lie::Upright) | ("ArrowUp", Lie::Level) => -step,
                    ("ArrowRight", Lie::Upright) | ("ArrowDown", Lie::Level) => step,
                    ("Home", _) => f64::NEG_INFINITY,
                    ("End", _) => f64::INFINITY,
                    _ => return,
                };
                event.prevent_default();
                set(value.get_untracked() + by);
            }
        ></div>
    }
}
