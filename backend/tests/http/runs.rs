use crate::support::{Answer, Client, Server, post_text, request};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use axum::body::Body;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use shared::limits::{PAGE_ROWS_MAX, SQL_BYTES_MAX};
use shared::problem::ErrorCode;
use std::time::Duration;
use tower::ServiceExt as _;

const COUNT: &str = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2499) SELECT i FROM n";
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

fn first(page: &Answer) -> i64 {
    page.page().column(0).as_primitive::<Int64Type>().value(0)
}

#[tokio::test]
async fn the_first_page_is_the_answer_and_the_others_follow() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let page0 = client.run(&json!({"connection": id, "sql": COUNT})).await;
    assert_eq!((page0.page().num_rows(), first(&page0)), (1_000, 0));
    assert_eq!((page0.header("sheaf-page-rows"), page0.header("sheaf-state")), ("1000", "more"));
    assert_eq!(page0.header("cache-control"), "no-store");
    let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
    let page1 = client.get(&format!("{run}/pages/1")).await;
    assert_eq!((page1.page().num_rows(), first(&page1)), (1_000, 1_000));
    let page2 = client.get(&format!("{run}/pages/2")).await;
    assert_eq!((page2.page().num_rows(), first(&page2)), (500, 2_000));
    assert_eq!(client.get(&format!("{run}/pages/3")).await.problem(404).code, ErrorCode::PastTheEnd);
    assert_eq!(client.get(&format!("{run}/pages/4000000000")).await.problem(404).code, ErrorCode::PastTheEnd);
    let status = client.get(&run).await.json();
    assert_eq!((status["state"].as_str(), status["total_rows"].as_u64()), (Some("done"), Some(2_500)));
    assert_eq!(status["columns"][0]["name"], "i");
    assert_eq!(client.delete(&run).await.status, 204);
    for path in [run.clone(), format!("{run}/pages/0"), format!("{run}/cells/0/0")] {
        assert_eq!(client.get(&path).await.problem(410).code, ErrorCode::Gone, "{path}");
    }
}

#[tokio::test]
async fn a_page_has_the_same_bytes_every_time_and_is_not_sent_twice() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let page0 = client.run(&json!({"connection": id, "sql": COUNT, "page_rows": 10})).await;
    assert_eq!(page0.header("sheaf-page-rows"), "10");
    let path = format!("/api/v1/runs/{}/pages/0", page0.header("sheaf-run"));
    let again = client.get(&path).await;
    assert_eq!((&again.body, again.header("etag")), (&page0.body, page0.header("etag")));
    let mut conditional = request("GET", &path, Body::empty());
    conditional.headers_mut().insert("if-none-match", page0.header("etag").parse().unwrap());
    let unchanged = client.send(conditional).await;
    assert_eq!((unchanged.status, unchanged.body.len(), unchanged.header("cache-control")), (304, 0, "no-store"));
    let mut picky = request("GET", &path, Body::empty());
    picky.headers_mut().insert("accept", "application/json".parse().unwrap());
    assert_eq!(client.send(picky).await.problem(406).code, ErrorCode::InvalidRequest);
}

#[tokio::test]
async fn as_json_a_run_has_no_rows() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let status = client.post("/api/v1/runs", &json!({"connection": id, "sql": COUNT})).await;
    assert_eq!((status.status, status.header("content-type")), (200, "application/json"));
    assert_eq!(status.json()["columns"][0]["name"], "i");
    assert_eq!(status.json()["page_rows"], 1_000);
}

#[tokio::test]
async fn a_statement_without_rows_says_what_it_changed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)").await;
    let done = client.run(&json!({"connection": id, "sql": "UPDATE t SET a = a + 1"})).await;
    assert_eq!((done.status, done.header("sheaf-rows-affected"), done.header("sheaf-state")), (204, "3", "done"));
    assert!(!done.header("sheaf-run").is_empty());
}

#[tokio::test]
async fn a_refusal_is_a_problem_with_its_place() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let problem = client.run(&json!({"connection": id, "sql": "SELECT 1 FORM t"})).await.problem(422);
    assert_eq!(problem.code, ErrorCode::Rejected);
    assert!(problem.position.is_some() && problem.sqlstate.is_some(), "{problem:?}");
}

#[tokio::test]
async fn what_can_t_be_run_is_told_before_it_is_sent() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let long = format!("SELECT '{}'", "x".repeat(SQL_BYTES_MAX));
    let cases: Vec<(Value, u16, ErrorCode)> = vec![
        (json!({"connection": "none", "sql": "SELECT 1"}), 404, ErrorCode::NotFound),
        (json!({"connection": id, "sql": long}), 413, ErrorCode::TooLarge),
        (json!({"connection": id, "sql": "SELECT 1", "page_rows": 0}), 400, ErrorCode::InvalidRequest),
        (json!({"connection": id, "sql": "SELECT 1", "page_rows": PAGE_ROWS_MAX + 1}), 400, ErrorCode::InvalidRequest),
        (json!({"connection": id, "sql": "SELECT 1", "page_rows": -1}), 400, ErrorCode::InvalidRequest),
        (json!({"connection": id, "sql": "SELECT 1", "session": ""}), 400, ErrorCode::InvalidRequest),
        (json!({"connection": id, "sql": "SELECT 1", "token": "t".repeat(129)}), 400, ErrorCode::InvalidRequest),
        (json!({"connection": id}), 400, ErrorCode::InvalidRequest),
    ];
    for (body, status, code) in cases {
        let shown: String = body.to_string().chars().take(80).collect();
        assert_eq!(client.run(&body).await.problem(status).code, code, "{shown}");
    }
    let most = client.run(&json!({"connection": id, "sql": COUNT, "page_rows": PAGE_ROWS_MAX})).await;
    assert_eq!(most.page().num_rows(), 2_500);
}

#[tokio::test]
async fn a_number_of_more_digits_than_64_bits_hold_reaches_the_database_whole() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    for (number, class) in [("123456789012345678901234567890", "text"), ("3.14159265358979323846", "text"), ("51.24817837550540", "real")] {
        let body = format!(r#"{{"connection": "{id}", "sql": "SELECT typeof(?1), ?1", "params": [{number}]}}"#);
        let mut request = post_text("/api/v1/runs", body);
        request.headers_mut().insert("accept", shared::page::MEDIA_TYPE.parse().unwrap());
        let page = client.send(request).await.page();
        let cell =
            |at: usize| shared::format::format_cell(page.column(at).as_ref(), page.schema().field(at), 0).text().unwrap().into_owned();
        assert_eq!((cell(0).as_str(), cell(1).trim_end_matches('0')), (class, number.trim_end_matches('0')), "{number}");
    }
}

#[tokio::test]
async fn a_run_is_cancelled_by_its_token_before_its_first_row() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let body = json!({"connection": id, "sql": ENDLESS, "token": "mine"});
    let started = client.run(&body);
    let cancelled = async {
        // The start is on its way: until it is known, the token is not.
        loop {
            let answer = client.send(request("POST", "/api/v1/runs/by-token/mine/cancel", Body::empty())).await;
            if answer.status == 202 {
                return;
            }
            assert_eq!(answer.status, 404);
            tokio::task::yield_now().await;
        }
    };
    let (started, ()) = tokio::join!(started, cancelled);
    assert_eq!(started.problem(409).code, ErrorCode::Cancelled);
}

#[tokio::test]
async fn cancelling_again_and_again_does_no_harm() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let page0 = client.run(&json!({"connection": id, "sql": COUNT, "page_rows": 10})).await;
    let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
    for _ in 0..3 {
        assert_eq!(client.send(request("POST", &format!("{run}/cancel"), Body::empty())).await.status, 202);
    }
    assert_eq!(client.get(&format!("{run}/pages/0")).await.status, 200);
}

#[tokio::test]
async fn a_whole_cell_is_fetched_where_its_page_has_it_cut() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let sql = "SELECT replace(hex(zeroblob(50000)), '00', 'ab') AS t, zeroblob(100000) AS b, NULL AS n";
    let page0 = client.run(&json!({"connection": id, "sql": sql})).await;
    let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
    let text = client.get(&format!("{run}/cells/0/0")).await;
    assert_eq!((text.status, text.header("content-type")), (200, "text/plain; charset=utf-8"));
    assert_eq!(text.text(), "ab".repeat(50_000));
    let bytes = client.get(&format!("{run}/cells/0/1")).await;
    assert_eq!((bytes.header("content-type"), bytes.body.len()), ("application/octet-stream", 100_000));
    assert_eq!(client.get(&format!("{run}/cells/0/2")).await.status, 204);
    assert_eq!(client.get(&format!("{run}/cells/9/0")).await.status, 404);
    assert_eq!(client.get(&format!("{run}/cells/x/0")).await.problem(400).code, ErrorCode::InvalidRequest);
}

async fn follow(client: &Client<'_>, window: &str) -> axum::body::BodyDataStream {
    let mut asked = request("GET", &format!("/api/v1/events?window={window}"), Body::empty());
    asked.headers_mut().insert("authorization", format!("Bearer {}", client.bearer).parse().unwrap());
    let response = client.server.router.clone().oneshot(asked).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    response.into_body().into_data_stream()
}

#[tokio::test]
async fn a_window_hears_of_its_runs_until_the_server_ends() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let mut lines = follow(&client, "w1").await;
    let page0 = client.run(&json!({"connection": id, "sql": COUNT, "window": "w1"})).await;
    let run = page0.header("sheaf-run").to_owned();
    assert_eq!(client.send(request("POST", &format!("/api/v1/runs/{run}/read-to-end"), Body::empty())).await.status, 202);
    let mut text = String::new();
    let done = async {
        while !text.contains("\"state\":\"done\"") {
            text.push_str(std::str::from_utf8(&lines.next().await.unwrap().unwrap()).unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(20), done).await.unwrap();
    let last: Value = serde_json::from_str(text.trim_end().lines().next_back().unwrap()).unwrap();
    assert_eq!((last["id"].as_str(), last["rows_ready"].as_u64()), (Some(run.as_str()), Some(2_500)));
    server.app.stopping.cancel();
    let ended = async { while lines.next().await.is_some() {} };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
}

#[tokio::test]
async fn a_stream_needs_to_know_its_window() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for query in ["", "?window=", "?windo=x", "?window=a&other=b"] {
        assert_eq!(client.get(&format!("/api/v1/events{query}")).await.problem(400).code, ErrorCode::InvalidRequest, "{query}");
    }
}

#[tokio::test]
async fn a_console_shares_one_session_until_it_is_closed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let run = |sql: &str| json!({"connection": id, "session": "console-1", "sql": sql});
    assert_eq!(client.run(&run("CREATE TEMP TABLE mine AS SELECT 1 AS a")).await.status, 204);
    assert_eq!(client.run(&run("SELECT * FROM mine")).await.status, 200);
    assert_eq!(client.delete(&format!("/api/v1/sessions/{id}/console-1")).await.status, 204);
    assert_eq!(client.run(&run("SELECT * FROM mine")).await.problem(422).code, ErrorCode::Rejected);
}

#[tokio::test]
async fn a_console_that_one_window_has_is_no_others_to_run_in_or_to_close() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("").await;
    let path = format!("/api/v1/sessions/{id}/console-1");
    let run = |window: &str, sql: &str| json!({"connection": id, "session": "console-1", "window": window, "sql": sql});
    let _first = follow(&client, "one").await;
    assert_eq!(client.run(&run("one", "BEGIN")).await.status, 204);
    let problem = client.run(&run("other", "SELECT 1")).await.problem(409);
    assert_eq!((problem.code, problem.transaction), (ErrorCode::Elsewhere, None));
    let told = client.post(&path, &json!({"window": "other"})).await.json();
    assert_eq!((&told["elsewhere"], &told["transaction"]), (&json!(true), &json!("open")));
    assert_eq!(client.delete(&format!("{path}?window=other")).await.status, 204);
    assert_eq!(client.run(&run("one", "SELECT 1")).await.header("sheaf-transaction"), "open");
    assert_eq!(client.delete(&format!("{path}?windo=one")).await.problem(400).code, ErrorCode::InvalidRequest);
    assert_eq!(client.delete(&format!("{path}?window=one")).await.status, 204);
    assert_eq!(client.run(&run("other", "SELECT 1")).await.header("sheaf-transaction"), "none");
}
