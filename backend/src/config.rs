//! What was typed ([`Arguments`]) and what it means ([`Config`]): two types, and one place that turns the first into the second.
//!
//! Invariant: everything that can be wrong with a start is told here, in one sentence, before anything is made or opened.

use crate::connections::{Temporary, source};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// The command line.
#[derive(Clone, Debug, Parser)]
#[command(name = "sheaf", version, about = "A SQL workbench in the browser", arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Serves the workbench on this machine and opens a browser on it
    Serve(ServeArguments),
    /// Prints a fresh link for a server that runs
    Open(OpenArguments),
    /// DuckDB's process: started by the server, for itself
    #[command(hide = true)]
    DuckdbProcess,
    /// A process of SQLite's: started by the server, for itself
    #[command(hide = true)]
    SqliteProcess,
}

/// Arguments of `sheaf serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArguments {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7432")]
    pub listen: String,
    /// Folder for Sheaf's own files [default: sheaf in the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Leaves the browser alone
    #[arg(long)]
    pub no_open: bool,
    /// DuckDB's library [default: SHEAF_DUCKDB, beside this program, or in the user's cache]
    #[arg(long, value_name = "FILE")]
    pub duckdb: Option<PathBuf>,
    /// Databases to work on: files of SQLite, DuckDB, Parquet, CSV, JSON or Arrow, and postgres:// URLs. With none, a sample database
    #[arg(value_name = "FILE or URL")]
    pub sources: Vec<String>,
}

/// Arguments of `sheaf open`.
#[derive(Clone, Debug, Args)]
pub struct OpenArguments {
    /// Folder of the server that runs [default: sheaf in the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// What a browser window is to be opened on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Browser {
    /// Open one.
    Open,
    /// Only print the link.
    LeaveAlone,
}

/// A start of the server, understood.
#[derive(Clone, Debug)]
pub struct Config {
    /// The port on loopback; 0 for a free one.
    pub port: u16,
    /// The data folder.
    pub data: PathBuf,
    /// Whether to open a browser.
    pub browser: Browser,
    /// Connections of the command line.
    pub sources: Vec<Temporary>,
    /// DuckDB's library, where it was said.
    pub duckdb: Option<PathBuf>,
}

impl Config {
    /// Reads the arguments; the `Err` is one sentence for the terminal.
    pub fn read(arguments: &ServeArguments, mode: Option<&str>) -> Result<Self, String> {
        if !matches!(mode, None | Some("" | "local")) {
            return Err("SHEAF_MODE may only be `local` in this version.".to_owned());
        }
        let port = read_listen(&arguments.listen)?;
        let data = data_folder(arguments.data.clone())?;
        let sources = arguments.sources.iter().map(|argument| source::read(argument, &data)).collect::<Result<Vec<_>, _>>()?;
        let browser = if arguments.no_open { Browser::LeaveAlone } else { Browser::Open };
        Ok(Self { port, data, browser, sources, duckdb: arguments.duckdb.clone() })
    }
}

/// The port of a loopback address. Every other address would let other machines in, and in local mode nothing but the link protects.
fn read_listen(listen: &str) -> Result<u16, String> {
    let unreadable = || format!("--listen {listen} is not ADDRESS:PORT.");
    let (address, port) = listen.rsplit_once(':').ok_or_else(unreadable)?;
    let port = port.parse().map_err(|_| unreadable())?;
    match address {
        "127.0.0.1" | "localhost" | "[::1]" => Ok(port),
        _ => Err(format!("Sheaf listens on this machine only: --listen may be 127.0.0.1:PORT, not {listen}.")),
    }
}

/// The data folder that was asked for, or the user's own.
pub fn data_folder(asked: Option<PathBuf>) -> Result<PathBuf, String> {
    if let Some(folder) = asked {
        return std::path::absolute(&folder).map_err(|error| format!("--data {}: {error}.", folder.display()));
    }
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = of("XDG_DATA_HOME").or_else(|| of("HOME").map(|home| home.join(".local/share"))).or_else(|| of("LOCALAPPDATA"));
    base.map(|base| base.join("sheaf"))
        .ok_or_else(|| "There is no home folder to keep Sheaf's files in: give one by --data DIR.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[&str]) -> Result<Config, String> {
        let line = ["sheaf", "serve", "--data", "/tmp/x"].iter().chain(line);
        let Command::Serve(arguments) = Arguments::try_parse_from(line).map_err(|e| e.to_string())?.command else { panic!() };
        Config::read(&arguments, None)
    }

    #[test]
    fn only_loopback_is_listened_on() {
        for (listen, port) in [("127.0.0.1:7432", 7432), ("localhost:0", 0), ("[::1]:80", 80)] {
            assert_eq!(read(&["--listen", listen]).unwrap().port, port);
        }
        for listen in ["0.0.0.0:7432", "[::]:7432", "192.168.1.5:7432", "example.org:7432", "127.0.0.2:7432", ":7432"] {
            assert!(read(&["--listen", listen]).unwrap_err().contains("this machine only"), "{listen}");
        }
        for listen in ["7432", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:http"] {
            assert!(read(&["--listen", listen]).unwrap_err().contains("not ADDRESS:PORT"), "{listen}");
        }
    }

    #[test]
    fn a_start_without_arguments_has_its_defaults() {
        let config = read(&[]).unwrap();
        assert_eq!((config.port, config.browser, config.sources.len()), (7432, Browser::Open, 0));
        assert_eq!(read(&["--no-open"]).unwrap().browser, Browser::LeaveAlone);
    }

    #[test]
    fn a_missing_file_is_one_sentence() {
        assert_eq!(read(&["/no/such/shop.sqlite"]).unwrap_err(), "There is no file /no/such/shop.sqlite.");
    }

    #[test]
    fn another_mode_is_refused() {
        let Command::Serve(arguments) = Arguments::try_parse_from(["sheaf", "serve", "--data", "/tmp/x"]).unwrap().command else {
            panic!()
        };
        assert!(Config::read(&arguments, Some("team")).is_err());
        assert!(Config::read(&arguments, Some("local")).is_ok());
    }
}
