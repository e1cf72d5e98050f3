//! The Sheaf server.
//!
//! Direction of the arrows (a test checks it): `http` → `access` → `runs` → `engine`; `runs` → `spool`; `store` stands alone.
//! Only `http` knows axum and the wire, only `engine` opens sockets outward, only `spool` touches result files, only `store`
//! holds Sheaf's own SQL, only `access` makes a `Grant`.

pub mod access;
pub mod engine;
pub mod runs;
pub mod spool;
