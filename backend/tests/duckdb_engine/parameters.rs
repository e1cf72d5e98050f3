//! Values for parameters: each reaches its place, as what it is, and nothing of it becomes SQL.

use super::support::{Db, PAGE, rows};
use backend::engine::Param::{Bool, Integer, Null, Real, Text};
use backend::engine::{EngineError, Param, Session};

async fn asked(session: &mut Box<dyn Session>, sql: &str, params: &[Param]) -> Result<Vec<Vec<String>>, EngineError> {
    let started = session.execute_with(sql, params, PAGE).await?;
    let cells = if started.schema.is_some() { rows(&session.fetch(PAGE).await?.batch) } else { Vec::new() };
    session.finish().await?;
    Ok(cells)
}

#[tokio::test]
async fn each_value_reaches_its_place_as_what_it_is() {
    let db = Db::new(&["CREATE TABLE t AS SELECT 7 AS n, DATE '2020-02-29' AS d, 1.50::DECIMAL(9,2) AS m, 'x' AS s"]);
    let mut session = db.session().await;
    let text = |text: &str| Text(text.to_owned());
    for (sql, params, cells) in [
        ("SELECT ?, typeof(?)", vec![Integer(i64::MIN), Integer(1)], vec!["-9223372036854775808", "BIGINT"]),
        ("SELECT $2, $1, $2", vec![text("one"), text("two")], vec!["two", "one", "two"]),
        ("SELECT $1, ?", vec![text("one"), text("two")], vec!["one", "two"]),
        ("SELECT $b::INTEGER, $a, $b::INTEGER", vec![Integer(1), text("a")], vec!["1", "a", "1"]),
        ("SELECT ?, ? IS NULL, ?", vec![Real(0.1 + 0.2), Null, Bool(true)], vec!["0.30000000000000004", "true", "true"]),
        ("SELECT ?", vec![text("'; DROP TABLE t; --\n\"é")], vec!["'; DROP TABLE t; --\n\"é"]),
        (
            "SELECT n FROM t WHERE n = ? AND d = ? AND m = ? AND s = ?",
            vec![text("7"), text("2020-02-29"), text("1.5"), text("x")],
            vec!["7"],
        ),
        ("SELECT n FROM t WHERE n IN (?, ?) LIMIT ?", vec![Integer(7), Integer(8), Integer(1)], vec!["7"]),
        ("SELECT '?' || $$ ? $$ || ? -- ?", vec![text("!")], vec!["? ? !"]),
    ] {
        assert_eq!(asked(&mut session, sql, &params).await.unwrap_or_else(|e| panic!("{sql}: {e}")), [cells], "{sql}");
    }
    assert_eq!(
        asked(&mut session, "INSERT INTO t(n, s) VALUES (?, ?), (?, ?)", &[Integer(1), Null, Integer(2), text("")]).await.unwrap().len(),
        0
    );
    assert_eq!(asked(&mut session, "SELECT count(*), count(s) FROM t WHERE n < $1", &[Integer(7)]).await.unwrap(), [["2", "1"]]);
}

#[tokio::test]
async fn a_long_result_of_a_statement_with_values_is_read_page_by_page() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    session.execute_with("SELECT range FROM range(?)", &[Integer(100_000)], PAGE).await.unwrap();
    let mut seen = 0;
    loop {
        let fetched = session.fetch(PAGE).await.unwrap();
        seen += fetched.batch.num_rows();
        if !fetched.more {
            break;
        }
    }
    assert_eq!(seen, 100_000);
    session.finish().await.unwrap();
}

#[tokio::test]
async fn too_few_and_too_many_values_are_told() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    for (sql, params, words) in [
        ("SELECT ?, ?", vec![Integer(1)], "parameter, ?2, and no value"),
        ("SELECT $name", vec![], "parameter, $name, and no value"),
        ("SELECT $2", vec![Integer(1), Integer(2)], "has no parameter $1"),
        ("SELECT 1", vec![Integer(1)], "has 0 parameters, and 1 value was"),
    ] {
        let refused = asked(&mut session, sql, &params).await.err().unwrap();
        assert!(refused.problem.message.contains(words), "{sql}: {}", refused.problem.message);
    }
    asked(&mut session, "PREPARE later AS SELECT $1 + 1 AS n", &[]).await.unwrap();
    assert_eq!(asked(&mut session, "EXECUTE later(41)", &[]).await.unwrap(), [["42"]]);
    let refused = asked(&mut session, "SELECT ?::INTEGER", &[Text("no number".to_owned())]).await.err().unwrap();
    assert!(refused.problem.message.contains("no number"), "{}", refused.problem.message);
}
