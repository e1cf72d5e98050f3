//! The session's thread: it owns the connection and the statement that is being read.
//!
//! Invariant: a statement is stepped only as far as it is asked for: one row more than was handed out, which stays in the statement
//! until it is wanted. Start at [`serve`].

use super::decode::Page;
use super::describe::{Column, columns};
use super::place::Place;
use super::{catalog, connect, error, own, text};
use crate::engine::worker::desk::{Command, Desk, Outcome};
use crate::engine::worker::messages::{Done, Rows};
use crate::engine::worker::signals::Signals;
use crate::engine::{Bound, EngineError, Fetched, Finished, Param, refusals};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::types::Null;
use rusqlite::{Batch, Connection, Statement};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::TransactionState;
use std::sync::Arc;

/// Answers commands until the session is closed.
pub fn serve(place: &Place, mut connection: Connection, signals: &Arc<Signals>, desk: &Desk) {
    let mut state = State::default();
    let mut next = desk.wait();
    while let Some(command) = next.take() {
        let outcome = match command {
            Command::Execute(sql, params, bound) => {
                state.note(&sql);
                let session = Session { connection: &connection, signals, desk };
                next = session.run(&mut state, &sql, &params, bound).or_else(|| desk.wait());
                continue;
            }
            Command::Fetch(_) => Err(EngineError::idle(Problem::new(ErrorCode::Internal, "No statement is being read."))),
            Command::Finish => Ok((Done::Finished(state.finished(&connection)), None)),
            Command::Catalog(ask) => {
                let read = catalog::read(&connection, &place.name(), &ask);
                let read = read.map(|catalog| (Done::Catalog(catalog), None));
                let read = read.map_err(|e| error::of_statement(e, "", signals.stopped()));
                signals.end();
                read
            }
            // Nothing that a next user might notice.
            Command::Reset if !state.touched => Ok((Done::Reset, None)),
            Command::Reset => {
                // Opening anew is the one way back that forgets everything: settings, temporary tables, attached files.
                drop(connection);
                connection = match connect::open(place, signals) {
                    Ok(fresh) => fresh,
                    Err(e) => {
                        desk.answer(Err(e), TransactionState::None);
                        return;
                    }
                };
                state = State::default();
                Ok((Done::Reset, None))
            }
        };
        desk.answer(outcome, transaction(&connection));
        next = desk.wait();
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

    /// What is told of a statement that has ended already.
    fn started(&mut self, connection: &Connection, rows: Option<&Fetched>) -> Done {
        Done::Started { rows: rows.map(|rows| Rows { more: rows.more }), ended: Some(self.finished(connection)) }
    }

    fn finished(&mut self, connection: &Connection) -> Finished {
        Finished { rows_affected: self.rows_affected.take(), in_transaction: !connection.is_autocommit() }
    }
}

fn transaction(connection: &Connection) -> TransactionState {
    if connection.is_autocommit() { TransactionState::None } else { TransactionState::Open }
}

/// What a statement is run with.
struct Session<'c> {
    connection: &'c Connection,
    signals: &'c Signals,
    desk: &'c Desk,
}

/// How far a statement was read, that is no more.
enum Read {
    /// To its end, in one page if it has rows; the asker has not been answered.
    Whole(Option<Fetched>),
    /// Page by page, until this command came.
    Paged(Option<Command>),
    /// Up to a page that could not be sent.
    GivenUp,
}

impl Session<'_> {
    /// Runs one statement until it is finished. A command that is not about it ends it, and comes back to be answered.
    fn run(&self, state: &mut State, sql: &str, params: &[Param], bound: Bound) -> Option<Command> {
        own::begin();
        let read = self.read(state, sql, params, bound);
        // Only now it has ended, and with it a transaction perhaps.
        let outcome: Outcome = match read {
            Ok(Read::Whole(None)) => own::check_attached(self.connection).map(|()| (state.started(self.connection, None), None)),
            Ok(Read::Whole(Some(rows))) => Ok((state.started(self.connection, Some(&rows)), Some(rows.batch))),
            Ok(Read::Paged(Some(Command::Finish))) => Ok((Done::Finished(state.finished(self.connection)), None)),
            Ok(Read::Paged(other)) => return other,
            Ok(Read::GivenUp) => return None,
            Err(e) => Err(e),
        };
        self.signals.end();
        self.desk.answer(outcome, transaction(self.connection));
        None
    }

    fn read(&self, state: &mut State, sql: &str, params: &[Param], bound: Bound) -> Result<Read, EngineError> {
        let Self { connection, signals, desk } = *self;
        let fault = |e: rusqlite::Error| own::refusal().unwrap_or_else(|| error::of_statement(e, sql, signals.stopped()));
        let prepared = prepare(connection, sql, params).map_err(|refused| match refused {
            Refused::BySqlite(e) => fault(e),
            Refused::Here(e) => e,
        });
        let Some(mut statement) = prepared? else { return Ok(Read::Whole(None)) };
        // `sqlite3_changes` keeps the count of the last statement that changes rows, so only such a one may ask for it.
        let changes_rows =
            !statement.readonly() && matches!(text::first_word(sql).as_str(), "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "WITH");
        let read = match Reading::start(&mut statement, bound, &fault, signals)? {
            None => Read::Whole(None),
            Some((_, first)) if !first.more => Read::Whole(Some(first)),
            Some((mut reading, first)) => {
                let started = Done::Started { rows: Some(Rows { more: true }), ended: None };
                if desk.answer(Ok((started, Some(first.batch))), transaction(connection)) {
                    reading.serve(&fault, signals, connection, desk)?
                } else {
                    Read::GivenUp
                }
            }
        };
        drop(statement);
        state.rows_affected = changes_rows.then(|| connection.changes());
        Ok(read)
    }
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
        return Err(Refused::Here(refusals::values_of_another_number(params.len(), wanted)));
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
    rows: rusqlite::Rows<'s>,
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
    fn serve(
        &mut self,
        fault: &dyn Fn(rusqlite::Error) -> EngineError,
        signals: &Signals,
        connection: &Connection,
        desk: &Desk,
    ) -> Result<Read, EngineError> {
        loop {
            match desk.wait() {
                Some(Command::Fetch(bound)) => {
                    let Fetched { batch, more } = self.fetch(bound, fault, signals)?;
                    if !desk.answer(Ok((Done::Fetched(Rows { more }), Some(batch))), transaction(connection)) {
                        return Ok(Read::GivenUp);
                    }
                }
                other => return Ok(Read::Paged(other)),
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
    use rusqlite::functions::FunctionFlags;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread::JoinHandle;

    /// A session whose SQL has `tick()`: how often it was called is how many rows SQLite has made.
    struct Counted {
        commands: mpsc::Sender<Command>,
        answers: mpsc::Receiver<(Outcome, TransactionState)>,
        made: Arc<AtomicUsize>,
        thread: JoinHandle<()>,
        _file: tempfile::NamedTempFile,
    }

    /// `sends` is whether rows can be sent.
    fn counted(sends: bool) -> Counted {
        let file = tempfile::NamedTempFile::new().unwrap();
        let place = Place::find(file.path().to_str(), false).unwrap();
        let made = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&made);
        let ((commands, inbox), (answer, answers)) = (mpsc::channel(), mpsc::channel());
        let thread = std::thread::spawn(move || {
            let signals = Arc::new(Signals::default());
            let connection = connect::open(&place, &signals).unwrap();
            let tick = move |_: &rusqlite::functions::Context<'_>| Ok(counter.fetch_add(1, Ordering::SeqCst) as i64);
            connection.create_scalar_function("tick", 0, FunctionFlags::SQLITE_UTF8, tick).unwrap();
            let give = move |outcome, transaction| {
                answer.send((outcome, transaction)).unwrap();
                sends
            };
            serve(&place, connection, &signals, &Desk::new(inbox, Box::new(give), Vec::new()));
        });
        Counted { commands, answers, made, thread, _file: file }
    }

    impl Counted {
        fn ask(&self, command: Command) -> (Outcome, TransactionState) {
            self.commands.send(command).unwrap();
            self.answers.recv().unwrap()
        }

        fn run(&self, sql: &str, bound: Bound) -> (Outcome, TransactionState) {
            self.ask(Command::Execute(sql.to_owned(), Vec::new(), bound))
        }
    }

    const HUNDRED: Bound = Bound { rows: 100, bytes: usize::MAX };

    #[test]
    fn sqlite_makes_one_row_more_than_was_asked_for_and_no_more() {
        let session = counted(true);
        let rows = |(outcome, _): (Outcome, TransactionState)| match outcome.unwrap() {
            (Done::Started { rows: Some(Rows { more }), ended: None } | Done::Fetched(Rows { more }), Some(batch)) => {
                (batch.num_rows(), more, session.made.load(Ordering::SeqCst))
            }
            other => panic!("{other:?}"),
        };
        let sql = "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c LIMIT 250) SELECT tick() FROM c";
        let first = rows(session.run(sql, HUNDRED));
        let [second, third] = [(); 2].map(|()| rows(session.ask(Command::Fetch(HUNDRED))));
        assert_eq!([first, second, third], [(100, true, 101), (100, true, 201), (50, false, 250)]);
        assert!(matches!(session.ask(Command::Finish).0, Ok((Done::Finished(Finished { in_transaction: false, .. }), None))));
        drop(session.commands);
        session.thread.join().unwrap();
    }

    #[test]
    fn what_is_asked_without_a_statement_is_answered() {
        let session = counted(true);
        assert!(session.ask(Command::Fetch(HUNDRED)).0.is_err());
        assert!(matches!(session.ask(Command::Finish).0, Ok((Done::Finished(_), None))));
        assert!(matches!(session.ask(Command::Reset).0, Ok((Done::Reset, None))));
    }

    #[test]
    fn a_statement_whose_rows_cannot_be_sent_has_ended() {
        let session = counted(false);
        session.run("CREATE TABLE t(a)", HUNDRED).0.unwrap();
        session.run("INSERT INTO t VALUES (1), (2)", HUNDRED).0.unwrap();
        session.run("SELECT a FROM t", Bound { rows: 1, bytes: 1 }).0.unwrap();
        assert!(session.ask(Command::Fetch(HUNDRED)).0.is_err());
        assert_eq!(session.run("DROP TABLE t", HUNDRED).1, TransactionState::None);
    }

    #[test]
    fn a_refusal_that_rolls_back_says_so() {
        let session = counted(true);
        session.run("CREATE TABLE t(a UNIQUE)", HUNDRED).0.unwrap();
        session.run("INSERT INTO t VALUES (1)", HUNDRED).0.unwrap();
        assert_eq!(session.run("BEGIN", HUNDRED).1, TransactionState::Open);
        assert_eq!(session.run("SELECT nothing", HUNDRED).1, TransactionState::Open);
        let (outcome, transaction) = session.run("INSERT OR ROLLBACK INTO t VALUES (1)", HUNDRED);
        assert!(outcome.is_err() && transaction == TransactionState::None);
    }
}
