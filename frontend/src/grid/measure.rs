//! The measure behind the table of advances: the grid's own font, on a canvas.

use super::advance::Advances;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

/// A width to go by where the browser gives no canvas.
const GUESS_PX: f64 = 7.5;
const FIGURES: &str = "00000000000000000000";

/// Measures in the font of `probe`, an element of the grid that is laid out but not seen; it is emptied again.
pub fn advances_of(probe: &HtmlElement) -> Advances {
    let context = canvas_for(probe);
    probe.set_text_content(Some(FIGURES));
    let figures = probe.get_bounding_client_rect().width();
    probe.set_text_content(None);
    let digit_px = if figures > 0.0 { figures / 20.0 } else { GUESS_PX };
    let measure =
        move |text: &str| context.as_ref().and_then(|canvas| canvas.measure_text(text).ok()).map_or(GUESS_PX, |size| size.width());
    Advances::new(measure, digit_px)
}

fn canvas_for(probe: &HtmlElement) -> Option<CanvasRenderingContext2d> {
    let window = web_sys::window()?;
    let canvas: HtmlCanvasElement = window.document()?.create_element("canvas").ok()?.dyn_into().ok()?;
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    context.set_font(&font_of(probe)?);
    Some(context)
}

/// The font of an element as a canvas takes it.
pub fn font_of(element: &HtmlElement) -> Option<String> {
    let style = web_sys::window()?.get_computed_style(element).ok()??;
    let part = |name: &str| style.get_property_value(name).ok();
    Some(format!("{} {} {}", part("font-weight")?, part("font-size")?, part("font-family")?))
}
