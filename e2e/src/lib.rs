//! Black-box tests of Sheaf, and what they and the study share: the real binary, a plain HTTP client.
//!
//! Invariant: this crate sees the binary and the wire, nothing inside; everything it starts listens on the loopback and is ended
//! by its own process id.

pub mod http;
pub mod server;
