//! The same values through DuckDB's own client and through Sheaf: every cell compared.
//!
//! The one difference that is meant: bytes are hexadecimal digits here, and DuckDB's escapes there.

use super::support::{Db, PAGE, batch, rows, run};
use super::values::VALUES;
use backend::engine::Session;
use testing::duckdb::rows as printed;

/// The rows of a statement, all pages of it; `None` is NULL.
async fn shown(session: &mut Box<dyn Session>, sql: &str) -> Vec<Vec<Option<String>>> {
    session.execute(sql, PAGE).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let mut shown = Vec::new();
    loop {
        let page = session.fetch(PAGE).await.unwrap();
        shown.extend(rows(&page.batch).into_iter().map(|row| row.into_iter().map(|cell| Some(cell).filter(|cell| cell != "∅")).collect()));
        if !page.more {
            break;
        }
    }
    session.finish().await.unwrap();
    shown
}

/// The bytes of a BLOB as DuckDB writes them.
fn escaped(hexadecimal: &str) -> String {
    let digits = hexadecimal.strip_prefix("\\x").unwrap().as_bytes();
    let bytes = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
    let escape = |byte: u8| match byte {
        b' '..=b'~' if !matches!(byte, b'\'' | b'"' | b'\\') => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    bytes.map(escape).collect()
}

/// Every expression with a NULL behind it, in a session of this zone.
async fn compare(zone: &str) {
    let zone = format!("SET TimeZone = '{zone}'");
    let queries: Vec<String> =
        VALUES.iter().map(|value| format!("SELECT v FROM (SELECT 0 AS i, {value} AS v UNION ALL SELECT 1, NULL) ORDER BY i")).collect();
    let script: Vec<String> = std::iter::once(&zone).chain(&queries).cloned().collect();
    let theirs = printed(&script);
    assert_eq!(theirs.len(), 2 * VALUES.len());
    let db = Db::new(&[]);
    let mut session = db.session().await;
    run(&mut session, &[&zone]).await;
    let mut wrong = Vec::new();
    for ((query, value), theirs) in queries.iter().zip(VALUES).zip(theirs.chunks(2)) {
        let ours = shown(&mut session, query).await;
        if ours != theirs {
            wrong.push(format!("{value}: {ours:?}, the client has {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{zone}, {} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn every_cell_is_the_clients() {
    compare("UTC").await;
}

#[tokio::test]
async fn every_cell_is_the_clients_in_any_zone() {
    compare("America/New_York").await;
    compare("Asia/Kathmandu").await;
}

#[tokio::test]
async fn every_type_is_called_as_duckdb_calls_it() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    let mut wrong = Vec::new();
    for value in VALUES {
        let seen = batch(&mut session, &format!("SELECT v, typeof(v) FROM (SELECT {value} AS v)")).await;
        let (name, told) = (seen.schema().field(0).metadata()["sheaf.type"].clone(), rows(&seen)[0][1].clone());
        if name != told && !told.contains("ENUM") && !told.contains("\"NULL\"") {
            wrong.push(format!("{value}: of type {name:?}, DuckDB has {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// DuckDB's own table of all its types, with the ends of each.
#[tokio::test]
async fn every_cell_of_duckdbs_own_table_of_types_is_the_clients() {
    let theirs = printed(&["SET TimeZone = 'UTC'".to_owned(), "SELECT * FROM test_all_types()".to_owned()]);
    let db = Db::new(&[]);
    let mut session = db.session().await;
    run(&mut session, &["SET TimeZone = 'UTC'"]).await;
    // Its own printer counts milliseconds as a double, which at the last instant is one off.
    let last_instant = ["294247-01-10 04:00:54.775806+00", "294247-01-10 04:00:54.776806+00"].map(|text| Some(text.to_owned()));
    let names = batch(&mut session, "SELECT * FROM test_all_types()").await.schema();
    let ours = shown(&mut session, "SELECT * FROM test_all_types()").await;
    assert_eq!((ours.len(), theirs.len()), (3, 3));
    let mut wrong = Vec::new();
    for (row, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!((ours.len(), theirs.len()), (names.fields().len(), names.fields().len()));
        for (field, (ours, theirs)) in names.fields().iter().zip(ours.iter().zip(theirs)) {
            let is_bytes = field.metadata()["sheaf.type"] == "BLOB";
            let ours = if is_bytes { ours.as_deref().map(escaped) } else { ours.clone() };
            if ours != *theirs && [ours.clone(), theirs.clone()] != last_instant {
                wrong.push(format!("{} in row {row}: {ours:?}, the client has {theirs:?}", field.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Doubles and reals of any bits, decimals, times and intervals, from a hash of their place.
#[tokio::test]
async fn twenty_thousand_values_from_a_seed_are_the_clients() {
    let query = "SELECT h::BIT::DOUBLE AS d, (h % 4294967296)::UINTEGER::BIT::FLOAT AS f, ((h % 2000000) / 1000.0)::DOUBLE AS s,
                        (h % 100000000000000)::DECIMAL(38, 7) / 1000 AS n, (h::HUGEINT - 9223372036854775808) * (h % 4294967296) AS g, make_timestamp((h >> 5)::BIGINT - 288230376151711744) AS t, make_timestamptz((h >> 4)::BIGINT - 576460752303423488) AS z,
                        DATE '1970-01-01' + ((h % 4000000)::INTEGER - 2000000) AS a, to_microseconds((h >> 8)::BIGINT) + to_months((h % 5000)::INTEGER - 2500) AS v,
                        [h, NULL, i] AS l, {'a': h::BIT::DOUBLE, 'b': 'x' || (h % 7)} AS r, MAP {i: h::VARCHAR} AS m
                 FROM (SELECT i, hash(i + 20250101) AS h FROM range(20000) AS r(i)) ORDER BY i";
    let zone = "SET TimeZone = 'UTC'";
    let theirs = printed(&[zone.to_owned(), query.to_owned()]);
    let db = Db::new(&[]);
    let mut session = db.session().await;
    run(&mut session, &[zone]).await;
    let ours = shown(&mut session, query).await;
    assert_eq!((ours.len(), theirs.len()), (20_000, 20_000));
    let cells = ours.iter().flatten().zip(theirs.iter().flatten());
    let wrong: Vec<String> =
        cells.filter(|(ours, theirs)| ours != theirs).map(|(ours, theirs)| format!("{ours:?}, the client has {theirs:?}")).collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}
