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
        Self::start_on(&["one.csv", "two.csv"].map(|name| (name, b"a\n1\n2\n".as_slice())), options).await
    }

    /// With these files by their names.
    async fn start_on(files: &[(&str, &[u8])], options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |(name, bytes): &(&str, &[u8])| {
            let path = folder.path().join(name);
            write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let paths: Vec<String> = files.iter().map(path).collect();
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

/// The same three rows, as each kind of file has them.
const KINDS: [(&str, &[u8]); 7] = [
    ("trips.parquet", include_bytes!("rows/trips.parquet")),
    ("trips.arrow", include_bytes!("rows/trips.arrow")),
    ("trips.arrows", include_bytes!("rows/trips.arrows")),
    ("trips.feather", include_bytes!("rows/trips.feather")),
    ("trips.csv", "n,word\n1,one\n2,\n3,drei é\n".as_bytes()),
    ("trips.ndjson", "{\"n\": 1, \"word\": \"one\"}\n{\"n\": 2, \"word\": null}\n{\"n\": 3, \"word\": \"drei é\"}\n".as_bytes()),
    ("trips.json", "[{\"n\": 1, \"word\": \"one\"}, {\"n\": 2}, {\"n\": 3, \"word\": \"drei é\"}]".as_bytes()),
];

#[tokio::test]
async fn every_kind_of_file_of_rows_is_served_by_its_path() {
    for kind in KINDS {
        let name = kind.0;
        let mut api = Api::start_on(&[kind], &[]).await;
        let list = api.send(Request::get("/api/v1/connections")).await.json();
        assert!(list.to_string().contains(name), "{list}");
        let catalog = api.send(Request::get(&format!("/api/v1/connections/{}/catalog", api.files[0]))).await.json();
        let relation = &catalog["schemas"][0]["relations"][0];
        let columns: Vec<&str> = relation["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!((relation["name"].as_str(), columns), (Some("trips"), vec!["n", "word"]), "{name}");
        let all = api.run(0, "SELECT * FROM trips", &json!([])).await;
        assert_eq!((&all["state"], &all["total_rows"]), (&json!("done"), &json!(3)), "{name}: {all}");
        // A wrong cell makes this a refusal.
        let cells = "SELECT CASE WHEN list(n::TEXT || coalesce(word, '∅') ORDER BY n) = ['1one', '2∅', '3drei é'] THEN 1 ELSE error('other rows') END FROM trips";
        let told = api.run(0, cells, &json!([])).await;
        assert_eq!(told["state"], "done", "{name}: {told}");
        assert_eq!(api.run(0, "DELETE FROM trips", &json!([])).await["code"], "rejected", "{name}");
    }
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
