//! DuckDB: a database file, or a file of rows, by its ADBC driver (`libduckdb`, loaded at run time) in a process of its own.
//!
//! Invariant: nothing of DuckDB runs in the server. Of each open file there is one process, jailed before it meets the file and ended
//! with its last session; its end, however it comes, ends its sessions and nothing else. The library's place and the binary are the
//! server's to say, never a request's. On the server's side start at [`session`], in the process at [`served`].

mod arrow_file;
mod bind;
mod catalog;
mod columns;
mod database;
mod databases;
mod error;
mod form;
pub mod library;
mod messages;
mod place;
mod rows_file;
mod served;
mod session;
mod signals;
mod statement;
mod thread;
mod transaction;

pub use databases::start_from;
pub use form::Form;
pub use served::run;

use crate::engine::files::cannot_open;
use crate::engine::{Engine, EngineError, Session, Target};
use async_trait::async_trait;
use databases::Database;
use place::Place;
use session::DuckdbSession;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::wire::connection::EngineKind;
use std::time::Duration;

/// The command of Sheaf's binary that is DuckDB's process; nobody types it.
pub const COMMAND: &str = "duckdb-process";

/// The engine.
pub struct Duckdb;

#[async_trait]
impl Engine for Duckdb {
    fn kind(&self) -> EngineKind {
        EngineKind::Duckdb
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError> {
        let (path, read_only) = (target.fields.path.clone(), target.fields.read_only);
        let connecting = async {
            // On a thread of its own: a dead network folder must not hold up the server.
            let place = tokio::task::spawn_blocking(move || Place::find(path.as_deref(), read_only)).await;
            let place = place.map_err(|_| cannot_open("The file could not be opened."))??;
            DuckdbSession::connect(Database::of(&place).await?).await
        };
        let wait = Duration::from_secs(CONNECT_SECONDS_MAX);
        let late = |_| cannot_open(format!("The file did not open within {CONNECT_SECONDS_MAX} seconds."));
        let session = tokio::time::timeout(wait, connecting).await.map_err(late)??;
        Ok(Box::new(session))
    }
}
