//! `cargo xtask lint`: the format, and clippy with every warning an error.

use crate::failure::{Outcome, fail};
use crate::place::Place;
use crate::process::{self, cargo};
use crate::steps::{Step, perform};

/// The command.
pub fn run(place: &Place, arguments: &[String]) -> Outcome<()> {
    if !arguments.is_empty() {
        return fail("`cargo xtask lint` takes nothing more.");
    }
    perform(place, vec![Step::new("Check the format", format), Step::new("Ask clippy", clippy)])
}

fn format(place: &Place) -> Outcome<()> {
    process::run(cargo(place).args(["fmt", "--all", "--check"]))
}

fn clippy(place: &Place) -> Outcome<()> {
    process::run(cargo(place).args(["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
}
