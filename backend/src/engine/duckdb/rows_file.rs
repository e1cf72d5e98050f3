//! The rows of an Arrow file. DuckDB has no reader for one, so they are handed to it, into a table of a database apart, on which the view
//! stands that is named after the file.
//!
//! A small file is taken over as it is opened. Of a large one only its columns are: a statement that shows the file as it stands is given
//! it piece by piece ([`Pieces`]), as far as it is read; the first one that asks for anything else has all of it taken over.
//! Invariant: the table has all rows or none, and no statement of a person changes it.

mod pieces;

use super::arrow_file::{self, ArrowFile};
use super::database::Opening;
use super::statement::{Facts, Shown};
use super::{database, error};
use crate::engine::EngineError;
use crate::engine::files::cannot_open;
use crate::engine::worker::signals::Signals;
use adbc_core::error::Result as AdbcResult;
use adbc_core::options::{IngestMode, OptionStatement};
use adbc_core::{Connection as _, Database as _, Optionable as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

pub use pieces::Pieces;

/// The database with the rows of an Arrow file, and their table.
pub const ROWS: &str = "rows_of_the_file";
/// A file of so many bytes is taken over as it is opened, which takes a moment.
const AT_ONCE_BYTES: u64 = 64 << 20;
/// Between two looks at whether another session has taken the rows over.
const WAIT_STEP: Duration = Duration::from_millis(5);

/// An open Arrow file.
pub struct RowsFile {
    path: PathBuf,
    /// For people.
    name: String,
    /// The view's name.
    view: String,
    /// All rows are in the table.
    taken: Mutex<bool>,
    /// A statement may have put something else in the view's place.
    hidden: AtomicBool,
    pieces: AtomicU64,
    names: Vec<Name>,
}

/// A column's name.
struct Name {
    /// In the file, where it may repeat and be empty.
    own: String,
    /// In DuckDB.
    given: String,
}

/// What a file itself calls its columns.
pub struct OwnNames {
    /// In their order.
    pub own: Vec<String>,
    /// Where each is found in DuckDB: `main.view.column`.
    pub origins: Vec<String>,
}

impl RowsFile {
    /// Makes the table, with all rows where they are few.
    pub fn open(database: &ManagedDatabase, opening: &Opening) -> Result<Self, EngineError> {
        let path = PathBuf::from(&opening.path);
        let told = |why: &str| cannot_open(format!("{} {why}.", opening.name()));
        let rows = ArrowFile::open(&path).map_err(|why| told(&why))?;
        let length = path.metadata().map_err(|e| told(&format!("cannot be read: {e}")))?.len();
        let at_once = length <= AT_ONCE_BYTES;
        if !at_once {
            arrow_file::skim(&path).map_err(|why| told(&why))?;
        }
        let fault = rows.fault();
        let own: Vec<String> = rows.columns().fields().iter().map(|field| field.name().clone()).collect();
        let making = || {
            let mut connection = database.new_connection()?;
            database::run(&mut connection, &format!("ATTACH ':memory:' AS {ROWS}"))?;
            let rows: Reader = if at_once { Box::new(rows) } else { Box::new(RecordBatchIterator::new([], rows.columns())) };
            hand_over(&mut connection, ROWS, IngestMode::Create, rows, None)?;
            pieces::names(&mut connection)
        };
        let made = making();
        // DuckDB takes a fault of what it reads for its end.
        if let Some(why) = fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(told(&why));
        }
        let given = made.map_err(|e| error::of_opening(&e, &opening.name()))?;
        let names = own.into_iter().zip(given).map(|(own, given)| Name { own, given }).collect();
        let (name, view) = (opening.name(), database::stem(&opening.path));
        Ok(Self { path, name, view, taken: Mutex::new(at_once), hidden: AtomicBool::new(false), pieces: AtomicU64::new(0), names })
    }

    /// A statement is about to run that may change what a name stands for.
    pub fn note(&self, facts: &Facts) {
        if facts.defines {
            self.hidden.store(true, Ordering::Release);
        }
    }

    /// The columns that DuckDB calls otherwise than the file, and what that calls them.
    pub fn comments(&self) -> impl Iterator<Item = (String, String)> {
        let renamed = self.names.iter().filter(|name| name.own != name.given);
        renamed.map(|name| {
            let own = if name.own.is_empty() { "has no name".to_owned() } else { format!("is called \"{}\"", name.own) };
            (name.given.clone(), format!("{own} in {}", self.name))
        })
    }

    /// The file's own names, where a statement shows it as it stands and they are not DuckDB's.
    pub fn own_names(&self, shown: &Shown) -> Option<OwnNames> {
        if !self.is_shown_by(shown) || self.names.iter().all(|name| name.own == name.given) {
            return None;
        }
        let origin = |name: &Name| format!("main.{}.{}", self.view, name.given);
        Some(OwnNames { own: self.names.iter().map(|name| name.own.clone()).collect(), origins: self.names.iter().map(origin).collect() })
    }

    fn is_shown_by(&self, shown: &Shown) -> bool {
        !self.hidden.load(Ordering::Acquire) && shown.name.eq_ignore_ascii_case(&self.view)
    }

    /// The file piece by piece, where the statement shows it as it stands and it was not taken over.
    pub fn shown(&self, database: &ManagedDatabase, shown: &Shown, signals: &Signals) -> AdbcResult<Option<Pieces>> {
        let is_taken = !matches!(self.taken.try_lock().as_deref(), Ok(false));
        if is_taken || !self.is_shown_by(shown) {
            return Ok(None);
        }
        let table = format!("piece_{}", self.pieces.fetch_add(1, Ordering::Relaxed));
        Pieces::open(database, &self.path, &self.name, table, shown.limit, signals).map(Some)
    }

    /// Takes all rows over, unless they are.
    pub fn take_over(&self, database: &ManagedDatabase, sql: &str, signals: &Arc<Signals>) -> Result<(), EngineError> {
        let stopped = || error::of_statement("INTERRUPT Error: Interrupted!", sql, true);
        let mut taken = loop {
            match self.taken.try_lock() {
                Ok(taken) => break taken,
                Err(TryLockError::Poisoned(taken)) => break taken.into_inner(),
                Err(TryLockError::WouldBlock) if signals.stopped() => return Err(stopped()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT_STEP),
            }
        };
        if *taken {
            return Ok(());
        }
        let fault = |words: &str| error::of_statement(words, sql, signals.stopped());
        let rows = ArrowFile::open(&self.path).map_err(|why| fault(&format!("{} {why}.", self.name)))?;
        let wrong = rows.fault();
        let mut connection = database.new_connection().map_err(|e| fault(&e.message))?;
        database::run(&mut connection, "BEGIN").map_err(|e| fault(&e.message))?;
        let rows = Box::new(Stoppable { rows, signals: Arc::clone(signals) });
        let handed = hand_over(&mut connection, ROWS, IngestMode::Append, rows, Some(signals));
        let why = wrong.lock().unwrap_or_else(PoisonError::into_inner).take();
        let told = match (signals.stopped(), why, handed) {
            (true, ..) => Err(stopped()),
            (_, Some(why), _) => Err(fault(&format!("{} {why}.", self.name))),
            (_, None, handed) => handed.map_err(|e| fault(&e.message)),
        };
        // The table has all of it or nothing; without the end of this connection's transaction it has nothing.
        let end = if told.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = database::run(&mut connection, end).map_err(|e| fault(&e.message));
        told.and(ended)?;
        *taken = true;
        Ok(())
    }
}

type Reader = Box<dyn RecordBatchReader + Send>;

/// Puts rows into a table of the database apart.
fn hand_over(connection: &mut ManagedConnection, table: &str, mode: IngestMode, rows: Reader, signals: Option<&Signals>) -> AdbcResult<()> {
    let mut statement = connection.new_statement()?;
    if let Some(signals) = signals {
        signals.attach(database::interrupt_of(&statement));
    }
    statement.set_option(OptionStatement::TargetCatalog, ROWS.into())?;
    statement.set_option(OptionStatement::TargetTable, table.into())?;
    statement.set_option(OptionStatement::IngestMode, mode.into())?;
    statement.bind_stream(rows)?;
    statement.execute_update().map(drop)
}

/// The rows of a file, until they are not wanted any more.
struct Stoppable {
    rows: ArrowFile,
    signals: Arc<Signals>,
}

impl Iterator for Stoppable {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.signals.stopped() { None } else { self.rows.next() }
    }
}

impl RecordBatchReader for Stoppable {
    fn schema(&self) -> SchemaRef {
        self.rows.columns()
    }
}
