//! The PostgreSQL engine against real servers, of every version found on this machine.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "postgres_engine/cases.rs"]
mod cases;
#[path = "postgres_engine/catalog.rs"]
mod catalog;
#[path = "postgres_engine/differential.rs"]
mod differential;
#[path = "postgres_engine/effects.rs"]
mod effects;
#[path = "postgres_engine/ends.rs"]
mod ends;
#[path = "postgres_engine/older.rs"]
mod older;
#[path = "postgres_engine/paging.rs"]
mod paging;
#[path = "postgres_engine/parallel.rs"]
mod parallel;
#[path = "postgres_engine/pooler.rs"]
mod pooler;
#[path = "postgres_engine/setting.rs"]
mod setting;
#[path = "postgres_engine/sign_in.rs"]
mod sign_in;
#[path = "postgres_engine/statements.rs"]
mod statements;
#[path = "postgres_engine/types.rs"]
mod types;
