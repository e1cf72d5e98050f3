//! A modal dialog: the browser's own, which holds the focus and gives it back.

use super::icon::{Glyph, Icon};
use leptos::html;
use leptos::prelude::*;

/// The browser's `dialog`, opened as soon as it is there. Esc and a click beside it call `on_close`.
#[component]
pub fn Modal(
    /// Its name.
    #[prop(into)]
    label: String,
    /// A class for its size.
    #[prop(optional)]
    class: &'static str,
    /// Shows the name and a button to close.
    #[prop(default = true)]
    headed: bool,
    /// What closing means.
    on_close: Callback<()>,
    /// What is in it.
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    let before = document().active_element();
    Effect::new(move |_| {
        if let Some(dialog) = node.get()
            && !dialog.open()
        {
            let _ = dialog.show_modal();
        }
    });
    let before = StoredValue::new_local(before);
    on_cleanup(move || {
        use wasm_bindgen::JsCast;
        if let Some(Some(element)) = before.try_get_value()
            && let Ok(element) = element.dyn_into::<web_sys::HtmlElement>()
        {
            let _ = element.focus();
        }
    });
    let heading = headed.then(|| {
        view! {
            <header class="dialog-head">
                <h2>{label.clone()}</h2>
                <button type="button" class="icon-button small" aria-label="Close" on:click=move |_| on_close.run(())>
                    <Icon glyph=Glyph::Cross />
                </button>
            </header>
        }
    });
    view! {
        <dialog
            node_ref=node
            class=format!("dialog {class}")
            aria-label=label
            on:cancel=move |event: web_sys::Event| {
                event.prevent_default();
                on_close.run(());
            }
            on:pointerdown=move |event| {
                let on_itself = event.target() == event.current_target();
                if on_itself && node.get_untracked().is_some_and(|dialog| outside(&dialog, event.client_x(), event.client_y())) {
                    on_close.run(());
                }
            }
        >
            {heading}
            {children()}
        </dialog>
    }
}

fn outside(dialog: &web_sys::HtmlDialogElement, x: i32, y: i32) -> bool {
    let (x, y, place) = (f64::from(x), f64::from(y), dialog.get_bounding_client_rect());
    x < place.left() || x > place.right() || y < place.top() || y > place.bottom()
}
