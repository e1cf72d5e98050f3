//! The engine of MySQL and MariaDB against a real MariaDB server. Names that begin with a letter and digits are cases of public reports.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "mysql_engine/catalog.rs"]
mod catalog;
#[path = "mysql_engine/differential.rs"]
mod differential;
#[path = "mysql_engine/eight.rs"]
mod eight;
#[path = "mysql_engine/ends.rs"]
mod ends;
#[path = "mysql_engine/paging.rs"]
mod paging;
#[path = "mysql_engine/parameters.rs"]
mod parameters;
#[path = "mysql_engine/read_only.rs"]
mod read_only;
#[path = "mysql_engine/scripted.rs"]
mod scripted;
#[path = "mysql_engine/setting.rs"]
mod setting;
#[path = "mysql_engine/sign_in.rs"]
mod sign_in;
#[path = "mysql_engine/statements.rs"]
mod statements;
#[path = "mysql_engine/types.rs"]
mod types;
