//! What a security requirement asks for, tried from outside the modules that keep it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)] // A panic is a test's report.

#[path = "security/secrets.rs"]
mod secrets;
#[path = "security/ssrf.rs"]
mod ssrf;
#[path = "http/support.rs"]
#[allow(dead_code)] // Another test needs the rest.
mod support;
