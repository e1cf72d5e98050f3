//! The binary under test, with a data folder of its own on a free port.

use crate::http::{Client, Request};
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// A running Sheaf; dropping it kills the process and removes its folder.
pub struct Server {
    child: Child,
    data: tempfile::TempDir,
    _source: Option<tempfile::TempDir>,
    launch_url: String,
    address: SocketAddr,
    log: Arc<Mutex<String>>,
}

/// The binary that tests are about: `SHEAF_BIN`, else the release that `cargo xtask dist` leaves.
pub fn binary() -> PathBuf {
    std::env::var_os("SHEAF_BIN").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/sheaf"), PathBuf::from)
}

impl Server {
    /// Starts `binary serve` with further arguments and waits for its one line on stdout.
    pub fn start(binary: &Path, arguments: &[&str]) -> io::Result<Self> {
        let data = tempfile::tempdir()?;
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--no-open", "--data"])
            .arg(data.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let log = collect(child.stderr.take());
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let Some((launch_url, address)) = ready(&line) else {
            let ended = child.kill().and_then(|()| child.wait());
            return Err(io::Error::other(format!("not ready ({ended:?}): {line}{}", text(&log))));
        };
        Ok(Self { child, data, _source: None, launch_url, address, log })
    }

    /// Starts `binary serve` on an empty database, for tests that need none: it saves the making of the sample.
    pub fn start_empty(binary: &Path) -> io::Result<Self> {
        let source = tempfile::tempdir()?;
        let file = source.path().join("empty.sqlite");
        std::fs::write(&file, b"")?;
        let path = file.to_str().ok_or_else(|| io::Error::other("the folder for temporary files is not named in UTF-8"))?;
        let mut server = Self::start(binary, &[path])?;
        server._source = Some(source);
        Ok(server)
    }

    /// The address with the launch code of the ready line: good once.
    pub fn launch_url(&self) -> String {
        self.launch_url.clone()
    }

    /// The code of [`Self::launch_url`].
    pub fn launch_code(&self) -> &str {
        self.launch_url.split_once("#launch=").map_or("", |(_, code)| code)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its data folder.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// What it wrote to stderr so far.
    pub fn stderr(&self) -> String {
        text(&self.log)
    }

    /// Waits until it has ended by itself.
    pub fn wait(&mut self) -> io::Result<std::process::ExitStatus> {
        self.child.wait()
    }

    /// A client on a connection of its own.
    pub async fn client(&self) -> io::Result<Client> {
        Client::connect(self.address).await
    }

    /// Exchanges the launch code for a bearer.
    pub async fn sign_in(&self) -> io::Result<String> {
        let body = serde_json::json!({ "code": self.launch_code() });
        let answer = self.client().await?.send(Request::post("/api/v1/sign-in/launch").json(&body)).await?;
        let bearer = answer.json().get("bearer").and_then(|b| b.as_str()).map(str::to_owned);
        bearer.ok_or_else(|| io::Error::other(format!("no bearer in the answer {}: {}", answer.status, answer.text())))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(stderr: Option<impl Read + Send + 'static>) -> Arc<Mutex<String>> {
    let log = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&log);
    if let Some(stderr) = stderr {
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Ok(mut kept) = kept.lock() {
                    kept.push_str(&line);
                    kept.push('\n');
                }
            }
        });
    }
    log
}

fn text(log: &Mutex<String>) -> String {
    log.lock().map(|log| log.clone()).unwrap_or_default()
}

fn ready(line: &str) -> Option<(String, SocketAddr)> {
    let url = line.strip_suffix('\n')?.strip_prefix("Sheaf is ready: ")?;
    let (address, code) = url.strip_prefix("http://")?.split_once("/#launch=")?;
    if code.is_empty() {
        return None;
    }
    Some((url.to_owned(), address.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::ready;

    #[test]
    fn only_the_exact_ready_line_counts() {
        let (url, address) = ready("Sheaf is ready: http://127.0.0.1:7432/#launch=abc\n").unwrap();
        assert_eq!((url.as_str(), address.port()), ("http://127.0.0.1:7432/#launch=abc", 7432));
        for line in ["", "Sheaf is ready: http://127.0.0.1:7432/#launch=\n", "Sheaf is ready: http://127.0.0.1:7432/#launch=abc", "ready\n"]
        {
            assert!(ready(line).is_none(), "{line:?}");
        }
    }
}
