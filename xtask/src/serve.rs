//! `cargo xtask serve`: the release, built where needed, on its usual address and with its sample database.

use crate::failure::{Outcome, WhileTrying, fail};
use crate::place::Place;
use crate::process::program;
use crate::{dist, steps};

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
    // Ctrl+C reaches both; Sheaf then ends in its own order and this waits for it.
    let status = command.args(arguments).status().while_trying("start dist/sheaf")?;
    if status.success() || status.code().is_none() { Ok(()) } else { fail(format!("Sheaf ended with {status}; its own message is above.")) }
}
