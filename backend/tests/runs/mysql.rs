//! MySQL and MariaDB: scripts as their client runs them, values that are bound, a transaction of the console's own.

use super::{House, cell, house, read};
use backend::engine::Target;
use serde_json::json;
use shared::sql::splitter::split;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::run::RunState;
use shared::wire::secrets::Secrets;
use testing::mariadb::mariadb;

fn at(port: u16) -> House {
    let mut fields = ConnectionFields::new("test", EngineKind::Mysql);
    fields.host = Some("127.0.0.1".to_owned());
    fields.port = Some(port);
    fields.database = Some("shop".to_owned());
    fields.user = Some("root".to_owned());
    house(Target::new(fields, Secrets::default()))
}

/// As a console runs a script: statement by statement, the texts as they stand; the last result's first cell.
async fn script(house: &House, text: &str) -> String {
    let mut last = String::new();
    for range in split(text, EngineKind::Mysql) {
        let begun = house.run(&text[range], Some("k")).await.unwrap();
        if let Some(page) = &begun.page0 {
            last = cell(page, 0, 0);
        }
    }
    last
}

#[tokio::test]
async fn s06_a_script_with_delimiters_runs_as_the_client_runs_it() {
    let house = at(mariadb().port);
    let text = "DELIMITER ;;\nCREATE PROCEDURE p1() BEGIN DECLARE n INT; SET n = 3; SELECT n * 2 AS dbl; END;;\nDELIMITER ;\nCALL p1();";
    assert_eq!(script(&house, text).await, "6");
    mariadb().sql("DROP PROCEDURE shop.p1");
    assert_eq!(mariadb().sql(&format!("USE shop;\n{text}")), "6\n", "the client agrees");
    let text = "-- two at once\ndelimiter $$\ncreate or replace function f6(a int) returns varchar(20) deterministic\nbegin\n  \
        if a > 1 then return '$$;'; end if;\n  return 'small';\nend $$\nselect f6(1)$$\n delimiter ;\nselect concat(f6(2), '//'); # $$";
    assert_eq!(script(&house, text).await, "$$;//");
    assert_eq!(mariadb().sql(&format!("USE shop;\n{text}")), "small\n$$;//\n");
    house.runs.shut_down().await;
}

#[tokio::test]
async fn values_are_bound_and_pages_read_on() {
    let house = at(mariadb().port);
    house.run("SET max_recursive_iterations = 10000", Some("k")).await.unwrap();
    let sql = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i, ? AS t, ? AS nothing FROM n";
    let begun = house.run_with(sql, json!([5_000, "it's ? 🦀", null]), Some("k")).await.unwrap();
    assert_eq!(begun.status.state, RunState::Paused);
    let page0 = begun.page0.unwrap();
    assert_eq!((cell(&page0, 0, 1), read(&page0).column(2).null_count()), ("it's ? 🦀".to_owned(), 1_000));
    let last = house.page(&begun.status.id, 4).await.unwrap();
    assert_eq!(cell(&last, 999, 0), "5000");
    let refused = house.run_with("SELECT ?", json!([1, 2]), Some("k")).await.unwrap_err();
    assert_eq!(refused.message, "The statement waits for 1 value, and 2 were given");
    house.runs.shut_down().await;
}
