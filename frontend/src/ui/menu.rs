//! The one menu that may float: opened at a place, worked by arrows, gone on Esc or a click elsewhere.

use super::icon::{Glyph, Icon};
use crate::state::dialogs::{Menu, MenuItem};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Shows the open menu, if there is one.
#[component]
pub fn MenuLayer(
    /// The owner's signal.
    menu: RwSignal<Option<Menu>>,
) -> impl IntoView {
    move || menu.get().map(|open| view! { <OpenMenu open menu /> })
}

#[component]
fn OpenMenu(open: Menu, menu: RwSignal<Option<Menu>>) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    let before = StoredValue::new_local(document().active_element());
    let place = RwSignal::new((open.x, open.y));
    let close = move || {
        menu.set(None);
        if let Some(Some(element)) = before.try_get_value()
            && let Ok(element) = element.dyn_into::<web_sys::HtmlElement>()
        {
            let _ = element.focus();
        }
    };
    let (x, y) = (open.x, open.y);
    Effect::new(move |_| {
        if let Some(element) = node.get() {
            let box_ = element.get_bounding_client_rect();
            let fits = |at: f64, size: f64, room: f64| at.min(room - size - 8.0).max(4.0);
            let room =
                |value: Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue>| value.ok().and_then(|v| v.as_f64()).unwrap_or(f64::MAX);
            place.set((fits(x, box_.width(), room(window().inner_width())), fits(y, box_.height(), room(window().inner_height()))));
            step(&element, None);
        }
    });
    let items = open.items.into_iter().map(move |item| view! { <Line item close=Callback::new(move |()| close()) /> }).collect_view();
    view! {
        <div class="menu-scrim" on:pointerdown=move |_| close() on:contextmenu=move |event| { event.prevent_default(); close(); }></div>
        <div
            node_ref=node
            class="menu"
            role="menu"
            aria-label=open.label
            style:left=move || format!("{}px", place.get().0)
            style:top=move || format!("{}px", place.get().1)
            on:keydown=move |event| {
                let Some(element) = node.get_untracked() else { return };
                match event.key().as_str() {
                    "ArrowDown" => step(&element, Some(1)),
                    "ArrowUp" => step(&element, Some(-1)),
                    "Escape" | "Tab" => close(),
                    _ => return,
                }
                event.prevent_default();
                event.stop_propagation();
            }
        >
            {items}
        </div>
    }
}

#[component]
fn Line(item: MenuItem, close: Callback<()>) -> impl IntoView {
    let MenuItem { title, keys, run, apart, checked } = item;
    let role = if checked.is_some() { "menuitemcheckbox" } else { "menuitem" };
    view! {
        {apart.then(|| view! { <div class="menu-line" role="separator"></div> })}
        <button
            type="button"
            class="menu-item"
            role=role
            aria-checked=checked.map(|on| on.to_string())
            tabindex="-1"
            on:click=move |_| {
                close.run(());
                run.run(());
            }
        >
            <span class="menu-title">{title}</span>
            {checked.map(|on| view! { <span class="menu-check" class:on=on aria-hidden="true"><Icon glyph=Glyph::Check /></span> })}
            {keys.map(|keys| view! { <span class="menu-keys" aria-hidden="true">{keys}</span> })}
        </button>
    }
}

/// Moves the focus among the items; without a direction to the first.
fn step(menu: &web_sys::HtmlDivElement, by: Option<i32>) {
    let Ok(items) = menu.query_selector_all("[role^=menuitem]") else { return };
    let count = items.length() as i32;
    let focused = document().active_element();
    let at = (0..count).find(|at| items.item(*at as u32).is_some_and(|item| Some(item) == focused.clone().map(Into::into)));
    let next = match (at, by) {
        (Some(at), Some(by)) => (at + by).rem_euclid(count.max(1)),
        (None, Some(-1)) => count - 1,
        _ => 0,
    };
    if let Some(item) = items.item(next as u32).and_then(|item| item.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = item.focus();
    }
}
