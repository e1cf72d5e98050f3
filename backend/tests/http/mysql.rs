//! A statement with several results through the API, against a real MariaDB.

use crate::support::{Answer, Client, Server, request};
use axum::body::Body;
use serde_json::json;
use shared::problem::ErrorCode;
use testing::mariadb::mariadb;

/// Asks for what follows a result, as Arrow.
async fn next(client: &Client<'_>, result: &Answer) -> Answer {
    let mut asked = request("POST", &format!("/api/v1/runs/{}/next", result.header("sheaf-run")), Body::empty());
    asked.headers_mut().insert("accept", shared::page::MEDIA_TYPE.parse().unwrap());
    client.send(asked).await
}

#[tokio::test]
async fn each_result_of_a_call_answers_as_a_statement_does() {
    let server = mariadb();
    server.sql(
        "USE shop;\nDELIMITER //\nCREATE OR REPLACE PROCEDURE two() BEGIN SELECT 7 AS a; SELECT seq AS b FROM seq_1_to_2500; DO 1; END//",
    );
    let data = tempfile::tempdir().unwrap();
    let sheaf = Server::start(data.path()).await;
    let client = sheaf.sign_in().await;
    let fields = json!({"name": "my", "engine": "mysql", "host": "127.0.0.1", "port": server.port, "database": "shop", "user": "root"});
    let connection = client.post("/api/v1/connections", &fields).await.json()["id"].clone();
    let statement = json!({"connection": connection, "sql": "CALL two()"});

    let one = client.run(&statement).await;
    assert_eq!((one.page().num_rows(), one.header("sheaf-state"), one.header("sheaf-total-rows")), (1, "done", "1"));
    assert_eq!((one.header("sheaf-further"), one.header("sheaf-transaction")), ("true", "none"));
    let two = next(&client, &one).await;
    assert_eq!((two.page().num_rows(), two.header("sheaf-state"), two.header("sheaf-further")), (1_000, "more", "true"));
    assert_ne!(one.header("sheaf-run"), two.header("sheaf-run"));
    assert_eq!(next(&client, &one).await.body, two.body, "asked again, the same");
    assert_eq!(next(&client, &two).await.problem(404).code, ErrorCode::PastTheEnd);
    let run = format!("/api/v1/runs/{}", two.header("sheaf-run"));
    let status = client.get(&run).await.json();
    assert_eq!((&status["state"], &status["total_rows"], &status["further"]), (&json!("done"), &json!(2_500), &json!(false)));
    assert_eq!(client.get(&format!("{run}/pages/2")).await.page().num_rows(), 500);

    // As JSON the status tells that there is more, and the next is asked for in the same way.
    let first = client.post("/api/v1/runs", &statement).await.json();
    assert_eq!((&first["state"], &first["further"]), (&json!("paused"), &json!(true)));
    let second = client.post(&format!("/api/v1/runs/{}/next", first["id"].as_str().unwrap()), &json!({})).await.json();
    assert_eq!((&second["rows_ready"], &second["columns"][0]["name"]), (&json!(1_000), &json!("b")));
    assert_eq!(client.delete(&format!("/api/v1/runs/{}", second["id"].as_str().unwrap())).await.status, 204);
    assert_eq!(client.post("/api/v1/runs/none/next", &json!({})).await.problem(404).code, ErrorCode::NotFound);
}
