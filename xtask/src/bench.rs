//! `cargo xtask bench [FAMILY …]`: the study, run against the release.

use crate::dist;
use crate::failure::{Outcome, fail};
use crate::place::Place;
use crate::process::{self, cargo};
use crate::steps::{Step, perform};

/// The command.
pub fn run(place: &Place, families: &[String]) -> Outcome<()> {
    if !place.at("bench/Cargo.toml").is_file() {
        return fail("there is no bench crate in this checkout yet.");
    }
    let mut steps = dist::steps();
    steps.push(Step::new("Measure", |place| measure(place, families)));
    perform(place, steps)
}

fn measure(place: &Place, families: &[String]) -> Outcome<()> {
    let mut command = cargo(place);
    command.env("SHEAF_BIN", dist::binary(place)).args(["run", "--locked", "--package", "bench", "--release", "--"]);
    process::run(command.args(families))
}
