//! Transactions that end by hand, over each real engine: opened by the session, engine by engine, and told as they are.

use super::{House, cell, house};
use backend::engine::Target;
use backend::engine::catalog::CatalogAsk;
use shared::ids::ConnectionId;
use shared::problem::ErrorCode;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::run::{RunState, TransactionMode, TransactionState};
use shared::wire::secrets::Secrets;
use testing::mariadb::mariadb;
use testing::postgres::{Cluster, clusters};

const OPEN: TransactionState = TransactionState::Open;
const NONE: TransactionState = TransactionState::None;

/// In a console whose transactions end by hand.
async fn by_hand(house: &House, sql: &str) -> TransactionState {
    let begun = house.run_as(TransactionMode::Manual, sql, serde_json::json!([]), Some("k")).await;
    let status = begun.unwrap_or_else(|problem| panic!("{sql}: {problem:?}")).status;
    assert!(matches!(status.state, RunState::Done | RunState::Paused), "{sql}: {status:?}");
    status.transaction
}

async fn refused(house: &House, sql: &str) -> (String, Option<TransactionState>) {
    let problem = house.run_as(TransactionMode::Manual, sql, serde_json::json!([]), Some("k")).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::Rejected, "{sql}: {problem:?}");
    (problem.message, problem.transaction)
}

/// What another console sees.
async fn seen(house: &House) -> String {
    cell(&house.run("select count(*) from kept", Some("other")).await.unwrap().page0.unwrap(), 0, 0)
}

/// The same everywhere; `none_inside` cannot run in a transaction.
async fn ends_by_hand(house: &House, none_inside: Option<&str>, after_a_refusal: TransactionState) {
    house.run("create table kept (a int)", Some("k")).await.unwrap();
    assert_eq!(by_hand(house, "insert into kept values (1)").await, OPEN);
    assert_eq!(by_hand(house, "select a from kept").await, OPEN);
    assert_eq!(seen(house).await, "0");
    assert_eq!(by_hand(house, "rollback").await, NONE);
    assert_eq!(seen(house).await, "0");
    assert_eq!(by_hand(house, "insert into kept values (2)").await, OPEN);
    assert_eq!(by_hand(house, "commit").await, NONE);
    assert_eq!(seen(house).await, "1");
    // A first statement that is refused leaves nothing to be ended; a later one leaves what was open.
    assert_eq!(refused(house, "select nothing from kept").await.1, Some(NONE));
    if let Some(sql) = none_inside {
        let (message, left) = refused(house, sql).await;
        assert!(message.contains("transaction") && left == Some(NONE), "{message}");
    }
    assert_eq!(by_hand(house, "insert into kept values (3)").await, OPEN);
    assert_eq!(refused(house, "select nothing from kept").await.1, Some(after_a_refusal));
    assert_eq!(by_hand(house, "rollback").await, NONE);
    assert_eq!(seen(house).await, "1");
    // As the database has it, each statement is kept by itself.
    assert_eq!(house.run("insert into kept values (4)", Some("k")).await.unwrap().status.transaction, NONE);
    assert_eq!(seen(house).await, "2");
    house.runs.shut_down().await;
}

#[tokio::test]
async fn transactions_of_sqlite_end_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let mut fields = ConnectionFields::new("test", EngineKind::Sqlite);
    let path = folder.path().join("test.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("create table first (a)").unwrap();
    fields.path = Some(path.to_str().unwrap().to_owned());
    ends_by_hand(&house(Target::new(fields, Secrets::default())), Some("vacuum"), OPEN).await;
}

#[tokio::test]
async fn transactions_of_duckdb_end_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let mut fields = ConnectionFields::new("test", EngineKind::Duckdb);
    let path = folder.path().join("first.csv");
    std::fs::write(&path, "a\n1\n").unwrap();
    fields.path = Some(path.to_str().unwrap().to_owned());
    let house = house(Target::new(fields, Secrets::default()));
    house.run("create table kept (a int)", Some("k")).await.unwrap();
    assert_eq!(by_hand(&house, "insert into kept values (1)").await, OPEN);
    assert_eq!(seen(&house).await, "0");
    assert_eq!(by_hand(&house, "rollback").await, NONE);
    assert_eq!(by_hand(&house, "insert into kept values (2)").await, OPEN);
    assert_eq!(by_hand(&house, "commit").await, NONE);
    assert_eq!(seen(&house).await, "1");
    assert_eq!(refused(&house, "select nothing from kept").await.1, Some(NONE));
    assert_eq!(by_hand(&house, "select a from kept").await, OPEN);
    assert_eq!(by_hand(&house, "commit").await, NONE);
    house.runs.shut_down().await;
}

#[tokio::test]
async fn transactions_of_mariadb_end_by_hand() {
    let server = mariadb();
    server.sql("drop database if exists by_hand; create database by_hand");
    let mut fields = ConnectionFields::new("test", EngineKind::Mysql);
    fields.host = Some("127.0.0.1".to_owned());
    fields.port = Some(server.port);
    fields.database = Some("by_hand".to_owned());
    fields.user = Some("root".to_owned());
    ends_by_hand(&house(Target::new(fields, Secrets::default())), None, OPEN).await;
}

fn postgres(cluster: &Cluster, user: &str) -> Target {
    let mut fields = ConnectionFields::new("test", EngineKind::Postgres);
    fields.host = Some("127.0.0.1".to_owned());
    fields.port = Some(cluster.port);
    fields.database = Some("by_hand".to_owned());
    fields.user = Some(user.to_owned());
    Target::new(fields, Secrets::default())
}

/// Sessions of Sheaf in that database, by their state.
async fn states(cluster: &'static Cluster) -> String {
    let sql = "select coalesce(string_agg(distinct state, ',' order by state), '') from pg_stat_activity \
               where application_name like 'sheaf%' and datname = 'by_hand'";
    tokio::task::spawn_blocking(|| cluster.psql("postgres", sql).trim().to_owned()).await.unwrap()
}

#[tokio::test]
async fn transactions_of_postgres_end_by_hand_and_only_statements_open_them() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists by_hand");
        cluster.psql("postgres", "create database by_hand");
        ends_by_hand(&house(postgres(cluster, "postgres")), Some("vacuum"), TransactionState::Failed).await;
        e08_a_metadata_read_opens_no_transaction(cluster).await;
        e09_what_is_shown_is_what_the_server_has(cluster).await;
    }
}

async fn e08_a_metadata_read_opens_no_transaction(cluster: &'static Cluster) {
    let house = house(postgres(cluster, "postgres"));
    // The console has a session, and nothing is open in it; then the tree and the editor ask for names.
    assert_eq!(by_hand(&house, "rollback").await, NONE);
    house.runs.catalog(&house.grant, house.target.clone(), ConnectionId("c".to_owned()), CatalogAsk::First).await.unwrap();
    assert_eq!(states(cluster).await, "idle");
    assert_eq!(by_hand(&house, "select 1").await, OPEN);
    assert_eq!(states(cluster).await, "idle,idle in transaction", "the console's own, and beside it the catalog's");
    house.runs.shut_down().await;
}

async fn e09_what_is_shown_is_what_the_server_has(cluster: &'static Cluster) {
    cluster.psql("postgres", "do $$ begin create role e09 login; exception when duplicate_object then null; end $$");
    let mut target = postgres(cluster, "e09");
    target.fields.read_only = true;
    let house = house(target);
    assert_eq!(by_hand(&house, "select 1").await, NONE);
    assert_eq!(states(cluster).await, "idle");
    assert_eq!(house.run("select 1", Some("k")).await.unwrap().status.transaction, NONE);
    assert_eq!(states(cluster).await, "idle");
    house.runs.shut_down().await;
}
