//! SQLite: a file, read by a thread of its own.
//!
//! Invariant: the connection never leaves its thread. Start at [`thread`] for how a statement is read.

mod catalog;
mod connect;
mod decode;
mod describe;
mod error;
pub mod own;
mod signals;
mod text;
mod thread;

use crate::engine::catalog::CatalogAsk;
use crate::engine::worker::{Gone, Worker};
use crate::engine::{Bound, CancelHandle, Engine, EngineError, Fetched, Finished, Param, Session, Started, Target};
use async_trait::async_trait;
use connect::Place;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::problem::ErrorCode;
use shared::wire::catalog::Catalog;
use shared::wire::connection::EngineKind;
use shared::wire::run::Notice;
use signals::Signals;
use std::sync::Arc;
use std::time::Duration;
use thread::Command;
use tokio::sync::oneshot;

/// The engine.
pub struct Sqlite;

#[async_trait]
impl Engine for Sqlite {
    fn kind(&self) -> EngineKind {
        EngineKind::Sqlite
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError> {
        let (path, read_only) = (target.fields.path.clone(), target.fields.read_only);
        let signals = Arc::new(Signals::default());
        let of_thread = Arc::clone(&signals);
        let (opened, answer) = oneshot::channel();
        let worker = Worker::spawn("sqlite", move |mut inbox| {
            // On the thread from the first look at the file: a dead network folder must not hold up the server.
            let place_and_connection =
                Place::find(path.as_deref(), read_only).and_then(|place| place.open(&of_thread).map(|connection| (place, connection)));
            match place_and_connection {
                Ok((place, connection)) => {
                    if opened.send(Ok(())).is_ok() {
                        thread::serve(&place, connection, &of_thread, &mut inbox);
                    }
                }
                Err(e) => drop(opened.send(Err(e))),
            }
        })
        .map_err(|e| EngineError::not_sent(ErrorCode::CannotOpen, format!("No thread for the session could be started: {e}.")))?;
        // Made before the wait: when that is given up, dropping this tells the thread.
        let session = SqliteSession { worker: Some(worker), signals, first: None, ended: None, in_transaction: false };
        let wait = Duration::from_secs(CONNECT_SECONDS_MAX);
        match tokio::time::timeout(wait, answer).await {
            Ok(Ok(Ok(()))) => Ok(Box::new(session)),
            Ok(Ok(Err(e))) => Err(e),
            Ok(Err(_)) => Err(EngineError::not_sent(ErrorCode::CannotOpen, "The file could not be opened.")),
            Err(_) => {
                let sentence = format!("The file did not open within {CONNECT_SECONDS_MAX} seconds.");
                Err(EngineError::not_sent(ErrorCode::CannotOpen, sentence))
            }
        }
    }
}

struct SqliteSession {
    worker: Option<Worker<Command>>,
    signals: Arc<Signals>,
    /// Read with the statement's start, to be handed out first.
    first: Option<Fetched>,
    /// The statement has ended like this on the thread already.
    ended: Option<Finished>,
    in_transaction: bool,
}

impl SqliteSession {
    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<Result<T, EngineError>>) -> Command) -> Result<T, EngineError> {
        match &self.worker {
            Some(worker) => worker.ask(command).await.unwrap_or_else(|Gone| Err(gone())),
            None => Err(gone()),
        }
    }

    /// Passes an answer on; after an error the statement is over, and a transaction may be with it.
    async fn or_settled<T>(&mut self, answer: Result<T, EngineError>) -> Result<T, EngineError> {
        if answer.is_err() {
            self.signals.end();
            if let Ok(finished) = self.ask(Command::Finish).await {
                self.in_transaction = finished.in_transaction;
            }
        }
        answer
    }
}

fn gone() -> EngineError {
    EngineError::unknown("The session with the SQLite file ended unexpectedly.")
}

#[async_trait]
impl Session for SqliteSession {
    async fn execute(&mut self, sql: &str, bound: Bound) -> Result<Started, EngineError> {
        self.execute_with(sql, &[], bound).await
    }

    async fn execute_with(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        self.signals.begin();
        (self.first, self.ended) = (None, None);
        let begun = self.ask(|reply| Command::Execute(sql.to_owned(), params.to_vec(), bound, reply)).await;
        let begun = self.or_settled(begun).await?;
        (self.first, self.ended) = (begun.first, begun.ended);
        Ok(begun.started)
    }

    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        if let Some(Fetched { batch, more }) = self.first.take() {
            let rows = bound.rows.max(1);
            if batch.num_rows() <= rows {
                return Ok(Fetched { batch, more });
            }
            // Asked for less than `execute` was told: the rest waits.
            self.first = Some(Fetched { batch: batch.slice(rows, batch.num_rows() - rows), more });
            return Ok(Fetched { batch: batch.slice(0, rows), more: true });
        }
        let fetched = self.ask(|reply| Command::Fetch(bound, reply)).await;
        self.or_settled(fetched).await
    }

    async fn finish(&mut self) -> Result<Finished, EngineError> {
        // Giving up the rest is quick and must succeed: a stop has nothing left to stop.
        self.signals.end();
        self.first = None;
        let finished = match self.ended.take() {
            Some(finished) => finished,
            None => self.ask(Command::Finish).await?,
        };
        self.in_transaction = finished.in_transaction;
        Ok(finished)
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.in_transaction)
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    fn cancel_handle(&self) -> Arc<dyn CancelHandle> {
        Arc::new(Stop(Arc::clone(&self.signals)))
    }

    async fn read_catalog(&mut self, ask: &CatalogAsk) -> Result<Catalog, EngineError> {
        self.signals.begin();
        let ask = ask.clone();
        let catalog = self.ask(|reply| Command::Catalog(ask, reply)).await;
        self.signals.end();
        catalog
    }

    async fn reset(&mut self) -> Result<(), EngineError> {
        self.ask(Command::Reset).await
    }

    fn server(&self) -> &str {
        server()
    }

    fn goes_on(&self) -> Option<&'static str> {
        Some(
            "SQLite does not look up from within one call of a function: it works on until that call has ended, \
             and this session counts among those in use until then",
        )
    }

    async fn abandon(self: Box<Self>) {
        self.close().await;
    }

    async fn close(mut self: Box<Self>) {
        self.signals.leave();
        if let Some(worker) = self.worker.take() {
            worker.end().await;
        }
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        self.signals.leave();
    }
}

fn server() -> &'static str {
    static NAME: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    NAME.get_or_init(|| format!("SQLite {}", rusqlite::version()))
}

struct Stop(Arc<Signals>);

#[async_trait]
impl CancelHandle for Stop {
    async fn cancel(&self) -> Result<(), EngineError> {
        self.0.stop();
        Ok(())
    }
}
