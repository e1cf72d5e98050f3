//! The Sheaf server.
//!
//! Direction of the arrows (a test checks it): `serve` → `http` → `access`, `connections`, `runs`; `runs` → `engine`, `spool`; `store`
//! stands alone. Only `http` knows axum, only `engine` opens sockets outward, only `spool` touches result files, only `store` holds
//! Sheaf's own SQL, only `access` makes a `Grant`.
//! Start at [`http`] for the routes, at [`serve`] for the life of a server.

pub mod access;
pub mod app;
pub mod config;
pub mod connections;
pub mod engine;
pub mod error;
pub mod http;
pub mod runs;
pub mod sample;
pub mod serve;
pub mod spool;
pub mod store;
