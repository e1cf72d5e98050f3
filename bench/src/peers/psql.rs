//! `psql`, kept running: its own `\timing` is the floor of a statement whose answer is small.

use crate::BenchError;
use std::process::Stdio;
use testing::postgres::Cluster;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A session of it.
pub struct Psql {
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Psql {
    /// Connects as the superuser.
    pub async fn connect(cluster: &Cluster) -> Result<Self, BenchError> {
        let mut command = Command::new(cluster.bin.join("psql"));
        command.args(["-X", "-q", "-A", "-t", &cluster.url()]).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(BenchError::io("psql"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(BenchError::failed("psql", "its pipes are missing"));
        };
        let mut psql = Self { stdin, lines: BufReader::new(stdout).lines(), _child: child };
        psql.stdin.write_all(b"\\timing on\n").await.map_err(BenchError::io("psql"))?;
        Ok(psql)
    }

    /// Runs a statement whose answer is one line: that line, and the milliseconds that psql counted.
    pub async fn one_line(&mut self, sql: &str) -> Result<(String, f64), BenchError> {
        self.stdin.write_all(format!("{sql};\n").as_bytes()).await.map_err(BenchError::io("psql"))?;
        let answer = self.line().await?;
        let time = self.line().await?;
        let ms = time.strip_prefix("Time: ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        Ok((answer, ms.ok_or_else(|| BenchError::failed("psql", time))?))
    }

    async fn line(&mut self) -> Result<String, BenchError> {
        let line = self.lines.next_line().await.map_err(BenchError::io("psql"))?;
        line.ok_or_else(|| BenchError::failed("psql", "it ended"))
    }
}
