//! `cargo xtask test [--only SUITE]`: installs what the tests need, builds the release, runs every suite, counts the whole.

use crate::failure::{Failure, Outcome, WhileTrying, fail};
use crate::place::Place;
use crate::process::{cargo, exists, program};
use crate::steps::{Step, perform};
use crate::tally::Tally;
use crate::{dist, duckdb, duckdb_client, mariadb, npm, packages, postgres, sqlite, sshd, toolchain};
use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Where the journeys through a real browser live.
const JOURNEYS: &str = "e2e/journeys";
/// Debian's browser; another can be named in the variable.
const CHROMIUM: &str = "/usr/bin/chromium";
const CHROMIUM_VARIABLE: &str = "SHEAF_CHROMIUM";

/// A part of the tests that can be run alone.
struct Suite {
    name: &'static str,
    title: &'static str,
    needs_release: bool,
    command: fn(&Place) -> Command,
}

const SUITES: &[Suite] = &[
    Suite {
        name: "unit",
        title: "Test the pure parts",
        needs_release: false,
        command: |place| cargo_test(place, &["shared", "frontend", "xtask", "bench"]),
    },
    Suite { name: "backend", title: "Test the server from inside", needs_release: false, command: |place| cargo_test(place, &["sheaf"]) },
    Suite { name: "e2e", title: "Test the release from outside", needs_release: true, command: |place| cargo_test(place, &["e2e"]) },
    Suite { name: "journeys", title: "Walk through the release in a browser", needs_release: true, command: playwright },
];

/// Without `--only`: one build for all of cargo's tests, then the browser.
const ALL: &[Suite] = &[
    Suite {
        name: "cargo",
        title: "Run every test of cargo",
        needs_release: true,
        command: |place| cargo_test(place, &["shared", "frontend", "xtask", "bench", "sheaf", "e2e"]),
    },
    Suite { name: "journeys", title: "Walk through the release in a browser", needs_release: true, command: playwright },
];

/// What the suites came to.
#[derive(Default)]
struct Score {
    tally: Tally,
    broken: Vec<&'static str>,
}

/// The command.
pub fn run(place: &Place, arguments: &[String]) -> Outcome<()> {
    let suites = chosen(arguments)?;
    let score = RefCell::new(Score::default());
    let mut steps = set_up_steps();
    if suites.iter().any(|suite| suite.needs_release) {
        steps.extend(dist::steps());
    }
    steps.extend(suites.iter().map(|suite| Step::new(suite.title, |place| run_suite(place, suite, &score))));
    perform(place, steps)?;
    close(&score.into_inner())
}

/// `cargo xtask setup`: everything that is installed, and nothing more.
pub fn set_up(place: &Place, arguments: &[String]) -> Outcome<()> {
    if !arguments.is_empty() {
        return fail("`cargo xtask setup` takes nothing more.");
    }
    let mut steps = vec![
        Step::new("Find a compiler for the browser", toolchain::ensure),
        Step::new("Install the editor's packages", |place| npm::install(place, "frontend/editor")),
    ];
    steps.extend(set_up_steps());
    perform(place, steps)
}

fn chosen(arguments: &[String]) -> Outcome<&'static [Suite]> {
    match arguments {
        [] => Ok(ALL),
        [only, name] if only == "--only" => match SUITES.iter().position(|suite| suite.name == name) {
            Some(index) => Ok(SUITES.get(index..=index).unwrap_or_default()),
            None => {
                fail(format!("there is no suite {name:?}: take {}.", SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ")))
            }
        },
        _ => fail("`cargo xtask test` takes `--only SUITE` or nothing."),
    }
}

/// What tests and measurements need beside the release.
pub fn set_up_steps() -> Vec<Step<'static>> {
    vec![
        Step::new("Find a browser for the tests", ensure_chromium),
        Step::new("Find PostgreSQL for the tests", postgres::ensure),
        Step::new("Find MariaDB for the tests", mariadb::ensure),
        Step::new("Find SQLite's client for the tests", sqlite::ensure),
        Step::new("Find OpenSSH's server for the tests", sshd::ensure),
        Step::new("Bring DuckDB", duckdb::ensure),
        Step::new("Bring DuckDB's client for the tests", duckdb_client::ensure),
        Step::new("Install the packages of the journeys", ensure_playwright),
    ]
}

fn ensure_chromium(_place: &Place) -> Outcome<()> {
    if exists(&chromium()) {
        return Ok(());
    }
    packages::install("Testing in a browser", &["chromium", "fonts-dejavu-core"])
}

fn chromium() -> String {
    std::env::var(CHROMIUM_VARIABLE).unwrap_or_else(|_| CHROMIUM.to_owned())
}

fn ensure_playwright(place: &Place) -> Outcome<()> {
    if has_journeys(place) { npm::install(place, JOURNEYS) } else { Ok(()) }
}

fn has_journeys(place: &Place) -> bool {
    place.at(JOURNEYS).join("package.json").is_file()
}

fn cargo_test(place: &Place, names: &[&str]) -> Command {
    let mut command = cargo(place);
    command.args(["test", "--locked", "--no-fail-fast"]);
    for name in names {
        command.args(["--package", name]);
    }
    with_surroundings(place, command)
}

fn playwright(place: &Place) -> Command {
    let mut command = program("node");
    command.current_dir(place.at(JOURNEYS)).args(["node_modules/@playwright/test/cli.js", "test", "--reporter=list"]);
    with_surroundings(place, command)
}

/// What tests and measurements may rely on to find things.
pub fn with_surroundings(place: &Place, mut command: Command) -> Command {
    command.env("SHEAF_BIN", dist::binary(place)).env(CHROMIUM_VARIABLE, chromium());
    if let Some(folders) = postgres::binaries() {
        command.env("SHEAF_TEST_PG_BIN", folders);
    }
    if let Some(root) = sshd::unpacked(place) {
        command.env("SHEAF_TEST_SSHD", root);
    }
    if let Some(client) = duckdb_client::brought(place) {
        command.env("SHEAF_TEST_DUCKDB", client);
    }
    command
}

/// A suite that fails does not keep the next from running.
fn run_suite(place: &Place, suite: &Suite, score: &RefCell<Score>) -> Outcome<()> {
    if suite.name == "journeys" && !has_journeys(place) {
        eprintln!("This checkout has no journeys.");
        return Ok(());
    }
    let (tally, succeeded) = run_counted((suite.command)(place))?;
    let mut score = score.borrow_mut();
    score.tally += tally;
    if !succeeded {
        score.broken.push(suite.name);
        // A suite that could not even start has no failed test to show for it.
        score.tally.failed += u32::from(tally.failed == 0);
    }
    Ok(())
}

fn run_counted(mut command: Command) -> Outcome<(Tally, bool)> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().while_trying("start the tests")?;
    let mut tally = Tally::default();
    let stdout = child.stdout.take().ok_or_else(|| Failure("cannot read what the tests print.".to_owned()))?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.while_trying("read what the tests print")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        tally += Tally::of_line(&line);
    }
    let status = child.wait().while_trying("wait for the tests")?;
    Ok((tally, status.success()))
}

fn close(score: &Score) -> Outcome<()> {
    println!("{}", score.tally);
    match score.broken.as_slice() {
        [] => Ok(()),
        broken => fail(format!("these suites failed: {}; their messages are above.", broken.join(", "))),
    }
}
