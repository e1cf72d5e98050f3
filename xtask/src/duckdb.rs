//! DuckDB's library: from its makers' npm package, into the cache, and beside the release.

use crate::failure::{Failure, Outcome, WhileTrying, fail};
use crate::place::Place;
use crate::process::{exists, program, run};
use crate::{dist, fingerprint};
use std::fs::{copy, create_dir_all, read_dir, rename};
use std::path::{Path, PathBuf};

/// Where the version and its hashes are written down.
const PACKAGE: &str = "xtask/duckdb";
/// What the library is called, on one system or another.
const NAMES: [&str; 3] = ["libduckdb.so", "libduckdb.dylib", "duckdb.dll"];

/// Brings the pinned version into the cache, where the server finds it.
pub fn ensure(place: &Place) -> Outcome<()> {
    if !exists("npm") || !exists("node") {
        return fail("Node.js 20 or later with npm is needed to bring DuckDB: install it, then run this again.");
    }
    let at = place.cached("duckdb");
    create_dir_all(&at).while_trying(format_args!("make {}", at.display()))?;
    let inputs = fingerprint::of(&[place.at(PACKAGE)])?;
    fingerprint::unless_done(&at.join(".sheaf-installed"), &at.join("node_modules"), &inputs, || {
        for file in ["package.json", "package-lock.json"] {
            copy(place.at(PACKAGE).join(file), at.join(file)).while_trying(format_args!("copy {file}"))?;
        }
        let mut command = program("npm");
        command.current_dir(&at).env("npm_config_cache", place.cached("npm"));
        run(command.args(["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]))?;
        let Some(library) = library_below(&at.join("node_modules/@duckdb")) else {
            return fail("DuckDB's makers publish no library for this system; Sheaf works without it, with the other engines.");
        };
        put(&library, &at)
    })
}

/// The same for a build, which is good without it: the other engines don't need it, and the server says what is missing.
pub fn try_to_have(place: &Place) -> Outcome<()> {
    if let Err(Failure(message)) = ensure(place) {
        eprintln!("DuckDB is left out: {message}");
    }
    Ok(())
}

/// Puts the cached library beside the release, so that the folder `dist` is whole.
pub fn beside_release(place: &Place) -> Outcome<()> {
    let Some(library) = NAMES.iter().map(|name| place.cached("duckdb").join(name)).find(|path| path.is_file()) else { return Ok(()) };
    let folder = dist::binary(place).parent().map(Path::to_path_buf).unwrap_or_default();
    put(&library, &folder)
}

/// A running server keeps its file: the new one takes its name.
fn put(library: &Path, folder: &Path) -> Outcome<()> {
    let Some(name) = library.file_name() else { return Ok(()) };
    create_dir_all(folder).while_trying(format_args!("make {}", folder.display()))?;
    let fresh = folder.join("duckdb.new");
    copy(library, &fresh).while_trying(format_args!("copy {}", library.display()))?;
    rename(&fresh, folder.join(name)).while_trying("put DuckDB's library in its place")
}

/// npm installs the package of this system and no other.
fn library_below(packages: &Path) -> Option<PathBuf> {
    let folders = read_dir(packages).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    folders.flat_map(|folder| NAMES.map(|name| folder.join(name))).find(|path| path.is_file())
}
