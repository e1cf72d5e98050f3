//! The event stream of this window: one line for each change of one of its runs.

use super::body::Lines;
use super::fetch::{Ask, Method};
use shared::ids::WindowId;
use shared::problem::Problem;
use shared::wire::run::RunStatus;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStreamDefaultReader};

/// Reads the stream until it ends: `open` once it stands, `each` for every status. Its life is the lease of the window's runs.
pub async fn events(
    window: &WindowId,
    abort: Option<&AbortSignal>,
    open: impl FnOnce(),
    mut each: impl FnMut(RunStatus),
) -> Result<(), Problem> {
    let reply = Ask::new(Method::Get, &format!("/events?window={window}")).accept("application/x-ndjson").abort(abort).send().await?;
    open();
    let Some(stream) = reply.stream() else { return Ok(()) };
    let Ok(reader) = stream.get_reader().dyn_into::<ReadableStreamDefaultReader>() else { return Ok(()) };
    let mut lines = Lines::default();
    while let Ok(part) = JsFuture::from(reader.read()).await {
        let get = |name: &str| js_sys::Reflect::get(&part, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED);
        if get("done").is_truthy() {
            break;
        }
        let Ok(chunk) = get("value").dyn_into::<js_sys::Uint8Array>() else { break };
        for line in lines.push(&chunk.to_vec()) {
            // A line of a later version is no reason to lose the stream.
            if let Ok(status) = serde_json::from_str(&line) {
                each(status);
            }
        }
    }
    Ok(())
}
