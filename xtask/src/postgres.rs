//! The PostgreSQL servers on this machine, for tests that start their own.

use crate::failure::Outcome;
use crate::packages;
use crate::place::Place;
use std::fs::read_dir;
use std::path::{Path, PathBuf};

/// Where Debian keeps each version in a folder of its own.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The pooler in front of it: root's own folder of programs is on no one else's path.
const POOLERS: [&str; 3] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];

/// Installs the server where none is there, and PgBouncer.
pub fn ensure(_place: &Place) -> Outcome<()> {
    if binaries().is_none() {
        packages::install("Testing against PostgreSQL", &["postgresql"])?;
    }
    if POOLERS.iter().any(|program| Path::new(program).exists()) {
        return Ok(());
    }
    packages::install("Testing against PgBouncer", &["pgbouncer"])
}

/// The `bin` folders of the oldest and the newest version (once, where they are the same), separated by colons.
pub fn binaries() -> Option<String> {
    let mut found: Vec<(u32, PathBuf)> = read_dir(VERSIONS).ok()?.filter_map(|entry| version(&entry.ok()?.path())).collect();
    found.sort();
    let (oldest, newest) = (found.first()?, found.last()?);
    let folders = if oldest == newest { vec![oldest] } else { vec![oldest, newest] };
    Some(folders.iter().map(|(_, folder)| folder.display().to_string()).collect::<Vec<_>>().join(":"))
}

fn version(folder: &Path) -> Option<(u32, PathBuf)> {
    let number = folder.file_name()?.to_str()?.parse().ok()?;
    let programs = folder.join("bin");
    programs.join("initdb").is_file().then_some((number, programs))
}
