//! The one database of DuckDB's process, shared by its sessions, and locked down before any of them runs a statement.
//!
//! Invariant: after [`lock_down`] no statement reads a file but the one that was opened, loads anything, or changes a setting but
//! [`FREE_SETTINGS`]. The jail around the process is there for what this lets through.

use super::form::Form;
use super::rows_file::{Pieces, ROWS, RowsFile};
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
        let mut shared = Self { rows: None, name: opening.name(), database: driver.new_database_with_opts(options).map_err(fault)? };
        let mut connection = shared.database.new_connection().map_err(fault)?;
        let mut run_all = |statements: Vec<String>| statements.iter().try_for_each(|sql| run(&mut connection, sql)).map_err(fault);
        run_all(limits(opening))?;
        if opening.form == Form::Arrow {
            shared.rows = Some(RowsFile::open(&shared.database, opening)?);
        }
        run_all(lock_down(opening))?;
        Ok(shared)
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file as it stands, where the statement shows that and the rows of it are not in DuckDB.
    pub fn shown(&self, shown: &Shown, signals: &Signals) -> AdbcResult<Option<Pieces>> {
        self.rows.as_ref().map_or(Ok(None), |rows| rows.shown(&self.database, shown, signals))
    }

    /// Before a statement runs that may read the file.
    pub fn prepare(&self, facts: &Facts, sql: &str, signals: &Arc<Signals>) -> Result<(), EngineError> {
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
    if opening.form.is_rows() {
        let view = stem(&opening.path).replace('"', "\"\"");
        let rows = opening.form.reader().map_or_else(|| format!("{ROWS}.{ROWS}"), |reader| format!("{reader}({file})"));
        statements.push(format!("CREATE VIEW \"{view}\" AS SELECT * FROM {rows}"));
    }
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

/// Runs a statement of Sheaf's own to its end.
pub fn run(connection: &mut ManagedConnection, sql: &str) -> adbc_core::error::Result<()> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    for batch in statement.execute()? {
        batch?;
    }
    Ok(())
}
