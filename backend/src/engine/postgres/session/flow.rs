//! What the server says while a statement is under way, and the way back to idle.
//!
//! Invariant: every message is taken in its order; a message that has no place here ends the session, not the process.

use super::{PostgresSession, Reach};
use crate::engine::postgres::connect::SETTINGS_MAX;
use crate::engine::postgres::errors::{Fields, Notices, ended, not_sent};
use crate::engine::postgres::types::Column;
use crate::engine::postgres::wire::{MESSAGE_BYTES_MAX, Message, ROW, Reader, WireError, readable};
use crate::engine::{CancelHandle, EngineError, Fate, refusals};
use futures_util::FutureExt;
use postgres_protocol::message::frontend;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::Notice;
use std::collections::HashMap;

/// One message, as far as the state of a statement goes.
pub enum Event {
    /// RowDescription.
    Columns(Vec<Column>),
    /// DataRow; it lies where the [`Sink`] says.
    Row,
    /// PortalSuspended.
    Suspended,
    /// CommandComplete's tag; empty for EmptyQueryResponse.
    Complete(String),
    /// CloseComplete.
    Closed,
    /// ErrorResponse.
    Failed(Fields),
    /// CopyInResponse: the server waits for data.
    CopyIn,
    /// CopyOutResponse: the server sends data.
    CopyOut,
    /// ReadyForQuery; what it says of a transaction.
    Ready(Block),
    /// Nothing that matters here.
    Other,
}

/// Where a session is with its transaction (ReadyForQuery's status).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Block {
    /// In none.
    #[default]
    Idle,
    /// In one.
    Open,
    /// In one that has failed.
    Failed,
}

impl Block {
    fn read(status: u8) -> Self {
        match status {
            b'I' => Self::Idle,
            b'E' => Self::Failed,
            _ => Self::Open,
        }
    }
}

/// Where rows go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// To the statement that is under way.
    Statement,
    /// To `aside`, for a question of Sheaf's own.
    Aside,
    /// They are given up.
    Nowhere,
}

/// A question about a result has one row a column; no result has as many columns.
const ASIDE_ROWS_MAX: usize = 10_000;

/// An answer to a question of Sheaf's own.
pub enum Said {
    /// A row.
    Row(TextRow),
    /// The end of one question's rows, with its tag.
    Complete(String),
}

/// Values as text; `None` for NULL.
pub type TextRow = Vec<Option<String>>;

impl PostgresSession {
    /// The next message of a statement under way. An error of the statement is returned once the session is idle again.
    pub(super) async fn event(&mut self) -> Result<Event, EngineError> {
        match self.next_event().await {
            Ok(Event::Failed(fields)) => Err(self.rejected(fields).await),
            Ok(Event::CopyIn) => {
                self.refuse("COPY FROM STDIN needs a client that sends the data; Sheaf sends only the statement");
                let _ = frontend::copy_fail("Sheaf sends no data", &mut self.wire.output);
                self.send().await?;
                Ok(Event::Other)
            }
            Ok(Event::CopyOut) => {
                self.refuse("COPY TO STDOUT has no columns to show; run the query inside it instead");
                let _ = self.canceller.cancel().await;
                Ok(Event::Other)
            }
            Ok(event) => Ok(event),
            Err(error @ WireError::TooLong { tag, bytes }) => {
                let told = match tag {
                    ROW => EngineError::row_too_long(bytes, MESSAGE_BYTES_MAX),
                    _ => EngineError::idle(Problem::new(ErrorCode::TooLarge, error.to_string())),
                };
                self.stop_sending().await;
                Err(self.recover(told).await)
            }
            Err(error) => Err(self.lose(&error)),
        }
    }

    fn refuse(&mut self, message: &str) {
        if let Some(statement) = &mut self.statement {
            statement.refused = Some(Problem::new(ErrorCode::Rejected, message));
        }
    }

    /// One message of the server.
    pub(super) async fn next_event(&mut self) -> Result<Event, WireError> {
        let Message { tag, body } = self.wire.next().await?;
        Ok(match tag {
            ROW => {
                match (self.sink, &mut self.statement) {
                    (Sink::Statement, Some(statement)) => statement.rows.push(body),
                    (Sink::Aside, _) if self.aside.len() > ASIDE_ROWS_MAX => {
                        return Err(WireError::Protocol("rows without end".to_owned()));
                    }
                    (Sink::Aside, _) => self.aside.push(text_row(body)?),
                    _ => {}
                }
                Event::Row
            }
            b'T' => Event::Columns(Column::read_all(body)?),
            b's' => Event::Suspended,
            b'C' => Event::Complete(Reader::new(body).c_text()?),
            b'I' => Event::Complete(String::new()),
            b'3' => Event::Closed,
            b'E' => Event::Failed(Fields::read(body)),
            b'G' => Event::CopyIn,
            b'H' => Event::CopyOut,
            b'Z' => Event::Ready(Block::read(Reader::new(body).u8()?)),
            // ParseComplete, BindComplete, NoData, ParameterDescription; data of a COPY that was refused.
            b'1' | b'2' | b'n' | b't' | b'd' | b'c' => Event::Other,
            b'N' | b'S' | b'A' => {
                let (settings, notices) = (&mut self.settings, &self.notices);
                take_news(tag, body, settings, notices)?;
                Event::Other
            }
            _ => return Err(WireError::Protocol(format!("a message {:?} in a statement", char::from(tag)))),
        })
    }

    /// What came while nobody asked: settings, notices, or the end.
    pub(super) async fn look_for_news(&mut self) -> Result<(), EngineError> {
        // Lets the runtime look at its sockets once, so that what has arrived is seen.
        tokio::task::yield_now().await;
        while let Some(event) = self.next_event().now_or_never() {
            let error = match event {
                Ok(Event::Other) => continue,
                Ok(Event::Failed(fields)) => EngineError { fate: Fate::NotSent, ..ended(fields) },
                Ok(_) => not_sent(&WireError::Protocol("an answer to nothing".to_owned())),
                Err(error) => not_sent(&error),
            };
            self.broken = true;
            return Err(error);
        }
        Ok(())
    }

    async fn rejected(&mut self, fields: Fields) -> EngineError {
        if fields.is_fatal() {
            self.broken = true;
            self.statement = None;
            return ended(fields);
        }
        let error = match self.refusal() {
            Some(problem) => EngineError::idle(problem),
            None => self.refusal_of_statement(fields),
        };
        self.recover(error).await
    }

    fn refusal_of_statement(&self, fields: Fields) -> EngineError {
        let (sql, given) = self.statement.as_ref().map_or(("", 0), |statement| (statement.sql.as_str(), statement.given));
        match fields.wanted_parameters(given) {
            Some(wanted) => refusals::values_of_another_number(given, wanted),
            None => self.refusal_of(fields, sql),
        }
    }

    /// Back to idle after `error`, which it returns unless the way back is lost as well.
    pub(super) async fn recover(&mut self, error: EngineError) -> EngineError {
        let statement = self.statement.take();
        if statement.is_none_or(|statement| statement.reach != Reach::EndAndSync) {
            frontend::sync(&mut self.wire.output);
        }
        let mut readies = 1;
        if self.read_only && frontend::query("ROLLBACK", &mut self.wire.output).is_ok() {
            readies = 2;
        }
        if let Err(lost) = self.send().await {
            return lost;
        }
        for _ in 0..readies {
            if let Err(lost) = self.until_ready(Sink::Nowhere, &mut |_| {}).await {
                return lost;
            }
        }
        error
    }

    /// Asks for names, settings and the like; `take` gets each row with the number of its question in the flight.
    pub(super) async fn ask(&mut self, readies: usize, take: &mut (dyn FnMut(usize, TextRow) + Send)) -> Result<(), EngineError> {
        self.send().await?;
        let (mut question, mut failed) = (0, None);
        for _ in 0..readies {
            let mut said = |said| match said {
                Said::Row(row) => take(question, row),
                Said::Complete(_) => question += 1,
            };
            failed = failed.or(self.until_ready(Sink::Aside, &mut said).await?);
        }
        failed.map_or(Ok(()), |fields| Err(self.refusal_of(fields, "")))
    }

    /// Everything up to ReadyForQuery; the first error on the way is returned once it is there.
    pub(super) async fn until_ready(&mut self, sink: Sink, take: &mut (dyn FnMut(Said) + Send)) -> Result<Option<Fields>, EngineError> {
        self.sink = sink;
        self.aside.clear();
        let mut failed = None;
        let end = loop {
            match self.next_event().await {
                Ok(Event::Ready(block)) => {
                    self.block = block;
                    break Ok(failed);
                }
                Ok(Event::Failed(fields)) if fields.is_fatal() => {
                    self.broken = true;
                    break Err(ended(fields));
                }
                Ok(Event::Failed(fields)) => failed = failed.or(Some(fields)),
                Ok(Event::Row) => self.aside.drain(..).for_each(|row| take(Said::Row(row))),
                Ok(Event::Complete(tag)) => take(Said::Complete(tag)),
                Ok(_) | Err(WireError::TooLong { .. }) => {}
                Err(error) => break Err(self.lose(&error)),
            }
        };
        self.sink = Sink::Statement;
        end
    }

    /// What a refusal means for the caller; the session is idle.
    pub(super) fn refusal_of(&self, fields: Fields, sql: &str) -> EngineError {
        let cancelled = fields.is_cancel() && self.canceller.was_asked();
        EngineError { cancelled, ..EngineError::idle(fields.problem(ErrorCode::Rejected, sql)) }
    }
}

/// Settings, notices and notifications, which may come at any time.
fn take_news(tag: u8, body: &[u8], settings: &mut HashMap<String, String>, notices: &Notices) -> Result<(), WireError> {
    let mut reader = Reader::new(body);
    match tag {
        b'N' => notices.push(Fields::read(body).notice()),
        b'S' => {
            let (name, value) = (reader.c_text()?, reader.c_text()?);
            if name == "client_encoding" && value != "UTF8" {
                let message = format!("client_encoding is now {value}, but Sheaf sends and reads UTF8");
                notices.push(Notice { severity: "WARNING".to_owned(), message });
            }
            if settings.len() < SETTINGS_MAX || settings.contains_key(&name) {
                settings.insert(name, value);
            }
        }
        _ => {
            let _process = reader.u32()?;
            let (channel, payload) = (reader.c_text()?, reader.c_text()?);
            notices.push(Notice { severity: "NOTIFICATION".to_owned(), message: format!("{channel}: {payload}") });
        }
    }
    Ok(())
}

/// A DataRow's values as text.
pub fn text_row(body: &[u8]) -> Result<TextRow, WireError> {
    let mut reader = Reader::new(body);
    let count = reader.u16()?;
    let mut row = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        row.push(match u32::try_from(reader.i32()?) {
            Ok(length) => Some(readable(reader.bytes(length as usize)?).into_owned()),
            Err(_) => None,
        });
    }
    Ok(row)
}

/// Rows changed, from a CommandComplete tag.
pub fn rows_affected(tag: &str, has_columns: bool) -> Option<u64> {
    let mut words = tag.split(' ');
    let counts = match words.next() {
        Some("INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY") => true,
        // CREATE TABLE AS and SELECT INTO say SELECT too.
        Some("SELECT") => !has_columns,
        _ => false,
    };
    words.next_back().filter(|_| counts).and_then(|count| count.parse().ok())
}
