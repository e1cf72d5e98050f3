//! DuckDB's own client, for tests that compare with what it prints: from its makers' Python package, into the cache.

use crate::failure::{Outcome, WhileTrying, fail};
use crate::place::Place;
use crate::process::{program, read, run};
use crate::{fingerprint, packages};
use std::fs::create_dir_all;
use std::path::PathBuf;

/// Where the version and its hashes are written down.
const PINNED: &str = "xtask/duckdb-client/requirements.txt";

/// Brings the pinned version. Nothing of it is installed for others: only the one program is run.
pub fn ensure(place: &Place) -> Outcome<()> {
    if std::env::var_os("SHEAF_TEST_DUCKDB").is_some() {
        return Ok(());
    }
    let at = place.cached("duckdb-client");
    create_dir_all(&at).while_trying(format_args!("make {}", at.display()))?;
    let inputs = fingerprint::of(&[place.at(PINNED)])?;
    fingerprint::unless_done(&at.join(".sheaf-installed"), &client(place), &inputs, || {
        if read(program("python3").args(["-m", "pip", "--version"])).is_err() {
            packages::install("Testing against DuckDB's client", &["python3-pip"])?;
        }
        let mut pip = program("python3");
        pip.env("PIP_ROOT_USER_ACTION", "ignore");
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
        ]);
        run(pip.arg("--upgrade").arg("--target").arg(&at).arg("--requirement").arg(place.at(PINNED)))?;
        if client(place).is_file() {
            Ok(())
        } else {
            fail("DuckDB's makers publish no client for this system: set SHEAF_TEST_DUCKDB to one.")
        }
    })
}

/// The program, for the tests' variable.
pub fn brought(place: &Place) -> Option<PathBuf> {
    Some(client(place)).filter(|client| client.is_file())
}

fn client(place: &Place) -> PathBuf {
    place.cached("duckdb-client/duckdb_cli/duckdb")
}
