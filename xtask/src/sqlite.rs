//! SQLite's own client, for tests that compare with what it prints. The library itself is in Sheaf.

use crate::failure::Outcome;
use crate::packages;
use crate::place::Place;
use crate::process::exists;

/// Installs it where there is none.
pub fn ensure(_place: &Place) -> Outcome<()> {
    if exists("sqlite3") {
        return Ok(());
    }
    packages::install("Testing against SQLite's client", &["sqlite3"])
}
