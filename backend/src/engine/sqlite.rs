//! SQLite: a file, read in a process of its own for each session.
//!
//! Invariant: no database of a person's is open in the server; what a file, or a statement that is not to be stopped, does to its
//! process ends that session and nothing else. In the process the connection never leaves its thread. On the server's side start at
//! [`Sqlite`], in the process at [`place`], and at [`thread`] for how a statement is read.

mod catalog;
mod connect;
mod decode;
mod describe;
mod error;
pub mod own;
pub mod place;
mod text;
mod thread;

use crate::engine::files::cannot_open;
use crate::engine::worker::messages::ANSWER_BYTES_MAX;
use crate::engine::worker::process::{self, Process, Start};
use crate::engine::worker::served;
use crate::engine::worker::session::{Library, ProcessSession};
use crate::engine::{Engine, EngineError, Session, Target};
use async_trait::async_trait;
use place::Place;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::wire::connection::EngineKind;
use std::sync::Arc;
use std::time::Duration;

/// The command of Sheaf's binary that is a process of SQLite's; nobody types it.
pub const COMMAND: &str = "sqlite-process";

/// Where SQLite puts what does not fit in memory (sqlite.org/tempfiles.html, 5).
const INHERITED: [&str; 2] = ["SQLITE_TMPDIR", "TMPDIR"];

const LIBRARY: Library = Library {
    kind: EngineKind::Sqlite,
    name: "SQLite",
    after: "The next statement runs in a new session; temporary tables, settings and an open transaction are gone.",
    undone: Some(text::undone),
};

/// The engine.
pub struct Sqlite;

#[async_trait]
impl Engine for Sqlite {
    fn kind(&self) -> EngineKind {
        EngineKind::Sqlite
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError> {
        let (path, read_only) = (target.fields.path.clone(), target.fields.read_only);
        let connecting = async {
            // On a thread of its own: a dead network folder must not hold up the server.
            let place = tokio::task::spawn_blocking(move || Place::find(path.as_deref(), read_only)).await;
            let place = place.map_err(|_| cannot_open("The file could not be opened."))??;
            let process = start().map_err(|cause| cannot_open(format!("SQLite's process could not be started: {cause}.")))?;
            ProcessSession::connect(Arc::new(process), &LIBRARY, &place, &place.name()).await
        };
        let wait = Duration::from_secs(CONNECT_SECONDS_MAX);
        let late = |_| cannot_open(format!("The file did not open within {CONNECT_SECONDS_MAX} seconds."));
        let session = tokio::time::timeout(wait, connecting).await.map_err(late)??;
        Ok(Box::new(session))
    }
}

/// SQLite's process; the `Err` is one sentence.
pub fn run() -> Result<(), String> {
    served::run::<Place>()
}

/// A process for a session. It is in the server's folder, where a relative path in a statement starts.
fn start() -> std::io::Result<Process> {
    Process::start(Start {
        program: process::program()?,
        command: COMMAND,
        variables: &[],
        inherited: &INHERITED,
        folder: std::env::current_dir().unwrap_or_else(|_| "/".into()),
        name: "sqlite",
        answer_bytes_max: ANSWER_BYTES_MAX,
        afterwards: Box::new(|| ()),
    })
}
