//! Where `libduckdb` is, which the server says; and loading it, which DuckDB's process does.
//!
//! Invariant: its place is said by whoever starts the server (`--duckdb`, `SHEAF_DUCKDB`), or it lies beside the binary or in the
//! user's cache; nothing that comes over HTTP can change it.

use crate::engine::EngineError;
use crate::engine::files::cannot_open;
use adbc_core::options::AdbcVersion;
use adbc_driver_manager::ManagedDriver;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const ENTRY: &[u8] = b"duckdb_adbc_init";
/// What it is called on this system.
pub const FILE_NAME: &str = if cfg!(target_os = "macos") {
    "libduckdb.dylib"
} else if cfg!(windows) {
    "duckdb.dll"
} else {
    "libduckdb.so"
};
/// Environment variable with its place.
pub const VARIABLE: &str = "SHEAF_DUCKDB";

static GIVEN: OnceLock<PathBuf> = OnceLock::new();

/// The place that the command line gives. Only the first time counts.
pub fn place(path: PathBuf) {
    let _ = GIVEN.set(path);
}

/// The driver of the library that lies there.
pub fn load(path: &Path) -> Result<ManagedDriver, EngineError> {
    ManagedDriver::load_dynamic_from_filename(path, Some(ENTRY), AdbcVersion::V110)
        .map_err(|e| cannot_open(format!("{} could not be loaded: {}.", path.display(), e.message)))
}

/// Where it is. A place that was given is the only one looked at.
pub fn find() -> Result<PathBuf, EngineError> {
    look().ok_or_else(missing)
}

fn missing() -> EngineError {
    cannot_open(format!("DuckDB's library is not installed: run `cargo xtask setup`, or start Sheaf with `--duckdb FILE` ({FILE_NAME})."))
}

fn look() -> Option<PathBuf> {
    let given = GIVEN.get().cloned().or_else(|| std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from));
    if let Some(given) = given {
        return std::path::absolute(given).ok().filter(|path| path.is_file());
    }
    let beside = std::env::current_exe().ok().and_then(|binary| binary.parent().map(Path::to_path_buf));
    let folders = [beside, cache().map(|cache| cache.join("sheaf/duckdb"))];
    folders.into_iter().flatten().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}

fn cache() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_one_sentence_with_the_one_command() {
        place(PathBuf::from("/no/such/library"));
        let told = find().unwrap_err().problem.message;
        let sentence = "DuckDB's library is not installed: run `cargo xtask setup`, or start Sheaf with `--duckdb FILE` ";
        assert_eq!(told, format!("{sentence}({FILE_NAME})."));
        // And there is such a command.
        assert!(include_str!("../../../../xtask/src/main.rs").contains("\"setup\""));
    }
}
