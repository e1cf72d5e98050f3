//! The `sheaf` command: reads the command line and hands over.

use backend::app::{Clock, instance};
use backend::config::{self, Arguments, Command, Config};
use backend::engine::{duckdb, sqlite};
use backend::serve;
use clap::Parser as _;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !matches!(arguments.command, Command::DuckdbProcess | Command::SqliteProcess) {
        log_to_stderr();
    }
    let done = match arguments.command {
        Command::Serve(arguments) => {
            let mode = std::env::var("SHEAF_MODE").ok();
            Config::read(&arguments, mode.as_deref()).and_then(run_server)
        }
        Command::Open(arguments) => {
            config::data_folder(arguments.data).and_then(|data| instance::fresh_link(&data, Clock::system().now())).map(|link| {
                println!("Sheaf is ready: {link}");
            })
        }
        Command::DuckdbProcess => duckdb::run(),
        Command::SqliteProcess => sqlite::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("sheaf: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn run_server(config: Config) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|e| format!("No threads to work with: {e}."))?;
    let done = runtime.block_on(serve::run(config));
    // What still works on a blocked thread is not waited for: its files are of no use to the next start.
    runtime.shutdown_background();
    done
}

/// `SHEAF_LOG` sets what is told, e.g. `debug` or `backend::http=debug`. Never values, passwords, bearers or codes.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("SHEAF_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    // Debugging SSH would tell of what passes through it.
    let filter = "russh=warn".parse().map(|quiet| filter.clone().add_directive(quiet)).unwrap_or(filter);
    let colors = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colors).init();
}
