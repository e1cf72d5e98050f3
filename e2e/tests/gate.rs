//! The gate of the real binary: who gets in, by which address, with which headers, and what every answer carries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)] // A panic is a test's report.

#[path = "gate/answers.rs"]
mod answers;
#[path = "gate/matrix.rs"]
mod matrix;
#[path = "gate/process.rs"]
mod process;
#[path = "gate/raw.rs"]
mod raw;
