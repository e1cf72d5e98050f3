//! A server process that ends with the process that started it, and its folder with it. Knows no database.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Ends the server and removes its folder when its input closes, which it does when the test process is gone.
const SCRIPT: &str =
    r#"folder=$1; signal=$2; shift 2; "$@" & server=$!; cat >/dev/null; kill -"$signal" $server; wait $server; rm -rf "$folder""#;

/// A running server, kept.
#[derive(Debug)]
pub struct Keeper {
    input: Option<ChildStdin>,
    child: Child,
}

impl Keeper {
    /// Starts a server and waits until its error output says `ready`. `signal` is what ends it at once, as a crash would.
    pub fn start(folder: &Path, server: &Command, signal: &str, ready: &str) -> Self {
        let mut keeper = Command::new("sh");
        keeper.args(["-c", SCRIPT, "sh"]).arg(folder).arg(signal).arg(server.get_program()).args(server.get_args());
        let mut child = keeper.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until(&mut child, ready);
        Self { input: child.stdin.take(), child }
    }

    /// Ends the server at once, and waits until it is gone.
    pub fn stop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The error output is read to its end, so that a talkative server never blocks.
fn wait_until(child: &mut Child, ready: &str) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = String::new();
    loop {
        let line = lines.next().unwrap_or_else(|| panic!("the server did not start:\n{said}")).unwrap();
        if line.contains(ready) {
            break;
        }
        said = said + &line + "\n";
    }
    std::thread::spawn(move || lines.for_each(drop));
}

/// A new folder that belongs to the user servers run as; whoever keeps the server removes it.
pub fn folder(prefix: &str) -> PathBuf {
    let folder = tempfile::Builder::new().prefix(prefix).tempdir().unwrap().keep();
    give(&folder);
    folder
}

/// Gives a file or folder to the user servers run as.
pub fn give(path: &Path) {
    if let Some(user) = unprivileged() {
        run(Command::new("chown").arg(user).arg(path));
    }
}

/// A free port of the loopback.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server refuses to run as root: another user then, who owns nothing else here.
fn unprivileged() -> Option<&'static str> {
    let me = Command::new("id").arg("-u").output().unwrap();
    if me.stdout.trim_ascii() != b"0" {
        return None;
    }
    let exists = |user: &&str| Command::new("id").arg(user).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success();
    ["postgres", "nobody"].into_iter().find(exists)
}

/// A program, as the user servers run as.
pub fn as_user(program: &Path) -> Command {
    match unprivileged() {
        None => Command::new(program),
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.arg("--reuid").arg(user).args(["--clear-groups", "--"]).arg(program);
            command
        }
    }
}

/// Runs a command to its end; panics with its words if it fails.
pub fn run(command: &mut Command) {
    let output = command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {said}{}", String::from_utf8_lossy(&output.stdout));
}
