//! MySQL and MariaDB: scripts as their client runs them, values that are bound, a transaction of the console's own.

use super::{House, cell, house, read, receive_window};
use backend::engine::Target;
use backend::engine::mysql::WINDOW_BYTES;
use backend::runs::Begun;
use serde_json::json;
use shared::problem::{ErrorCode, Problem};
use shared::sql::splitter::split;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::run::RunState;
use shared::wire::secrets::Secrets;
use testing::mariadb::mariadb;
use testing::relay::{NARROW_BYTES, Relay, sent_ahead};

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

/// Whether the server has a session of that number; a closed link is noticed there a moment later.
async fn has_session(id: &str) -> bool {
    let sql = format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id}");
    tokio::task::spawn_blocking(move || mariadb().sql(&sql)).await.unwrap().trim() != "0"
}

/// A parked result lies in its own stream. Our system takes in a window of it, the server's as much as it likes (4 MiB unless it is told
/// otherwise): that part never passes where the session is nobody's, since it is closed.
#[tokio::test]
async fn an_abandoned_result_of_no_console_moves_a_page_and_a_window() {
    let relay = Relay::narrow(mariadb().port).await;
    let house = at(relay.port);
    let rows = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) \
                SELECT CONNECTION_ID(), REPEAT('x', 250) FROM n a JOIN n b";
    let begun = house.run(rows, None).await.unwrap();
    assert_eq!(begun.status.state, RunState::Paused);
    let id = cell(&begun.page0.unwrap(), 0, 0);
    let page = relay.passed().to_client;
    assert!(page <= 420_000, "{page}");
    house.runs.close(&house.grant, &begun.status.id).await.unwrap();
    assert_eq!(house.runs.census().sessions, 0);
    while has_session(&id).await {}
    let rest = relay.passed().to_client;
    let window = receive_window(WINDOW_BYTES);
    println!("page {page}, abandoned {rest}, window {window}");
    assert!(rest <= window + NARROW_BYTES, "{rest}, {window}");

    // The end of this one has come with its page: the session is kept. So is a console's in any case.
    let few = house.run(&format!("{rows} LIMIT 1005"), None).await.unwrap();
    sent_ahead(mariadb().port).await;
    house.runs.close(&house.grant, &few.status.id).await.unwrap();
    assert_eq!(house.runs.census().sessions, 1);
    house.run("CREATE TEMPORARY TABLE kept AS SELECT 42 AS answer", Some("k")).await.unwrap();
    house.run(rows, Some("k")).await.unwrap();
    let next = house.run("SELECT answer FROM kept", Some("k")).await.unwrap();
    assert_eq!(cell(&next.page0.unwrap(), 0, 0), "42");
}

/// A procedure with a loop: as many results as are given, and its effect whole.
#[tokio::test]
async fn a_call_of_a_thousand_results_gives_two_hundred_and_does_all_it_does() {
    let house = at(mariadb().port);
    let text = "DELIMITER ;;\nCREATE OR REPLACE PROCEDURE many() BEGIN DECLARE n INT DEFAULT 0; CREATE OR REPLACE TEMPORARY TABLE told (i INT); \
                WHILE n < 1000 DO SET n = n + 1; INSERT INTO told VALUES (n); SELECT n; END WHILE; END;;\nDELIMITER ;";
    script(&house, text).await;
    let mut last = house.run("CALL many()", Some("k")).await.unwrap();
    let mut results = 1;
    let problem = loop {
        assert_eq!(cell(&last.page0.clone().unwrap(), 0, 0), results.to_string());
        match house.runs.next(&house.grant, &last.status.id).await {
            Ok(next) => (last, results) = (next, results + 1),
            Err(problem) => break problem,
        }
    };
    assert_eq!((results, problem.code), (200, ErrorCode::Partial));
    assert!(problem.message.starts_with("The statement has more than 200 results"), "{}", problem.message);
    let told = house.run("SELECT COUNT(*) FROM told", Some("k")).await.unwrap();
    assert_eq!(cell(&told.page0.unwrap(), 0, 0), "1000");
    mariadb().sql("DROP PROCEDURE shop.many");
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

/// In a console that has them.
const PROCEDURES: &str = "DELIMITER //
CREATE OR REPLACE TABLE kept (n INT)//
CREATE OR REPLACE PROCEDURE three(IN a INT) BEGIN
  SELECT a AS n, 'first' AS t; SELECT 1 AS nothing FROM DUAL WHERE FALSE; INSERT INTO kept VALUES (a), (a + 1);
  SELECT seq, MD5(seq) AS hash FROM seq_1_to_5000; END//
CREATE OR REPLACE PROCEDURE wrong() BEGIN SELECT 1; SELECT 2; SELECT nme FROM kept; SELECT 'never'; END//
CREATE OR REPLACE PROCEDURE waits() BEGIN SELECT 1; SELECT SLEEP(600); SELECT 'never'; END//
CREATE OR REPLACE PROCEDURE large() BEGIN SELECT REPEAT('x', 500) AS x FROM seq_1_to_5000; SELECT seq, REPEAT('y', 500) AS y FROM seq_1_to_1000000; SELECT 'end'; END//
DELIMITER ;
SET @mark = 7";

async fn with_procedures() -> House {
    let house = at(mariadb().port);
    script(&house, PROCEDURES).await;
    house
}

async fn next(house: &House, begun: &Begun) -> Result<Begun, Problem> {
    house.runs.next(&house.grant, &begun.status.id).await
}

/// The console goes on in the same session, and hears nothing of what was before.
async fn expect_clean(house: &House) {
    let begun = house.run("SELECT @mark", Some("k")).await.unwrap();
    assert_eq!((cell(begun.page0.as_ref().unwrap(), 0, 0), begun.status.state), ("7".to_owned(), RunState::Done));
    assert_eq!(house.runs.census().active, 0);
}

#[tokio::test]
async fn every_result_of_a_call_is_shown_also_of_a_bound_one() {
    let house = with_procedures().await;
    for bound in [false, true] {
        house.run("TRUNCATE kept", Some("k")).await.unwrap();
        let one = match bound {
            false => house.run("CALL three(21)", Some("k")).await.unwrap(),
            true => house.run_with("CALL three(?)", json!([21]), Some("k")).await.unwrap(),
        };
        assert_eq!((cell(one.page0.as_ref().unwrap(), 0, 0), one.status.further), ("21".to_owned(), true));
        let two = next(&house, &one).await.unwrap();
        assert_eq!((two.status.total_rows, two.status.columns[0].name.as_str()), (Some(0), "nothing"));
        let three = next(&house, &two).await.unwrap();
        assert_eq!((three.status.state, three.status.rows_ready, three.status.further), (RunState::Paused, 1_000, true));
        assert_eq!(next(&house, &three).await.unwrap_err().code, ErrorCode::PastTheEnd);
        let end = house.runs.status(&house.grant, &three.status.id).unwrap();
        assert_eq!((end.state, end.total_rows, end.rows_affected, end.further), (RunState::Done, Some(5_000), Some(2), false));
        assert_eq!(cell(&house.page(&three.status.id, 4).await.unwrap(), 999, 1), "a35fe7f7fe8217b4369a0af4244d1fca");
        let kept = house.run("SELECT COUNT(*) FROM kept", Some("k")).await.unwrap();
        assert_eq!(cell(&kept.page0.unwrap(), 0, 0), "2", "it ran once");
        expect_clean(&house).await;
    }
    house.runs.shut_down().await;
}

#[tokio::test]
async fn an_error_in_a_later_result_is_told_there() {
    let house = with_procedures().await;
    let one = house.run("CALL wrong()", Some("k")).await.unwrap();
    let two = next(&house, &one).await.unwrap();
    let problem = next(&house, &two).await.unwrap_err();
    assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::Rejected, "Unknown column 'nme' in 'SELECT'"));
    for (begun, text) in [(&one, "1"), (&two, "2")] {
        assert_eq!(cell(&house.page(&begun.status.id, 0).await.unwrap(), 0, 0), text);
    }
    expect_clean(&house).await;
    house.runs.shut_down().await;
}

#[tokio::test]
async fn a_cancel_stops_a_call_in_the_rows_of_its_second_result_or_before_them() {
    let house = with_procedures().await;
    let one = house.run("CALL waits()", Some("k")).await.unwrap();
    assert_eq!((one.status.total_rows, one.status.further), (Some(1), true));
    let (asked, ()) = tokio::join!(next(&house, &one), async {
        // Known from the moment it is asked for.
        house.until(|status| status.id != one.status.id && status.state == RunState::Running).await;
        house.runs.cancel(&house.grant, &one.status.id).unwrap();
    });
    assert_eq!(asked.unwrap_err().code, ErrorCode::Cancelled);
    expect_clean(&house).await;

    let one = house.run("CALL large()", Some("k")).await.unwrap();
    let two = next(&house, &one).await.unwrap();
    house.runs.read_to_end(&house.grant, &two.status.id).unwrap();
    house.until(|status| status.id == two.status.id && status.rows_ready > 1_000).await;
    house.runs.cancel(&house.grant, &two.status.id).unwrap();
    let end = house.until(|status| status.id == two.status.id && status.state.is_final()).await;
    assert_eq!(end.state, RunState::Cancelled);
    assert_eq!(next(&house, &two).await.unwrap_err().code, ErrorCode::Cancelled);
    expect_clean(&house).await;
    house.runs.shut_down().await;
}

#[tokio::test]
async fn closing_or_leaving_a_call_in_the_middle_leaves_the_session_clean() {
    let house = with_procedures().await;
    for results in [1, 2] {
        let mut last = house.run("CALL three(1)", Some("k")).await.unwrap();
        for _ in 1..results {
            last = next(&house, &last).await.unwrap();
        }
        house.runs.close(&house.grant, &last.status.id).await.unwrap();
        expect_clean(&house).await;
        // The next statement of the console gives up what is left.
        let left = house.run("CALL three(1)", Some("k")).await.unwrap();
        expect_clean(&house).await;
        let problem = next(&house, &left).await.unwrap_err();
        assert_eq!(problem.message, "The rest was given up when the console ran another statement");
    }
    let one = house.run("CALL large()", Some("k")).await.unwrap();
    house.runs.close(&house.grant, &one.status.id).await.unwrap();
    expect_clean(&house).await;

    // A caller of no window who vanishes while he waits for the next.
    house.run_alone("SET @mark = 7", Some("alone")).await.unwrap();
    let one = house.run_alone("CALL waits()", Some("alone")).await.unwrap();
    assert!(futures_util::FutureExt::now_or_never(next(&house, &one)).is_none());
    let mark = house.run_alone("SELECT @mark", Some("alone")).await.unwrap();
    assert_eq!(cell(mark.page0.as_ref().unwrap(), 0, 0), "7");
    expect_clean(&house).await;
    house.runs.shut_down().await;
}
