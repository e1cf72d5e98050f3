use crate::support::{Server, post, request};
use axum::body::Body;
use serde_json::{Value, json};
use shared::limits::{BODY_BYTES_MAX, REPORT_BYTES_MAX};
use shared::problem::ErrorCode;

/// Every route with a JSON body, and a body it takes.
fn bodies() -> Vec<(&'static str, &'static str, Value)> {
    let fields = json!({"name": "a", "engine": "sqlite", "path": "/nowhere.sqlite"});
    vec![
        ("POST", "/api/v1/sign-in/launch", json!({"code": "x"})),
        ("POST", "/api/v1/connections", fields.clone()),
        ("POST", "/api/v1/connections/test", fields),
        ("PATCH", "/api/v1/connections/x", json!({"name": "b"})),
        ("POST", "/api/v1/connections/x/test", json!({"name": "b"})),
        ("POST", "/api/v1/runs", json!({"connection": "x", "sql": "SELECT 1"})),
    ]
}

fn with(method: &str, path: &str, body: &str) -> axum::http::Request<Body> {
    let mut request = request(method, path, Body::from(body.to_owned()));
    request.headers_mut().insert("content-type", "application/json".parse().unwrap());
    request.headers_mut().insert("content-length", body.len().into());
    request
}

#[tokio::test]
async fn z06_z12_an_unknown_field_is_named() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (method, path, mut body) in bodies() {
        body["surprise"] = json!(1);
        let problem = client.send(with(method, path, &body.to_string())).await.problem(400);
        assert_eq!(problem.code, ErrorCode::InvalidRequest);
        assert!(problem.message.contains("`surprise`"), "{method} {path}: {}", problem.message);
    }
}

#[tokio::test]
async fn malformed_json_is_told_with_its_place() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (method, path, _) in bodies() {
        for body in ["{\"name\":\n  }", "[1, 2", "nothing", "{}{}"] {
            let problem = client.send(with(method, path, body)).await.problem(400);
            assert!(problem.message.contains("line") && problem.message.contains("column"), "{path} {body}: {}", problem.message);
        }
        for body in ["[]", "\"text\"", "null", "17"] {
            let problem = client.send(with(method, path, body)).await.problem(400);
            assert_eq!(problem.code, ErrorCode::InvalidRequest, "{path} {body}");
        }
    }
}

#[tokio::test]
async fn the_fields_in_their_order_are_no_body() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let run = json!(["x", null, "SELECT 1", [], null, null, null, "auto"]);
    for (path, body) in [("/api/v1/sign-in/launch", json!(["x"])), ("/api/v1/runs", run)] {
        let problem = client.send(with("POST", path, &format!(" {body}"))).await.problem(400);
        assert_eq!(problem.message, "The body of the request must be a JSON object.", "{path}");
    }
    for (field, value) in [("tls", json!(["off"])), ("ssh", json!(["127.0.0.1", 22, "u", "agent", null, null])), ("tls", json!("off"))] {
        let mut fields = json!({"name": "a", "engine": "postgres", "host": "127.0.0.1"});
        fields[field] = value;
        let problem = client.post("/api/v1/connections", &fields).await.problem(400);
        assert_eq!(problem.message, format!("The field `{field}` must be an object."));
    }
}

#[tokio::test]
async fn a_missing_body_is_told() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (method, path, _) in bodies() {
        if path == "/api/v1/connections/x/test" {
            continue; // There nothing means: as it is saved.
        }
        let problem = client.send(request(method, path, Body::empty())).await.problem(400);
        assert!(problem.message.contains("JSON"), "{path}: {}", problem.message);
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_one_at_it_is_read() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (method, path, body) in bodies() {
        let fits = format!("{body}{}", " ".repeat(BODY_BYTES_MAX - body.to_string().len()));
        assert_ne!(client.send(with(method, path, &fits)).await.status, 413, "{path}");
        let over = client.send(with(method, path, &format!("{fits} "))).await;
        assert_eq!(over.problem(413).code, ErrorCode::TooLarge, "{path}");
    }
}

#[tokio::test]
async fn a_body_of_another_type_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (method, path, body) in bodies() {
        let mut plain = with(method, path, &body.to_string());
        plain.headers_mut().insert("content-type", "text/plain".parse().unwrap());
        assert_eq!(client.send(plain).await.problem(415).code, ErrorCode::UnsupportedMediaType);
        let mut packed = with(method, path, &body.to_string());
        packed.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
        assert_eq!(client.send(packed).await.problem(415).code, ErrorCode::UnsupportedMediaType);
    }
}

#[tokio::test]
async fn a_browser_s_report_is_taken_without_a_sign_in_up_to_its_size() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let report = |body: String| {
        let mut request = post("/api/v1/csp", &Value::Null);
        request.headers_mut().remove("x-sheaf-client");
        request.headers_mut().insert("content-type", "application/csp-report".parse().unwrap());
        request.headers_mut().insert("content-length", body.len().into());
        *request.body_mut() = Body::from(body);
        request
    };
    assert_eq!(server.send(report("{}".to_owned())).await.status, 204);
    assert_eq!(server.send(report(" ".repeat(REPORT_BYTES_MAX + 1))).await.problem(413).code, ErrorCode::TooLarge);
}
