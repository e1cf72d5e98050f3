//! DuckDB's process beside the real server: what its end means for a person, and that it never outlives the server.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)] // A panic is a test's report.

use e2e::http::{Client, Request, Response};
use e2e::server::{Server, binary};
use serde_json::{Value, json};
use std::fs::{read_dir, read_to_string, write};

/// A signed-in client of a server with two files of rows.
struct Api {
    client: Client,
    bearer: String,
    server: Server,
    _folder: tempfile::TempDir,
    files: Vec<String>,
}

impl Api {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one.csv", "two.csv"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
        paths.iter().for_each(|path| write(path, "a\n1\n2\n").unwrap());
        let arguments: Vec<&str> = options.iter().copied().chain(paths.iter().map(String::as_str)).collect();
        let server = Server::start(&binary(), &arguments).unwrap();
        let bearer = server.sign_in().await.unwrap();
        let mut api = Self { client: server.client().await.unwrap(), bearer, server, _folder: folder, files: Vec::new() };
        let list = api.send(Request::get("/api/v1/connections")).await.json();
        let known = list.as_array().or_else(|| list["connections"].as_array()).unwrap().clone();
        api.files = known.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        api
    }

    async fn send(&mut self, request: Request) -> Response {
        self.client.send(request.bearer(&self.bearer)).await.unwrap()
    }

    /// A statement of the console of a file; its state and what goes with it.
    async fn run(&mut self, file: usize, sql: &str, params: &Value) -> Value {
        let start = json!({"connection": self.files[file], "session": "console", "sql": sql, "params": params});
        self.send(Request::post("/api/v1/runs").header("Accept", "application/json").json(&start)).await.json()
    }

    /// Processes of the server.
    fn processes(&self) -> Vec<u32> {
        let parent = self.server.pid().to_string();
        let all = read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
        all.filter(|pid| stat(*pid).is_some_and(|fields| fields[1] == parent)).collect()
    }
}

/// State, parent and the rest of a process.
fn stat(pid: u32) -> Option<Vec<String>> {
    let line = read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(line.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| fields[0] != "Z")
}

#[tokio::test]
async fn a_text_that_ends_duckdb_is_told_and_the_next_statement_works() {
    let mut api = Api::start().await;
    assert_eq!(api.run(0, "SELECT sum(a) FROM one WHERE a > ?", &json!([1])).await["state"], "done");
    assert_eq!(api.run(1, "CREATE TEMP TABLE kept AS SELECT 1 AS a", &json!([])).await["state"], "done");
    let fatal = "CALL enable_logging('QueryLog', storage = 'file', storage_path = '/nowhere/log')";
    let told = api.run(0, fatal, &json!([])).await;
    assert!(told.to_string().contains("DuckDB takes no statement of this file any more"), "{told}");
    assert_eq!(api.run(0, "SELECT sum(a) FROM one", &json!([])).await["state"], "done");
    let hidden = "SELECT * FROM query('FROM enable_' || 'logging(''QueryLog'', storage = ''file'', storage_path = ''/nowhere/log'')')";
    api.run(0, hidden, &json!([])).await;
    let next = api.run(0, "SELECT sum(a) FROM one", &json!([])).await;
    assert_eq!(next["state"], "done", "{next}");
    assert!(next["notices"].to_string().contains("session was lost"), "{next}");
    // What the other file's console had is still there.
    assert_eq!(api.run(1, "SELECT a FROM kept", &json!([])).await["state"], "done");
}

#[tokio::test]
async fn a_library_that_is_missing_is_told_with_the_command_that_brings_it() {
    let mut api = Api::start_with(&["--duckdb", "/nowhere/libduckdb.so"]).await;
    let told = api.run(0, "SELECT 1", &json!([])).await;
    assert_eq!(told["code"], "cannot_open", "{told}");
    assert!(told["message"].as_str().unwrap().starts_with("DuckDB's library is not installed: run `cargo xtask setup`"), "{told}");
}

#[tokio::test]
async fn no_process_outlives_a_server_that_is_killed() {
    let mut api = Api::start().await;
    assert_eq!(api.run(0, "SELECT sum(a) FROM one", &json!([])).await["state"], "done");
    assert_eq!(api.run(1, "SELECT sum(a) FROM two", &json!([])).await["state"], "done");
    let processes = api.processes();
    assert_eq!(processes.len(), 2);
    let killed = std::process::Command::new("kill").args(["-KILL", &api.server.pid().to_string()]).status().unwrap();
    assert!(killed.success());
    api.server.wait().unwrap();
    while processes.iter().any(|pid| is_alive(*pid)) {
        std::thread::yield_now();
    }
}
