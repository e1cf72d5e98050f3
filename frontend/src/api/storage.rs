//! The browser's storage for this origin: text under keys that begin with `sheaf.`.
//!
//! Invariant: a storage that is full or forbidden loses nothing on the page; it only keeps nothing for the next.

fn storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok()?
}

/// What is kept under `key`.
pub fn get(key: &str) -> Option<String> {
    storage()?.get_item(key).ok()?
}

/// Keeps `text` under `key`; false when the browser refuses.
pub fn set(key: &str, text: &str) -> bool {
    storage().is_some_and(|storage| storage.set_item(key, text).is_ok())
}

/// Forgets `key`.
pub fn remove(key: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(key);
    }
}

/// What this window keeps for itself under `key`, over a reload.
pub fn session(key: &str) -> Option<String> {
    web_sys::window()?.session_storage().ok()??.get_item(key).ok()?
}

/// Keeps `text` for this window alone; forgets `key` without one.
pub fn keep_for_session(key: &str, text: Option<&str>) {
    let Some(storage) = web_sys::window().and_then(|window| window.session_storage().ok().flatten()) else { return };
    let _ = match text {
        Some(text) => storage.set_item(key, text),
        None => storage.remove_item(key),
    };
}

/// All keys that begin with `prefix`.
pub fn keys(prefix: &str) -> Vec<String> {
    let Some(storage) = storage() else { return Vec::new() };
    let count = storage.length().unwrap_or(0);
    (0..count).filter_map(|at| storage.key(at).ok().flatten()).filter(|key| key.starts_with(prefix)).collect()
}
