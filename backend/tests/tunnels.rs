//! Databases behind SSH servers: a real `sshd`, a scripted one where passwords are asked for, and real databases at the far end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)] // A panic is a test's report.

#[path = "tunnels/host_keys.rs"]
mod host_keys;
#[path = "tunnels/links.rs"]
mod links;
#[path = "tunnels/proofs.rs"]
mod proofs;
#[path = "tunnels/scripted.rs"]
mod scripted;
#[path = "tunnels/setting.rs"]
mod setting;
