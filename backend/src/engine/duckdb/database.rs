//! The one database of DuckDB's process, shared by its sessions, and locked down before any of them runs a statement.
//!
//! Invariant: after [`lock_down`] no statement reads a file but the one that was opened, loads anything, or changes a setting but
//! [`FREE_SETTINGS`]. The jail around the process is there for what this lets through.

use super::form::Form;
use super::parquet_file::WideColumns;
use super::rows_file::{OwnNames, Pieces, ROWS, RowsFile};
use super::statement::{Facts, Shown};
use super::thread::Connected;
use super::{error, library};
use crate::engine::EngineError;
use crate::engine::files::{cannot_open, name_of};
use crate::engine::worker::desk::Desk;
use crate::engine::worker::jail::Needs;
use crate::engine::worker::served::Opened;
use crate::engine::worker::signals::{Interrupt, Signals};
use adbc_core::error::Result as AdbcResult;
use adbc_core::options::{OptionDatabase, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedStatement};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MEMORY: &str = "1GiB";
const THREADS: usize = 2;
const SPILL: &str = "4GiB";
/// Settings that a statement may change: they are the session's and reach no file.
const FREE_SETTINGS: [&str; 4] = ["TimeZone", "Calendar", "default_null_order", "default_order"];

/// Bytes that the process may write to: more than DuckDB is told to keep to, since it counts its buffers only.
const PROCESS_BYTES: u64 = 3 << 30;
/// Bytes of a file where only spilled rows are written.
const SPILL_BYTES: u64 = 4 << 30;

/// What is opened, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// The file.
    pub path: String,
    /// What it is.
    pub form: Form,
    /// Only reading.
    pub read_only: bool,
    /// DuckDB's library.
    pub library: String,
    /// A folder of its own to spill into.
    pub spill: String,
}

impl Opening {
    /// The file's name, for people.
    pub fn name(&self) -> String {
        name_of(Path::new(&self.path))
    }

    fn needs(&self) -> Needs {
        let (path, spill) = (PathBuf::from(&self.path), PathBuf::from(&self.spill));
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut needs =
            Needs { reads: vec![PathBuf::from(&self.library)], writes: vec![spill], memory_bytes: PROCESS_BYTES, ..Needs::default() };
        match (self.form.is_rows(), self.read_only) {
            (true, _) => needs.reads.push(path),
            // What is beside it: the log that DuckDB writes ahead.
            (false, true) => needs.reads.push(folder),
            (false, false) => needs.writes.push(folder),
        }
        // A database may grow as its owner wants.
        needs.file_bytes = (self.form.is_rows() || self.read_only).then_some(SPILL_BYTES);
        needs
    }
}

/// An open database.
pub struct Shared {
    database: ManagedDatabase,
    /// Where the file is Arrow's.
    rows: Option<RowsFile>,
    /// Where it is Parquet's and has some.
    wide: Option<WideColumns>,
    name: String,
}

impl Opened for Shared {
    type Opening = Opening;

    fn needs(opening: &Opening) -> Needs {
        opening.needs()
    }

    fn open(opening: Opening) -> Result<Self, EngineError> {
        Self::open_locked_down(&opening)
    }

    fn serve(self: Arc<Self>, signals: &Arc<Signals>, desk: &mut Desk) -> Result<(), EngineError> {
        let mut connected = Connected::new(self, Arc::clone(signals))?;
        desk.begin(connected.server());
        while let Some(command) = desk.wait() {
            let outcome = connected.answer(command);
            if !desk.answer(outcome, connected.transaction()) {
                connected.give_up();
            }
        }
        Ok(())
    }
}

impl Shared {
    fn open_locked_down(opening: &Opening) -> Result<Self, EngineError> {
        let text = |value: &str| OptionValue::String(value.to_owned());
        let is_rows = opening.form.is_rows();
        let path = if is_rows { ":memory:" } else { &opening.path };
        let mut options = vec![(OptionDatabase::Other("path".to_owned()), text(path))];
        if opening.read_only && !is_rows {
            options.push((OptionDatabase::Other("access_mode".to_owned()), text("read_only")));
        }
        let fault = |e: adbc_core::error::Error| error::of_opening(&e, &opening.name());
        let mut driver = library::load(Path::new(&opening.library))?;
        let mut shared =
            Self { rows: None, wide: None, name: opening.name(), database: driver.new_database_with_opts(options).map_err(fault)? };
        let mut connection = shared.database.new_connection().map_err(fault)?;
        run_all(&mut connection, &limits(opening)).map_err(fault)?;
        match opening.form {
            Form::Arrow => shared.rows = Some(RowsFile::open(&shared.database, opening)?),
            Form::Parquet => shared.wide = WideColumns::of(&mut connection, &opening.path, &stem(&opening.path)).map_err(fault)?,
            Form::Database | Form::Csv | Form::Json => {}
        }
        if is_rows {
            run_all(&mut connection, &shared.view(opening)).map_err(fault)?;
        }
        run_all(&mut connection, &lock_down(opening)).map_err(fault)?;
        Ok(shared)
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The view that a file of rows is, and what is said of its columns.
    fn view(&self, opening: &Opening) -> Vec<String> {
        let view = quoted(&stem(&opening.path));
        let rows = opening.form.reader().map_or_else(|| format!("{ROWS}.{ROWS}"), |reader| format!("{reader}({})", literal(&opening.path)));
        let selection = self.wide.as_ref().map_or_else(|| "*".to_owned(), WideColumns::selection);
        let mut statements = vec![format!("CREATE VIEW {view} AS SELECT {selection} FROM {rows}")];
        let comments = self.wide.iter().flat_map(WideColumns::comments).chain(self.rows.iter().flat_map(RowsFile::comments));
        statements.extend(comments.map(|(column, words)| format!("COMMENT ON COLUMN {view}.{} IS {}", quoted(&column), literal(&words))));
        statements
    }

    /// The file as it stands, where the statement shows that and the rows of it are not in DuckDB.
    pub fn shown(&self, shown: &Shown, signals: &Signals) -> AdbcResult<Option<Pieces>> {
        self.rows.as_ref().map_or(Ok(None), |rows| rows.shown(&self.database, shown, signals))
    }

    /// What the file itself calls its columns, where a statement shows it as it stands and DuckDB calls one otherwise.
    pub fn own_names(&self, shown: &Shown) -> Option<OwnNames> {
        self.rows.as_ref().and_then(|rows| rows.own_names(shown))
    }

    /// Before a statement runs that may read the file.
    pub fn prepare(&self, facts: &Facts, sql: &str, signals: &Arc<Signals>) -> Result<(), EngineError> {
        if let Some(refused) = self.wide.as_ref().and_then(|wide| wide.refused(sql)) {
            return Err(refused);
        }
        let Some(rows) = &self.rows else { return Ok(()) };
        rows.note(facts);
        if facts.reads { rows.take_over(&self.database, sql, signals) } else { Ok(()) }
    }

    /// A new session.
    pub fn connect(&self) -> Result<ManagedConnection, EngineError> {
        self.database.new_connection().map_err(|e| cannot_open(format!("DuckDB could not open a session: {}.", e.message)))
    }
}

/// What a file of rows is called as a table.
pub fn stem(path: &str) -> String {
    Path::new(path).file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What is set before anything else.
fn limits(opening: &Opening) -> Vec<String> {
    vec![
        format!("SET memory_limit = '{MEMORY}'"),
        format!("SET threads = {THREADS}"),
        format!("SET temp_directory = {}", literal(&opening.spill)),
        format!("SET max_temp_directory_size = '{SPILL}'"),
        "SET arrow_lossless_conversion = true".to_owned(),
    ]
}

/// What is done before a session is there, in this order (security: the lock last).
fn lock_down(opening: &Opening) -> Vec<String> {
    let file = literal(&opening.path);
    let free = FREE_SETTINGS.map(literal).join(", ");
    let mut statements = Vec::new();
    if opening.form.reader().is_some() {
        statements.push(format!("SET allowed_paths = [{file}]"));
    }
    statements.extend([
        "SET enable_external_access = false".to_owned(),
        "SET autoinstall_known_extensions = false".to_owned(),
        "SET autoload_known_extensions = false".to_owned(),
        "SET allow_community_extensions = false".to_owned(),
        format!("SET allowed_configs = [{free}]"),
        "SET lock_configuration = true".to_owned(),
    ]);
    statements
}

/// A text as SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Interrupts the statement.
pub fn interrupt_of(statement: &ManagedStatement) -> Interrupt {
    let handle = statement.get_cancel_handle();
    // Where it is refused, the server's patience ends this process.
    Box::new(move || drop(handle.try_cancel()))
}

/// A name as SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn run_all(connection: &mut ManagedConnection, statements: &[String]) -> AdbcResult<()> {
    statements.iter().try_for_each(|sql| run(connection, sql))
}

/// Runs a statement of Sheaf's own to its end.
pub fn run(connection: &mut ManagedConnection, sql: &str) -> adbc_core::error::Result<()> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    for batch in statement.execute()? {
        batch?;
    }
    Ok(())
}
