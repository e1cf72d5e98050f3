//! What the interface does: each flow reads and writes [`crate::state`] and asks [`crate::api`].
//!
//! Invariant: no flow draws. A flow that ends badly leaves one message where the person looks, and everything else as it was.

pub mod browse;
pub mod connect;
pub mod keep;
pub mod listen;
pub mod run;
pub mod tabs;

use std::cell::RefCell;

thread_local! {
    static WAKE: RefCell<Option<js_sys::Function>> = const { RefCell::new(None) };
}

/// Waits, at most until [`wake`]; no timer is armed unless somebody waits. One waits at a time.
pub async fn pause(ms: u32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        WAKE.with_borrow_mut(|wake| *wake = Some(resolve.clone()));
        if let Some(window) = web_sys::window() {
            let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, i32::try_from(ms).unwrap_or(i32::MAX));
        }
    });
    let _ = wasm_bindgen_futures::JsFuture::from(promise).await;
}

/// Ends a pause before its time.
pub fn wake() {
    if let Some(resolve) = WAKE.with_borrow_mut(Option::take) {
        let _ = resolve.call0(&wasm_bindgen::JsValue::NULL);
    }
}

/// The page's clock.
pub fn now_ms() -> f64 {
    js_sys::Date::now()
}

/// Wall time, `14:03:09`.
pub fn wall_time() -> String {
    let now = js_sys::Date::new_0();
    format!("{:02}:{:02}:{:02}", now.get_hours(), now.get_minutes(), now.get_seconds())
}
