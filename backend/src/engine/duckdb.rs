//! DuckDB: a database file, or a file of rows, by its ADBC driver (`libduckdb`, loaded at run time) in a process of its own.
//!
//! Invariant: nothing of DuckDB runs in the server. Of each open file there is one process, jailed before it meets the file and ended
//! with its last session; its end, however it comes, ends its sessions and nothing else. The library's place and the binary are the
//! server's to say, never a request's. On the server's side start at [`databases`], in the process at [`database`].

mod arrow_file;
mod bind;
mod catalog;
mod columns;
mod database;
mod databases;
mod error;
mod form;
pub mod library;
mod parquet_file;
mod place;
mod rows_file;
mod statement;
mod thread;
mod transaction;

pub use form::Form;

use crate::engine::files::cannot_open;
use crate::engine::worker::served;
use crate::engine::worker::session::{Library, ProcessSession};
use crate::engine::{Engine, EngineError, Session, Target};
use async_trait::async_trait;
use database::Shared;
use place::Place;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::wire::connection::EngineKind;
use std::time::Duration;

/// The command of Sheaf's binary that is DuckDB's process; nobody types it.
pub const COMMAND: &str = "duckdb-process";

const LIBRARY: Library = Library {
    kind: EngineKind::Duckdb,
    name: "DuckDB",
    after: "The next statement starts it anew; temporary tables, settings and an open transaction are gone.",
    undone: None,
};

/// DuckDB's process; the `Err` is one sentence.
pub fn run() -> Result<(), String> {
    served::run::<Shared>()
}

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
            let (process, opening) = databases::process_of(&place).await?;
            ProcessSession::connect(process, &LIBRARY, &opening, &opening.name()).await
        };
        let wait = Duration::from_secs(CONNECT_SECONDS_MAX);
        let late = |_| cannot_open(format!("The file did not open within {CONNECT_SECONDS_MAX} seconds."));
        let session = tokio::time::timeout(wait, connecting).await.map_err(late)??;
        Ok(Box::new(session))
    }
}
