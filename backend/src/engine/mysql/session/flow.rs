//! What the server says while a statement is under way.
//! Source: MySQL documentation, "COM_QUERY Response", "OK_Packet", "EOF_Packet".
//!
//! Invariant: every message is taken in its order; a message that has no place here ends the session, not the process. A server that
//! asks for a file of this machine gets none, and no further word.

use super::{MysqlSession, Statement};
use crate::engine::EngineError;
use crate::engine::Fate;
use crate::engine::mysql::connect::Agreed;
use crate::engine::mysql::errors::{Refusal, ended, not_sent};
use crate::engine::mysql::permit;
use crate::engine::mysql::types::Column;
use crate::engine::mysql::wire::{Reader, WireError};
use futures_util::FutureExt;
use shared::problem::ErrorCode;

const IN_TRANSACTION: u16 = 1;
const MORE_RESULTS: u16 = 1 << 3;
/// A packet that begins as an end does, but is longer, is a row with a long first value.
const END_BYTES_MAX: usize = 0xff_ffff;

/// How a statement, or one result of it, ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Rows changed.
    pub affected: u64,
    /// Warnings that can be asked for.
    pub warnings: u16,
    /// The server's own words, e.g. `Rows matched: 3  Changed: 1  Warnings: 0`.
    pub info: String,
    status: u16,
}

/// The first message of an answer.
#[derive(Debug)]
pub enum Answer {
    /// No rows.
    Done(Done),
    /// Rows follow.
    Columns(Vec<Column>),
}

/// A message where rows are.
#[derive(Debug)]
pub enum Step {
    /// It lies where the statement's rows are.
    Row,
    /// The last one came before.
    End(Done),
}

/// Why there is none.
#[derive(Debug)]
pub enum Trouble {
    /// The server refused.
    Refused(Refusal),
    /// The link.
    Wire(WireError),
}

impl From<WireError> for Trouble {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

/// Values as text; `None` for NULL.
pub type TextRow = Vec<Option<String>>;

impl Done {
    /// An OK packet, or the EOF packet of an older server.
    fn read(body: &[u8], agreed: Agreed) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        if reader.u8()? == 0xfe && !agreed.ends_with_ok {
            let warnings = reader.u16()?;
            return Ok(Self { warnings, status: reader.u16()?, ..Self::default() });
        }
        let affected = reader.number()?;
        let _last_id = reader.number()?;
        let status = reader.u16()?;
        let warnings = reader.u16()?;
        // The documentation has it without its length, the servers with it.
        let rest = reader.rest();
        let info = reader.counted().unwrap_or(rest);
        Ok(Self { affected, warnings, status, info: String::from_utf8_lossy(info).into_owned() })
    }

    /// Of a text without a statement.
    fn of_nothing(in_transaction: bool) -> Self {
        Self { status: if in_transaction { IN_TRANSACTION } else { 0 }, ..Self::default() }
    }

    /// Another result of the same statement follows.
    pub fn has_more(&self) -> bool {
        self.status & MORE_RESULTS != 0
    }

    /// A transaction is open.
    pub fn is_in_transaction(&self) -> bool {
        self.status & IN_TRANSACTION != 0
    }
}

fn is_end(body: &[u8], agreed: Agreed) -> bool {
    let longest = if agreed.ends_with_ok { END_BYTES_MAX } else { 9 };
    body.first() == Some(&0xfe) && body.len() < longest
}

impl MysqlSession {
    /// The start of an answer, with its columns if there are any.
    pub(super) async fn answer(&mut self) -> Result<Answer, Trouble> {
        let body = self.wire.next().await?;
        let count = match body.first() {
            Some(0x00) => {
                let done = Done::read(body, self.agreed)?;
                return Ok(Answer::Done(self.noted(done)));
            }
            Some(0xff) => {
                let refusal = Refusal::read(body);
                let says_nothing = self.statement.as_ref().is_some_and(|statement| permit::is_empty(&statement.sql));
                // To the server that is an error; its client does not send such a text, and other databases take it.
                if refusal.is_about_nothing() && says_nothing {
                    return Ok(Answer::Done(Done::of_nothing(self.in_transaction)));
                }
                return Err(Trouble::Refused(refusal));
            }
            Some(0xfb) => return Err(WireError::Protocol("it asks for a file of this machine, which no server gets".to_owned()).into()),
            _ => Reader::new(body).number()?,
        };
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(Column::read(self.wire.next().await?, self.agreed)?);
        }
        self.end_of_columns().await?;
        Ok(Answer::Columns(columns))
    }

    /// What older servers send behind column definitions.
    async fn end_of_columns(&mut self) -> Result<(), Trouble> {
        if !self.agreed.ends_with_ok && !is_end(self.wire.next().await?, self.agreed) {
            return Err(WireError::Protocol("columns without an end".to_owned()).into());
        }
        Ok(())
    }

    /// The answer to COM_STMT_PREPARE: the statement's number, and how many values it waits for.
    pub(super) async fn preparation(&mut self) -> Result<(u32, u16), Trouble> {
        let body = self.wire.next().await?;
        let mut reader = Reader::new(body);
        match reader.u8()? {
            0x00 => {}
            0xff => return Err(Trouble::Refused(Refusal::read(body))),
            _ => return Err(WireError::Protocol("an answer to nothing".to_owned()).into()),
        }
        let id = reader.u32()?;
        let (columns, parameters) = (reader.u16()?, reader.u16()?);
        // Both come again, and better known, when it is executed.
        for count in [parameters, columns].into_iter().filter(|count| *count > 0) {
            for _ in 0..count {
                self.wire.next().await?;
            }
            self.end_of_columns().await?;
        }
        Ok((id, parameters))
    }

    fn noted(&mut self, done: Done) -> Done {
        self.in_transaction = done.is_in_transaction();
        done
    }

    /// The next row of the statement that is under way, or what comes behind the last one. May be dropped half way.
    pub(super) async fn step(&mut self) -> Result<Step, Trouble> {
        let body = self.wire.next().await?;
        if is_end(body, self.agreed) {
            let done = Done::read(body, self.agreed)?;
            return Ok(Step::End(self.noted(done)));
        }
        if body.first() == Some(&0xff) {
            return Err(Trouble::Refused(Refusal::read(body)));
        }
        if let Some(Statement { rows, binary, .. }) = &mut self.statement {
            match binary {
                None => rows.push(body),
                Some(shapes) => rows.push_with(|out| shapes.write_row(body, out))?,
            }
        }
        Ok(Step::Row)
    }

    /// An answer to a command of Sheaf's own that has no rows.
    pub(super) async fn done(&mut self) -> Result<Done, EngineError> {
        match self.answer().await {
            Ok(Answer::Done(done)) => Ok(done),
            Ok(Answer::Columns(_)) => Err(self.lose(&WireError::Protocol("rows of a command that has none".to_owned()))),
            Err(Trouble::Refused(refusal)) => Err(self.refused_aside(refusal)),
            Err(Trouble::Wire(error)) => Err(self.lose(&error)),
        }
    }

    /// An answer to a question of Sheaf's own.
    pub(super) async fn texts(&mut self, take: &mut (dyn FnMut(TextRow) + Send)) -> Result<(), EngineError> {
        match self.texts_or_trouble(take).await {
            Ok(()) => Ok(()),
            Err(Trouble::Refused(refusal)) => Err(self.refused_aside(refusal)),
            Err(Trouble::Wire(error)) => Err(self.lose(&error)),
        }
    }

    async fn texts_or_trouble(&mut self, take: &mut (dyn FnMut(TextRow) + Send)) -> Result<(), Trouble> {
        let Answer::Columns(columns) = self.answer().await? else { return Ok(()) };
        loop {
            let body = self.wire.next().await?;
            if is_end(body, self.agreed) {
                let done = Done::read(body, self.agreed)?;
                self.noted(done);
                return Ok(());
            }
            if body.first() == Some(&0xff) {
                return Err(Trouble::Refused(Refusal::read(body)));
            }
            let mut reader = Reader::new(body);
            let mut row = Vec::with_capacity(columns.len());
            for _ in &columns {
                row.push(reader.value()?.map(|text| String::from_utf8_lossy(text).into_owned()));
            }
            take(row);
        }
    }

    /// Asks all of them in one flight; `take` gets each row with the number of its question. The first refusal is returned in the end.
    pub(super) async fn ask(&mut self, questions: &[&str], take: &mut (dyn FnMut(usize, TextRow) + Send)) -> Result<(), EngineError> {
        for question in questions {
            self.write_query(question);
        }
        self.send().await?;
        let mut failed = None;
        for question in 0..questions.len() {
            match self.texts(&mut |row| take(question, row)).await {
                Err(error) if error.fate == Fate::Idle => failed = failed.or(Some(error)),
                other => other?,
            }
        }
        failed.map_or(Ok(()), Err)
    }

    pub(super) fn refused_aside(&mut self, refusal: Refusal) -> EngineError {
        if refusal.is_last_word() {
            self.broken = true;
            return ended(refusal);
        }
        let cancelled = refusal.is_interrupt() && self.canceller.was_asked();
        EngineError { cancelled, ..EngineError::idle(refusal.problem(ErrorCode::Rejected, "")) }
    }

    /// What came while nobody asked: the end.
    pub(super) async fn look_for_news(&mut self) -> Result<(), EngineError> {
        // Lets the runtime look at its sockets once, so that what has arrived is seen.
        tokio::task::yield_now().await;
        let error = match self.wire.next().now_or_never() {
            None => return Ok(()),
            Some(Ok(body)) if body.first() == Some(&0xff) => EngineError { fate: Fate::NotSent, ..ended(Refusal::read(body)) },
            Some(Ok(_)) => not_sent(&WireError::Protocol("an answer to nothing".to_owned())),
            Some(Err(error)) => not_sent(&error),
        };
        self.broken = true;
        Err(error)
    }
}
