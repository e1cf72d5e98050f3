//! Handlers, one file per resource. Each reads its request, calls what knows, and writes the answer; nothing is decided here.

pub mod catalog;
pub mod connections;
pub mod events;
pub mod pages;
pub mod report;
pub mod runs;
pub mod sign_in;
