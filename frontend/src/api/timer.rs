//! Waiting: the only timer that a future here waits for.

use js_sys::{Function, Promise};
use wasm_bindgen_futures::JsFuture;

/// Waits so long.
pub async fn rest(ms: u32) {
    rest_unless(ms, |_| ()).await;
}

/// Waits so long, or until what `early` got is called.
pub async fn rest_unless(ms: u32, mut early: impl FnMut(Function)) {
    let promise = Promise::new(&mut |resolve, _| {
        if let Some(window) = web_sys::window() {
            let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, i32::try_from(ms).unwrap_or(i32::MAX));
        }
        early(resolve);
    });
    let _ = JsFuture::from(promise).await;
}
