//! The way back to idle: after the last row, after a refusal, and where the rest is given up.
//!
//! Invariant: whatever way, in the end nothing is unread, no transaction of Sheaf's own is open, and no KILL QUERY hangs over what
//! comes next. A statement that changes something is never stopped to save bytes: its rest is read.

use super::flow::{Answer, Done, Step, Trouble};
use super::{COM_STMT_CLOSE, MysqlSession, Statement};
use crate::engine::mysql::errors::{Refusal, ended};
use crate::engine::mysql::permit;
use crate::engine::mysql::wire::{MESSAGE_BYTES_MAX, WireError};
use crate::engine::{EngineError, Fate};
use futures_util::FutureExt;
use shared::problem::ErrorCode;
use shared::wire::run::Notice;

const COM_PING: u8 = 14;
/// Rows of a statement that was stopped: what lay in the buffers between. Behind this many it does not stop.
const REST_ROWS_MAX: usize = 1_000_000;
/// Rows that are read rather than a KILL sent for them, if they are here already.
const HERE_ROWS_MAX: usize = 1_000;
/// Bytes of rows that are read before a session is closed for the rest.
const HERE_BYTES: usize = 16 * 1024;

impl MysqlSession {
    /// Passes an answer on; after trouble the session is idle or lost, and the error says which.
    pub(super) async fn or_failed<T>(&mut self, result: Result<T, Trouble>) -> Result<T, EngineError> {
        match result {
            Ok(value) => Ok(value),
            Err(Trouble::Refused(refusal)) => Err(self.refused(refusal).await),
            Err(Trouble::Wire(WireError::TooLong(bytes))) => Err(self.too_long(bytes).await),
            Err(Trouble::Wire(error)) => Err(self.lose(&error)),
        }
    }

    /// The server refused the statement; its answer ends with that.
    async fn refused(&mut self, refusal: Refusal) -> EngineError {
        let sql = self.statement.take().map(|statement| statement.sql).unwrap_or_default();
        if refusal.is_last_word() {
            self.broken = true;
            return ended(refusal);
        }
        let cancelled = refusal.is_interrupt() && self.canceller.was_asked();
        let error = EngineError { cancelled, ..EngineError::idle(refusal.problem(ErrorCode::Rejected, &sql)) };
        let left = match self.leave("ROLLBACK").await {
            Ok(()) if !self.read_only => self.ask_for_state().await,
            left => left,
        };
        match left {
            Ok(()) => error,
            Err(lost) => lost,
        }
    }

    /// A refusal does not tell whether a transaction is open still: a deadlock ends it, most others don't. An answer to nothing does.
    pub(super) async fn ask_for_state(&mut self) -> Result<(), EngineError> {
        self.wire.write_command(COM_PING, &[]);
        self.send().await?;
        self.done().await.map(drop)
    }

    async fn too_long(&mut self, bytes: usize) -> EngineError {
        self.statement = None;
        let left = match self.stop().await {
            Ok(_) => self.leave("ROLLBACK").await,
            Err(lost) => Err(lost),
        };
        match left {
            Ok(()) => EngineError::row_too_long(bytes, MESSAGE_BYTES_MAX),
            Err(lost) => lost,
        }
    }

    /// Ends a statement that was not refused so far. `None`: its rest was given up.
    pub(super) async fn end(&mut self, statement: &Statement) -> Result<Option<Done>, EngineError> {
        let done = match &statement.done {
            Some(done) => Some(done.clone()),
            None if permit::only_reads(&statement.sql) => self.stop().await?,
            None => Some(self.read_on(&statement.sql).await?),
        };
        let Some(mut done) = done else {
            self.leave("COMMIT").await?;
            return Ok(None);
        };
        while done.has_more() {
            let answer = self.answer().await;
            done = match self.or_refused(answer, &statement.sql).await? {
                Answer::Done(done) => done,
                Answer::Columns(_) => self.read_on(&statement.sql).await?,
            };
        }
        self.tell(&done, &statement.sql).await?;
        self.leave("COMMIT").await?;
        Ok(Some(done))
    }

    async fn or_refused<T>(&mut self, result: Result<T, Trouble>, sql: &str) -> Result<T, EngineError> {
        if result.is_err() {
            // So that the error knows the text it is about.
            self.statement = Some(Statement::new(sql));
        }
        self.or_failed(result).await
    }

    /// Reads rows that nobody wants, to the end of this result.
    async fn read_on(&mut self, sql: &str) -> Result<Done, EngineError> {
        loop {
            let step = self.step().await;
            if let Step::End(done) = self.or_refused(step, sql).await? {
                return Ok(done);
            }
        }
    }

    /// Stops the statement and reads what was under way already. `Some` where it had come to its end by itself.
    async fn stop(&mut self) -> Result<Option<Done>, EngineError> {
        for _ in 0..HERE_ROWS_MAX {
            match self.step().now_or_never() {
                None => break,
                Some(step) => {
                    if let Some(end) = self.stopped(step)? {
                        return Ok(end);
                    }
                }
            }
        }
        if self.canceller.kill().await.is_err() {
            return Err(self.lose(&WireError::Protocol("a statement could not be stopped".to_owned())));
        }
        for _ in 0..REST_ROWS_MAX {
            let step = self.step().await;
            if let Some(end) = self.stopped(step)? {
                return Ok(end);
            }
        }
        Err(self.lose(&WireError::Protocol("a statement does not stop".to_owned())))
    }

    /// Stops a statement that only reads, and reads nothing more; false where it has ended or is to be ended with all it gives.
    pub(super) async fn stop_and_leave(&mut self) -> Result<bool, EngineError> {
        let reads = |statement: &Statement| statement.done.is_none() && permit::only_reads(&statement.sql);
        if !self.statement.as_ref().is_some_and(reads) {
            return Ok(false);
        }
        // A result whose end has come already is not worth a session.
        while self.statement.as_ref().is_some_and(|statement| statement.rows.byte_len() < HERE_BYTES) {
            let Some(step) = self.step().now_or_never() else { break };
            match self.stopped(step)? {
                None => {}
                Some(Some(done)) => {
                    if let Some(statement) = &mut self.statement {
                        statement.done = Some(done);
                    }
                    return Ok(false);
                }
                Some(None) => break,
            }
        }
        // The server notices the closed link only when it sends; and it is closed whether or not it heard this.
        let _ = self.canceller.kill().await;
        self.broken = true;
        self.statement = None;
        Ok(true)
    }

    /// `None` for a row; else whether it ended by itself.
    fn stopped(&mut self, step: Result<Step, Trouble>) -> Result<Option<Option<Done>>, EngineError> {
        match step {
            Ok(Step::Row) | Err(Trouble::Wire(WireError::TooLong(_))) => Ok(None),
            Ok(Step::End(done)) => Ok(Some(Some(done))),
            Err(Trouble::Refused(refusal)) if refusal.is_last_word() => {
                self.broken = true;
                Err(ended(refusal))
            }
            Err(Trouble::Refused(_)) => Ok(Some(None)),
            Err(Trouble::Wire(error)) => Err(self.lose(&error)),
        }
    }

    /// What the server has to say beside the result.
    async fn tell(&mut self, done: &Done, sql: &str) -> Result<(), EngineError> {
        if self.canceller.was_asked() {
            let message = "The statement was asked to stop and ended without an error: it was done before, or what it tells is of a part (SLEEP, BENCHMARK)";
            self.notices.push(Notice { severity: "WARNING".to_owned(), message: message.to_owned() });
        }
        if !done.info.is_empty() {
            self.notices.push(Notice { severity: "INFO".to_owned(), message: done.info.clone() });
        }
        if done.warnings == 0 || permit::first_word(sql).as_deref() == Some("show") {
            return Ok(());
        }
        let mut said = Vec::new();
        let (open, asked) = (self.in_transaction, self.ask(&["SHOW WARNINGS"], &mut |_, row| said.push(row)).await);
        self.in_transaction = open;
        for row in said {
            let mut values = row.into_iter().flatten();
            if let (Some(level), Some(number), Some(message)) = (values.next(), values.next(), values.next()) {
                self.notices.push(Notice { severity: level.to_ascii_uppercase(), message: format!("{message} ({number})") });
            }
        }
        match asked {
            Err(error) if error.fate != Fate::Idle => Err(error),
            _ => Ok(()),
        }
    }

    /// Out of the transaction of a read-only connection, and out of reach of every KILL.
    async fn leave(&mut self, how: &str) -> Result<(), EngineError> {
        self.settle().await?;
        if self.read_only {
            self.write_query(how);
            self.send().await?;
            self.done().await?;
        }
        Ok(())
    }

    /// Ends a statement that Sheaf itself turned down before it ran.
    pub(super) async fn turn_down(&mut self, error: EngineError) -> EngineError {
        self.statement = None;
        match self.leave("ROLLBACK").await {
            Ok(()) => error,
            Err(lost) => lost,
        }
    }

    /// What was prepared is closed, and from here on no KILL is sent; one that came too late for its statement hits nothing instead of the next.
    pub(super) async fn settle(&mut self) -> Result<(), EngineError> {
        let killed = self.canceller.end().await;
        if self.broken {
            return Ok(());
        }
        if let Some(id) = self.prepared.take() {
            self.wire.write_command(COM_STMT_CLOSE, &id.to_le_bytes());
        }
        if killed {
            self.write_query("DO 0");
        }
        self.send().await?;
        if !killed {
            return Ok(());
        }
        match self.answer().await {
            Ok(Answer::Done(_)) => Ok(()),
            Err(Trouble::Refused(refusal)) if refusal.is_interrupt() => Ok(()),
            Err(Trouble::Refused(refusal)) => {
                self.broken = true;
                Err(ended(refusal))
            }
            Ok(Answer::Columns(_)) => Err(self.lose(&WireError::Protocol("rows of a command that has none".to_owned()))),
            Err(Trouble::Wire(error)) => Err(self.lose(&error)),
        }
    }
}
