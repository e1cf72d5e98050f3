//! `cargo xtask dist`: the release at dist/sheaf, one file with the browser side in it.

use crate::duckdb;
use crate::failure::{Outcome, WhileTrying, fail};
use crate::place::Place;
use crate::process::{self, cargo};
use crate::steps::{Step, perform};
use crate::web::{self, Build};
use std::fs::{copy, rename};
use std::path::PathBuf;

/// The command.
pub fn run(place: &Place, arguments: &[String]) -> Outcome<()> {
    if !arguments.is_empty() {
        return fail("`cargo xtask dist` takes nothing more.");
    }
    perform(place, steps())
}

/// The browser side, then the server that embeds it.
pub fn steps() -> Vec<Step<'static>> {
    let mut steps = web::steps(Build::Release);
    steps.push(Step::new("Bring DuckDB", duckdb::try_to_have));
    steps.push(Step::new("Build the server with the browser side in it", build_server));
    steps.push(Step::new("Put DuckDB beside it", duckdb::beside_release));
    steps
}

/// Where the release lies.
pub fn binary(place: &Place) -> PathBuf {
    place.at("dist/sheaf")
}

fn build_server(place: &Place) -> Outcome<()> {
    process::run(cargo(place).args(["build", "--locked", "--package", "sheaf", "--bin", "sheaf", "--release"]))?;
    // A running sheaf keeps its file: the new one takes its name.
    let fresh = place.at("dist/sheaf.new");
    copy(place.native_target().join("release/sheaf"), &fresh).while_trying("copy the release into dist")?;
    rename(&fresh, binary(place)).while_trying("put the release at dist/sheaf")
}
