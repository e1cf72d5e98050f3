//! One `Database` per file and process, shared by its sessions, and locked down before any of them runs a statement.
//!
//! Invariant: a file is open once in this process, whatever the sessions (DuckDB would write over itself else); after [`lock_down`]
//! no statement reads a file but the one that was opened, loads anything, or changes a setting but [`FREE_SETTINGS`].

use super::place::{Place, cannot_open};
use super::{error, library};
use crate::engine::EngineError;
use adbc_core::options::{OptionDatabase, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

const MEMORY: &str = "1GiB";
const THREADS: usize = 2;
const SPILL: &str = "4GiB";
/// Settings that a statement may change: they are the session's and reach no file.
const FREE_SETTINGS: [&str; 4] = ["TimeZone", "Calendar", "default_null_order", "default_order"];

/// An open database.
pub struct Shared {
    database: ManagedDatabase,
    read_only: bool,
    /// Where it spills; goes with the database.
    spill: PathBuf,
}

static OPEN: Mutex<Option<HashMap<PathBuf, Weak<Shared>>>> = Mutex::new(None);

impl Shared {
    /// The database of this file; opened if it is not open yet.
    pub fn of(place: &Place) -> Result<Arc<Self>, EngineError> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_with(HashMap::new);
        open.retain(|_, database| database.strong_count() > 0);
        if let Some(shared) = open.get(&place.path).and_then(Weak::upgrade) {
            if shared.read_only != place.read_only && place.form.reader().is_none() {
                let (is, asked) = if shared.read_only { ("only for reading", "for writing") } else { ("for writing", "only for reading") };
                let sentence =
                    format!("{} is open {is} by another connection of Sheaf's; close its consoles to open it {asked}.", place.name());
                return Err(cannot_open(sentence));
            }
            return Ok(shared);
        }
        let shared = Arc::new(Self::open(place)?);
        open.insert(place.path.clone(), Arc::downgrade(&shared));
        Ok(shared)
    }

    fn open(place: &Place) -> Result<Self, EngineError> {
        let text = |value: &str| OptionValue::String(value.to_owned());
        let path = if place.form.reader().is_some() { ":memory:".to_owned() } else { place.text() };
        let mut options = vec![(OptionDatabase::Other("path".to_owned()), text(&path))];
        if place.read_only && place.form.reader().is_none() {
            options.push((OptionDatabase::Other("access_mode".to_owned()), text("read_only")));
        }
        let fault = |e: adbc_core::error::Error| error::of_opening(&e, &place.name());
        let database = library::driver()?.new_database_with_opts(options).map_err(fault)?;
        let shared = Self { database, read_only: place.read_only, spill: spill_folder()? };
        let mut connection = shared.database.new_connection().map_err(fault)?;
        for sql in lock_down(place, &shared.spill) {
            run(&mut connection, &sql).map_err(fault)?;
        }
        Ok(shared)
    }

    /// A new session.
    pub fn connect(&self) -> Result<ManagedConnection, EngineError> {
        self.database.new_connection().map_err(|e| cannot_open(format!("DuckDB could not open a session: {}.", e.message)))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.spill);
    }
}

/// What is set before anything else, in this order (security: memory first, the lock last).
fn lock_down(place: &Place, spill: &std::path::Path) -> Vec<String> {
    let file = literal(&place.text());
    let free = FREE_SETTINGS.map(literal).join(", ");
    let mut statements = vec![
        format!("SET memory_limit = '{MEMORY}'"),
        format!("SET threads = {THREADS}"),
        format!("SET temp_directory = {}", literal(&spill.to_string_lossy())),
        format!("SET max_temp_directory_size = '{SPILL}'"),
        "SET arrow_lossless_conversion = true".to_owned(),
    ];
    if let Some(reader) = place.form.reader() {
        let view = place.view().replace('"', "\"\"");
        statements.push(format!("CREATE VIEW \"{view}\" AS SELECT * FROM {reader}({file})"));
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

/// Runs a statement of Sheaf's own to its end.
pub fn run(connection: &mut ManagedConnection, sql: &str) -> adbc_core::error::Result<()> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    for batch in statement.execute()? {
        batch?;
    }
    Ok(())
}

fn spill_folder() -> Result<PathBuf, EngineError> {
    let mut name = [0_u8; 8];
    getrandom::fill(&mut name).map_err(|e| cannot_open(format!("No random name for a folder: {e}.")))?;
    Ok(std::env::temp_dir().join(format!("sheaf-duckdb-{:016x}", u64::from_le_bytes(name))))
}
