//! What tests of any crate start beside the thing they test: disposable database servers, and a relay in front of them.
//!
//! Invariant: nothing of the machine's own servers is touched; everything here listens on a free port of the loopback, lies in a folder of
//! its own, and ends with the process that started it, however that ends. A new kind of server is one file beside [`postgres`], on [`keeper`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // A panic is a test's report.

pub mod certificates;
pub mod duckdb;
pub mod keeper;
pub mod mariadb;
pub mod pgbouncer;
pub mod postgres;
pub mod processes;
pub mod relay;
pub mod sqlite;
pub mod sshd;
