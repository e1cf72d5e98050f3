//! The process as a person or a script sees it: what it prints, what it refuses, how it ends.

use e2e::http::{Client, Request};
use e2e::server::{Server, binary};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn sheaf(arguments: &[&str]) -> Output {
    Command::new(binary()).args(arguments).env_remove("SHEAF_MODE").output().unwrap()
}

/// A start that must fail: nothing on stdout, one sentence on stderr.
fn refusal(arguments: &[&str]) -> String {
    let output = sheaf(arguments);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
    assert!(output.stdout.is_empty());
    assert_eq!(told.lines().count(), 1, "{told}");
    told
}

#[test]
fn a_start_that_can_t_be_is_one_sentence() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    let notes = data.path().join("notes.txt");
    std::fs::write(&notes, "These are notes, not a database.").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = |rest: &[&str]| refusal(&[&["serve", "--no-open", "--data", folder], rest].concat());
    assert!(serve(&["--listen", "0.0.0.0:0"]).contains("this machine only"));
    assert!(serve(&["--listen", "nowhere"]).contains("ADDRESS:PORT"));
    assert!(serve(&["--listen", &address]).contains("in use"));
    assert!(serve(&["--listen", "127.0.0.1:0", "/no/such/file.sqlite"]).contains("/no/such/file.sqlite"));
    assert!(serve(&["--listen", "127.0.0.1:0", notes.to_str().unwrap()]).contains("is no database that Sheaf knows"));
    assert!(serve(&["--listen", "127.0.0.1:0", "oracle://x"]).contains("oracle://"));
    let store = data.path().join("sheaf.sqlite");
    std::fs::write(&store, "").unwrap();
    assert!(serve(&["--listen", "127.0.0.1:0", store.to_str().unwrap()]).contains("Sheaf's own store"));
    assert!(refusal(&["open", "--data", folder]).contains("No Sheaf server"));
}

#[tokio::test]
async fn a_fresh_link_signs_in() {
    let server = Server::start_empty(&binary()).unwrap();
    let output = sheaf(&["open", "--data", server.data().to_str().unwrap()]);
    let line = String::from_utf8(output.stdout).unwrap();
    let start = format!("Sheaf is ready: http://{}/#launch=", server.address());
    let code = line.strip_prefix(&start).and_then(|rest| rest.strip_suffix('\n')).unwrap_or_else(|| panic!("{line}"));
    let ask = Request::post("/api/v1/sign-in/launch").json(&json!({"code": code}));
    assert_eq!(server.client().await.unwrap().send(ask).await.unwrap().status, 200);
}

#[test]
fn a_data_folder_has_one_server() {
    let server = Server::start_empty(&binary()).unwrap();
    let told = refusal(&["serve", "--no-open", "--listen", "127.0.0.1:0", "--data", server.data().to_str().unwrap()]);
    assert!(told.contains("already runs"), "{told}");
}

#[tokio::test]
async fn it_answers_at_both_loopback_addresses() {
    let server = Server::start_empty(&binary()).unwrap();
    let v6 = format!("[::1]:{}", server.address().port());
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("no IPv6 here: not tested");
        return;
    }
    let mut client = Client::connect(v6.parse().unwrap()).await.unwrap();
    assert_eq!(client.send(Request::get("/")).await.unwrap().status, 200);
    let mut client = server.client().await.unwrap();
    let by_name = Request::get("/").header("Host", &format!("localhost:{}", server.address().port()));
    assert_eq!(client.send(by_name).await.unwrap().status, 200);
}

fn files(folder: &Path, found: &mut Vec<(String, u32)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        found.push((entry.path().display().to_string(), entry.metadata().unwrap().permissions().mode() & 0o077));
        if entry.path().is_dir() {
            files(&entry.path(), found);
        }
    }
}

#[tokio::test]
async fn nobody_else_on_the_machine_can_read_its_files() {
    let server = Server::start(&binary(), &[]).unwrap();
    server.sign_in().await.unwrap();
    assert_eq!(std::fs::metadata(server.data()).unwrap().permissions().mode() & 0o777, 0o700);
    let mut found = Vec::new();
    files(server.data(), &mut found);
    assert!(!found.is_empty());
    for (path, others) in found {
        assert_eq!(others, 0, "{path}");
    }
}

#[tokio::test]
async fn asked_to_end_it_ends_in_time_with_a_stream_and_a_statement_open() {
    let mut server = Server::start_empty(&binary()).unwrap();
    let bearer = server.sign_in().await.unwrap();
    let connections = server.client().await.unwrap().send(Request::get("/api/v1/connections").bearer(&bearer)).await.unwrap().json();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let start = json!({"connection": connections[0]["id"], "sql": endless, "token": "endless"});
    let mut running = server.client().await.unwrap();
    let run = Request::post("/api/v1/runs").bearer(&bearer).json(&start);
    let run = tokio::spawn(async move { running.send(run).await });
    let (mut streaming, mut idle) = (server.client().await.unwrap(), server.client().await.unwrap());
    assert_eq!(idle.send(Request::get("/")).await.unwrap().status, 200);
    let stream = tokio::spawn(async move { streaming.send(Request::get("/api/v1/events?window=w").bearer(&bearer)).await });
    let asked = Instant::now();
    Command::new("kill").args(["-TERM", &server.pid().to_string()]).status().unwrap();
    let status = tokio::task::spawn_blocking(move || server.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    // The stream ended, or never began; the run was answered, or cut off: either way nobody waits.
    let _ = (stream.await.unwrap(), run.await.unwrap());
}
