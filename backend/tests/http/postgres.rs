//! Runs through the API against real PostgreSQL servers: what the database's side sees of them.

use crate::support::{Client, Server, request};
use axum::body::Body;
use serde_json::{Value, json};
use shared::limits::READ_AHEAD_PAGES;
use shared::problem::ErrorCode;
use std::time::Duration;
use testing::postgres::{Cluster, PASSWORD, clusters};
use testing::relay::Relay;

/// A page of the fixture's rows, with what the protocol says beside them.
const PAGE_BYTES: u64 = 140_000;

fn fields(port: u16, user: &str) -> Value {
    json!({"name": "pg", "engine": "postgres", "host": "127.0.0.1", "port": port, "database": "postgres", "user": user})
}

async fn connection(client: &Client<'_>, port: u16, user: &str) -> String {
    let answer = client.post("/api/v1/connections", &fields(port, user)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// 2,000,000 rows of 6 columns, about 128 bytes each, made as they are read.
const BIG: &str = "select n as id, n % 1000 as customer, (n * 7919::bigint % 100000)::numeric(12,2) as amount,
    timestamp '2024-01-01' + n * interval '1 second' as at, md5(n::text) as code, 'a remark of hardly any weight' as remark
    from generate_series(1, 2000000) n /* big */";

/// How many sessions of a user work, or hold a snapshot, as the server tells.
fn busy(cluster: &Cluster, user: &str) -> String {
    let sql = "select count(*) from pg_stat_activity where usename = 'USER' and (state <> 'idle' or backend_xmin is not null)";
    cluster.psql("postgres", &sql.replace("USER", user))
}

/// Behind the view a function writes a row that is refused at the end of the transaction.
const ENDS_BADLY: &str = "drop schema if exists late cascade; create schema late;
    create table late.parent (n int primary key); create table late.child (n int references late.parent deferrable initially deferred);
    create function late.act() returns int language sql volatile as 'insert into late.child values (9) returning n';
    create view late.shown as select late.act() as n; create view late.plain as select 3 as n;
    grant all on schema late to public; grant all on all tables in schema late to public";

#[tokio::test]
async fn rows_from_afar_say_that_their_end_is_not_known_and_the_settled_status_tells_it() {
    for cluster in clusters() {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        let client = server.sign_in().await;
        cluster.psql("postgres", &format!("{ENDS_BADLY}; create role far_reader login"));
        let relay = Relay::start(cluster.port, Duration::from_millis(150)).await;
        let id = connection(&client, relay.port, "far_reader").await;
        let run = async |sql: &str| {
            let page0 = client.run(&json!({"connection": id, "sql": sql, "session": "k"})).await;
            assert_eq!((page0.status, page0.header("sheaf-total-rows")), (200, "1"), "{sql}");
            (page0.header("sheaf-state").to_owned(), format!("/api/v1/runs/{}?settled=true", page0.header("sheaf-run")))
        };
        assert_eq!(run("select 1").await.0, "done", "few by its text: its end has come with it");
        let (state, path) = run("select n from late.plain").await;
        assert_eq!(state, "ending");
        let settled = client.get(&path).await.json();
        assert_eq!((&settled["state"], &settled["total_rows"], &settled["problem"]), (&json!("done"), &json!(1), &Value::Null));
        let (state, path) = run("select n from late.shown").await;
        assert_eq!(state, "ending");
        let settled = client.get(&path).await.json();
        assert_eq!((&settled["state"], &settled["problem"]["sqlstate"]), (&json!("rejected"), &json!("23503")), "{settled}");
        assert_eq!(client.get(&path.replace("true", "perhaps")).await.status, 400);
    }
}

#[tokio::test]
async fn a_run_of_two_million_rows_moves_its_pages_only_and_is_let_go_at_once() {
    for cluster in clusters() {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        let client = server.sign_in().await;
        cluster.psql("postgres", "create role reader login");
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let id = connection(&client, relay.port, "reader").await;
        let page0 = client.run(&json!({"connection": id, "sql": BIG})).await;
        assert_eq!(page0.page().num_rows(), 1_000);
        assert_eq!(page0.header("sheaf-state"), "more");
        let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
        let passed = relay.passed();
        assert!(passed.to_client <= PAGE_BYTES + 4_000, "with the sign-in: {passed:?}");
        let page1 = client.get(&format!("{run}/pages/1")).await;
        assert_eq!(page1.page().num_rows(), 1_000);
        assert_eq!(busy(cluster, "reader"), "1\n", "the session is parked");
        assert_eq!(client.delete(&run).await.status, 204);
        assert_eq!(busy(cluster, "reader"), "0\n", "closed means free");
        let passed = relay.passed();
        assert!(passed.to_client <= PAGE_BYTES * u64::from(1 + READ_AHEAD_PAGES), "{passed:?}");
    }
}

#[tokio::test]
async fn refusals_of_the_database_are_told_where_they_happened() {
    for cluster in clusters() {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        let client = server.sign_in().await;
        let id = connection(&client, cluster.port, "postgres").await;
        let text = "select 'Grüße', nirgendwo";
        let problem = client.run(&json!({"connection": id, "sql": text})).await.problem(422);
        assert_eq!((problem.code, problem.sqlstate.as_deref()), (ErrorCode::Rejected, Some("42703")));
        assert_eq!(problem.position.map(|at| &text[at as usize..]), Some("nirgendwo"));
        let problem = client.run(&json!({"connection": id, "sql": "select 1/0"})).await.problem(422);
        assert_eq!(problem.sqlstate.as_deref(), Some("22012"));

        let test = |user: &str, password: Option<&str>| {
            let mut fields = fields(cluster.port, user);
            if let Some(password) = password {
                fields["password"] = json!(password);
            }
            fields
        };
        let path = "/api/v1/connections/test";
        assert_eq!(client.post(path, &test("scram_user", Some("wrong"))).await.problem(422).code, ErrorCode::AuthenticationFailed);
        assert_eq!(client.post(path, &test("scram_user", None)).await.problem(422).code, ErrorCode::PasswordNeeded);
        let good = client.post(path, &test("scram_user", Some(PASSWORD))).await.json();
        assert!(good["server"].as_str().unwrap().starts_with("PostgreSQL "), "{good}");
    }
}

#[tokio::test]
async fn changes_notices_and_the_catalog_come_through() {
    for cluster in clusters() {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        let client = server.sign_in().await;
        let id = connection(&client, cluster.port, "postgres").await;
        let statement = async |sql: &str| client.run(&json!({"connection": id, "session": "console", "sql": sql})).await;
        assert_eq!(statement("create temporary table kept (n int primary key, t varchar(40))").await.status, 204);
        let changed = statement("insert into kept select generate_series(1, 7)").await;
        assert_eq!((changed.status, changed.header("sheaf-rows-affected")), (204, "7"));
        let told = statement("do $$ begin raise notice 'told'; end $$").await;
        let status = client.get(&format!("/api/v1/runs/{}", told.header("sheaf-run"))).await.json();
        assert_eq!(status["notices"][0]["message"], "told");
        // Of a statement that fails there is no status to ask for.
        let failed = statement("do $$ begin raise notice 'told before'; perform 1/0; end $$").await.problem(422);
        assert_eq!(failed.notices.iter().map(|notice| notice.message.as_str()).collect::<Vec<_>>(), ["told before"]);
        let counted = statement("select count(*) from kept").await;
        assert_eq!(counted.page().num_rows(), 1, "the console kept its session");
        cluster.psql("postgres", "create table if not exists of_the_api (n int primary key, t varchar(40))");
        let catalog = client.get(&format!("/api/v1/connections/{id}/catalog")).await.json();
        let public = catalog["schemas"].as_array().unwrap().iter().find(|schema| schema["name"] == "public").unwrap();
        let table = public["relations"].as_array().unwrap().iter().find(|table| table["name"] == "of_the_api").unwrap();
        assert_eq!((&table["columns"][0]["primary_key"], &table["columns"][1]["type"]), (&json!(1), &json!("varchar(40)")));
    }
}

#[tokio::test]
async fn a_statement_is_cancelled_on_the_server() {
    for cluster in clusters() {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        let client = server.sign_in().await;
        cluster.psql("postgres", "create role sleeper login");
        let id = connection(&client, cluster.port, "sleeper").await;
        let body = json!({"connection": id, "sql": "select pg_sleep(600), 'of the api'", "token": "asleep"});
        let (answer, ()) = tokio::join!(client.run(&body), async {
            let sleeping =
                "select count(*) from pg_stat_activity where state = 'active' and query = $q$select pg_sleep(600), 'of the api'$q$";
            while cluster.psql("postgres", sleeping) != "1\n" {
                tokio::task::yield_now().await;
            }
            let cancelled = client.send(request("POST", "/api/v1/runs/by-token/asleep/cancel", Body::empty())).await;
            assert_eq!(cancelled.status, 202);
        });
        assert_eq!(answer.problem(409).code, ErrorCode::Cancelled);
        assert_eq!(busy(cluster, "sleeper"), "0\n");
    }
}

#[tokio::test]
async fn a_link_lost_in_mid_result_keeps_what_was_read() {
    for cluster in clusters() {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        let client = server.sign_in().await;
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let id = connection(&client, relay.port, "postgres").await;
        let page0 = client.run(&json!({"connection": id, "sql": BIG})).await;
        let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
        relay.cut();
        let mut page = 1;
        let lost = loop {
            let answer = client.get(&format!("{run}/pages/{page}")).await;
            if answer.status != 200 {
                break answer;
            }
            page += 1;
        };
        assert!(matches!(lost.problem(lost.status).code, ErrorCode::Partial | ErrorCode::ConnectionLost), "{}", lost.text());
        let again = client.get(&format!("{run}/pages/0")).await;
        assert_eq!(again.body, page0.body);
        let state = client.get(&run).await.json();
        assert_eq!((&state["state"], &state["problem"]["code"]), (&json!("partial"), &json!("connection_lost")));
    }
}

#[tokio::test]
async fn a_row_over_the_cap_is_too_large_and_behind_rows_that_were_read_it_ends_them() {
    for cluster in clusters() {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        let client = server.sign_in().await;
        let id = connection(&client, cluster.port, "postgres").await;
        let alone = client.run(&json!({"connection": id, "sql": "select repeat('x', 500 * 1024 * 1024)"})).await.problem(413);
        assert_eq!((alone.code, alone.message.as_str()), (ErrorCode::TooLarge, "A row of this result has 500 MiB; Sheaf takes 64 MiB."));
        let late = "select n, case n when 1500 then repeat('x', 70000000) end from generate_series(1, 2000) n";
        let page0 = client.run(&json!({"connection": id, "sql": late})).await;
        assert_eq!(page0.page().num_rows(), 1_000);
        let run = format!("/api/v1/runs/{}", page0.header("sheaf-run"));
        let refused = client.get(&format!("{run}/pages/1")).await;
        let state = client.get(&run).await.json();
        assert_eq!((&state["state"], &state["problem"]["code"]), (&json!("partial"), &json!("too_large")), "{}", refused.text());
    }
}
