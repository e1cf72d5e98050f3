//! `cargo xtask bench [FAMILY …]`: the study, run against the release.

use crate::failure::Outcome;
use crate::place::Place;
use crate::process::{self, cargo, program, read};
use crate::steps::{Step, perform};
use crate::{dist, npm, test};

/// The command: all families unless some are named; what begins with `--` goes to the study as it is.
pub fn run(place: &Place, families: &[String]) -> Outcome<()> {
    let mut steps = test::set_up_steps();
    steps.extend(dist::steps());
    steps.push(Step::new("Build the study", build));
    steps.push(Step::new("Bring what is compared with", peers));
    steps.push(Step::new("Measure", |place| measure(place, families)));
    perform(place, steps)
}

fn build(place: &Place) -> Outcome<()> {
    process::run(cargo(place).args(["build", "--locked", "--package", "bench", "--release"]))
}

/// Programs from the npm registry. Without one, what is compared with it is left out of the report.
fn peers(place: &Place) -> Outcome<()> {
    if let Err(failure) = npm::install(place, "bench/peers") {
        eprintln!("The peers in bench/peers could not be installed, so they are left out: {}", failure.0);
    }
    Ok(())
}

fn measure(place: &Place, families: &[String]) -> Outcome<()> {
    let mut command = program(place.native_target().join("release/bench"));
    command.current_dir(&place.root).args(["--commit", &commit(place)]).args(families);
    process::show(&mut test::with_surroundings(place, command))
}

/// What was measured; a changed checkout says so.
fn commit(place: &Place) -> String {
    let mut git = program("git");
    git.current_dir(&place.root).args(["describe", "--always", "--dirty", "--abbrev=12"]);
    read(&mut git).unwrap_or_else(|_| "unknown".to_owned())
}
