//! How often a connection test asks the server and waits: no more than the protocol asks for.

use crate::support::{Client, Server};
use serde_json::{Value, json};
use std::time::Duration;
use testing::mariadb::mariadb;
use testing::postgres::{PASSWORD, clusters};
use testing::relay::Relay;

/// Round trips of one test of a saved connection, its goodbye included. `sessions` counts what the server still has.
async fn counted(client: &Client<'_>, fields: &Value, sessions: impl Fn() -> String) -> u64 {
    let none_left = || while sessions().trim() != "0" {};
    let saved = client.post("/api/v1/connections", fields).await;
    assert_eq!(saved.status, 201, "{}", saved.text());
    let id = saved.json()["id"].as_str().unwrap().to_owned();
    // A read-only connection was looked at when it was saved.
    none_left();
    let port = u16::try_from(fields["port"].as_u64().unwrap()).unwrap();
    // A goodbye is not answered: behind another one, the first word of this test would seem to belong to it.
    let relay = Relay::start(port, Duration::ZERO).await;
    let change = json!({"port": relay.port, "password": PASSWORD});
    let tested = client.post(&format!("/api/v1/connections/{id}/test"), &change).await;
    assert_eq!(tested.json()["ok"], true, "{}", tested.text());
    none_left();
    relay.passed().flights
}

/// Terminate and COM_QUIT: said, and not waited for.
const GOODBYE: u64 = 1;

#[tokio::test(flavor = "multi_thread")]
async fn a_test_of_postgresql_asks_no_more_than_its_sign_in_does() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for cluster in clusters() {
        cluster.psql("postgres", "create role counted login");
        let sessions = || cluster.psql("postgres", "select count(*) from pg_stat_activity where application_name = 'sheaf/counted'");
        for (user, read_only, trips) in [
            // The start-up message with all settings in it, and the server is ready.
            ("counted", false, 1),
            // And the password, in the clear or over the server's salt.
            ("clear_user", false, 2),
            ("md5_user", false, 2),
            // And both messages of the client that SCRAM has.
            ("scram_user", false, 3),
            // And the one question whether the role could get around "read only".
            ("counted", true, 2),
        ] {
            let fields = json!({"name": "counted", "engine": "postgres", "host": "127.0.0.1", "port": cluster.port, "database": "postgres",
                "user": user, "password": PASSWORD, "read_only": read_only});
            assert_eq!(counted(&client, &fields, sessions).await, trips + GOODBYE, "{user}, read-only {read_only}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_of_mariadb_asks_no_more_than_its_sign_in_does() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    mariadb().sql(&format!("CREATE USER counted IDENTIFIED BY '{PASSWORD}'; GRANT SELECT ON shop.* TO counted"));
    let sessions = || mariadb().sql("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'counted'");
    // The server speaks first, and the answer to its greeting has the proof of the password in it. What a session has set goes behind
    // that, in one flight of any number of statements: the protocol takes none before it has let anybody in.
    let fields = json!({"name": "counted", "engine": "mysql", "host": "127.0.0.1", "port": mariadb().port, "database": "shop",
        "user": "counted", "password": PASSWORD});
    assert_eq!(counted(&client, &fields, sessions).await, 2 + GOODBYE);
    // The grants are asked for in the same flight.
    let read_only = json!({"name": "counted", "engine": "mysql", "host": "127.0.0.1", "port": mariadb().port, "database": "shop",
        "user": "counted", "password": PASSWORD, "read_only": true});
    assert_eq!(counted(&client, &read_only, sessions).await, 2 + GOODBYE);
}
