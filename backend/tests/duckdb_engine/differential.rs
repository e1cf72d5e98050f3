//! The same values through DuckDB's own client and through Sheaf: every cell compared.
//!
//! The one difference that is meant: bytes are hexadecimal digits here, and DuckDB's escapes there.

use super::support::{Db, PAGE, batch, rows, run};
use super::values::VALUES;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use backend::engine::Session;
use shared::page::{EXTENSION_KEY, OFFSETS_KEY, UUID_EXTENSION};
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

/// What a system calls UTC is one zone: a page says `UTC`.
#[tokio::test]
async fn utc_is_one_zone_by_all_its_names() {
    let query = "SELECT TIMESTAMPTZ '2020-01-01 00:00:00+00' AS t, NULL::TIMESTAMPTZ AS u";
    for zone in ["UTC", "Etc/UTC", "Etc/UCT", "Zulu", "Universal", "GMT", "Etc/GMT"] {
        let db = Db::new(&[]);
        let mut session = db.session().await;
        run(&mut session, &[&format!("SET TimeZone = '{zone}'")]).await;
        let page = batch(&mut session, query).await;
        let kind = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        for field in page.schema().fields() {
            assert_eq!((field.data_type(), field.metadata().contains_key(OFFSETS_KEY)), (&kind, false), "{zone}");
        }
        assert_eq!(shown(&mut session, query).await, printed(&[format!("SET TimeZone = '{zone}'"), query.to_owned()]), "{zone}");
    }
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

/// Types that Arrow has, and what a page makes of each; a value that such a type can't give back is text.
#[tokio::test]
async fn every_type_has_the_tightest_form_that_gives_the_clients_text() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    run(&mut session, &["SET TimeZone = 'Asia/Kathmandu'"]).await;
    let micros = TimeUnit::Microsecond;
    for (value, kind, extension) in [
        ("1::TINYINT", DataType::Int8, None),
        ("1::UBIGINT", DataType::UInt64, None),
        ("1::HUGEINT", DataType::Decimal256(39, 0), None),
        ("sum(1::BIGINT)", DataType::Decimal256(39, 0), None),
        ("340282366920938463463374607431768211455::UHUGEINT", DataType::Decimal256(39, 0), None),
        ("1::BIGNUM", DataType::Utf8, None),
        ("1.5::DECIMAL(4,1)", DataType::Decimal128(4, 1), None),
        ("1.5::DECIMAL(38,1)", DataType::Decimal128(38, 1), None),
        ("true", DataType::Boolean, None),
        ("uuid '80535f71-c86f-437d-9206-85c024b70a5f'", DataType::FixedSizeBinary(16), Some(UUID_EXTENSION)),
        ("NULL::UUID", DataType::FixedSizeBinary(16), Some(UUID_EXTENSION)),
        ("'{}'::JSON", DataType::Utf8, Some("arrow.json")),
        ("'a'::BLOB", DataType::Binary, None),
        ("'101'::BIT", DataType::Utf8, None),
        ("DATE '2020-01-01'", DataType::Date32, None),
        ("TIME '01:02:03'", DataType::Time64(micros), None),
        ("'01:02:03'::TIME_NS", DataType::Time64(TimeUnit::Nanosecond), None),
        ("'01:02:03+05'::TIMETZ", DataType::Utf8, None),
        ("TIMESTAMP_MS '2020-01-01 00:00:00'", DataType::Timestamp(TimeUnit::Millisecond, None), None),
        ("TIMESTAMPTZ '2020-01-01 00:00:00+00'", DataType::Timestamp(micros, Some("UTC".into())), None),
        ("'infinity'::TIMESTAMPTZ", DataType::Timestamp(micros, Some("UTC".into())), None),
        ("INTERVAL 1 DAY", DataType::Interval(IntervalUnit::MonthDayNano), None),
        ("INTERVAL 3000000 HOURS", DataType::Utf8, None),
        ("'x'::ENUM('x')", DataType::Utf8, None),
        ("[1]", DataType::Utf8, None),
        ("'POINT(1 2)'::GEOMETRY", DataType::Utf8, None),
    ] {
        let schema = batch(&mut session, &format!("SELECT {value} AS v")).await.schema();
        let field = schema.field(0);
        assert_eq!((field.data_type(), field.metadata().get(EXTENSION_KEY).map(String::as_str)), (&kind, extension), "{value}");
    }
}

/// Where clocks are put forward and back, and where they were some seconds off.
#[tokio::test]
async fn instants_of_any_zone_are_the_clients() {
    let query = "SELECT TIMESTAMPTZ '2019-01-01 00:30:00+00' + to_hours(CAST(i * 7 AS INTEGER)) AS t, CASE WHEN i % 500 = 7 THEN 'infinity'::TIMESTAMPTZ
                 WHEN i % 11 > 0 THEN TIMESTAMPTZ '1840-01-01 00:00:00+00' + to_days(CAST(i * 40 AS INTEGER)) END AS u FROM range(2500) AS r(i) ORDER BY i";
    for zone in ["Europe/Berlin", "America/St_Johns", "Africa/Monrovia", "Pacific/Kiritimati", "Australia/Lord_Howe"] {
        let zone = format!("SET TimeZone = '{zone}'");
        let theirs = printed(&[zone.clone(), query.to_owned()]);
        let db = Db::new(&[]);
        let mut session = db.session().await;
        run(&mut session, &[&zone]).await;
        let first = batch(&mut session, query).await;
        assert_eq!(first.column(0).data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), "{zone}");
        // Monrovia has been at UTC since 1972.
        assert_eq!(first.schema().field(0).metadata().contains_key(OFFSETS_KEY), !zone.contains("Monrovia"), "{zone}");
        let ours = shown(&mut session, query).await;
        assert_eq!((ours.len(), theirs.len()), (2_500, 2_500));
        for (row, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{zone}, row {row}");
        }
    }
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
