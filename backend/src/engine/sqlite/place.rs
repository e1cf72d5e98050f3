//! Which file, and how: found in the server, opened in the process of a session.
//!
//! Invariant: the process knows Sheaf's own files before it opens any.

use super::{connect, own, thread};
use crate::engine::worker::desk::Desk;
use crate::engine::worker::jail::Needs;
use crate::engine::worker::served::Opened;
use crate::engine::worker::signals::Signals;
use crate::engine::{EngineError, files};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// Bytes that the process may write to: what a statement sorts in memory where a person told SQLite to, and a row of any length.
const PROCESS_BYTES: u64 = 4 << 30;

/// Which file, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    path: OsString,
    /// Only reading.
    pub read_only: bool,
    /// Sheaf's own files.
    own: Vec<OsString>,
}

impl Place {
    /// Checks that `path` is a file that can be read.
    pub fn find(path: Option<&str>, read_only: bool) -> Result<Self, EngineError> {
        // Absolute from here on: it can't be taken for `:memory:`, for `file:…` or for a temporary database.
        let found = files::find(path, "the SQLite file", std::path::absolute)?;
        // Told before SQLite waits for a lock that DuckDB's process holds.
        if files::is_duckdb(&found.start) {
            return Err(files::cannot_open(format!("{} is a DuckDB database; choose DuckDB to open it.", found.given)));
        }
        Ok(Self { path: found.path.into(), read_only, own: own::known().into_iter().map(OsString::from).collect() })
    }

    /// The file, from the root.
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    /// The file's name, for people.
    pub fn name(&self) -> String {
        files::name_of(self.path())
    }
}

impl Opened for Place {
    type Opening = Self;

    /// Any file that the user reaches may be attached, so no folder is shut.
    fn needs(_: &Self) -> Needs {
        Needs { any_file: true, memory_bytes: PROCESS_BYTES, ..Needs::default() }
    }

    fn open(opening: Self) -> Result<Self, EngineError> {
        opening.own.iter().for_each(|file| own::note(Path::new(file)));
        Ok(opening)
    }

    fn serve(self: Arc<Self>, signals: &Arc<Signals>, desk: &mut Desk) -> Result<(), EngineError> {
        let connection = connect::open(&self, signals)?;
        desk.begin(format!("SQLite {}", rusqlite::version()));
        thread::serve(&self, connection, signals, desk);
        Ok(())
    }
}
