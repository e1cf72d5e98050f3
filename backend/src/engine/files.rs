//! A file that a person names: found, and judged. Each fault is one sentence.
//!
//! Invariant: looking never makes a file, and never finds one of Sheaf's own ([`own`]).

use super::EngineError;
use super::sqlite::own;
use shared::problem::ErrorCode;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes that tell what a file is.
const START_BYTES: u64 = 16;

/// A regular file that this user may read.
#[derive(Debug)]
pub struct Found<'a> {
    /// As it was named.
    pub given: &'a str,
    /// From the root.
    pub path: PathBuf,
    /// Its first bytes, which tell what it is; [`START_BYTES`] at most.
    pub start: Vec<u8>,
}

/// Whether a file that begins like this is a database of DuckDB.
pub fn is_duckdb(start: &[u8]) -> bool {
    start.get(8..12) == Some(b"DUCK")
}

/// Looks for it; `what` is the file in a person's words, `resolve` makes the whole path of the one that was named.
pub fn find<'a>(path: Option<&'a str>, what: &str, resolve: impl FnOnce(&'a str) -> io::Result<PathBuf>) -> Result<Found<'a>, EngineError> {
    let given = path.unwrap_or("").trim();
    if given.is_empty() {
        return Err(cannot_open(format!("Give the path of {what}.")));
    }
    let path = resolve(given).map_err(|e| io_fault(given, &e))?;
    if own::is_own(&path) {
        return Err(EngineError { problem: own::problem(), ..cannot_open("") });
    }
    let metadata = std::fs::metadata(&path).map_err(|e| io_fault(given, &e))?;
    if metadata.is_dir() {
        return Err(cannot_open(format!("{given} is a folder, not a file.")));
    }
    if !metadata.is_file() {
        return Err(cannot_open(format!("{given} is not a regular file.")));
    }
    let start = start_of(&path).map_err(|e| io_fault(given, &e))?;
    Ok(Found { given, path, start })
}

/// No database of SQLite's is open in this process but Sheaf's own, which does not come here: closing the file drops no lock of it
/// (sqlite.org/howtocorrupt.html, 2.2).
fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(START_BYTES).read_to_end(&mut start)?;
    Ok(start)
}

/// The file's name, for people.
pub fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A file that does not open; nothing was sent.
pub fn cannot_open(sentence: impl Into<String>) -> EngineError {
    EngineError::not_sent(ErrorCode::CannotOpen, sentence)
}

fn io_fault(given: &str, e: &io::Error) -> EngineError {
    let sentence = match e.kind() {
        io::ErrorKind::NotFound => format!("There is no such file: {given}."),
        io::ErrorKind::PermissionDenied => format!("This user may not read {given}."),
        io::ErrorKind::NotADirectory => format!("There is no such file: {given}; a part of its path is not a folder."),
        _ => format!("{given} cannot be opened: {e}."),
    };
    let mut fault = cannot_open(sentence);
    if Path::new(given).is_relative() {
        let folder = std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
        fault.problem.detail = Some(format!("The path is relative to {folder}."));
    }
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b").display().to_string();
        std::fs::write(folder.path().join("a"), "").unwrap();
        let here = folder.path().to_str().unwrap();
        let told = |path: Option<&str>| find(path, "the file", std::path::absolute).unwrap_err().problem;
        for (path, words) in [
            (None, "Give the path of the file."),
            (Some("  "), "Give the path"),
            (Some(here), "is a folder"),
            (Some(&inner), "not a folder"),
        ] {
            assert!(told(path).message.contains(words), "{path:?}: {}", told(path).message);
        }
        let missing = told(Some("no/such/file"));
        assert_eq!(missing.message, "There is no such file: no/such/file.");
        assert!(missing.detail.unwrap().starts_with("The path is relative to /"));
    }
}
