//! Pieces that views are made of. They know nothing of runs, connections or consoles.

pub mod dialog;
pub mod icon;
pub mod marks;
pub mod menu;
pub mod picker;
pub mod splitter;
pub mod unseen;

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Moves the focus to the element of this id, once what was changed is drawn.
pub fn focus_soon(id: String) {
    leptos::prelude::request_animation_frame(move || focus(&id));
}

/// Moves the focus to the element of this id.
pub fn focus(id: &str) {
    let element = web_sys::window().and_then(|window| window.document()).and_then(|document| document.get_element_by_id(id));
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

/// The id of what opens a console where none is open.
pub const NO_CONSOLE: &str = "open-a-console";

/// Nothing has the focus.
pub fn focus_is_lost() -> bool {
    let document = web_sys::window().and_then(|window| window.document());
    document.is_some_and(|document| document.active_element().is_none_or(|element| element.tag_name().eq_ignore_ascii_case("body")))
}

/// The element of this id has the focus itself, not something in it.
pub fn has_focus(id: &str) -> bool {
    let active = web_sys::window().and_then(|window| window.document()).and_then(|document| document.active_element());
    active.is_some_and(|element| element.id() == id)
}

/// Scrolls as little as needed to show the element of this id.
pub fn reveal(id: &str) {
    if let Some(element) = web_sys::window().and_then(|window| window.document()).and_then(|document| document.get_element_by_id(id)) {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Nearest);
        options.set_inline(web_sys::ScrollLogicalPosition::Nearest);
        element.scroll_into_view_with_scroll_into_view_options(&options);
    }
}

/// The window has no room for explorer and console beside each other; the same width as in layout.css.
pub fn is_narrow() -> bool {
    let width = web_sys::window().and_then(|window| window.inner_width().ok()).and_then(|width| width.as_f64());
    width.is_some_and(|width| width <= 860.0)
}

/// This machine is a Mac: its keys are called otherwise.
pub fn on_mac() -> bool {
    web_sys::window().and_then(|window| window.navigator().platform().ok()).is_some_and(|platform| platform.starts_with("Mac"))
}
