use crate::support::{Server, request};
use axum::body::Body;
use serde_json::json;
use shared::limits::CATALOG_SCHEMAS_ASKED_MAX;
use shared::problem::ErrorCode;
use shared::wire::catalog::Catalog;

#[tokio::test]
async fn a_connection_is_made_changed_and_deleted() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t (a)").await;
    let path = format!("/api/v1/connections/{id}");
    assert_eq!(client.patch(&path, &json!({"name": "renamed", "color": 3})).await.status, 204);
    let list = client.get("/api/v1/connections").await.json();
    assert_eq!((list[0]["name"].as_str(), list[0]["color"].as_u64()), (Some("renamed"), Some(3)));
    assert_eq!((list[0]["temporary"].as_bool(), &list[0]["held"]), (Some(false), &json!([])));
    assert_eq!(client.patch(&path, &json!({"path": null})).await.problem(400).code, ErrorCode::InvalidRequest);
    assert_eq!(client.delete(&path).await.status, 204);
    assert_eq!(client.delete(&path).await.problem(404).code, ErrorCode::NotFound);
    assert_eq!(client.patch(&path, &json!({"name": "x"})).await.status, 404);
    assert_eq!(client.get("/api/v1/connections").await.json(), json!([]));
}

#[tokio::test]
async fn a_password_stays_only_where_the_server_stays() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let fields = json!({"name": "pg", "engine": "postgres", "host": "127.0.0.1", "port": 1, "password": "secret"});
    for (change, kept) in [
        (json!({"name": "other"}), true),
        (json!({"user": "ann", "database": "shop", "password": ""}), true),
        (json!({"host": "127.0.0.2"}), false),
        (json!({"port": 2}), false),
        (json!({"tls": {"mode": "encrypt"}}), false),
        (json!({"tls": {"mode": "off"}}), true),
        (json!({"host": "127.0.0.2", "password": "given again"}), true),
        (json!({"password": null}), false),
    ] {
        let id = client.post("/api/v1/connections", &fields).await.json()["id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/connections/{id}");
        assert_eq!(client.patch(&path, &change).await.status, 204, "{change}");
        let held = if kept { json!(["password"]) } else { json!([]) };
        assert_eq!(client.get("/api/v1/connections").await.json()[0]["held"], held, "{change}");
        assert_eq!(client.delete(&path).await.status, 204);
    }
}

#[tokio::test]
async fn connections_are_there_after_a_restart_without_their_passwords() {
    let data = tempfile::tempdir().unwrap();
    let first = Server::start(data.path()).await;
    let client = first.sign_in().await;
    let fields = json!({"name": "pg", "engine": "postgres", "host": "127.0.0.1", "port": 1, "password": "secret", "read_only": true});
    client.post("/api/v1/connections", &fields).await;
    first.app.store.close().await;
    let again = Server::start(data.path()).await;
    let list = again.sign_in().await.get("/api/v1/connections").await.json();
    assert_eq!((list[0]["host"].as_str(), list[0]["read_only"].as_bool()), (Some("127.0.0.1"), Some(true)));
    assert_eq!(list[0]["held"], json!([]));
}

#[tokio::test]
async fn a_connection_is_tested_saved_or_not() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t (a)").await;
    let good = client.send(request("POST", &format!("/api/v1/connections/{id}/test"), Body::empty())).await;
    assert_eq!(good.status, 200, "{}", good.text());
    assert!(good.json()["server"].as_str().unwrap().contains("SQLite"));
    let missing = json!({"name": "x", "engine": "sqlite", "path": data.path().join("missing.sqlite")});
    assert_eq!(client.post("/api/v1/connections/test", &missing).await.problem(422).code, ErrorCode::CannotOpen);
    let refused = json!({"name": "x", "engine": "postgres", "host": "127.0.0.1", "port": 1});
    assert_eq!(client.post("/api/v1/connections/test", &refused).await.problem(422).code, ErrorCode::ConnectFailed);
}

#[tokio::test]
async fn sheaf_s_own_store_is_no_connection() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let alias = data.path().join("alias.sqlite");
    std::os::unix::fs::symlink(data.path().join("sheaf.sqlite"), &alias).unwrap();
    for path in [data.path().join("sheaf.sqlite"), data.path().join("./launch/../sheaf.sqlite"), alias] {
        let fields = json!({"name": "own", "engine": "sqlite", "path": path});
        assert_eq!(client.post("/api/v1/connections", &fields).await.problem(422).code, ErrorCode::CannotOpen);
        assert_eq!(client.post("/api/v1/connections/test", &fields).await.problem(422).code, ErrorCode::CannotOpen);
    }
}

#[tokio::test]
async fn a_catalog_is_sent_again_only_when_it_has_changed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t (a)").await;
    let path = format!("/api/v1/connections/{id}/catalog");
    let first = client.get(&path).await;
    assert_eq!(first.status, 200, "{}", first.text());
    assert!(first.text().contains("\"t\""), "{}", first.text());
    let ask = |etag: &str| {
        let mut again = request("GET", &path, Body::empty());
        again.headers_mut().insert("if-none-match", etag.parse().unwrap());
        client.send(again)
    };
    let same = ask(first.header("etag")).await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    client.run(&json!({"connection": id, "sql": "CREATE TABLE u (b)"})).await;
    assert_eq!(ask(first.header("etag")).await.status, 200);
    assert_eq!(client.get("/api/v1/connections/none/catalog").await.problem(404).code, ErrorCode::NotFound);
}

#[tokio::test]
async fn what_is_known_of_a_catalog_is_not_sent_again() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t (a)").await;
    let whole: Catalog = serde_json::from_value(client.get(&format!("/api/v1/connections/{id}/catalog")).await.json()).unwrap();
    let path = format!("/api/v1/connections/{id}/catalog/changes");
    let known = serde_json::to_value(whole.known()).unwrap();
    let ask = async || -> Catalog { serde_json::from_value(client.post(&path, &known).await.json()).unwrap() };
    let same = ask().await;
    assert!(same.is_unchanged(&whole) && same.schemas.iter().all(|schema| schema.relations.is_empty()), "{same:?}");
    client.run(&json!({"connection": id, "sql": "CREATE TABLE u (b)"})).await;
    let mut changed = ask().await;
    assert!(!changed.is_unchanged(&whole) && changed.take_over(whole));
    let names: Vec<&str> = changed.schemas[0].relations.iter().map(|relation| relation.name.as_str()).collect();
    assert_eq!(names, ["t", "u"]);
    let strange = json!({"known": {}, "stranger": 1});
    assert_eq!(client.post(&path, &strange).await.problem(400).code, ErrorCode::InvalidRequest);
}

#[tokio::test]
async fn what_is_in_a_schema_is_told_to_whoever_asks_for_it() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let tables: String = (0..1_001).map(|n| format!("CREATE TABLE t{n} (a);")).collect();
    let id = client.sqlite(&format!("BEGIN; {tables} COMMIT")).await;
    let base = format!("/api/v1/connections/{id}/catalog");
    let mut names: Catalog = serde_json::from_value(client.get(&base).await.json()).unwrap();
    assert!(names.schemas[0].partial && names.schemas[0].relations.len() == 1_001 && names.schemas[0].relations[7].columns.is_empty());
    let path = format!("{base}/schemas");
    let whole: Catalog = serde_json::from_value(client.post(&path, &json!({"schemas": ["main", "none"]})).await.json()).unwrap();
    names.put_in(&["main".to_owned()], whole);
    assert!(!names.schemas[0].partial && names.schemas[0].relations.iter().all(|relation| relation.columns.len() == 1));
    let changes = client.post(&format!("{base}/changes"), &serde_json::to_value(names.known()).unwrap()).await.json();
    assert!(serde_json::from_value::<Catalog>(changes).unwrap().is_unchanged(&names));
    let many: Vec<String> = (0..=CATALOG_SCHEMAS_ASKED_MAX).map(|n| n.to_string()).collect();
    assert_eq!(client.post(&path, &json!({"schemas": many[1..]})).await.status, 200);
    for wrong in [json!({"schemas": many}), json!({"schemas": [], "stranger": 1}), json!({})] {
        assert_eq!(client.post(&path, &wrong).await.problem(400).code, ErrorCode::InvalidRequest);
    }
}
