use crate::support::{Server, post, request};
use axum::body::Body;
use backend::access::sign_ins::IDLE_SECONDS_MAX;
use serde_json::json;
use shared::limits::LAUNCH_CODE_SECONDS;
use shared::problem::ErrorCode;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn a_launch_code_signs_in_once() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let code = server.app.launch_codes.issue(server.app.clock.now()).unwrap();
    let body = json!({"code": code.reveal()});
    assert_eq!(server.send(post("/api/v1/sign-in/launch", &body)).await.status, 200);
    assert_eq!(server.send(post("/api/v1/sign-in/launch", &body)).await.problem(401).code, ErrorCode::NotSignedIn);
}

#[tokio::test]
async fn a_launch_code_ends_after_two_minutes() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let code = server.app.launch_codes.issue(server.app.clock.now()).unwrap();
    server.now.fetch_add(LAUNCH_CODE_SECONDS, Ordering::Relaxed);
    let answer = server.send(post("/api/v1/sign-in/launch", &json!({"code": code.reveal()}))).await;
    assert!(answer.problem(401).message.contains("sheaf open"));
}

#[tokio::test]
async fn a_sign_in_outlives_the_server_but_not_thirty_unused_days() {
    let data = tempfile::tempdir().unwrap();
    let first = Server::start(data.path()).await;
    let bearer = first.sign_in().await.bearer;
    first.app.store.close().await;
    let again = Server::start(data.path()).await;
    let get = || {
        let mut request = request("GET", "/api/v1/connections", Body::empty());
        request.headers_mut().insert("authorization", format!("Bearer {bearer}").parse().unwrap());
        request
    };
    assert_eq!(again.send(get()).await.status, 200);
    again.now.fetch_add(IDLE_SECONDS_MAX, Ordering::Relaxed);
    assert_eq!(again.send(get()).await.status, 401);
}

#[tokio::test]
async fn signing_out_ends_it_for_good() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    assert_eq!(client.delete("/api/v1/sign-in").await.status, 204);
    assert_eq!(client.get("/api/v1/connections").await.status, 401);
    assert!(server.app.store.sign_ins().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_bearer_is_not_in_the_data_folder() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let bearer = server.sign_in().await.bearer;
    for entry in std::fs::read_dir(data.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(bearer.len()).any(|window| window == bearer.as_bytes()), "{}", path.display());
        }
    }
}
