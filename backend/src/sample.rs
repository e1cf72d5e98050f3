//! The sample database: Fennimoor, a shop that does not exist, in one SQLite file.
//!
//! Invariant: its content is the same on every machine, and a file under its name is whole: it is made under another name and
//! moved there when it is done. Start at [`ensure`].

mod calendar;
mod dice;
mod goods;
mod people;
mod picture;
mod trade;
mod traffic;
mod words;

use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Rows of the largest table, `page_views`.
pub const PAGE_VIEWS: u32 = 1_000_000;
/// The number is the content's: another content has another name, and the old file, which a person may have changed, stays.
const FILE_NAME: &str = "fennimoor-1.sqlite";
/// The end of the name while it is being made.
const PART: &str = ".part";
/// A file that is being made and was not touched for so long is left over from a process that died.
const ABANDONED: Duration = Duration::from_secs(600);

/// Why there is no sample database.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The folder or file.
    #[error("the sample database can't be put at {path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// SQLite.
    #[error("the sample database can't be made: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Where the sample database is, or will be.
pub fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

/// The sample database's file, made if it isn't there. Blocks for a second or two the first time.
pub fn ensure(data_dir: &Path) -> Result<PathBuf, SampleError> {
    let path = path(data_dir);
    if path.exists() {
        return Ok(path);
    }
    let fault = |source| SampleError::File { path: path.clone(), source };
    std::fs::create_dir_all(data_dir).map_err(fault)?;
    sweep(data_dir);
    let part = data_dir.join(format!("{FILE_NAME}.{}{PART}", std::process::id()));
    let _ = std::fs::remove_file(&part);
    create_private(&part).map_err(fault)?;
    let made = make(&part, PAGE_VIEWS).and_then(|()| {
        // On the disk before it has its name.
        File::open(&part).and_then(|file| file.sync_all()).map_err(fault)?;
        std::fs::rename(&part, &path).map_err(fault)
    });
    if made.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    made.map(|()| path)
}

/// An empty file that only its owner can read; SQLite takes it as a new database.
fn create_private(file: &Path) -> std::io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Removes what a process that died has left.
fn sweep(data_dir: &Path) {
    let Ok(entries) = std::fs::read_dir(data_dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let old = entry.metadata().and_then(|file| file.modified()).is_ok_and(is_abandoned);
        if old && name.starts_with(FILE_NAME) && name.ends_with(PART) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_abandoned(touched: SystemTime) -> bool {
    touched.elapsed().is_ok_and(|age| age > ABANDONED)
}

/// Writes the whole database to a new file.
fn make(path: &Path, page_views: u32) -> Result<(), SampleError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let to = Connection::open_with_flags(path, flags)?;
    // Nothing to protect: a file that is not finished is thrown away. The foreign keys are checked by a test instead. Rows come in the
    // order of their keys, so a larger cache saves nothing and stays with the process as memory that is never used again.
    to.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA foreign_keys = OFF; PRAGMA cache_size = -4096; BEGIN;",
    )?;
    to.execute_batch(include_str!("sample/schema.sql"))?;
    people::lands(&to)?;
    goods::sources(&to)?;
    goods::products(&to)?;
    goods::storage(&to)?;
    goods::settings(&to)?;
    people::employees(&to)?;
    people::customers(&to)?;
    trade::orders(&to)?;
    trade::reviews(&to)?;
    traffic::page_views(&to, page_views)?;
    to.execute_batch(include_str!("sample/indexes.sql"))?;
    price_changes(&to)?;
    to.execute_batch("COMMIT; PRAGMA analysis_limit = 1000; ANALYZE;")?;
    // Kept in the file's header from here on: a result that waits for its reader then holds up nobody who writes.
    to.execute_batch("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE);")?;
    to.close().map_err(|(_, e)| SampleError::Sqlite(e))
}

/// Some prices changed, and the trigger wrote it down; the times are settled, for the clock must not show.
fn price_changes(to: &Connection) -> rusqlite::Result<()> {
    to.execute_batch(
        "UPDATE products SET price_cents = price_cents + 200 WHERE id % 9 = 4;
         UPDATE products SET price_cents = price_cents - 100 WHERE id % 18 = 4;
         UPDATE price_changes SET changed_at = datetime('2025-03-01', '+' || (id * 37) || ' hours');",
    )
}

#[cfg(test)]
mod tests;
