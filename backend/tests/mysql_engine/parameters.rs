//! Statements with parameters: what is bound, and that a cell looks the same whichever protocol brought it.

use crate::ends::until_stopped;
use crate::paging::{behind, wide_table};
use crate::setting::{PAGE, connect, rows, run, run_with, session, target, texts, value, with_password};
use crate::types::{DIFFERENTIAL, split_values};
use backend::engine::{Fate, Param, Session};
use shared::problem::ErrorCode;
use std::time::Duration;
use testing::mariadb::{Mariadb, PASSWORD, mariadb};
use testing::relay::Relay;

/// Types whose bytes the client's own text can't show, or which it pads.
const FURTHER: &[(&str, &str)] = &[
    ("BIT(1)", "b'1', b'0', NULL"),
    ("BIT(20)", "b'10100101', b'0'"),
    ("BIT(64)", "~0"),
    ("BLOB", "x'81', x'', x'FFD8FFE000', NULL"),
    ("BINARY(4)", "x'81', 'ab'"),
    ("VARBINARY(300)", "REPEAT(x'00', 251), x'fb'"),
    ("LONGBLOB", "REPEAT(x'ff', 70000)"),
    ("GEOMETRY", "ST_GeomFromText('POINT(1 2)', 4326), ST_GeomFromText('LINESTRING(0 0, 1 1)'), NULL"),
    ("TINYINT(4) ZEROFILL", "0, 7, 255"),
    ("BIGINT(20) ZEROFILL", "0, 18446744073709551615"),
    ("FLOAT ZEROFILL", "0, 1.5, 1e20"),
    ("FLOAT(9,3) ZEROFILL", "1.5"),
    ("DOUBLE ZEROFILL", "0, 1.5, 1e300"),
    ("DOUBLE(12,2) ZEROFILL", "1.5"),
    ("DECIMAL(10,2) ZEROFILL", "1.5, 0"),
    ("DOUBLE(30,10)", "1e15, 0.1, -1.5, 0.00000000005"),
    ("TIME(3)", "'12:34:56.789', '-00:00:00.5', '838:59:59'"),
    ("DATETIME(6)", "'0000-00-00 00:00:00', '2024-02-29 00:00:00', '2024-02-29 12:34:56.000010'"),
    ("YEAR", "0, 1901, NULL"),
    ("BOOL", "TRUE, FALSE, NULL"),
];

/// Of no table: types as the server makes them of expressions.
const EXPRESSIONS: &[&str] = &[
    "1, -1, 18446744073709551615, 1.50, 1e0, 1.5e300, 1/3, NULL, TRUE, 'a', x'41', b'101', _utf8mb4'ä', ''",
    "CAST(0.1 AS DOUBLE), CAST(0.1 AS FLOAT), ROUND(1.005e0, 2), ROUND(1e20, 2), TRUNCATE(1.999e0, 1), PI(), RAND(7), SQRT(2), -0e0",
    "SEC_TO_TIME(1.5), SEC_TO_TIME(3600000), TIMEDIFF('10:00:00', '11:30:00.25'), ADDTIME('23:59:59', '01:00:00.5'), MAKETIME(-10, 1, 2)",
    "CAST('2024-02-29' AS DATE), CAST('2024-02-29 01:02:03.5' AS DATETIME(1)), CAST('2024-02-29' AS DATETIME(6)), STR_TO_DATE('2024', '%Y')",
    "DATE_ADD('2024-02-29', INTERVAL 1 DAY), FROM_UNIXTIME(0), FROM_UNIXTIME(0.25), TIMESTAMP('2024-02-29', '12:00:00'), LAST_DAY('2024-02-01')",
    "JSON_OBJECT('a', 1.0), JSON_ARRAY(NULL, 'x'), CAST('::1' AS INET6), CAST('550e8400-e29b-41d4-a716-446655440000' AS UUID)",
    "AVG(seq), SUM(seq), STD(seq), COUNT(*), BIT_OR(seq), GROUP_CONCAT(seq), MAX(seq), MIN(seq * 0.1) FROM (SELECT 1 AS seq UNION SELECT 2) AS s",
    "CONVERT('Größe' USING latin1), CONCAT('a', NULL), HEX('ä'), UNHEX('FF'), MD5('x'), UNCOMPRESS(COMPRESS('x')), REPEAT('ä', 100)",
    "@nothing, USER(), DATABASE(), VERSION() IS NULL, INTERVAL(1, 2), 5 DIV 2, -7 % 3, 1 <=> NULL, ~0, 1 << 63",
];

fn number(value: i64) -> Param {
    Param::Integer(value)
}

fn text(value: &str) -> Param {
    Param::Text(value.to_owned())
}

#[tokio::test]
async fn every_value_is_the_same_in_both_protocols() {
    let mut session = session().await;
    let mut wrong = Vec::new();
    let mut cells = 0;
    run(session.as_mut(), "SET SESSION sql_mode = ''").await.unwrap();
    for (at, (type_name, values)) in DIFFERENTIAL.iter().chain(FURTHER).enumerate() {
        let list = split_values(values).iter().map(|value| format!("({value})")).collect::<Vec<_>>().join(", ");
        run(session.as_mut(), &format!("CREATE OR REPLACE TABLE both_{at} (id INT AUTO_INCREMENT PRIMARY KEY, v {type_name})"))
            .await
            .unwrap();
        run(session.as_mut(), &format!("INSERT INTO both_{at}(v) VALUES {list}")).await.unwrap();
        let plain = run(session.as_mut(), &format!("SELECT v, id FROM both_{at} ORDER BY id")).await.unwrap().0.unwrap();
        let bound = run_with(session.as_mut(), &format!("SELECT v, id FROM both_{at} WHERE id > ? ORDER BY id"), &[number(0)])
            .await
            .unwrap()
            .0
            .unwrap();
        cells += plain.num_rows();
        if plain != bound {
            wrong.push(format!("{type_name}: {:?} {:?}\n {:?} {:?}", texts(&plain), plain.schema(), texts(&bound), bound.schema()));
        }
    }
    for list in EXPRESSIONS {
        let from = if list.contains(" FROM ") { "" } else { " FROM DUAL" };
        let plain = run(session.as_mut(), &format!("SELECT {list}{from} WHERE 1 = 1")).await.unwrap().0.unwrap();
        let bound = run_with(session.as_mut(), &format!("SELECT {list}{from} WHERE 1 = ?"), &[number(1)]).await.unwrap().0.unwrap();
        cells += plain.num_columns();
        if texts(&plain) != texts(&bound) || plain.columns() != bound.columns() {
            wrong.push(format!("{list}: {:?}\n {:?}", texts(&plain), texts(&bound)));
        }
    }
    println!("{cells} cells compared");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn floats_of_every_size_have_the_same_digits_in_both_protocols() {
    let mut session = session().await;
    run(session.as_mut(), "CREATE OR REPLACE TABLE floats (id INT AUTO_INCREMENT PRIMARY KEY, d DOUBLE, f FLOAT, e DOUBLE(40,5))")
        .await
        .unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for block in 0..10_i32 {
        let rows: Vec<String> = (0..1_000)
            .map(|_| {
                // Any bits in the first half, numbers that people write in the other.
                let (any, few) = (f64::from_bits(random()), (random() % 2_000_000) as f64 / 10_f64.powi((random() % 12) as i32));
                let value = if block < 5 && any.is_finite() { any } else { few };
                let narrow = f32::from_bits((random() >> 32) as u32);
                let narrow = if block < 5 && narrow.is_finite() { narrow } else { few as f32 };
                format!("({value:e}, {narrow:e}, {few:e})")
            })
            .collect();
        run(session.as_mut(), &format!("INSERT INTO floats(d, f, e) VALUES {}", rows.join(", "))).await.unwrap();
        let after = format!("id > {}", block * 1_000);
        let plain = run(session.as_mut(), &format!("SELECT d, f, e FROM floats WHERE {after} ORDER BY id")).await.unwrap().0.unwrap();
        let bound =
            run_with(session.as_mut(), &format!("SELECT d, f, e FROM floats WHERE {after} AND 1 = ? ORDER BY id"), &[number(1)]).await;
        let bound = bound.unwrap().0.unwrap();
        for (row, (theirs, ours)) in texts(&plain).into_iter().zip(texts(&bound)).enumerate() {
            assert_eq!(ours, theirs, "row {row} of block {block}");
        }
        assert_eq!(plain, bound);
    }
}

#[tokio::test]
async fn values_are_bound_as_they_are_and_never_become_text_of_the_statement() {
    let mut session = session().await;
    let odd = "it's \\ \"q\" ; DROP TABLE x -- \0 🦀";
    let params = [text(odd), Param::Null, number(i64::MIN), Param::Bool(true), Param::Real(0.1), number(7)];
    let batch = run_with(session.as_mut(), "SELECT ?, ?, ?, ?, ?, ? + 1, '?' -- ?", &params).await.unwrap().0.unwrap();
    assert_eq!(texts(&batch), [[odd, "NULL", "-9223372036854775808", "1", "0.1", "8", "?"]]);
    run(session.as_mut(), "CREATE OR REPLACE TABLE bound (n INT PRIMARY KEY, t LONGTEXT)").await.unwrap();
    let long = "ä".repeat(300_000);
    let changed =
        run_with(session.as_mut(), "INSERT INTO bound VALUES (?, ?), (?, ?)", &[number(1), text(&long), number(2), Param::Null]).await;
    assert_eq!(changed.unwrap().1.rows_affected, Some(2));
    assert_eq!(
        rows(session.as_mut(), "SELECT n, CHAR_LENGTH(t), t IS NULL FROM bound ORDER BY n").await,
        [["1", "300000", "0"], ["2", "NULL", "1"]]
    );
    let one = run_with(session.as_mut(), "SELECT n FROM bound ORDER BY n LIMIT ?", &[number(1)]).await.unwrap().0.unwrap();
    assert_eq!(texts(&one), [["1"]]);
    let (batch, finished) = run_with(session.as_mut(), "DELETE FROM bound WHERE n >= ? RETURNING n", &[number(2)]).await.unwrap();
    assert_eq!((texts(&batch.unwrap()), finished.rows_affected), (vec![vec!["2".to_owned()]], None));
    run(session.as_mut(), "CREATE OR REPLACE PROCEDURE twice(IN a INT) BEGIN SELECT a; SELECT a * 2; END").await.unwrap();
    let mut results = Vec::new();
    let mut started = Some(session.execute_with("CALL twice(?)", &[number(21)], PAGE).await.unwrap());
    while started.is_some() {
        results.push(texts(&session.fetch(PAGE).await.unwrap().batch));
        started = session.next_result().await.unwrap();
    }
    session.finish().await.unwrap();
    assert_eq!(results, [[["21"]], [["42"]]]);
    // Whoever wants but the first leaves the session as clean.
    session.take_notices();
    let called = run_with(session.as_mut(), "CALL twice(?)", &[number(21)]).await.unwrap().0.unwrap();
    assert_eq!(texts(&called), [["21"]]);
    assert!(session.take_notices().is_empty());
}

/// Statements that are prepared on the server now, of all sessions.
const PREPARED: &str = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'PREPARED_STMT_COUNT'";

/// Statements that were asked to be prepared and are not closed: those that the server refused to prepare, and no others.
async fn unclosed(session: &mut dyn Session) -> String {
    let counted = "SELECT SUM(IF(VARIABLE_NAME = 'COM_STMT_PREPARE', VARIABLE_VALUE, -VARIABLE_VALUE)), SUM(VARIABLE_VALUE) > 0 \
        FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME IN ('COM_STMT_PREPARE', 'COM_STMT_CLOSE')";
    rows(session, counted).await.concat().join(" ")
}

#[tokio::test]
async fn what_is_refused_leaves_the_session_and_nothing_prepared() {
    let mut session = session().await;
    run(session.as_mut(), "CREATE OR REPLACE TABLE unwritten (n INT PRIMARY KEY)").await.unwrap();
    for (sql, params, message) in [
        ("INSERT INTO unwritten VALUES (?), (?)", vec![number(1)], "The statement waits for 2 values, and 1 was given"),
        ("INSERT INTO unwritten VALUES (?)", vec![number(1), number(2)], "The statement waits for 1 value, and 2 were given"),
        ("INSERT INTO unwritten VALUES ('?')", vec![number(1)], "The statement waits for no value, and 1 was given"),
    ] {
        let error = run_with(session.as_mut(), sql, &params).await.unwrap_err();
        assert_eq!((error.fate, error.problem.code, error.problem.message.as_str()), (Fate::Idle, ErrorCode::Rejected, message));
    }
    let error = run_with(session.as_mut(), "SELECT ?\nFORM t", &[number(1)]).await.unwrap_err();
    assert_eq!((error.problem.sqlstate.as_deref(), error.problem.position), (Some("42000"), Some(14)));
    let error = run_with(session.as_mut(), "SELECT ?; SELECT 2", &[number(1)]).await.unwrap_err();
    assert_eq!(error.problem.detail.as_deref(), Some("ERROR 1064"), "one statement at a time");
    run_with(session.as_mut(), "INSERT INTO unwritten VALUES (?)", &[number(1)]).await.unwrap();
    let error = run_with(session.as_mut(), "INSERT INTO unwritten VALUES (?)", &[number(1)]).await.unwrap_err();
    assert_eq!(error.problem.detail.as_deref(), Some("ERROR 1062"));
    assert_eq!(rows(session.as_mut(), "SELECT * FROM unwritten").await, [["1"]]);
    assert_eq!(unclosed(session.as_mut()).await, "2 1");
}

#[tokio::test]
async fn pages_of_a_bound_statement_move_little_more_than_their_rows() {
    wide_table().await;
    let relay = Relay::narrow(mariadb().port).await;
    let mut session = behind(&relay).await;
    session.execute_with("SELECT id, CONCAT(c, d) FROM wide WHERE id > ?", &[number(0)], PAGE).await.unwrap();
    let mut seen = 0;
    for _ in 0..4 {
        let fetched = session.fetch(PAGE).await.unwrap();
        assert_eq!((fetched.batch.num_rows(), fetched.more), (1_000, true));
        assert_eq!(crate::setting::cell(&fetched.batch, 0, 0), (seen + 1).to_string());
        seen += 1_000;
    }
    let passed = crate::paging::come_to_rest(&relay).await;
    println!("four pages of a bound statement: {passed:?}");
    assert!(passed.to_client <= 420_000 + 3 * 300_000, "{passed:?}");
    session.finish().await.unwrap();
    assert_eq!(unclosed(session.as_mut()).await, "0 1");
}

#[tokio::test]
async fn a_bound_statement_takes_two_flights_and_its_next_page_none() {
    wide_table().await;
    let relay = Relay::start(mariadb().port, Duration::ZERO).await;
    let mut session = behind(&relay).await;
    session.execute_with("SELECT id FROM wide WHERE id > ?", &[number(0)], PAGE).await.unwrap();
    session.fetch(PAGE).await.unwrap();
    assert_eq!(relay.passed().flights, 2);
    session.fetch(PAGE).await.unwrap();
    assert_eq!(relay.passed().flights, 0);
    session.finish().await.unwrap();
}

#[tokio::test]
async fn a_bound_statement_is_stopped_and_closed() {
    let mut session = session().await;
    let handle = session.cancel_handle();
    let long = [number(600)];
    let sleep = run_with(session.as_mut(), "SELECT SLEEP(?) AS mark_bound", &long);
    let error = until_stopped(handle.as_ref(), "mark_bound", sleep).await.unwrap_err();
    assert_eq!((error.cancelled, error.fate), (true, Fate::Idle));
    assert_eq!(unclosed(session.as_mut()).await, "0 1");
}

#[tokio::test]
async fn bound_statements_that_are_stopped_as_they_begin_are_left_neither_with_the_session_nor_on_the_server() {
    // A server of its own: it counts what is prepared over all sessions.
    let server = Mariadb::start();
    let mut session = connect(&target(server.port, "root")).await.unwrap();
    let handle = session.cancel_handle();
    let one = [number(1)];
    for round in 0..100 {
        let cancel = async {
            for _ in 0..round % 9 {
                tokio::task::yield_now().await;
            }
            handle.cancel().await.unwrap();
        };
        let (raced, ()) = tokio::join!(run_with(session.as_mut(), "SELECT COUNT(*) + ? FROM information_schema.COLLATIONS", &one), cancel);
        if let Err(error) = raced {
            assert!(error.cancelled, "{error:?}");
        }
        assert_eq!(value(session.as_mut(), "SELECT 1").await, "1", "round {round}");
    }
    // Not by its count of what it was told: whoever was stopped while it still prepared had nothing to close.
    assert_eq!(value(session.as_mut(), PREPARED).await, "0");
    server.stop();
}

#[tokio::test]
async fn a_bound_statement_of_a_read_only_connection_only_reads() {
    run(session().await.as_mut(), "CREATE OR REPLACE TABLE bound_firm AS SELECT 1 AS n").await.unwrap();
    let mut target = with_password(target(mariadb().port, "native_user"), PASSWORD);
    target.fields.read_only = true;
    let mut session = connect(&target).await.unwrap();
    let error = run_with(session.as_mut(), "INSERT INTO bound_firm VALUES (?)", &[number(2)]).await.unwrap_err();
    assert_eq!(error.problem.detail.as_deref(), Some("ERROR 1792"));
    assert!(run_with(session.as_mut(), "CALL twice(?)", &[number(2)]).await.is_err());
    let (batch, finished) = run_with(session.as_mut(), "SELECT n FROM bound_firm WHERE n < ?", &[number(9)]).await.unwrap();
    assert_eq!((texts(&batch.unwrap()), finished.in_transaction), (vec![vec!["1".to_owned()]], false));
    assert_eq!(unclosed(session.as_mut()).await, "1 1");
}
