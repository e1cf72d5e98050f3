//! The browser side of Sheaf.
//!
//! Invariant: `grid`, `editor`, `explorer` and `panels` never import each other; they meet in [`app`] and share [`state`], [`ui`] and [`api`].
//! Only [`api`] talks to the server. Nothing here makes HTML from text. Start at [`app::App`].

pub mod api;
pub mod editor;
pub mod grid;
pub mod state;
