//! The session's thread: it owns the connection and the statement that is being read.
//!
//! Invariant: a statement is stepped only as far as it is asked for: one row more than was handed out, which stays in the statement
//! until it is wanted. Start at [`serve`].

use super::connect::Place;
use super::decode::Page;
use super::describe::{Column, columns};
use super::signals::Signals;
use super::{catalog, error, own, text};
use crate::engine::catalog::CatalogAsk;
use crate::engine::worker::Inbox;
use crate::engine::{Bound, EngineError, Fetched, Finished, Param, Started, refusals};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::types::Null;
use rusqlite::{Batch, Connection, Rows, Statement};
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use std::sync::Arc;
use tokio::sync::oneshot;

/// What there is of a statement after its first page.
pub struct Begun {
    /// Its columns.
    pub started: Started,
    /// The first page, read with the first step: it settles the types. None for a statement without columns.
    pub first: Option<Fetched>,
    /// How it ended, where it has: a result of one page leaves nothing behind, and costs no further word to the thread.
    pub ended: Option<Finished>,
}

/// Where an answer goes.
type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

/// What the session asks of its thread.
pub enum Command {
    /// See [`crate::engine::Session::execute`].
    Execute(String, Vec<Param>, Bound, Reply<Begun>),
    /// See [`crate::engine::Session::fetch`].
    Fetch(Bound, Reply<Fetched>),
    /// See [`crate::engine::Session::finish`].
    Finish(Reply<Finished>),
    /// See [`crate::engine::Session::read_catalog`].
    Catalog(CatalogAsk, Reply<Catalog>),
    /// See [`crate::engine::Session::reset`].
    Reset(Reply<()>),
}

/// Answers commands until the session is dropped.
pub fn serve(place: &Place, mut connection: Connection, signals: &Arc<Signals>, inbox: &mut Inbox<Command>) {
    let mut state = State::default();
    let mut next = inbox.wait();
    while let Some(command) = next.take() {
        next = match command {
            Command::Execute(sql, params, bound, reply) => {
                state.note(&sql);
                match run(&connection, signals, (&sql, &params), bound, reply, inbox, &mut state) {
                    Some(unread) => Some(unread),
                    None => inbox.wait(),
                }
            }
            Command::Fetch(_, reply) => {
                let _ = reply.send(Err(EngineError::idle(Problem::new(ErrorCode::Internal, "No statement is being read."))));
                inbox.wait()
            }
            Command::Finish(reply) => {
                let _ = reply.send(Ok(state.finished(&connection)));
                inbox.wait()
            }
            Command::Catalog(ask, reply) => {
                let read = catalog::read(&connection, &place.name(), &ask);
                let _ = reply.send(read.map_err(|e| error::of_statement(e, "", signals.stopped())));
                inbox.wait()
            }
            Command::Reset(reply) => {
                // Opening anew is the one way back that forgets everything: settings, temporary tables, attached files.
                let outcome = if state.touched {
                    drop(connection);
                    match place.open(signals) {
                        Ok(fresh) => {
                            connection = fresh;
                            state = State::default();
                            Ok(())
                        }
                        Err(e) => {
                            let _ = reply.send(Err(e));
                            return;
                        }
                    }
                } else {
                    Ok(())
                };
                let _ = reply.send(outcome);
                inbox.wait()
            }
        };
    }
}

/// What outlives a statement.
#[derive(Default)]
struct State {
    /// Something was run that a next user might notice.
    touched: bool,
    /// Rows changed by the statement that just ended.
    rows_affected: Option<u64>,
}

impl State {
    fn note(&mut self, sql: &str) {
        self.rows_affected = None;
        // VALUES and SELECT leave nothing; a WITH may write, and PRAGMA, ATTACH, BEGIN and the rest leave something.
        self.touched |= !matches!(text::first_word(sql).as_str(), "SELECT" | "VALUES" | "EXPLAIN" | "");
    }

    fn without_rows(&mut self, connection: &Connection) -> Begun {
        Begun { started: Started { schema: None }, first: None, ended: Some(self.finished(connection)) }
    }

    fn finished(&mut self, connection: &Connection) -> Finished {
        Finished { rows_affected: self.rows_affected.take(), in_transaction: !connection.is_autocommit() }
    }
}

/// Runs one statement until it is finished. A command that is not about it ends it, and comes back to be answered.
fn run(
    connection: &Connection,
    signals: &Signals,
    (sql, params): (&str, &[Param]),
    bound: Bound,
    reply: Reply<Begun>,
    inbox: &mut Inbox<Command>,
    state: &mut State,
) -> Option<Command> {
    own::begin();
    let fault = |e: rusqlite::Error| own::refusal().unwrap_or_else(|| error::of_statement(e, sql, signals.stopped()));
    let mut statement = match prepare(connection, sql, params) {
        Ok(Some(statement)) => statement,
        Ok(None) => {
            let _ = reply.send(Ok(state.without_rows(connection)));
            return None;
        }
        Err(Refused::BySqlite(e)) => {
            let _ = reply.send(Err(fault(e)));
            return None;
        }
        Err(Refused::Here(e)) => {
            let _ = reply.send(Err(e));
            return None;
        }
    };
    // `sqlite3_changes` keeps the count of the last statement that changes rows, so only such a one may ask for it.
    let changes_rows =
        !statement.readonly() && matches!(text::first_word(sql).as_str(), "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "WITH");
    let read = match Reading::start(&mut statement, bound, &fault, signals) {
        Ok(None) => {
            state.rows_affected = changes_rows.then(|| connection.changes());
            let _ = reply.send(own::check_attached(connection).map(|()| state.without_rows(connection)));
            return None;
        }
        Ok(Some((_, first))) if !first.more => Read::Whole { first, reply },
        Ok(Some((mut reading, first))) => {
            let started = Started { schema: Some(first.batch.schema()) };
            let _ = reply.send(Ok(Begun { started, first: Some(first), ended: None }));
            Read::Paged(reading.serve(&fault, signals, inbox))
        }
        Err(e) => {
            let _ = reply.send(Err(e));
            return None;
        }
    };
    drop(statement);
    state.rows_affected = changes_rows.then(|| connection.changes());
    match read {
        Read::Whole { first, reply } => {
            let started = Started { schema: Some(first.batch.schema()) };
            let _ = reply.send(Ok(Begun { started, first: Some(first), ended: Some(state.finished(connection)) }));
            None
        }
        Read::Paged(Some(Command::Finish(reply))) => {
            let _ = reply.send(Ok(state.finished(connection)));
            None
        }
        Read::Paged(other) => other,
    }
}

/// How far a result was read.
enum Read {
    /// It is one page, which is here; the asker has not been answered.
    Whole { first: Fetched, reply: Reply<Begun> },
    /// Page by page, until this command came.
    Paged(Option<Command>),
}

enum Refused {
    BySqlite(rusqlite::Error),
    Here(EngineError),
}

/// Prepares the one statement of the text; `None` when there is none in it.
fn prepare<'c>(connection: &'c Connection, sql: &str, params: &[Param]) -> Result<Option<Statement<'c>>, Refused> {
    if let Some(at) = sql.find('\0') {
        let message = "The text has a NUL character, where SQLite would stop reading it.";
        return Err(Refused::Here(refusals::at(message, at)));
    }
    let start = text::skip_empty(sql, 0);
    if start == sql.len() {
        return Ok(None);
    }
    // Leading comments belong to the statement; a semicolon before it does not.
    let start = sql.get(..start).and_then(last_semicolon).map_or(0, |at| at + 1);
    let body = sql.get(start..).unwrap_or("");
    let Some(mut statement) = Batch::new(connection, body).next().map_err(Refused::BySqlite)? else {
        return Ok(None);
    };
    // What follows the part of the text that SQLite took is not even prepared: a PRAGMA may take effect by that alone.
    let end = start + statement.expanded_sql().map_or(body.len(), |taken| text::length_before_expansion(body, taken.len()));
    let second = text::skip_empty(sql, end);
    if second < sql.len() {
        return Err(Refused::Here(refusals::second_statement(second)));
    }
    bind(&mut statement, params)?;
    Ok(Some(statement))
}

/// Gives each parameter its value.
fn bind(statement: &mut Statement<'_>, params: &[Param]) -> Result<(), Refused> {
    let wanted = statement.parameter_count();
    if params.len() > wanted {
        return Err(Refused::Here(refusals::values_left_over(params.len(), wanted)));
    }
    if params.len() < wanted {
        let name = statement.parameter_name(params.len() + 1).unwrap_or("?").to_owned();
        return Err(Refused::Here(refusals::value_missing(&name)));
    }
    for (at, param) in params.iter().enumerate() {
        let bound = match param {
            Param::Null => statement.raw_bind_parameter(at + 1, Null),
            Param::Bool(value) => statement.raw_bind_parameter(at + 1, *value),
            Param::Integer(value) => statement.raw_bind_parameter(at + 1, *value),
            Param::Real(value) => statement.raw_bind_parameter(at + 1, *value),
            Param::Text(value) => statement.raw_bind_parameter(at + 1, value),
        };
        bound.map_err(Refused::BySqlite)?;
    }
    Ok(())
}

/// The last semicolon outside comments of a text that has nothing else.
fn last_semicolon(head: &str) -> Option<usize> {
    let mut found = None;
    let mut at = text::skip_blank(head, 0);
    while head.get(at..).is_some_and(|rest| rest.starts_with(';')) {
        found = Some(at);
        at = text::skip_blank(head, at + 1);
    }
    found
}

/// A statement whose rows are being read. The statement stands at the next row, the one held back.
struct Reading<'s> {
    rows: Rows<'s>,
    columns: Vec<Column>,
}

impl<'s> Reading<'s> {
    /// Takes the first step, and reads the first page: it settles the types. `None` for a statement without columns, which then
    /// has run to its end.
    fn start(
        statement: &'s mut Statement<'_>,
        bound: Bound,
        fault: &dyn Fn(rusqlite::Error) -> EngineError,
        signals: &Signals,
    ) -> Result<Option<(Self, Fetched)>, EngineError> {
        stop_if_asked(fault, signals)?;
        let has_columns = statement.column_count() > 0;
        let as_prepared = columns(statement);
        let mut rows = statement.raw_query();
        rows.advance().map_err(fault)?;
        if !has_columns {
            return Ok(None);
        }
        // The first step may have prepared the statement anew. After the last one there is nothing to ask.
        let described = rows.as_ref().map(columns);
        let mut reading = Self { rows, columns: described.unwrap_or(as_prepared) };
        let page = reading.fill(bound).map_err(fault)?;
        for (column, class) in reading.columns.iter_mut().zip(page.type_names()) {
            column.show_type(class);
        }
        let first = reading.fetched(page)?;
        Ok(Some((reading, first)))
    }

    /// Answers fetches until another command comes.
    fn serve(&mut self, fault: &dyn Fn(rusqlite::Error) -> EngineError, signals: &Signals, inbox: &mut Inbox<Command>) -> Option<Command> {
        loop {
            match inbox.wait() {
                Some(Command::Fetch(bound, reply)) => {
                    let fetched = self.fetch(bound, fault, signals);
                    let failed = fetched.is_err();
                    let _ = reply.send(fetched);
                    if failed {
                        return None;
                    }
                }
                other => return other,
            }
        }
    }

    fn fetch(&mut self, bound: Bound, fault: &dyn Fn(rusqlite::Error) -> EngineError, signals: &Signals) -> Result<Fetched, EngineError> {
        stop_if_asked(fault, signals)?;
        let page = self.fill(bound).map_err(fault)?;
        self.fetched(page)
    }

    /// Copies rows until the page is full, and steps to the row behind it.
    fn fill(&mut self, bound: Bound) -> rusqlite::Result<Page> {
        let mut page = Page::new(self.columns.len());
        while let Some(row) = self.rows.get() {
            page.push(row)?;
            self.rows.advance()?;
            if page.is_full(bound.rows, bound.bytes) {
                break;
            }
        }
        Ok(page)
    }

    fn fetched(&self, page: Page) -> Result<Fetched, EngineError> {
        let batch = page
            .finish(&self.columns)
            .map_err(|e| EngineError::idle(Problem::new(ErrorCode::Internal, format!("The page could not be made: {e}"))))?;
        Ok(Fetched { batch, more: self.rows.get().is_some() })
    }
}

/// A stop that came before the first step: SQLite's interrupt does nothing to a statement that does not run yet.
fn stop_if_asked(fault: &dyn Fn(rusqlite::Error) -> EngineError, signals: &Signals) -> Result<(), EngineError> {
    if signals.stopped() {
        let failure = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
        return Err(fault(rusqlite::Error::SqliteFailure(failure, None)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::worker::Worker;
    use rusqlite::functions::FunctionFlags;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A session whose SQL has `tick()`: how often it was called is how many rows SQLite has made.
    fn counted() -> (Worker<Command>, Arc<AtomicUsize>, tempfile::NamedTempFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let place = Place::find(file.path().to_str(), false).unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let worker = Worker::spawn("counted", move |mut inbox| {
            let signals = Arc::new(Signals::default());
            let connection = place.open(&signals).unwrap();
            let tick = move |_: &rusqlite::functions::Context<'_>| Ok(counter.fetch_add(1, Ordering::SeqCst) as i64);
            connection.create_scalar_function("tick", 0, FunctionFlags::SQLITE_UTF8, tick).unwrap();
            serve(&place, connection, &signals, &mut inbox);
        });
        (worker.unwrap(), count, file)
    }

    #[tokio::test]
    async fn sqlite_makes_one_row_more_than_was_asked_for_and_no_more() {
        let (worker, count, _file) = counted();
        let bound = Bound { rows: 100, bytes: usize::MAX };
        let sql = "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c LIMIT 250) SELECT tick() FROM c";
        let begun = worker.ask(|reply| Command::Execute(sql.to_owned(), Vec::new(), bound, reply)).await.unwrap().unwrap();
        let first = begun.first.unwrap();
        let mut made = vec![(first.batch.num_rows(), first.more, count.load(Ordering::SeqCst))];
        for _ in 0..2 {
            let fetched = worker.ask(|reply| Command::Fetch(bound, reply)).await.unwrap().unwrap();
            made.push((fetched.batch.num_rows(), fetched.more, count.load(Ordering::SeqCst)));
        }
        assert_eq!(made, [(100, true, 101), (100, true, 201), (50, false, 250)]);
        worker.ask(Command::Finish).await.unwrap().unwrap();
        worker.end().await;
    }

    #[tokio::test]
    async fn what_is_asked_without_a_statement_is_answered() {
        let (worker, _, _file) = counted();
        let bound = Bound { rows: 1, bytes: 1 };
        assert!(worker.ask(|reply| Command::Fetch(bound, reply)).await.unwrap().is_err());
        assert_eq!(worker.ask(Command::Finish).await.unwrap().unwrap(), Finished::default());
        worker.ask(Command::Reset).await.unwrap().unwrap();
    }
}
