//! Starting other programs: with a clean environment, and with a sentence when one is missing or fails.

use crate::failure::{Outcome, WhileTrying, fail};
use crate::place::Place;
use std::env::{var_os, vars_os};
use std::ffi::{OsStr, OsString};
use std::io::stderr;
use std::process::{Command, Stdio};

/// The user's cargo, building into the cache.
pub fn cargo(place: &Place) -> Command {
    let mut command = program(var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(&place.root).env("CARGO_TARGET_DIR", place.native_target());
    command
}

/// Any program, without what `cargo run` told xtask about itself: build scripts would take it for theirs.
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    for (key, _) in vars_os() {
        if key.to_str().is_some_and(is_about_xtask) {
            command.env_remove(key);
        }
    }
    command
}

fn is_about_xtask(key: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|prefix| key.starts_with(prefix))
}

/// Runs it to its end with all its output shown on stderr: stdout is for what a command of ours has to say.
pub fn run(command: &mut Command) -> Outcome<()> {
    show(aside(command))
}

/// Its stdout is our stderr.
fn aside(command: &mut Command) -> &mut Command {
    command.stdout(stderr())
}

/// Runs it to its end with its output shown where it writes it.
pub fn show(command: &mut Command) -> Outcome<()> {
    let status = command.stdin(Stdio::null()).status().while_trying(format_args!("start {}", name_of(command)))?;
    if status.success() { Ok(()) } else { fail(format!("`{}` failed ({status}); its own message is above.", line_of(command))) }
}

/// Runs it and returns what it printed.
pub fn read(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().while_trying(format_args!("start {}", name_of(command)))?;
    if !output.status.success() {
        return fail(format!("`{}` failed ({}).", line_of(command), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether a program of that name can be started at all.
pub fn exists(name: &str) -> bool {
    program(name).arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn name_of(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// The command as one would type it, shortened to its first words.
fn line_of(command: &Command) -> String {
    let short = command.get_program().to_string_lossy().rsplit('/').next().unwrap_or_default().to_owned();
    let words = command.get_args().take(6).map(|word| word.to_string_lossy().into_owned());
    std::iter::once(short).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_is_kept_off_stdout() {
        let mut command = program(var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        let output = aside(command.arg("--version")).output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    }
}
