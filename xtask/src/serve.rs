//! `cargo xtask serve`: the release, built where needed, on its usual address and with its sample database.

#[cfg(not(unix))]
use crate::failure::fail;
use crate::failure::{Outcome, WhileTrying};
use crate::place::Place;
use crate::process::program;
use crate::{dist, steps};
use std::process::Command;

/// Where the interface is found while working on Sheaf.
const LISTEN: &str = "127.0.0.1:7432";

/// The command: what stands behind `--` goes to `sheaf serve` (files, URLs, `--no-open`, `--data DIR`).
pub fn run(place: &Place, arguments: &[String]) -> Outcome<()> {
    let arguments = arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments);
    steps::perform(place, dist::steps())?;
    let mut command = program(dist::binary(place));
    command.arg("serve");
    if !arguments.iter().any(|argument| argument.starts_with("--listen")) {
        command.args(["--listen", LISTEN]);
    }
    become_it(command.args(arguments))
}

/// From here on this process is Sheaf: whatever ends the one ends the other.
#[cfg(unix)]
fn become_it(command: &mut Command) -> Outcome<()> {
    use std::os::unix::process::CommandExt;
    Err(command.exec()).while_trying("start dist/sheaf")
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> Outcome<()> {
    let status = command.status().while_trying("start dist/sheaf")?;
    if status.success() || status.code().is_none() { Ok(()) } else { fail(format!("Sheaf ended with {status}; its own message is above.")) }
}
