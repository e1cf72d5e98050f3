//! One session: a statement's rows lie in its stream until they are asked for.
//!
//! Invariant: after an error with `Fate::Idle` and after `finish` the server waits for the next statement, and no KILL QUERY is under
//! way or hangs over it; after anything else the session is marked broken and sends nothing more.
//! Start at `execute`; the server's messages are read in [`flow`].

mod ending;
mod flow;
mod lookup;
mod prepared;
mod rights;

use super::binary::Shapes;
use super::cancel::Canceller;
use super::connect::{Agreed, Connected, Route};
use super::decode;
use super::errors::{lost, not_sent};
use super::permit;
use super::types::Layout;
use super::wire::{Wire, WireError};
use crate::engine::catalog::CatalogAsk;
use crate::engine::notices::Notices;
use crate::engine::rows::Rows;
use crate::engine::{Bound, CancelHandle, EngineError, Fetched, Finished, Param, Session, Started, Target};
use async_trait::async_trait;
pub use flow::TextRow;
use flow::{Answer, Done, Step, Trouble};
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::run::Notice;
use std::sync::Arc;

const COM_QUIT: u8 = 1;
const COM_INIT_DB: u8 = 2;
const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 22;
const COM_STMT_EXECUTE: u8 = 23;
const COM_STMT_CLOSE: u8 = 25;
const COM_RESET_CONNECTION: u8 = 31;

/// Characters as Sheaf reads them; a parked result may wait for long until it is read on (a minute by default).
const SETTINGS: &str = "SET NAMES utf8mb4, SESSION net_write_timeout = 86400";
const READ_ONLY_SETTING: &str = "SET SESSION TRANSACTION READ ONLY";

/// A live session.
pub struct MysqlSession {
    wire: Wire,
    agreed: Agreed,
    server: String,
    /// The one the connection names.
    database: Option<String>,
    read_only: bool,
    notices: Notices,
    canceller: Arc<Canceller>,
    in_transaction: bool,
    broken: bool,
    statement: Option<Statement>,
    /// The server's number of a statement that it keeps prepared, until it is closed.
    prepared: Option<u32>,
}

/// The statement that is under way.
struct Statement {
    sql: String,
    layout: Option<Layout>,
    /// How its rows are written as text, where they come in the binary protocol.
    binary: Option<Shapes>,
    rows: Rows,
    /// The end of the result whose rows these are, once it came.
    done: Option<Done>,
}

impl Statement {
    fn new(sql: &str) -> Self {
        Self { sql: sql.to_owned(), layout: None, binary: None, rows: Rows::default(), done: None }
    }
}

impl MysqlSession {
    /// Connects and prepares a session.
    pub async fn open(target: &Target) -> Result<Self, EngineError> {
        let route = Route::of(target);
        let Connected { wire, agreed, id, version } = route.connect().await?;
        let mut session = Self {
            wire,
            agreed,
            server: server_name(&version),
            database: target.fields.database.clone().filter(|database| !database.is_empty()),
            read_only: target.fields.read_only,
            notices: Notices::default(),
            canceller: Arc::new(Canceller::new(route, id)),
            in_transaction: false,
            broken: false,
            statement: None,
            prepared: None,
        };
        if session.read_only {
            session.check_rights(&[SETTINGS, READ_ONLY_SETTING]).await?;
        } else {
            session.ask(&[SETTINGS], &mut |_, _| {}).await?;
        }
        Ok(session)
    }

    fn write_query(&mut self, sql: &str) {
        self.wire.write_command(COM_QUERY, sql.as_bytes());
    }

    /// What every session has set; how many answers that brings.
    fn write_settings(&mut self) -> usize {
        self.write_query(SETTINGS);
        if self.read_only {
            self.write_query(READ_ONLY_SETTING);
        }
        1 + usize::from(self.read_only)
    }

    /// The session waits for a statement, and the server is still there.
    async fn expect_idle(&mut self) -> Result<(), EngineError> {
        if self.broken || self.statement.is_some() {
            return Err(EngineError::not_sent(ErrorCode::Internal, "the session is not ready for a statement"));
        }
        self.look_for_news().await
    }

    /// Sends what lies in the output; the statement counts as sent from here on.
    async fn send(&mut self) -> Result<(), EngineError> {
        let sent = self.wire.send().await;
        sent.map_err(|error| self.lose(&error))
    }

    /// The link is of no further use.
    fn lose(&mut self, error: &WireError) -> EngineError {
        self.broken = true;
        self.statement = None;
        lost(error)
    }

    /// Sends a statement's text, behind the start of the transaction that a read-only connection gives it.
    async fn submit(&mut self, command: u8, sql: &str) -> Result<(), EngineError> {
        self.expect_idle().await?;
        if self.read_only {
            permit::check_read_only(sql).map_err(EngineError::idle)?;
            // One transaction a statement. A definition ends it before the server looks whether it is allowed, and then the session's
            // own setting counts, which the statement before may have changed.
            self.write_query(READ_ONLY_SETTING);
            self.write_query("START TRANSACTION READ ONLY");
        }
        self.canceller.begin().await;
        self.wire.write_command(command, sql.as_bytes());
        self.statement = Some(Statement::new(sql));
        self.send().await?;
        if self.read_only {
            for _ in 0..2 {
                let begun = self.answer().await;
                self.or_failed(begun).await?;
            }
        }
        Ok(())
    }

    /// Until the columns are known, or there are none and the statement is complete.
    async fn start(&mut self) -> Result<Started, EngineError> {
        loop {
            let answer = self.answer().await;
            match self.or_failed(answer).await? {
                Answer::Columns(columns) => {
                    let layout = Layout::new(&columns);
                    let schema = Some(Arc::clone(&layout.schema));
                    if let Some(statement) = &mut self.statement {
                        statement.layout = Some(layout);
                        statement.binary = self.prepared.map(|_| Shapes::of(&columns));
                    }
                    return Ok(Started { schema });
                }
                Answer::Done(done) if done.has_more() => {}
                Answer::Done(done) => {
                    if let Some(statement) = &mut self.statement {
                        statement.done = Some(done);
                    }
                    return Ok(Started { schema: None });
                }
            }
        }
    }

    /// Reads until the next batch and one row over are here, or the last row is; how many rows the batch has.
    async fn gather(&mut self, bound: Bound) -> Result<usize, EngineError> {
        let mut known = 0;
        let mut cut = None;
        loop {
            let Some(statement) = &mut self.statement else { return Ok(0) };
            let held = statement.rows.len();
            if known != held {
                known = held;
                cut = cut.or_else(|| statement.rows.reaching(bound.bytes));
            }
            let count = bound.rows.max(1).min(cut.unwrap_or(usize::MAX)).min(held);
            if held > count || statement.done.is_some() {
                return Ok(count);
            }
            let step = self.step().await;
            if let Step::End(done) = self.or_failed(step).await?
                && let Some(statement) = &mut self.statement
            {
                statement.done = Some(done);
            }
        }
    }
}

/// `MariaDB 10.11.6`, `MySQL 8.0.36`.
fn server_name(version: &str) -> String {
    let system = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
    format!("{system} {}", version.split('-').next().unwrap_or_default())
}

#[async_trait]
impl Session for MysqlSession {
    async fn execute(&mut self, sql: &str, _bound: Bound) -> Result<Started, EngineError> {
        self.submit(COM_QUERY, sql).await?;
        self.start().await
    }

    async fn execute_with(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        if params.is_empty() {
            return self.execute(sql, bound).await;
        }
        self.submit(COM_STMT_PREPARE, sql).await?;
        self.bind(params).await?;
        self.start().await
    }

    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        let count = self.gather(bound).await?;
        let Some(Statement { layout: Some(layout), rows, .. }) = &mut self.statement else {
            let problem = Problem::new(ErrorCode::Internal, "there is no result to read");
            return Err(EngineError { problem, ..lost(&WireError::Closed) });
        };
        match decode::batch(rows, count, layout) {
            Ok(batch) => {
                rows.discard(count);
                Ok(Fetched { batch, more: rows.len() > 0 })
            }
            Err(error) => Err(self.lose(&error)),
        }
    }

    fn has_further(&self) -> bool {
        self.statement.as_ref().is_some_and(|statement| match &statement.done {
            Some(done) => done.has_more(),
            None => permit::runs_others(&statement.sql),
        })
    }

    async fn next_result(&mut self) -> Result<Option<Started>, EngineError> {
        let Some(statement) = self.statement.as_mut().filter(|statement| statement.done.as_ref().is_some_and(Done::has_more)) else {
            return Ok(None);
        };
        *statement = Statement::new(&statement.sql);
        let started = self.start().await?;
        // The answer that ends a CALL has no rows: the client tells how many it changed, and so does `finish`.
        Ok(started.schema.is_some().then_some(started))
    }

    async fn finish(&mut self) -> Result<Finished, EngineError> {
        let Some(statement) = self.statement.take() else {
            return Ok(Finished { rows_affected: None, in_transaction: self.in_transaction });
        };
        let Some(done) = self.end(&statement).await? else {
            // The rest was given up, by a KILL that stopped nothing but reading.
            return Ok(Finished { rows_affected: None, in_transaction: self.in_transaction });
        };
        let told = done.affected > 0 || (statement.layout.is_none() && permit::changes_rows(&statement.sql));
        Ok(Finished { rows_affected: told.then_some(done.affected), in_transaction: self.in_transaction })
    }

    async fn drop_rest(&mut self) -> Result<bool, EngineError> {
        self.stop_and_leave().await
    }

    async fn check(&mut self) -> Result<(), EngineError> {
        self.expect_idle().await?;
        self.ask_for_state().await
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.in_transaction)
    }

    fn notices(&self) -> Option<Notices> {
        Some(self.notices.clone())
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        self.notices.take().notices
    }

    fn cancel_handle(&self) -> Arc<dyn CancelHandle> {
        Arc::<Canceller>::clone(&self.canceller)
    }

    async fn read_catalog(&mut self, ask: &CatalogAsk) -> Result<Catalog, EngineError> {
        self.expect_idle().await?;
        self.canceller.begin().await;
        let answers = self.ask_catalog(ask).await;
        self.settle().await?;
        Ok(answers?.into_catalog(ask))
    }

    async fn reset(&mut self) -> Result<(), EngineError> {
        self.expect_idle().await?;
        self.wire.write_command(COM_RESET_CONNECTION, &[]);
        let mut answers = 1 + self.write_settings();
        match self.database.clone() {
            Some(database) => {
                self.wire.write_command(COM_INIT_DB, database.as_bytes());
                answers += 1;
            }
            // Nothing takes a database away again: a session that has chosen one is not handed on.
            None => self.write_query("SELECT DATABASE()"),
        }
        self.send().await?;
        for _ in 0..answers {
            self.done().await?;
        }
        if self.database.is_none() {
            let mut chosen = None;
            self.texts(&mut |row| chosen = row.into_iter().next().flatten()).await?;
            if let Some(database) = chosen {
                self.broken = true;
                return Err(not_sent(&WireError::Protocol(format!("the session is in the database {database}"))));
            }
        }
        Ok(())
    }

    fn server(&self) -> &str {
        &self.server
    }

    async fn close(mut self: Box<Self>) {
        if self.statement.is_none() && !self.broken {
            self.wire.write_command(COM_QUIT, &[]);
            let _ = self.wire.send().await;
        }
        self.wire.shut_down().await;
    }
}
