//! What the interface does: each flow reads and writes [`crate::state`] and asks [`crate::api`].
//!
//! Invariant: no flow draws. A flow that ends badly leaves one message where the person looks, and everything else as it was.

pub mod browse;
pub mod connect;
pub mod keep;
pub mod listen;
pub mod run;
pub mod sessions;
pub mod tabs;

use crate::api::timer;
use std::cell::RefCell;

thread_local! {
    static WAKE: RefCell<Option<js_sys::Function>> = const { RefCell::new(None) };
}

/// Waits, at most until [`wake`]; no timer is armed unless somebody waits. One waits at a time.
pub async fn pause(ms: u32) {
    timer::rest_unless(ms, |resolve| WAKE.with_borrow_mut(|wake| *wake = Some(resolve))).await;
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
