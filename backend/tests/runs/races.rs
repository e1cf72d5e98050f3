//! Cancels of runs that race with the end of their statement: what runs next on the console is never stopped.

use super::dropped::{at, own_row};
use super::{House, request};
use shared::problem::ErrorCode;
use shared::wire::connection::EngineKind;
use shared::wire::run::StartRun;
use testing::mariadb::mariadb;
use testing::postgres::clusters;

const RACES: usize = 300;

async fn no_other_statement_is_stopped(house: House, sleep: &str) {
    let (mut stopped, mut ended) = (0, 0);
    for round in 0..RACES {
        // Some end long before the cancel, some at the same time, some after it.
        let sql = sleep.replace("SECONDS", &((round % 8) as f64 / 1000.0).to_string());
        let token = format!("t{round}");
        let start = StartRun { window: None, token: Some(token.clone()), ..request(&sql, serde_json::json!([]), Some("k")) };
        let (answer, ()) = tokio::join!(house.runs.start(&house.grant, house.target.clone(), start), async {
            for _ in 0..round * 37 % 400 {
                tokio::task::yield_now().await;
            }
            house.runs.cancel_by_token(&house.grant, &token).unwrap();
        });
        match answer {
            Ok(begun) => {
                ended += 1;
                house.runs.close(&house.grant, &begun.status.id).await.unwrap();
            }
            Err(problem) => {
                stopped += 1;
                assert_eq!(problem.code, ErrorCode::Cancelled, "{problem:?}");
            }
        }
        assert_eq!(own_row(&house, &format!("select {round}"), Some("k")).await, round.to_string());
    }
    println!("{stopped} stopped, {ended} had ended");
    assert!(stopped > 0 && ended > 0, "no race: {stopped} stopped, {ended} had ended");
    house.runs.shut_down().await;
}

#[tokio::test]
async fn on_postgresql_a_cancel_stops_its_own_run_only() {
    for cluster in clusters() {
        no_other_statement_is_stopped(at(EngineKind::Postgres, cluster.port, "postgres", "postgres"), "select pg_sleep(SECONDS)").await;
    }
}

#[tokio::test]
async fn on_mariadb_a_cancel_stops_its_own_run_only() {
    no_other_statement_is_stopped(at(EngineKind::Mysql, mariadb().port, "root", "shop"), "select sleep(SECONDS)").await;
}
