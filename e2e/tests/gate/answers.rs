//! Bad input to the real binary: each gives one clear problem, and nothing else is lost.

use super::matrix::check_headers;
use super::raw;
use e2e::http::{Request, Response};
use e2e::server::{Server, binary};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const ARROW: &str = "application/vnd.apache.arrow.stream";

fn problem(answer: &Response, status: u16, code: &str) -> String {
    assert_eq!((answer.status, answer.json()["code"].as_str()), (status, Some(code)), "{}", answer.text());
    check_headers(answer, code);
    answer.json()["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_launch_code_is_good_once() {
    let server = Server::start_empty(&binary()).unwrap();
    let mut client = server.client().await.unwrap();
    let ask = || Request::post("/api/v1/sign-in/launch").json(&json!({"code": server.launch_code()}));
    let first = client.send(ask()).await.unwrap();
    assert_eq!(first.status, 200);
    check_headers(&first, "sign-in");
    problem(&client.send(ask()).await.unwrap(), 401, "not_signed_in");
    assert!(!server.stderr().contains(server.launch_code()));
    assert!(!server.stderr().contains(first.json()["bearer"].as_str().unwrap()));
}

#[tokio::test]
async fn of_many_that_present_one_code_at_once_one_gets_in() {
    let server = Server::start_empty(&binary()).unwrap();
    let mut attempts = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let mut client = server.client().await.unwrap();
        let ask = Request::post("/api/v1/sign-in/launch").json(&json!({"code": server.launch_code()}));
        attempts.spawn(async move { client.send(ask).await.unwrap().status });
    }
    let mut statuses = attempts.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401, 401, 401, 401, 401, 401, 401]);
}

#[tokio::test]
async fn bad_bodies_are_told_and_the_next_request_is_answered() {
    let server = Server::start_empty(&binary()).unwrap();
    let bearer = server.sign_in().await.unwrap();
    let post = |body: &str| {
        Request::post("/api/v1/runs").bearer(&bearer).header("Content-Type", "application/json").body(body.as_bytes().to_vec())
    };
    for (body, status, code, word) in [
        (r#"{"connection": "x", "sql": "SELECT 1", "limit": 5}"#, 400, "invalid_request", "`limit`"),
        ("{\"connection\":\n \"x\" \"sql\"}", 400, "invalid_request", "line 2"),
        ("", 400, "invalid_request", "JSON"),
        (r#"{"connection": "none", "sql": "SELECT 1"}"#, 404, "not_found", "connection"),
    ] {
        let answer = server.client().await.unwrap().send(post(body)).await.unwrap();
        let message = problem(&answer, status, code);
        assert!(message.contains(word), "{message}");
    }
    let large = " ".repeat(1024 * 1024 + 1);
    // The server answers before it has read all; the client may still be sending then.
    if let Ok(answer) = server.client().await.unwrap().send(post(&large)).await {
        problem(&answer, 413, "too_large");
    }
    let after = server.client().await.unwrap().send(Request::get("/api/v1/connections").bearer(&bearer)).await.unwrap();
    assert_eq!(after.status, 200);
}

#[tokio::test]
async fn runs_that_ended_and_pages_that_never_were_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.sqlite");
    std::fs::write(&file, "").unwrap();
    let server = Server::start(&binary(), &[file.to_str().unwrap()]).unwrap();
    let bearer = server.sign_in().await.unwrap();
    let mut client = server.client().await.unwrap();
    let connections: Value = client.send(Request::get("/api/v1/connections").bearer(&bearer)).await.unwrap().json();
    assert_eq!((connections[0]["name"].as_str(), connections[0]["temporary"].as_bool()), (Some("empty.sqlite"), Some(true)));
    let start = json!({"connection": connections[0]["id"], "sql": "SELECT 1 AS one UNION ALL SELECT 2", "page_rows": 1});
    let page0 = client.send(Request::post("/api/v1/runs").bearer(&bearer).header("Accept", ARROW).json(&start)).await.unwrap();
    assert_eq!((page0.status, page0.header("content-type"), page0.header("sheaf-state")), (200, ARROW, "more"), "{}", page0.text());
    assert_eq!(page0.header("content-length"), page0.body.len().to_string());
    check_headers(&page0, "page 0");
    let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
    let page1 = client.send(Request::get(&format!("{run}/pages/1")).bearer(&bearer)).await.unwrap();
    assert_eq!(page1.status, 200);
    assert_eq!(page1.header("sheaf-page-crc32").len(), 8);
    let past = client.send(Request::get(&format!("{run}/pages/2")).bearer(&bearer)).await.unwrap();
    problem(&past, 404, "past_the_end");
    assert_eq!(client.send(Request::new("DELETE", &run).bearer(&bearer)).await.unwrap().status, 204);
    problem(&client.send(Request::get(&run).bearer(&bearer)).await.unwrap(), 410, "gone");
    problem(&client.send(Request::get(&format!("{run}/pages/0")).bearer(&bearer)).await.unwrap(), 410, "gone");
    let unknown = client.send(Request::get("/api/v1/runs/0000").bearer(&bearer)).await.unwrap();
    problem(&unknown, 404, "not_found");
}

#[tokio::test]
async fn requests_that_are_no_http_do_no_harm() {
    let server = Server::start_empty(&binary()).unwrap();
    let at = server.address();
    for (request, status) in [
        (format!("GET / HTTP/1.1\r\nHost: {at}\r\nHost: {at}\r\nConnection: close\r\n\r\n"), 400),
        ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), 400),
        (format!("GET http://evil.example/ HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n"), 421),
        (format!("CONNECT evil.example:443 HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n"), 421),
        (format!("CONNECT {at} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n"), 405),
        (format!("GET /{} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n", "a".repeat(9_000)), 414),
        (format!("GET / HTTP/1.1\r\nHost: {at}\r\nX-Large: {}\r\nConnection: close\r\n\r\n", "a".repeat(17_000)), 431),
    ] {
        let answer = raw::exchange(at, request.as_bytes()).await;
        let shown: String = request.chars().take(60).collect();
        assert_eq!(raw::status(&answer), status, "{shown}: {answer}");
        assert!(answer.contains("x-content-type-options: nosniff"), "{shown}");
    }
    for nonsense in [&b"\x16\x03\x01\x02\x00"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET\r\n\r\n", &[0_u8; 4_096]] {
        let answer = raw::exchange(at, nonsense).await;
        assert!(answer.is_empty() || raw::status(&answer) >= 400, "{answer}");
    }
    assert_eq!(server.client().await.unwrap().send(Request::get("/")).await.unwrap().status, 200);
}

#[tokio::test]
async fn headers_that_do_not_come_are_not_waited_for() {
    let server = Server::start_empty(&binary()).unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
    let started = Instant::now();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the connection was still open after 20 s");
    assert!(started.elapsed() >= Duration::from_secs(9), "{:?}", started.elapsed());
}

#[tokio::test]
async fn an_idle_connection_outlives_the_time_for_headers() {
    let server = Server::start_empty(&binary()).unwrap();
    let mut client = server.client().await.unwrap();
    assert_eq!(client.send(Request::get("/")).await.unwrap().status, 200);
    // No condition to wait for: that nothing happens is what is tested.
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(client.send(Request::get("/")).await.unwrap().status, 200);
}
