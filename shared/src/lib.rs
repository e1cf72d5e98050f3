//! Pure code of both sides of Sheaf.
//!
//! Invariant: no IO, no clock, no randomness, no threads, no async here, so that everything behaves the same in the
//! server, in the browser and in a test. Start at [`wire`] for what travels, at [`page`] for how rows travel.

pub mod complete;
pub mod format;
pub mod grid;
pub mod ids;
pub mod limits;
pub mod page;
pub mod problem;
pub mod sql;
pub mod types;
pub mod wire;
