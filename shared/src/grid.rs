//! The part of the grid that needs no browser: how cells become text to copy.
//!
//! Invariant: pure, like all of this crate.

pub mod copy;
