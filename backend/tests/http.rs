//! The API in process: the whole router, with the real store, runs and engines behind it, called without a socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)] // A panic is a test's report.

#[path = "http/addresses.rs"]
mod addresses;
#[path = "http/bodies.rs"]
mod bodies;
#[path = "http/connections.rs"]
mod connections;
#[path = "http/mysql.rs"]
mod mysql;
#[cfg(unix)]
#[path = "http/own_files.rs"]
mod own_files;
#[path = "http/pace.rs"]
mod pace;
#[path = "http/postgres.rs"]
mod postgres;
#[path = "http/read_only.rs"]
mod read_only;
#[path = "http/round_trips.rs"]
mod round_trips;
#[path = "http/runs.rs"]
mod runs;
#[path = "http/sign_in.rs"]
mod sign_in;
#[path = "http/support.rs"]
mod support;
