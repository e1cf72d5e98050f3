//! What travels between client and server besides pages, one file per resource. docs/protocol.md is the prose of it.
//!
//! Requests refuse unknown fields; answers may grow fields, so readers ignore what they don't know.

pub mod catalog;
pub mod connection;
pub mod run;
pub mod secrets;
pub mod sign_in;
