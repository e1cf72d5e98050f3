//! DuckDB's own client: what it prints of statements over a database in memory.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Between values, and behind rows, in what it prints. No text that is tested has them.
const VALUE_END: char = '\u{1f}';
const ROW_END: char = '\u{1e}';
/// What stands for NULL.
const NULL: &str = "\u{1}NULL\u{1}";

/// Where it is: as `SHEAF_TEST_DUCKDB` says, or where the project's setup puts it.
fn program() -> PathBuf {
    let given = std::env::var_os("SHEAF_TEST_DUCKDB").map(PathBuf::from);
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let found = given.or_else(|| Some(cache?.join("sheaf/duckdb-client/duckdb_cli/duckdb"))).filter(|path| path.is_file());
    found.expect("no client of DuckDB found: run `cargo xtask test`, which brings it, or set SHEAF_TEST_DUCKDB")
}

/// The rows that it prints for these statements, one after the other; `None` is NULL. Panics where one fails.
pub fn rows(statements: &[String]) -> Vec<Vec<Option<String>>> {
    let mut client = Command::new(program());
    client.args(["-batch", "-bail", "-init", "/dev/null", ":memory:"]);
    let mut child = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let script = format!(".mode list\n.separator {VALUE_END} {ROW_END}\n.headers off\n.nullvalue {NULL}\n{};\n", statements.join(";\n"));
    let mut input = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let value = |value: &str| Some(value.to_owned()).filter(|text| text != NULL);
    printed.split_terminator(ROW_END).map(|row| row.split(VALUE_END).map(value).collect()).collect()
}
