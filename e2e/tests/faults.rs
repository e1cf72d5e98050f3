//! What goes wrong with a real PostgreSQL, as a client of the API hears of it: one clear problem each, and nothing else is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)] // A panic is a test's report.

use e2e::http::{Client, Request, Response};
use e2e::server::{Server, binary};
use serde_json::{Value, json};
use testing::postgres::{Cluster, PASSWORD, USER, bins};

const ARROW: &str = "application/vnd.apache.arrow.stream";

/// A signed-in client of a server beside a cluster.
struct Api {
    client: Client,
    bearer: String,
    _server: Server,
}

impl Api {
    async fn start() -> Self {
        let server = Server::start_empty(&binary()).unwrap();
        let bearer = server.sign_in().await.unwrap();
        Self { client: server.client().await.unwrap(), bearer, _server: server }
    }

    async fn send(&mut self, request: Request) -> Response {
        self.client.send(request.bearer(&self.bearer)).await.unwrap()
    }

    async fn post(&mut self, path: &str, body: &Value) -> Response {
        self.send(Request::post(path).json(body)).await
    }

    async fn connect(&mut self, fields: &Value) -> String {
        let answer = self.post("/api/v1/connections", fields).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    async fn run(&mut self, connection: &str, sql: &str) -> Response {
        let start = json!({"connection": connection, "session": "console", "sql": sql, "page_rows": 100});
        self.send(Request::post("/api/v1/runs").header("Accept", ARROW).json(&start)).await
    }
}

fn newest() -> Cluster {
    let programs = bins();
    let newest = programs.last().expect("no PostgreSQL is installed: `cargo xtask test` installs it");
    Cluster::start(newest)
}

fn fields(cluster: &Cluster) -> Value {
    json!({"name": "pg", "engine": "postgres", "host": "127.0.0.1", "port": cluster.port, "database": "postgres", "user": USER})
}

fn problem(answer: &Response, code: &str) -> Value {
    let problem = answer.json();
    assert_eq!((answer.status, problem["code"].as_str()), (422, Some(code)), "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert!(!answer.text().contains(PASSWORD), "{}", answer.text());
    problem
}

#[tokio::test]
async fn each_way_not_to_connect_has_its_own_code() {
    let cluster = newest();
    let mut api = Api::start().await;
    let test = "/api/v1/connections/test";
    let with = |name: &str, value: Value| {
        let mut fields = fields(&cluster);
        fields[name] = value;
        fields
    };
    problem(&api.post(test, &fields(&cluster)).await, "password_needed");
    problem(&api.post(test, &with("password", json!("wrong"))).await, "authentication_failed");
    problem(&api.post(test, &with("port", json!(1))).await, "connect_failed");
    problem(&api.post(test, &with("host", json!("no-such-host.invalid"))).await, "connect_failed");
    problem(&api.post(test, &with("host", json!("169.254.169.254"))).await, "connect_failed");
    let good = api.post(test, &with("password", json!(PASSWORD))).await;
    assert_eq!(good.status, 200, "{}", good.text());
    assert!(good.json()["server"].as_str().unwrap().starts_with("PostgreSQL"), "{}", good.text());
}

#[tokio::test]
async fn sheaf_is_not_a_database_to_itself() {
    let mut api = Api::start().await;
    let port = api._server.address().port();
    for host in ["127.0.0.1", "localhost", "127.0.0.2"] {
        let own = json!({"name": "own", "engine": "postgres", "host": host, "port": port});
        let told = problem(&api.post("/api/v1/connections/test", &own).await, "connect_failed");
        assert!(told["message"].as_str().unwrap().contains("is Sheaf's own"), "{told}");
    }
}

#[tokio::test]
async fn an_error_of_the_database_comes_with_its_own_words_and_place() {
    let cluster = newest();
    let mut api = Api::start().await;
    let mut with_password = fields(&cluster);
    with_password["password"] = json!(PASSWORD);
    let connection = api.connect(&with_password).await;
    let told = problem(&api.run(&connection, "SELECT 'é', missing FROM pg_class").await, "rejected");
    assert_eq!((told["sqlstate"].as_str(), told["position"].as_u64()), (Some("42703"), Some(13)), "{told}");
    assert!(told["message"].as_str().unwrap().contains("missing"));
    let after = api.run(&connection, "SELECT 1").await;
    assert_eq!(after.status, 200, "{}", after.text());
}

#[tokio::test]
async fn a_server_that_dies_loses_only_what_was_not_read() {
    let cluster = newest();
    let mut api = Api::start().await;
    let mut with_password = fields(&cluster);
    with_password["password"] = json!(PASSWORD);
    let connection = api.connect(&with_password).await;
    let page0 = api.run(&connection, "SELECT n FROM generate_series(1, 1000000) n").await;
    assert_eq!((page0.status, page0.header("sheaf-state")), (200, "more"), "{}", page0.text());
    let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
    cluster.stop();
    // The read-ahead may have more pages; behind those the rest will not come.
    let mut n = 1;
    let last = loop {
        let answer = api.send(Request::get(&format!("{run}/pages/{n}"))).await;
        if answer.status != 200 {
            break answer;
        }
        n += 1;
    };
    assert_eq!((last.status, last.json()["code"].as_str()), (409, Some("partial")), "{}", last.text());
    let again = api.send(Request::get(&format!("{run}/pages/0"))).await;
    assert_eq!((again.status, again.header("etag")), (200, page0.header("etag")));
    let status = api.send(Request::get(&run)).await.json();
    assert_eq!(status["state"].as_str(), Some("partial"), "{status}");
    let failed = api.run(&connection, "SELECT 1").await;
    assert_eq!(failed.status, 422, "{}", failed.text());
    assert_eq!(api.send(Request::get("/api/v1/connections")).await.status, 200);
}
