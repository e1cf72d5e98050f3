//! How a file begins.
//!
//! Invariant: a file that SQLite may have locked is never closed here. Where a process closes any descriptor of a file, the system drops all
//! locks that the process has on it, those of a session in the midst of a transaction too; another program could write over it then
//! (sqlite.org/howtocorrupt.html, 2.2). So one descriptor of each such file that was looked into stays open.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Bytes that tell what a file is.
const BYTES: u64 = 16;
/// What a database of SQLite begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Which file it is, whatever it is called.
type Identity = (u64, u64);

static OPEN: LazyLock<Mutex<HashMap<Identity, File>>> = LazyLock::new(Mutex::default);

/// The first bytes of a file.
pub fn of(path: &Path) -> io::Result<Vec<u8>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = identity(&std::fs::metadata(path)?).and_then(|identity| open.get(&identity));
    if let Some(file) = known {
        return read(file);
    }
    let file = File::open(path)?;
    let start = read(&file)?;
    // One that is shorter may be about to become one.
    let may_be_locked = start == SQLITE || start.len() < SQLITE.len();
    // Of the file that was opened, should the name have come to mean another.
    if let Some(identity) = identity(&file.metadata()?).filter(|_| may_be_locked)
        && let Some(other) = open.insert(identity, file)
    {
        std::mem::forget(other);
    }
    Ok(start)
}

fn read(mut file: &File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.rewind()?;
    file.take(BYTES).read_to_end(&mut start)?;
    Ok(start)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems tell none")]
fn identity(metadata: &std::fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

/// Other systems lock by the descriptor.
#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> Option<Identity> {
    None
}
