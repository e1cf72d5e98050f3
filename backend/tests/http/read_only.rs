//! Saving a read-only connection: its server is asked whether its user can get around it.

use crate::support::{Client, Server};
use serde_json::{Value, json};
use shared::problem::ErrorCode;
use std::sync::LazyLock;
use testing::mariadb::mariadb;
use testing::postgres::clusters;

/// Fields that lead to a server, its user who is too mighty, one who is not, and what is told of the first.
type Case = (Value, &'static str, &'static str, &'static str);

/// One of each server, whose users are made once: the tests of this file run side by side.
fn servers() -> Vec<Case> {
    static SERVERS: LazyLock<Vec<Case>> = LazyLock::new(make_users);
    SERVERS.clone()
}

fn make_users() -> Vec<Case> {
    mariadb().sql(
        "CREATE USER IF NOT EXISTS save_files, save_plain; GRANT FILE ON *.* TO save_files; GRANT SELECT ON shop.* TO save_files, save_plain;",
    );
    let fields = |engine: &str, port: u16, database: &str| json!({"name": "n", "engine": engine, "host": "127.0.0.1", "port": port, "database": database});
    let mysql = (
        fields("mysql", mariadb().port, "shop"),
        "save_files",
        "save_plain",
        "A read-only connection needs a user who can't get around it, and this one has FILE.",
    );
    let postgres = clusters().iter().map(|cluster| {
        cluster.psql("postgres", "create role save_plain login");
        let told = "A read-only connection needs a role that can't get around it, and this one is a superuser.";
        (fields("postgres", cluster.port, "postgres"), "postgres", "save_plain", told)
    });
    std::iter::once(mysql).chain(postgres).collect()
}

fn with(fields: &Value, user: &str, read_only: bool) -> Value {
    let mut fields = fields.clone();
    fields["user"] = json!(user);
    fields["read_only"] = json!(read_only);
    fields
}

async fn count(client: &Client<'_>) -> usize {
    client.get("/api/v1/connections").await.json().as_array().unwrap().len()
}

#[tokio::test]
async fn a_read_only_connection_of_a_mighty_user_is_not_saved() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (fields, mighty, plain, told) in servers() {
        let before = count(&client).await;
        for path in ["/api/v1/connections", "/api/v1/connections/test"] {
            let problem = client.post(path, &with(&fields, mighty, true)).await.problem(422);
            assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::ReadOnlyRefused, told));
        }
        assert_eq!(count(&client).await, before, "nothing was saved");
        let saved = client.post("/api/v1/connections", &with(&fields, plain, true)).await;
        assert_eq!(saved.status, 201, "{}", saved.text());

        // Neither by a change: of the user, or to read-only.
        let path = format!("/api/v1/connections/{}", saved.json()["id"].as_str().unwrap());
        assert_eq!(client.patch(&path, &json!({"user": mighty})).await.problem(422).code, ErrorCode::ReadOnlyRefused);
        assert_eq!(client.patch(&path, &json!({"user": mighty, "read_only": false})).await.status, 204);
        assert_eq!(client.patch(&path, &json!({"read_only": true})).await.problem(422).message, told);
        assert_eq!(client.patch(&path, &json!({"name": "renamed"})).await.status, 204);
        assert_eq!(client.patch(&path, &json!({"user": plain, "read_only": true})).await.status, 204);
    }
}

/// A port on which nothing listens, and what makes it lead to a server.
async fn deaf_port() -> u16 {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

async fn lead(port: u16, server: u16) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = tokio::net::TcpStream::connect(("127.0.0.1", server)).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
        }
    });
}

#[tokio::test]
async fn where_no_server_answers_it_is_saved_and_asked_at_the_first_session() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (fields, mighty, _, told) in servers() {
        let port = deaf_port().await;
        let mut away = with(&fields, mighty, true);
        away["port"] = json!(port);
        let saved = client.post("/api/v1/connections", &away).await;
        assert_eq!(saved.status, 201, "{}", saved.text());
        lead(port, u16::try_from(fields["port"].as_u64().unwrap()).unwrap()).await;
        let problem = client.run(&json!({"connection": saved.json()["id"], "sql": "select 1"})).await.problem(422);
        assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::ReadOnlyRefused, told));
        // A server that lets nobody in tells nothing either.
        let mut wrong = with(&fields, "save_nobody", true);
        wrong["password"] = json!("wrong");
        assert_eq!(client.post("/api/v1/connections", &wrong).await.status, 201);
    }
}
