//! Sheaf's own files are never a database to work on: not opened, not attached, not written over. Nor is a setting made that a session
//! can't undo for the next one who has its process.
//!
//! Invariant: whichever way a file is named (symlink, hard link, relative path, URI, an expression), no statement reads or writes an
//! own one. What is named is judged before SQLite opens it; what a name did not tell is judged when it is open, before anything else runs.

use crate::engine::{EngineError, Fate};
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, Authorization};
use shared::problem::{ErrorCode, Problem};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Settings of the whole process ("Pragma statements", sqlite.org/pragma.html).
const OF_THE_PROCESS: [&str; 4] = ["data_store_directory", "hard_heap_limit", "soft_heap_limit", "temp_store_directory"];
const NOT_OF_ONE: &str = "This setting would outlive the session, in the process that SQLite has for it: it is not set.";
const SENTENCE: &str = "That file is Sheaf's own store; it is not a database to work on.";
/// What SQLite puts beside a file.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Links on the way to a file that is not there yet.
const LINKS_MAX: usize = 40;

static FILES: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

thread_local! {
    /// The statement that runs on this thread attached something.
    static ATTACHED: Cell<bool> = const { Cell::new(false) };
    /// Why the statement that runs on this thread was refused: because of a file of ours, or of what would outlive the session.
    static REFUSED: Cell<Option<Refused>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
enum Refused {
    OwnFile,
    OfTheProcess,
}

/// This file, and what SQLite puts beside it, are Sheaf's own from now on.
pub fn note(file: &Path) {
    let mut files = FILES.write().unwrap_or_else(PoisonError::into_inner);
    if !files.iter().any(|known| known == file) {
        files.push(file.to_owned());
    }
}

/// The files that were noted.
pub fn known() -> Vec<PathBuf> {
    FILES.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether it is one of Sheaf's own, by whatever name.
pub fn is_own(path: &Path) -> bool {
    let files = FILES.read().unwrap_or_else(PoisonError::into_inner);
    files.iter().any(|file| is_of(path, file))
}

/// Whether it is that file, or what SQLite puts beside it, by whatever name.
pub fn is_of(path: &Path, file: &Path) -> bool {
    family(file).any(|own| is_same(path, &own))
}

/// What to say to it.
pub fn problem() -> Problem {
    Problem::new(ErrorCode::CannotOpen, SENTENCE)
}

fn family(file: &Path) -> impl Iterator<Item = PathBuf> {
    let beside = |suffix: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let companions: Vec<PathBuf> = COMPANIONS.iter().map(|suffix| beside(suffix)).collect();
    std::iter::once(file.to_owned()).chain(companions)
}

fn is_same(one: &Path, other: &Path) -> bool {
    is_one_file(one, other) || resolve(one) == resolve(other)
}

#[cfg(unix)]
fn is_one_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_one_file(_: &Path, _: &Path) -> bool {
    false
}

/// Where a path leads, also where nothing is yet.
fn resolve(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..LINKS_MAX {
        let folder = path.parent().and_then(|parent| std::fs::canonicalize(parent).ok());
        let (Some(folder), Some(name)) = (folder, path.file_name()) else { break };
        let named = folder.join(name);
        match std::fs::read_link(&named) {
            Ok(target) => path = folder.join(target),
            Err(_) => return named,
        }
    }
    path
}

/// A statement begins on this thread.
pub fn begin() {
    ATTACHED.set(false);
    REFUSED.set(None);
}

/// The statement was refused by [`judge`]: what to say instead of SQLite's "not authorized".
pub fn refusal() -> Option<EngineError> {
    REFUSED.get().map(|refused| match refused {
        Refused::OwnFile => EngineError::idle(problem()),
        Refused::OfTheProcess => EngineError::idle(Problem::new(ErrorCode::Rejected, NOT_OF_ONE)),
    })
}

/// SQLite asks whether a statement may do this. VACUUM INTO comes as an ATTACH, too.
pub fn judge(action: &AuthAction<'_>) -> Authorization {
    match action {
        AuthAction::Attach { filename } => {
            ATTACHED.set(true);
            if is_own(Path::new(filename)) || uri_path(filename).is_some_and(|path| is_own(&path)) {
                REFUSED.set(Some(Refused::OwnFile));
                return Authorization::Deny;
            }
        }
        AuthAction::Pragma { pragma_name, pragma_value: Some(_) }
            if OF_THE_PROCESS.iter().any(|own| own.eq_ignore_ascii_case(pragma_name)) =>
        {
            REFUSED.set(Some(Refused::OfTheProcess));
            return Authorization::Deny;
        }
        // An ATTACH whose file is an expression.
        AuthAction::Unknown { code: rusqlite::ffi::SQLITE_ATTACH, .. } => ATTACHED.set(true),
        _ => {}
    }
    Authorization::Allow
}

/// The statement has run: if it attached a file of ours by a name that did not tell, that is undone.
pub fn check_attached(connection: &Connection) -> Result<(), EngineError> {
    if !ATTACHED.take() {
        return Ok(());
    }
    // Where that can't be made sure of, the session is not used again.
    let unsure =
        |e: rusqlite::Error| EngineError { fate: Fate::Unknown, ..EngineError::idle(Problem::new(ErrorCode::CannotOpen, e.to_string())) };
    let mut list = connection.prepare("PRAGMA database_list").map_err(unsure)?;
    let attached = list.query_map([], |row| Ok((row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))).map_err(unsure)?;
    let attached = attached.collect::<Result<Vec<_>, _>>().map_err(unsure)?;
    drop(list);
    let own = attached.into_iter().find(|(_, file)| file.as_deref().is_some_and(|file| !file.is_empty() && is_own(Path::new(file))));
    let Some((name, _)) = own else { return Ok(()) };
    connection.execute_batch(&format!("DETACH \"{}\"", name.replace('"', "\"\""))).map_err(unsure)?;
    Err(EngineError::idle(problem()))
}

/// The path of a URI as SQLite reads one ("Uniform Resource Identifiers", sqlite.org/uri.html).
fn uri_path(name: &str) -> Option<PathBuf> {
    let rest = name.strip_prefix("file:")?;
    let rest = match rest.strip_prefix("//") {
        // The authority may be empty or `localhost`; SQLite refuses any other.
        Some(authority) => authority.find('/').and_then(|at| authority.get(at..))?,
        None => rest,
    };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    Some(PathBuf::from(String::from_utf8_lossy(&decode(path.as_bytes())).into_owned()))
}

/// Undoes percent-encoding; what is none stays as it is.
fn decode(mut rest: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(rest.len());
    while let Some((byte, behind)) = rest.split_first() {
        let escaped = behind.split_first_chunk::<2>().filter(|_| *byte == b'%');
        let value = escaped.and_then(|(digits, tail)| Some((u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, tail)));
        let (value, tail) = value.unwrap_or((*byte, behind));
        decoded.push(value);
        rest = tail;
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_read_as_sqlite_reads_it() {
        for (uri, path) in [
            ("file:/a/b.db", Some("/a/b.db")),
            ("file:b.db?mode=ro", Some("b.db")),
            ("file:///a/b.db#x", Some("/a/b.db")),
            ("file://localhost/a/b%2edb", Some("/a/b.db")),
            ("file:/a/%zz%4", Some("/a/%zz%4")),
            ("/a/b.db", None),
            ("FILE:/a", None),
        ] {
            assert_eq!(uri_path(uri).as_deref(), path.map(Path::new), "{uri}");
        }
    }

    #[test]
    fn an_own_file_is_own_by_every_name_there_is_or_will_be() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("own.sqlite"), "").unwrap();
        note(&at("own.sqlite"));
        std::fs::create_dir(at("inner")).unwrap();
        std::fs::hard_link(at("own.sqlite"), at("hard")).unwrap();
        for (name, is) in [
            ("own.sqlite", true),
            ("own.sqlite-wal", true),
            ("inner/../own.sqlite-journal", true),
            ("hard", true),
            ("own.sqlite-other", false),
            ("inner", false),
            ("other.sqlite", false),
        ] {
            assert_eq!(is_own(&at(name)), is, "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("own.sqlite-wal", at("to-none-yet")).unwrap();
            std::os::unix::fs::symlink(at("to-none-yet"), at("inner/two-steps")).unwrap();
            std::os::unix::fs::symlink("round", at("round")).unwrap();
            assert!(is_own(&at("to-none-yet")) && is_own(&at("inner/two-steps")));
            assert!(!is_own(&at("round")));
        }
    }
}
