//! SQLite's own client, the program `sqlite3`: what it prints of a file.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The bytes it prints for a script over the file, with nothing of the user's own settings; panics if it complains.
pub fn printed(file: &Path, script: &str) -> Vec<u8> {
    let mut client = Command::new("sqlite3");
    client.args(["-batch", "-bail", "-init", "/dev/null"]).arg(file);
    let started = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.expect("no sqlite3 found: install the package `sqlite3`");
    let (mut input, script) = (child.stdin.take().unwrap(), script.to_owned());
    let writing = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
