//! A session with DuckDB, on the server's side: what it asks of the file's process, and how it is stopped.
//!
//! Invariant: an answer is taken for what was asked, or it ends the process. A stop names its statement, and the process is ended where
//! it does not hear one within [`HEARING`].

use super::columns::rows_within;
use super::databases::Database;
use super::messages::{Answer, Done, Ended, Request, Rows, Value, read_answer, request};
use crate::engine::catalog::CatalogAsk;
use crate::engine::files::cannot_open;
use crate::engine::notices::{asks_to_roll_back, rolled_back};
use crate::engine::worker::process::Gone;
use crate::engine::{Bound, CancelHandle, EngineError, Fate, Fetched, Finished, Param, Session, Started};
use arrow_array::RecordBatch;
use async_trait::async_trait;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::connection::EngineKind;
use shared::wire::run::Notice;
use std::sync::{Arc, Once, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// How long a statement may take to end once it was told to.
const HEARING: Duration = Duration::from_secs(2);

/// What is left to say where the process ended over a statement.
const UNKNOWN: &str = "whether the statement took effect is not known";

/// A session.
pub struct DuckdbSession {
    database: Arc<Database>,
    id: u64,
    /// The statement, and whether the process works on it.
    work: watch::Sender<Work>,
    /// Fetched and not handed out.
    ready: Option<Fetched>,
    /// The statement has ended like this already.
    ended: Option<Ended>,
    columns: usize,
    server: String,
    transaction_failed: bool,
    /// It had failed before this statement, which asks for something else than to roll it back.
    ends_failed: bool,
    notices: Vec<Notice>,
    closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    /// Counts statements, so that a stop is for one of them.
    statement: u64,
    /// It has not ended.
    running: bool,
    /// An answer is waited for.
    asked: bool,
}

impl DuckdbSession {
    /// Begins one.
    pub async fn connect(database: Arc<Database>) -> Result<Self, EngineError> {
        let id = database.next_session();
        let opening = Request::Connect(database.opening.clone());
        let mut session = Self {
            database,
            id,
            work: watch::Sender::new(Work::default()),
            ready: None,
            ended: None,
            columns: 0,
            server: String::new(),
            transaction_failed: false,
            ends_failed: false,
            notices: Vec::new(),
            closed: false,
        };
        match session.ask(&opening).await {
            Ok((Done::Connected { server, missing }, _)) => {
                tell_missing(&missing);
                session.server = server;
                Ok(session)
            }
            Ok(_) => Err(session.broken()),
            Err(_) if session.database.process.end().is_some() => {
                let how = session.database.process.end().map(|end| end.0).unwrap_or_default();
                Err(cannot_open(format!("DuckDB ended unexpectedly, {how}, as it opened {}.", session.database.opening.name())))
            }
            // Nothing was asked of a database yet.
            Err(e) => Err(EngineError { fate: Fate::NotSent, ..e }),
        }
    }

    async fn ask(&mut self, what: &Request) -> Result<(Done, Option<RecordBatch>), EngineError> {
        let frame = request(self.id, what).map_err(|e| EngineError::idle(Problem::new(ErrorCode::Internal, e.to_string())))?;
        self.work.send_modify(|work| work.asked = true);
        let answer = self.database.process.ask(self.id, frame).await;
        self.work.send_modify(|work| work.asked = false);
        let bytes = answer.map_err(|gone| ended(&gone, what))?;
        let (Answer { done, transaction_failed }, batch) = read_answer(bytes).map_err(|e| {
            tracing::warn!(cause = %e, "DuckDB's process sent what can't be read");
            self.broken()
        })?;
        self.transaction_failed = transaction_failed;
        let done = done.map_err(EngineError::from).inspect_err(|e| {
            if e.fate != Fate::Idle && !self.server.is_empty() {
                self.database.process.kill("since it takes no statement any more");
            }
        });
        Ok((done?, batch))
    }

    /// The process said what was not asked: it is not trusted any more.
    fn broken(&self) -> EngineError {
        self.database.process.kill("because it answered what it was not asked");
        EngineError::unknown("DuckDB's process answered what it was not asked, and was ended.")
    }

    fn begin(&self) -> u64 {
        self.work.send_modify(|work| *work = Work { statement: work.statement + 1, running: true, asked: false });
        self.work.borrow().statement
    }

    fn end(&mut self) {
        self.ready = None;
        self.work.send_modify(|work| work.running = false);
    }

    /// Rows as they may be: no more than were asked for, of the statement's columns, and some where more are to come.
    fn rows(&self, batch: Option<RecordBatch>, rows: Rows, bound: Bound) -> Result<Fetched, EngineError> {
        let batch = batch.ok_or_else(|| self.broken())?;
        let fits = batch.num_rows() <= bound.rows.max(1) && (batch.num_rows() > 0 || !rows.more);
        if fits { Ok(Fetched { batch, more: rows.more }) } else { Err(self.broken()) }
    }

    async fn start(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        let statement = self.begin();
        let params: Vec<Value> = params.iter().map(Value::from).collect();
        let execute = Request::Execute { statement, sql: sql.to_owned(), params, bound: bound.into() };
        match self.ask(&execute).await? {
            (Done::Started { rows: None, ended }, _) => {
                self.ended = ended;
                Ok(Started { schema: None })
            }
            (Done::Started { rows: Some(rows), ended }, batch) => {
                self.ended = ended;
                let first = self.rows(batch, rows, bound)?;
                let schema = first.batch.schema();
                self.columns = first.batch.num_columns();
                self.ready = Some(first);
                Ok(Started { schema: Some(schema) })
            }
            _ => Err(self.broken()),
        }
    }

    async fn next(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        if let Some(ready) = self.ready.take() {
            let rows = rows_within(&ready.batch, bound);
            if ready.batch.num_rows() == rows {
                return Ok(ready);
            }
            // Asked for less than `execute` was told: the rest waits.
            let rest = ready.batch.slice(rows, ready.batch.num_rows() - rows);
            self.ready = Some(Fetched { batch: rest, more: ready.more });
            return Ok(Fetched { batch: ready.batch.slice(0, rows), more: true });
        }
        match self.ask(&Request::Fetch(bound.into())).await? {
            (Done::Fetched(rows), batch) => {
                let fetched = self.rows(batch, rows, bound)?;
                if fetched.batch.num_columns() == self.columns { Ok(fetched) } else { Err(self.broken()) }
            }
            _ => Err(self.broken()),
        }
    }
}

/// What is told of a process that is gone, to who asked it for that.
fn ended(gone: &Gone, what: &Request) -> EngineError {
    let hint = "The next statement starts it anew; temporary tables, settings and an open transaction are gone.";
    let (fate, left) = match what {
        // The statement of these was sent before, and answered.
        Request::Fetch(_) => (Fate::Unknown, "the rest of its rows will not come, and whether the statement took effect is not known"),
        Request::Finish => (Fate::Unknown, UNKNOWN),
        _ if gone.asked => (Fate::Unknown, UNKNOWN),
        _ => (Fate::NotSent, "the statement was not sent"),
    };
    let message = format!("DuckDB ended unexpectedly, {}; {left}.", gone.end.0);
    let mut problem = Problem::new(ErrorCode::ConnectionLost, message);
    problem.hint = Some(hint.to_owned());
    EngineError { problem, fate, cancelled: false }
}

/// Once in the life of the server.
fn tell_missing(missing: &[String]) {
    static TOLD: Once = Once::new();
    if !missing.is_empty() {
        TOLD.call_once(|| tracing::warn!(missing = missing.join(", "), "DuckDB's process is less shut in on this system"));
    }
}

#[async_trait]
impl Session for DuckdbSession {
    async fn execute(&mut self, sql: &str, bound: Bound) -> Result<Started, EngineError> {
        self.execute_with(sql, &[], bound).await
    }

    async fn execute_with(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        (self.ready, self.ended) = (None, None);
        self.ends_failed = self.transaction_failed && !asks_to_roll_back(sql, EngineKind::Duckdb);
        let started = self.start(sql, params, bound).await;
        if started.is_err() {
            self.end();
        }
        started
    }

    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        let fetched = self.next(bound).await;
        if fetched.is_err() {
            self.end();
        }
        fetched
    }

    async fn finish(&mut self) -> Result<Finished, EngineError> {
        // Giving up the rest is quick and must succeed: a stop has nothing left to stop.
        self.end();
        let ended = match self.ended.take() {
            Some(ended) => ended,
            None => match self.ask(&Request::Finish).await? {
                (Done::Finished(ended), _) => ended,
                _ => return Err(self.broken()),
            },
        };
        if std::mem::take(&mut self.ends_failed) && !ended.in_transaction {
            self.notices.push(rolled_back());
        }
        Ok(Finished { rows_affected: ended.rows_affected, in_transaction: ended.in_transaction })
    }

    fn transaction_failed(&self) -> bool {
        self.transaction_failed
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    fn cancel_handle(&self) -> Arc<dyn CancelHandle> {
        Arc::new(Stop { database: Arc::downgrade(&self.database), id: self.id, work: self.work.subscribe() })
    }

    async fn read_catalog(&mut self, ask: &CatalogAsk) -> Result<Catalog, EngineError> {
        let statement = self.begin();
        let catalog = self.ask(&Request::Catalog { statement, ask: ask.clone() }).await;
        self.end();
        match catalog? {
            (Done::Catalog(catalog), _) => Ok(catalog),
            _ => Err(self.broken()),
        }
    }

    async fn reset(&mut self) -> Result<(), EngineError> {
        match self.ask(&Request::Reset).await? {
            (Done::Reset, _) => Ok(()),
            _ => Err(self.broken()),
        }
    }

    fn server(&self) -> &str {
        &self.server
    }

    /// The last one waits until the process is no more, and the file with it free.
    async fn close(mut self: Box<Self>) {
        self.closed = true;
        let _ = self.ask(&Request::Close).await;
        let mut ended = self.database.process.watch();
        let others = Arc::downgrade(&self.database);
        drop(self);
        if others.strong_count() == 0 {
            let _ = ended.wait_for(Option::is_some).await;
        }
    }
}

impl Drop for DuckdbSession {
    fn drop(&mut self) {
        if !self.closed
            && let Ok(frame) = request(self.id, &Request::Close)
        {
            self.database.process.tell_last(self.id, frame);
        }
    }
}

struct Stop {
    /// Does not keep the process.
    database: Weak<Database>,
    id: u64,
    work: watch::Receiver<Work>,
}

#[async_trait]
impl CancelHandle for Stop {
    /// Returns when the statement has ended, or is not worked on.
    async fn cancel(&self) -> Result<(), EngineError> {
        let mut work = self.work.clone();
        let meant = *work.borrow();
        let Some(database) = self.database.upgrade().filter(|_| meant.running) else { return Ok(()) };
        if let Ok(frame) = request(self.id, &Request::Stop { statement: meant.statement }) {
            database.process.tell(frame);
        }
        drop(database);
        let over = work.wait_for(|work| !work.running || !work.asked || work.statement != meant.statement);
        if tokio::time::timeout(HEARING, over).await.is_err()
            && let Some(database) = self.database.upgrade()
        {
            database.process.kill("since it did not stop the statement");
        }
        Ok(())
    }
}
