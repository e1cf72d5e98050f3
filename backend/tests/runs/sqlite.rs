//! SQLite: a file, a process for each session, an interrupt.

use super::{House, cell, house, read};
use backend::engine::Target;
use backend::engine::catalog::CatalogAsk;
use backend::runs::WholeCell;
use shared::ids::{ConnectionId, SessionId};
use shared::problem::{ErrorCode, Problem};
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::run::{RunState, TransactionState};
use std::path::Path;
use testing::processes;

const NUMBERS: &str = "with recursive n(i) as (values(0) union all select i + 1 from n limit 1000000) select i, 'row ' || i from n";

/// A house over an empty file. The folder lives as long as the value.
fn over_a_file() -> (House, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("create table t (a integer, b text); insert into t values (1, 'x')").unwrap();
    let mut fields = ConnectionFields::new("test", EngineKind::Sqlite);
    fields.path = Some(path.to_str().unwrap().to_owned());
    (house(Target::new(fields, shared::wire::secrets::Secrets::default())), folder)
}

#[tokio::test]
async fn a_million_rows_are_read_to_the_end_and_any_page_is_there() {
    let (house, _folder) = over_a_file();
    let begun = house.run(NUMBERS, Some("k")).await.unwrap();
    let id = begun.status.id;
    assert_eq!((begun.status.state, begun.status.page_rows), (RunState::Paused, 1000));
    house.runs.read_to_end(&house.grant, &id).unwrap();
    let status = house.until(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.total_rows), (RunState::Done, Some(1_000_000)));
    for n in [999_u32, 0, 500, 1] {
        let page = house.page(&id, n).await.unwrap();
        assert_eq!(read(&page).num_rows(), 1000);
        assert_eq!((cell(&page, 7, 0), cell(&page, 7, 1)), (format!("{}", n * 1000 + 7), format!("row {}", n * 1000 + 7)));
    }
    assert_eq!(house.page(&id, 1000).await.unwrap_err().code, ErrorCode::PastTheEnd);
    assert!(house.runs.census().disk_bytes > 10_000_000);
    house.runs.close(&house.grant, &id).await.unwrap();
    assert_eq!(house.runs.census().disk_bytes, 0);
    assert_eq!(std::fs::read_dir(house.spool.path().join("spool")).unwrap().count(), 0);
}

#[tokio::test]
async fn an_endless_statement_is_cancelled_and_the_console_goes_on() {
    let (house, _folder) = over_a_file();
    house.run("create temp table kept as select 42 as answer", Some("k")).await.unwrap();
    let endless = "with recursive n(i) as (values(0) union all select i + 1 from n) select count(*) from n";
    let (ended, ()) = tokio::join!(house.run(endless, Some("k")), async {
        let running = house.until(|status| status.state == RunState::Running).await;
        house.runs.cancel(&house.grant, &running.id).unwrap();
    });
    assert_eq!(ended.unwrap_err().code, ErrorCode::Cancelled);
    let kept = house.run("select answer from kept", Some("k")).await.unwrap();
    assert_eq!(cell(&kept.page0.unwrap(), 0, 0), "42");
    assert!(kept.status.notices.is_empty());
}

/// One call of a function, from within which SQLite does not look up.
const DEAF: &str = "select instr(replace(hex(zeroblob(20000000)), '00', 'a'), replace(hex(zeroblob(400000)), '00', 'a') || 'b')";

/// Runs it in the console whose process this is, and cancels it in the midst of the call.
async fn cancel_deaf(house: &House, pid: u32) -> Problem {
    let begun = processes::worked(pid);
    let (ended, ()) = tokio::join!(house.run(DEAF, Some("deaf")), async {
        let running = house.until(|status| status.state == RunState::Running).await;
        // Preparing it takes none of these, making the texts a few.
        while processes::worked(pid) < begun + 30 {
            tokio::task::yield_now().await;
        }
        house.runs.cancel(&house.grant, &running.id).unwrap();
    });
    ended.unwrap_err()
}

/// The house's only file.
fn file(house: &House) -> &Path {
    Path::new(house.target.fields.path.as_deref().unwrap())
}

#[tokio::test]
async fn a_statement_that_does_not_hear_its_cancel_is_ended_and_nobody_else_notices() {
    let (house, _folder) = over_a_file();
    house.run("begin", Some("other")).await.unwrap();
    house.run("update t set a = 2", Some("other")).await.unwrap();
    let others = processes::of(file(&house));
    house.run("create temp table kept as select 42 as answer", Some("deaf")).await.unwrap();
    let pid = *processes::of(file(&house)).difference(&others).next().unwrap();
    let sessions = house.runs.census().sessions;
    let problem = cancel_deaf(&house, pid).await;
    assert!(!processes::is_there(pid));
    let sentence = "The statement did not hear its cancel, so SQLite's process was ended; it had changed nothing.";
    assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::Cancelled, sentence));
    assert_eq!(house.runs.census().sessions, sessions - 1);
    let next = house.run("select a from t", Some("deaf")).await.unwrap();
    assert_eq!(cell(&next.page0.unwrap(), 0, 0), "1", "in a new session");
    assert!(next.status.notices[0].message.contains("session was lost"), "{:?}", next.status.notices);
    assert!(!house.run("commit", Some("other")).await.unwrap().status.transaction.is_open());
    let after = house.run("select a from t", Some("deaf")).await.unwrap();
    assert_eq!(cell(&after.page0.unwrap(), 0, 0), "2");
}

#[tokio::test]
async fn what_was_open_where_a_statement_did_not_hear_its_cancel_is_rolled_back() {
    let (house, _folder) = over_a_file();
    house.run("begin", Some("deaf")).await.unwrap();
    house.run("update t set a = 2", Some("deaf")).await.unwrap();
    let problem = cancel_deaf(&house, processes::the_one_of(file(&house))).await;
    assert!(problem.message.ends_with("was ended; the open transaction of this session was rolled back."), "{}", problem.message);
    assert_eq!(problem.transaction, Some(TransactionState::None));
    let after = house.run("select a from t", Some("deaf")).await.unwrap();
    assert_eq!((cell(&after.page0.unwrap(), 0, 0), after.status.transaction), ("1".to_owned(), TransactionState::None));
    house.run("update t set a = 3", Some("other")).await.unwrap();
}

#[tokio::test]
async fn a_column_of_many_classes_keeps_each_value_on_every_page() {
    let (house, _folder) = over_a_file();
    let sql = "with recursive n(i) as (values(0) union all select i + 1 from n limit 2500)
               select case i % 4 when 0 then i when 1 then i + 0.5 when 2 then 't' || i else x'00ff' end from n";
    let begun = house.run(sql, None).await.unwrap();
    let page = house.page(&begun.status.id, 2).await.unwrap();
    assert_eq!((0..4).map(|row| cell(&page, row, 0)).collect::<Vec<_>>(), ["2000", "2001.5", "t2002", "\\x00ff"]);
}

#[tokio::test]
async fn long_values_are_cut_in_the_page_and_whole_on_demand() {
    let (house, _folder) = over_a_file();
    let begun = house.run("select hex(zeroblob(1000000)) || 'end', zeroblob(100000), null, 5", None).await.unwrap();
    let page0 = begun.page0.unwrap();
    assert_eq!(cell(&page0, 0, 0).len(), 65_536);
    assert_eq!(read(&page0).schema().metadata()["sheaf.cut"], "[[0,0,2000003],[0,1,100000]]");
    let whole = |column| house.runs.cell(&house.grant, &begun.status.id, 0, column);
    assert!(matches!(whole(0).await.unwrap(), WholeCell::Text(text) if text.len() == 2_000_003 && text.ends_with(b"end")));
    assert!(matches!(whole(1).await.unwrap(), WholeCell::Binary(bytes) if bytes.len() == 100_000));
    assert_eq!(whole(2).await.unwrap(), WholeCell::Null);
    assert_eq!(whole(3).await.unwrap(), WholeCell::Text("5".into()));
}

#[tokio::test]
async fn a_transaction_of_a_console_stays_open_and_is_rolled_back_when_it_closes() {
    let (house, _folder) = over_a_file();
    assert!(house.run("begin", Some("k")).await.unwrap().status.transaction.is_open());
    let changed = house.run("update t set a = 2", Some("k")).await.unwrap();
    assert_eq!((changed.status.rows_affected, changed.status.transaction.is_open()), (Some(1), true));
    let refused = house.run("select nothing from t", Some("k")).await.unwrap_err();
    assert_eq!(refused.transaction, Some(TransactionState::Open), "a refusal ends no transaction here");
    let elsewhere = house.run("select a from t", Some("other")).await.unwrap();
    assert_eq!(cell(&elsewhere.page0.unwrap(), 0, 0), "1");
    house.runs.forget_session(&house.grant, ConnectionId("c".to_owned()), SessionId("k".to_owned()), None).await;
    let after = house.run("select a from t", Some("k")).await.unwrap();
    assert_eq!((cell(&after.page0.unwrap(), 0, 0), after.status.transaction.is_open()), ("1".to_owned(), false));
}

#[tokio::test]
async fn a_statement_that_rolls_back_as_it_fails_leaves_nothing_open_and_says_so() {
    let (house, _folder) = over_a_file();
    for sql in ["create table once (a unique)", "insert into once values (1)", "begin", "insert into once values (2)"] {
        house.run(sql, Some("k")).await.unwrap();
    }
    let refused = house.run("insert or rollback into once values (1)", Some("k")).await.unwrap_err();
    assert_eq!(refused.transaction, Some(TransactionState::None));
    let left = house.run("select count(*) from once", Some("k")).await.unwrap();
    assert_eq!((cell(&left.page0.unwrap(), 0, 0), left.status.transaction), ("1".to_owned(), TransactionState::None));
}

#[tokio::test]
async fn refusals_have_their_place_and_leave_everything_else() {
    let (house, _folder) = over_a_file();
    let problem = house.run("select nothing from t", None).await.unwrap_err();
    assert_eq!((problem.code, problem.position), (ErrorCode::Rejected, Some(7)));
    let mut gone = house.target.clone();
    gone.fields.path = Some("/nowhere/at/all.db".to_owned());
    let missing = house.runs.test(&house.grant, gone).await.unwrap_err();
    assert_eq!(missing.code, ErrorCode::CannotOpen);
    assert!(house.runs.test(&house.grant, house.target.clone()).await.unwrap().server.starts_with("SQLite 3"));
    let catalog = house.runs.catalog(&house.grant, house.target.clone(), ConnectionId("c".to_owned()), CatalogAsk::First).await.unwrap();
    assert!(catalog.schemas.iter().any(|schema| schema.relations.iter().any(|relation| relation.name == "t")));
}

#[tokio::test]
async fn values_are_bound_as_what_they_are_and_never_become_text_of_the_statement() {
    let (house, _folder) = over_a_file();
    let cells = async |sql: &str, params: serde_json::Value| {
        let page = house.run_with(sql, params, None).await?.page0.unwrap();
        let columns = read(&page).num_columns();
        Ok::<_, shared::problem::Problem>((0..columns).map(|column| cell(&page, 0, column)).collect::<Vec<_>>())
    };
    let types = "select typeof(?1), typeof(:two), typeof(@three), typeof($four), typeof(?), ?1; -- ?";
    let seen = cells(types, serde_json::json!([9_007_199_254_740_993_i64, 0.1, "a'); drop table t; --", null, true])).await.unwrap();
    assert_eq!(seen, ["integer", "real", "text", "null", "integer", "9007199254740993"]);
    let quoted = cells("select :q as q, (select count(*) from t)", serde_json::json!(["'; delete from t; --"])).await.unwrap();
    assert_eq!(quoted, ["'; delete from t; --", "1"]);
    let missing = cells("select :from, :to", serde_json::json!([1])).await.unwrap_err();
    assert_eq!(missing.message, "The statement has a parameter, :to, and no value was given for it.");
    let left_over = cells("select 1", serde_json::json!([1])).await.unwrap_err();
    assert_eq!(left_over.message, "The statement has 0 parameters, and 1 value was given.");
    let nested = cells("select ?", serde_json::json!([[1]])).await.unwrap_err();
    assert_eq!((nested.code, nested.message.as_str()), (ErrorCode::InvalidRequest, "Value 1 must be null, true, false, a number or text"));
    // Where the first statement ends is found in spite of names that are longer or shorter than their values.
    for second in ["select ?; delete from t", "select :a_long_name /* ; */ ; delete from t where a = ?", "select @a;;select 1"] {
        let refused = cells(second, serde_json::json!([1])).await.unwrap_err();
        assert_eq!(refused.message, "One statement at a time: another one follows the first.", "{second}");
    }
    assert_eq!(cells("select :x ; -- done ?", serde_json::json!(["ok"])).await.unwrap(), ["ok"]);
}
