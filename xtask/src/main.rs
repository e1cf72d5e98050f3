//! Every command a person types: `cargo xtask serve | test | web | dist | lint | bench | setup`.
//! Invariant: std only, so that the first command of a fresh clone starts within seconds; heavy tools are built into the cache.
//! Start at `COMMANDS`, then the file with the command's name.

mod bench;
mod dist;
mod duckdb;
mod duckdb_client;
mod failure;
mod fingerprint;
mod lint;
mod mariadb;
mod npm;
mod owner;
mod packages;
mod place;
mod postgres;
mod process;
mod serve;
mod sqlite;
mod sshd;
mod steps;
mod sysroot;
mod tally;
mod test;
mod toolchain;
mod web;

use failure::{Failure, Outcome};
use place::Place;
use std::process::ExitCode;

struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&Place, &[String]) -> Outcome<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "serve",
        arguments: "[-- FILE or URL …]",
        about: "build what is missing, start Sheaf, open the browser",
        run: serve::run,
    },
    Command { name: "test", arguments: "[--only SUITE]", about: "install what the tests need and run them all", run: test::run },
    Command { name: "web", arguments: "[--dev]", about: "build the browser side into dist/web", run: web::run },
    Command { name: "dist", arguments: "", about: "build the release: one file, dist/sheaf", run: dist::run },
    Command { name: "lint", arguments: "", about: "check the format and clippy's advice", run: lint::run },
    Command { name: "bench", arguments: "[FAMILY …]", about: "measure the release", run: bench::run },
    Command { name: "setup", arguments: "", about: "install what building and testing need", run: test::set_up },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message)) => {
            eprintln!("\nerror: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome<()> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure(format!("say what to do:\n{}", usage())));
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Failure(format!("there is no command {name:?}:\n{}", usage())));
    };
    let place = Place::find()?;
    // Until the command ends, or becomes Sheaf itself.
    let _owner = owner::become_owner(&place)?;
    (command.run)(&place, rest)
}

fn usage() -> String {
    let line = |command: &Command| format!("  cargo xtask {:<28} {}", format!("{} {}", command.name, command.arguments), command.about);
    COMMANDS.iter().map(line).collect::<Vec<_>>().join("\n")
}
