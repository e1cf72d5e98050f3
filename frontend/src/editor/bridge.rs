//! The editor bundle (`frontend/editor/src/main.ts`) as Rust sees it.
//!
//! Invariant: only this file names the JavaScript side. Places are UTF-16 units here. boot.js sets `globalThis.sheafEditor` before WASM starts.

use js_sys::{Function, Object, Reflect, Uint32Array};
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;

#[wasm_bindgen]
extern "C" {
    /// An editor on the page.
    pub type Editor;

    #[wasm_bindgen(js_namespace = sheafEditor)]
    fn mount(host: &HtmlElement, text: &str, hooks: &Object, saved: &JsValue) -> Editor;

    #[wasm_bindgen(method)]
    pub fn focus(this: &Editor);
    #[wasm_bindgen(method)]
    pub fn flush(this: &Editor);
    #[wasm_bindgen(method)]
    pub fn run(this: &Editor, scope: &str);
    #[wasm_bindgen(method)]
    pub fn insert(this: &Editor, text: &str);
    #[wasm_bindgen(method, js_name = setText)]
    pub fn set_text(this: &Editor, text: &str);
    #[wasm_bindgen(method)]
    pub fn recolour(this: &Editor);
    #[wasm_bindgen(method, js_name = completeAgain)]
    pub fn complete_again(this: &Editor, cursor: u32);
    #[wasm_bindgen(method, js_name = setError)]
    pub fn set_error(this: &Editor, from: u32, to: u32, message: &str);
    #[wasm_bindgen(method, js_name = clearError)]
    pub fn clear_error(this: &Editor);
    #[wasm_bindgen(method, js_name = setRunning)]
    pub fn set_running(this: &Editor, from: u32, to: u32);
    #[wasm_bindgen(method, js_name = clearRunning)]
    pub fn clear_running(this: &Editor);
    #[wasm_bindgen(method)]
    pub fn reveal(this: &Editor, from: u32, to: u32);
    /// First and last unit of what is selected.
    #[wasm_bindgen(method)]
    pub fn selection(this: &Editor) -> Uint32Array;
    /// What is kept of it while it is not shown; opaque.
    #[wasm_bindgen(method)]
    pub fn save(this: &Editor) -> JsValue;
    #[wasm_bindgen(method)]
    pub fn destroy(this: &Editor);
}

/// What the JavaScript side may ask; it must outlive the editor.
pub struct Hooks {
    pub changed: Closure<dyn Fn(u32, u32, String)>,
    pub settled: Closure<dyn Fn()>,
    pub statement: Closure<dyn Fn(u32) -> Option<Uint32Array>>,
    pub colours: Closure<dyn Fn(u32, u32) -> Uint32Array>,
    pub complete: Closure<dyn Fn(u32, bool) -> Option<String>>,
    pub run: Closure<dyn Fn(String, u32, u32)>,
}

impl Hooks {
    fn object(&self) -> Object {
        let object = Object::new();
        let set = |name: &str, function: &JsValue| {
            // Setting a property of a plain object cannot fail.
            let _ = Reflect::set(&object, &name.into(), function.unchecked_ref::<Function>());
        };
        set("changed", self.changed.as_ref());
        set("settled", self.settled.as_ref());
        set("statement", self.statement.as_ref());
        set("colours", self.colours.as_ref());
        set("complete", self.complete.as_ref());
        set("run", self.run.as_ref());
        object
    }
}

/// Puts an editor into `host`, as it was `saved` if that is of this text.
pub fn open(host: &HtmlElement, text: &str, hooks: &Hooks, saved: &JsValue) -> Editor {
    mount(host, text, &hooks.object(), saved)
}
