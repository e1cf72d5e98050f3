//! DuckDB: a database file, or a file of rows, by its ADBC driver (`libduckdb`, loaded at run time).
//!
//! Invariant: a connection and what it reads stay on one thread; no statement of a person's runs before the database is locked down
//! ([`database`]). The library's place is the server's to say, never a request's. Start at [`thread`] for how a statement is read.

mod catalog;
mod columns;
mod database;
mod error;
mod form;
pub mod library;
mod place;
mod signals;
mod statement;
mod thread;

pub use form::Form;

use crate::engine::worker::{Gone, Worker};
use crate::engine::{Bound, CancelHandle, Engine, EngineError, Fetched, Finished, Session, Started, Target};
use async_trait::async_trait;
use place::Place;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::problem::ErrorCode;
use shared::wire::catalog::Catalog;
use shared::wire::connection::EngineKind;
use shared::wire::run::Notice;
use signals::Signals;
use std::sync::Arc;
use std::time::Duration;
use thread::{Command, Connected};
use tokio::sync::oneshot;

/// The engine.
pub struct Duckdb;

#[async_trait]
impl Engine for Duckdb {
    fn kind(&self) -> EngineKind {
        EngineKind::Duckdb
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError> {
        let (path, read_only) = (target.fields.path.clone(), target.fields.read_only);
        let signals = Arc::new(Signals::default());
        let of_thread = Arc::clone(&signals);
        let (opened, answer) = oneshot::channel();
        let worker = Worker::spawn("duckdb", move |mut inbox| {
            // On the thread from the first look at the file: a dead network folder must not hold up the server.
            match Place::find(path.as_deref(), read_only).and_then(Connected::open) {
                Ok(connected) => {
                    if opened.send(Ok(connected.server())).is_ok() {
                        connected.serve(&of_thread, &mut inbox);
                    }
                }
                Err(e) => drop(opened.send(Err(e))),
            }
        })
        .map_err(|e| EngineError::not_sent(ErrorCode::CannotOpen, format!("No thread for the session could be started: {e}.")))?;
        let wait = Duration::from_secs(CONNECT_SECONDS_MAX);
        match tokio::time::timeout(wait, answer).await {
            Ok(Ok(Ok(server))) => Ok(Box::new(DuckdbSession { worker: Some(worker), signals, server })),
            Ok(Ok(Err(e))) => Err(e),
            Ok(Err(_)) => Err(EngineError::not_sent(ErrorCode::CannotOpen, "The file could not be opened.")),
            Err(_) => {
                let sentence = format!("The file did not open within {CONNECT_SECONDS_MAX} seconds.");
                Err(EngineError::not_sent(ErrorCode::CannotOpen, sentence))
            }
        }
    }
}

struct DuckdbSession {
    worker: Option<Worker<Command>>,
    signals: Arc<Signals>,
    server: String,
}

impl DuckdbSession {
    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<Result<T, EngineError>>) -> Command) -> Result<T, EngineError> {
        match &self.worker {
            Some(worker) => worker.ask(command).await.unwrap_or_else(|Gone| Err(gone())),
            None => Err(gone()),
        }
    }
}

fn gone() -> EngineError {
    EngineError::unknown("The session with DuckDB ended unexpectedly.")
}

#[async_trait]
impl Session for DuckdbSession {
    async fn execute(&mut self, sql: &str, _: Bound) -> Result<Started, EngineError> {
        self.signals.begin();
        let started = self.ask(|reply| Command::Execute(sql.to_owned(), reply)).await;
        if started.is_err() {
            self.signals.end();
        }
        started
    }

    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        let fetched = self.ask(|reply| Command::Fetch(bound, reply)).await;
        if fetched.is_err() {
            self.signals.end();
        }
        fetched
    }

    async fn finish(&mut self) -> Result<Finished, EngineError> {
        // Giving up the rest is quick and must succeed: a stop has nothing left to stop.
        self.signals.end();
        self.ask(Command::Finish).await
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    fn cancel_handle(&self) -> Arc<dyn CancelHandle> {
        Arc::new(Stop(Arc::clone(&self.signals)))
    }

    async fn catalog(&mut self) -> Result<Catalog, EngineError> {
        self.signals.begin();
        let catalog = self.ask(Command::Catalog).await;
        self.signals.end();
        catalog
    }

    async fn reset(&mut self) -> Result<(), EngineError> {
        self.ask(Command::Reset).await
    }

    fn server(&self) -> &str {
        &self.server
    }

    async fn close(mut self: Box<Self>) {
        self.signals.leave();
        if let Some(worker) = self.worker.take() {
            worker.end().await;
        }
    }
}

impl Drop for DuckdbSession {
    fn drop(&mut self) {
        self.signals.leave();
    }
}

struct Stop(Arc<Signals>);

/// Between two interrupts of a statement that did not hear the first.
const AGAIN: Duration = Duration::from_millis(5);
/// Interrupts of one request at most; the caller asks again anyway.
const INTERRUPTS_MAX: usize = 100;

#[async_trait]
impl CancelHandle for Stop {
    /// DuckDB forgets an interrupt that comes before its statement has begun to run: it is asked until the statement has ended.
    async fn cancel(&self) -> Result<(), EngineError> {
        let Some(statement) = self.0.stop() else { return Ok(()) };
        for _ in 0..INTERRUPTS_MAX {
            tokio::time::sleep(AGAIN).await;
            if !self.0.stop_again(statement) {
                break;
            }
        }
        Ok(())
    }
}
