//! Expressions of every type, for the comparison with DuckDB's own client; and values that have a story.

use super::support::{Db, PAGE, one, rows, run};

/// Expressions of every type, its ends and its middle.
pub const VALUES: &[&str] = &[
    "true",
    "false",
    "NULL::BOOLEAN",
    "(-128)::TINYINT",
    "255::UTINYINT",
    "(-32768)::SMALLINT",
    "65535::USMALLINT",
    "(-2147483648)::INTEGER",
    "4294967295::UINTEGER",
    "(-9223372036854775808)::BIGINT",
    "18446744073709551615::UBIGINT",
    "(-170141183460469231731687303715884105728)::HUGEINT",
    "170141183460469231731687303715884105727::HUGEINT",
    "340282366920938463463374607431768211455::UHUGEINT",
    "0::HUGEINT",
    "'-123456789012345678901234567890123456789012345678901234567890'::BIGNUM",
    "'123456789012345678901234567890'::BIGNUM",
    "0::BIGNUM",
    "(-1)::BIGNUM",
    "'1000000000000000000'::BIGNUM",
    "'256'::BIGNUM",
    "1.5::DECIMAL(4,1)",
    "(-0.05)::DECIMAL(9,2)",
    "0::DECIMAL(18,3)",
    "0::DECIMAL(3,3)",
    "0.5::DECIMAL(1,1)",
    "99999999999999999999999999999999999999::DECIMAL(38,0)",
    "(-0.00000000000000000000000000000000000001)::DECIMAL(38,38)",
    "1::DOUBLE",
    "0.1::DOUBLE + 0.2::DOUBLE",
    "1e15::DOUBLE",
    "1e16::DOUBLE",
    "1e17::DOUBLE",
    "123456789012345680::DOUBLE",
    "1e-4::DOUBLE",
    "1e-5::DOUBLE",
    "1.5e300::DOUBLE",
    "5e-324::DOUBLE",
    "(-0.0)::DOUBLE",
    "'nan'::DOUBLE",
    "-('nan'::DOUBLE)",
    "'inf'::DOUBLE",
    "'-inf'::DOUBLE",
    "1e22::DOUBLE",
    "1e23::DOUBLE",
    "9007199254740993::DOUBLE",
    "1::FLOAT",
    "0.1::FLOAT",
    "16777216::FLOAT",
    "1e10::FLOAT",
    "1e15::FLOAT",
    "1e16::FLOAT",
    "1e17::FLOAT",
    "3.4028235e38::FLOAT",
    "1e-45::FLOAT",
    "134204974.3::FLOAT",
    "289781.625::FLOAT",
    "2747983872::FLOAT",
    "33554432::FLOAT",
    "9.5367431640625e-7::FLOAT",
    "'nan'::FLOAT",
    "-('nan'::FLOAT)",
    "[-('nan'::FLOAT), 16777220::FLOAT]",
    "'-inf'::FLOAT",
    "'text'",
    "''",
    "' ä €'",
    "'a' || chr(10) || 'b'",
    "'{\"a\": [1, null]}'::JSON",
    "uuid '80535f71-c86f-437d-9206-85c024b70a5f'",
    "'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID",
    "'00000000-0000-0000-0000-000000000000'::UUID",
    "'10101'::BIT",
    "'1'::BIT",
    "'0000000011111111'::BIT",
    "5::BIT",
    "DATE '2020-02-29'",
    "DATE '0001-01-01'",
    "DATE '0044-03-15 (BC)'",
    "DATE '5877642-06-25 (BC)'",
    "DATE '5881580-07-10'",
    "'infinity'::DATE",
    "'-infinity'::DATE",
    "DATE '12345-01-01'",
    "TIME '01:02:03'",
    "TIME '23:59:59.999999'",
    "TIME '00:00:00.1'",
    "'24:00:00'::TIME",
    "'01:02:03.123456789'::TIME_NS",
    "'01:02:03.1'::TIME_NS",
    "'01:02:03+05:30'::TIMETZ",
    "'01:02:03.5-15:59:59'::TIMETZ",
    "'01:02:03+00'::TIMETZ",
    "'23:59:59.999999-08'::TIMETZ",
    "TIMESTAMP '2020-02-29 01:02:03'",
    "TIMESTAMP '2020-02-29 01:02:03.000001'",
    "TIMESTAMP '1969-12-31 23:59:59.5'",
    "TIMESTAMP '0044-03-15 (BC) 12:00:00'",
    "'infinity'::TIMESTAMP",
    "'-infinity'::TIMESTAMP",
    "TIMESTAMP '294247-01-10 04:00:54.775806'",
    "TIMESTAMP_S '2020-02-29 01:02:03'",
    "'infinity'::TIMESTAMP_S",
    "TIMESTAMP_MS '2020-02-29 01:02:03.5'",
    "TIMESTAMP_MS '1969-12-31 23:59:59.999'",
    "'-infinity'::TIMESTAMP_MS",
    "TIMESTAMP_NS '2020-02-29 01:02:03.123456789'",
    "TIMESTAMP_NS '2020-02-29 01:02:03.1'",
    "TIMESTAMP_NS '1969-12-31 23:59:59.999999999'",
    "'infinity'::TIMESTAMP_NS",
    "TIMESTAMPTZ '2020-02-29 01:02:03+00'",
    "TIMESTAMPTZ '2020-07-01 01:02:03.25+00'",
    "'infinity'::TIMESTAMPTZ",
    "TIMESTAMPTZ '1890-01-01 00:00:00+00'",
    "TIMESTAMPTZ '0044-03-15 (BC) 12:00:00+00'",
    "INTERVAL 0 SECOND",
    "INTERVAL '1 year 2 months 3 days 04:05:06.789'",
    "INTERVAL '-1 month -1 day -00:00:01'",
    "INTERVAL 100 HOURS",
    "INTERVAL 12 MONTHS",
    "INTERVAL '-13 months'",
    "INTERVAL '1 day'",
    "INTERVAL 1000000 SECONDS",
    "INTERVAL 2562048 HOURS",
    "to_microseconds(1152921504606846975)",
    "to_microseconds(-1152921504606846976)",
    "[INTERVAL '-300 years', to_hours(-90000000)]",
    "[1, NULL, 3]",
    "[]::INTEGER[]",
    "NULL::INTEGER[]",
    "[[1], [], NULL]",
    "['a', '', 'NULL', 'null', NULL, ' x', 'x ', 'a b', 'a,b', 'it''s', 'a\"b', 'a\\b', '[x]', '{y}', '(z)', 'k=v', 'k:v', 'ä', chr(10), 'a' || chr(10) || 'b', 'a;b', '\\', 'a|b', '/', '#']",
    "[1.0::DOUBLE, 1e20::DOUBLE]",
    "[true, NULL]",
    "[DATE '2020-01-01']",
    "[TIMESTAMP '2020-01-01 00:00:00']",
    "[TIMESTAMPTZ '2020-01-01 00:00:00+00']",
    "[TIME '01:02:03']",
    "[INTERVAL 1 DAY]",
    "[INTERVAL 1 SECOND]",
    "[uuid '80535f71-c86f-437d-9206-85c024b70a5f']",
    "[3::HUGEINT]",
    "[1.50::DECIMAL(4,2)]",
    "['101'::BIT]",
    "['{\"a\":1}'::JSON]",
    "['\\xAA'::BLOB, 'a'::BLOB]",
    "['x'::ENUM('x', 'y,z')]",
    "['y,z'::ENUM('x', 'y,z')]",
    "[union_value(n := 1)]",
    "[union_value(s := 'a,b')]",
    "[1, 2]::INTEGER[2]",
    "['a', NULL]::VARCHAR[2]",
    "[[1, 2], [3, 4]]::INTEGER[2][2]",
    "{'a': 1, 'b': 'x y', 'c': NULL}",
    "{'odd name': 1, 'it''s': 2, 'a\\b': 3}",
    "row(1, 'a')",
    "{'s': {'t': [1, 2]}}",
    "{'j': '{\"a\":1}'::JSON}",
    "{'j': '1'::JSON}",
    "[{'a': 1}, NULL]",
    "{'b': 'x'::BLOB}",
    "{'u': union_value(s := 'a,b')}",
    "{'e': 'y,z'::ENUM('x', 'y,z')}",
    "MAP {'a': 1, 'b': NULL}",
    "MAP {}",
    "MAP {1: [1, 2]}",
    "MAP {'a=b': 'c, d'}",
    "MAP {'x': MAP {'y': 1}}",
    "MAP {'j': '{}'::JSON}",
    "MAP {DATE '2020-01-01': 1.5}",
    "union_value(n := 1)",
    "union_value(s := 'text')",
    "union_value(s := 'a,b')",
    "NULL::UNION(a INTEGER, b VARCHAR)",
    "'a'::UNION(a INTEGER, b VARCHAR)",
    "union_value(l := [1, 2])",
    "union_value(l := ['a,b'])",
    "'x'::ENUM('x', 'y')",
    "NULL::ENUM('x', 'y')",
    "NULL",
    "'POINT(1 2)'::GEOMETRY",
    "'POINT Z (1.5 2 3)'::GEOMETRY",
    "'POINT EMPTY'::GEOMETRY",
    "'LINESTRING(0 0, 1 1)'::GEOMETRY",
    "'POLYGON((0 0, 1 0, 1 1, 0 0), (0.1 0.1, 0.2 0.1, 0.2 0.2, 0.1 0.1))'::GEOMETRY",
    "'MULTIPOINT(1 2, 3 4)'::GEOMETRY",
    "'MULTIPOINT Z (1 2 3, 3 4 5)'::GEOMETRY",
    "'MULTIPOINT (1 2, EMPTY)'::GEOMETRY",
    "'GEOMETRYCOLLECTION Z (POINT Z EMPTY, POINT Z (1 2 3))'::GEOMETRY",
    "'MULTIPOLYGON EMPTY'::GEOMETRY",
    "'MULTILINESTRING((0 0, 1 1), (2 2, 3 3))'::GEOMETRY",
    "'MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)))'::GEOMETRY",
    "'GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(0 0, 1 1))'::GEOMETRY",
    "'POINT(1e20 -0.00001)'::GEOMETRY",
];

#[tokio::test]
async fn f46_timestamps_print_as_timestamps() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    let sql = "SELECT TIMESTAMP '2025-01-03 08:49:50' AS a, TIMESTAMP_NS '2025-01-03 08:49:50.123456789' AS b;";
    assert_eq!(one(&mut session, sql).await, [["2025-01-03 08:49:50", "2025-01-03 08:49:50.123456789"]]);
}

#[tokio::test]
async fn f47_milliseconds_are_not_1970() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    assert_eq!(one(&mut session, "SELECT CAST('2026-02-03 04:05:06.789' AS TIMESTAMP_MS) AS t;").await, [["2026-02-03 04:05:06.789"]]);
}

#[tokio::test]
async fn random_doubles_and_floats_print_as_duckdbs() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    run(&mut session, &["CREATE TABLE t AS SELECT (random() - 0.5) * pow(10, (random() * 36 - 30)::INTEGER) AS d FROM range(2000) UNION ALL SELECT (random() * 1e6)::BIGINT + 0.625 FROM range(2000)"]).await;
    for part in 0..4 {
        let sql = format!("SELECT d, d::VARCHAR, d::FLOAT, d::FLOAT::VARCHAR FROM t LIMIT 1000 OFFSET {}", part * 1000);
        for row in one(&mut session, &sql).await {
            assert_eq!((&row[0], &row[2]), (&row[1], &row[3]));
        }
    }
}

/// Bit patterns from a seed: any at all (NaN and the infinities among them), those from 2^24 on, and those a little above.
#[tokio::test]
async fn a_hundred_thousand_floats_print_as_duckdbs() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    let part = |seed: u64, first: u32, patterns: u64, count: u64| {
        format!("SELECT ({first} + hash(range + {seed}) % {patterns})::UINTEGER::BIT::FLOAT AS f FROM range({count})")
    };
    let any = part(1 << 20, 0, 1 << 32, 50_000);
    let large = part(2 << 20, 24_f32.exp2().to_bits(), u64::from(f32::INFINITY.to_bits() - 24_f32.exp2().to_bits()), 25_000);
    let near = part(3 << 20, 24_f32.exp2().to_bits(), u64::from(34_f32.exp2().to_bits() - 24_f32.exp2().to_bits()), 25_000);
    session.execute(&format!("SELECT f, f::VARCHAR FROM ({any} UNION ALL {large} UNION ALL {near})"), PAGE).await.unwrap();
    let (mut seen, mut wrong) = (0, Vec::new());
    loop {
        let fetched = session.fetch(PAGE).await.unwrap();
        seen += fetched.batch.num_rows();
        wrong.extend(rows(&fetched.batch).into_iter().filter(|row| row[0] != row[1]));
        if !fetched.more {
            break;
        }
    }
    assert_eq!((seen, wrong), (100_000, Vec::new()));
}

#[tokio::test]
async fn a_blob_is_bytes_and_a_variant_is_told_to_be_cast() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    assert_eq!(one(&mut session, "SELECT '\\xAA'::BLOB").await, [["\\xaa"]]);
    let refused = super::support::refusal(&mut session, "SELECT 5::VARIANT").await;
    assert!(refused.problem.message.contains("cast it to VARCHAR"), "{}", refused.problem.message);
}
