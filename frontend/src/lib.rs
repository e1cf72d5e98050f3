//! The browser side of Sheaf.
//!
//! Invariant: `grid`, `editor`, `explorer` and `panels` never import each other; they meet in [`app`] and share [`state`], [`flows`],
//! [`ui`] and [`api`]. Only [`api`] talks to the server. Nothing here makes HTML from text. Start at [`app::App`].

pub mod api;
pub mod app;
pub mod boot;
pub mod commands;
pub mod editor;
pub mod explorer;
pub mod flows;
pub mod grid;
pub mod panels;
pub mod state;
pub mod ui;

use wasm_bindgen::prelude::wasm_bindgen;

/// Called once by the page's start script.
#[wasm_bindgen(start)]
pub fn start() {
    leptos::mount::mount_to_body(app::App);
}
