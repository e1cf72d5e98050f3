//! What "read-only" is worth: two hundred ways and more, for each engine, to write over a connection that may only read; and a digest of
//! everything that the server keeps, before and after.
//!
//! The servers here are this test binary's own, so that nothing else changes them meanwhile. An attempt may be refused or answered: what
//! counts is that nothing is different afterwards, and that the session it was made in still refuses a plain write.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "read_only/duckdb.rs"]
mod duckdb;
#[path = "read_only/mariadb.rs"]
mod mariadb;
#[path = "read_only/postgres.rs"]
mod postgres;
#[path = "read_only/siege.rs"]
mod siege;
#[path = "read_only/sqlite.rs"]
mod sqlite;
