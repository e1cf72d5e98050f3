//! Opening a file, in the process of its session: how, and what an opened one may do.
//!
//! Invariant: opening never makes a file, and never reads a path as a URI. A read-only connection is read-only by SQLite's own doing
//! (open flags, authorizer), whatever its statements say. Sheaf's own files are not opened ([`own`]).

use super::error;
use super::own;
use super::place::Place;
use crate::engine::worker::signals::Signals;
use crate::engine::{EngineError, files};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, ffi};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// VM instructions between two looks at the stop flag: some ten microseconds.
const STOP_CHECK_OPS: i32 = 1_000;
/// How long a statement waits for a lock of somebody else's.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// Between two tries for a lock.
const BUSY_STEP: Duration = Duration::from_millis(10);

/// Opens it on the thread that will use it.
pub fn open(place: &Place, signals: &Arc<Signals>) -> Result<Connection, EngineError> {
    let access = if place.read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    // One thread uses it, so no mutex. No CREATE, no URI.
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(place.path(), flags).map_err(|e| fault(place.path(), e))?;
    prepare(&connection, place.read_only, signals).map_err(|e| fault(place.path(), e))?;
    let handle = connection.get_interrupt_handle();
    signals.attach(Box::new(move || handle.interrupt()));
    match connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        // Somebody writes just now: the file is there, and the statement that meets the lock will tell.
        Err(e) if primary(&e) == ffi::SQLITE_BUSY => Ok(connection),
        Err(e) => Err(fault(place.path(), e)),
        Ok(()) => Ok(connection),
    }
}

fn prepare(connection: &Connection, read_only: bool, signals: &Arc<Signals>) -> rusqlite::Result<()> {
    // A hostile file's views and triggers may call only what is harmless; see sqlite.org/security.html.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // As SQLite's own client has it: the library in use is built with another default.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)?;
    if read_only {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.authorizer(Some(only_reading))?;
    } else {
        connection.authorizer(Some(|context: AuthContext<'_>| own::judge(&context.action)))?;
    }
    let watched = Arc::clone(signals);
    connection.progress_handler(STOP_CHECK_OPS, Some(move || watched.stopped()))?;
    WAITING.with_borrow_mut(|waiting| *waiting = Some(Arc::clone(signals)));
    connection.busy_handler(Some(wait_for_lock))
}

fn fault(path: &Path, e: rusqlite::Error) -> EngineError {
    let path = path.display();
    let sentence = match primary(&e) {
        ffi::SQLITE_NOTADB => format!("{path} is not an SQLite database, or it is encrypted."),
        ffi::SQLITE_CORRUPT => format!("{path} is damaged: SQLite cannot read its schema."),
        ffi::SQLITE_CANTOPEN => format!("SQLite cannot open {path}; the folder may not allow the files it needs beside it."),
        ffi::SQLITE_PERM | ffi::SQLITE_READONLY => format!("This user may not open {path} in this way."),
        _ => format!("SQLite cannot open {path}: {e}."),
    };
    let mut fault = files::cannot_open(sentence);
    fault.problem.sqlstate = e.sqlite_error().map(|failure| error::name(failure.extended_code));
    fault
}

fn primary(e: &rusqlite::Error) -> i32 {
    e.sqlite_error().map_or(0, |failure| failure.extended_code & 0xff)
}

thread_local! {
    /// The session of this thread, for the busy handler, which can be given a plain function only.
    static WAITING: RefCell<Option<Arc<Signals>>> = const { RefCell::new(None) };
}

/// SQLite asks whether to try for a lock once more. Its own handler would not hear a stop.
fn wait_for_lock(tries: i32) -> bool {
    let stopped = WAITING.with_borrow(|signals| signals.as_ref().is_some_and(|signals| signals.stopped()));
    if stopped || BUSY_STEP * u32::try_from(tries).unwrap_or(0) >= BUSY_WAIT {
        return false;
    }
    std::thread::sleep(BUSY_STEP);
    true
}

/// Pragmas with a value that only read.
const READING_PRAGMAS: [&str; 9] = [
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
    "foreign_key_check",
    "integrity_check",
];
/// Pragmas that do something even without a value.
const DOING_PRAGMAS: [&str; 4] = ["incremental_vacuum", "optimize", "wal_checkpoint", "shrink_memory"];

/// What a read-only connection may do besides what opening it read-only already refuses: no file but its own, no setting.
fn only_reading(context: AuthContext<'_>) -> Authorization {
    let is_one_of = |name: &str, list: &[&str]| list.iter().any(|other| other.eq_ignore_ascii_case(name));
    let refused = match context.action {
        // VACUUM INTO goes through ATTACH.
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => true,
        AuthAction::Function { function_name } => function_name.eq_ignore_ascii_case("load_extension"),
        AuthAction::Pragma { pragma_name, pragma_value: Some(_) } => !is_one_of(pragma_name, &READING_PRAGMAS),
        AuthAction::Pragma { pragma_name, pragma_value: None } => is_one_of(pragma_name, &DOING_PRAGMAS),
        _ => false,
    };
    if refused { Authorization::Deny } else { Authorization::Allow }
}
