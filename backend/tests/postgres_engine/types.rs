//! A cell shows what psql prints, for every type.

use crate::setting::{PAGE, cell, run, session};
use arrow_array::Array;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use testing::postgres::clusters;

/// Expressions of each type, as a statement's columns.
const VALUES: &[&str] = &[
    "true",
    "false",
    "null::bool",
    "(-32768)::int2",
    "32767::int2",
    "(-2147483648)::int4",
    "2147483647::int4",
    "(-9223372036854775808)::int8",
    "9223372036854775807::int8",
    "4294967295::oid",
    "0::oid",
    "'pg_class'::regclass",
    "0::float8",
    "'-0'::float8",
    "1::float8",
    "0.1::float8",
    "1.0/3.0::float8",
    "123456789012345::float8",
    "1e15::float8",
    "1e14::float8",
    "999999999999999.9::float8",
    "1e-4::float8",
    "9.9e-5::float8",
    "1e23::float8",
    "9.5367431640625e+23::float8",
    "1.7976931348623157e308::float8",
    "2.2250738585072014e-308::float8",
    "4.94065645841247e-324::float8",
    "'NaN'::float8",
    "'Infinity'::float8",
    "'-Infinity'::float8",
    "9007199254740993::float8",
    "0.3::float4",
    "16777217::float4",
    "1e6::float4",
    "999999.9::float4",
    "1e-5::float4",
    "3.4028235e38::float4",
    "1e-45::float4",
    "'NaN'::float4",
    "'-Infinity'::float4",
    "1.10::numeric",
    "1e40::numeric",
    "'NaN'::numeric",
    "12345.60::numeric(12,2)",
    "(-0.05)::numeric(12,2)",
    "0::numeric(12,2)",
    "'NaN'::numeric(12,2)",
    "99999999999999999999999999999999999999::numeric(38,0)",
    "1.5::numeric(1000,500)",
    "0.00012::numeric(5,5)",
    "date '2024-02-29'",
    "date '0001-01-01'",
    "date '0044-03-15 BC'",
    "date 'infinity'",
    "date '-infinity'",
    "date '5874897-12-31'",
    "date '1969-12-31'",
    "date '1900-03-01'",
    "time '23:59:59.999999'",
    "time '24:00:00'",
    "timetz '12:34:56.789+05:30'",
    "timestamp '2024-03-31 02:30:00.5'",
    "timestamp 'infinity'",
    "timestamp '0044-03-15 12:00 BC'",
    "timestamptz '2024-07-01 12:00:00+00'",
    "timestamptz '2024-01-01 12:00:00.123456+00'",
    "timestamptz(0) '1890-01-01 12:00:00+00'",
    "interval '1 year 2 mons 3 days 04:05:06.789'",
    "interval '-1 day'",
    "interval '0'",
    "'abc'::text",
    "''::text",
    "null::text",
    "e'a\\tb\\nc'::text",
    "'Grüße, 村 🦀'::text",
    "'abc'::varchar(40)",
    "'ab'::char(5)",
    "'x'::\"char\"",
    "'name'::name",
    "'\\x00ff10'::bytea",
    "''::bytea",
    "null::bytea",
    "'{\"a\": [1, 2.50]}'::json",
    "'{\"b\":1,  \"a\":null}'::jsonb",
    "'$.a[*]'::jsonpath",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
    "'<a>b</a>'::xml",
    "1234.5::money",
    "B'1010'::bit(4)",
    "B'10'::varbit",
    "'192.168.0.1/24'::inet",
    "'10.0.0.0/8'::cidr",
    "'08:00:2b:01:02:03'::macaddr",
    "'08:00:2b:01:02:03:04:05'::macaddr8",
    "'(1,2)'::point",
    "'{1,2,3}'::line",
    "'[(0,0),(1,1)]'::lseg",
    "'(1,1),(0,0)'::box",
    "'((0,0),(1,1))'::path",
    "'((0,0),(1,0),(1,1))'::polygon",
    "'<(0,0),5>'::circle",
    "'{1,2,NULL}'::int4[]",
    "'{\"a b\",c,NULL}'::text[]",
    "'{}'::int4[]",
    "'[0:1]={1,2}'::int4[]",
    "'{{1,2},{3,4}}'::int4[]",
    "'[1,10)'::int4range",
    "'empty'::int4range",
    "'[2024-01-01,)'::daterange",
    "'a & b'::tsquery",
    "'a:1 b:2'::tsvector",
    "row(1, 'two', null)",
    "'16/B374D848'::pg_lsn",
    "'100:200:150'::txid_snapshot",
    "'5'::xid",
    "'5'::cid",
    "'(0,1)'::tid",
    "array[1.5, 2.25]::numeric(5,2)[]",
    "array['x']::varchar(3)[]",
    "'postgres=r/postgres'::aclitem",
    "null",
    "'unknown'",
    "(select relacl from pg_class where relname = 'pg_class')",
];

/// The same of what came later, with the version it came with.
const LATER_VALUES: &[(u32, &str)] = &[(13, "'5'::xid8"), (13, "'100:200:150'::pg_snapshot"), (14, "'{[1,2),[5,6)}'::int4multirange")];

#[tokio::test]
async fn a_cell_shows_what_psql_prints() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let later = LATER_VALUES.iter().filter(|(since, _)| cluster.is_since(*since)).map(|(_, value)| value);
        for value in VALUES.iter().chain(later) {
            let text = format!("select {value} as v");
            let (batch, _) = run(session.as_mut(), &text).await.unwrap_or_else(|error| panic!("{value}: {error:?}"));
            let printed = cluster.psql("postgres", &text);
            assert_eq!(cell(&batch.unwrap(), 0, 0), printed.strip_suffix('\n').unwrap(), "{value}");
        }
    }
}

#[tokio::test]
async fn random_values_show_what_psql_prints() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let text = "select setseed(0.5)::text,
                float8send((random() - 0.5) * 10 ^ (random() * 40 - 20)) is not null, (random() - 0.5) * 10 ^ (random() * 40 - 20) as f,
                ((random() - 0.5) * 10 ^ (random() * 20 - 10))::float4, (random() * 1e9)::numeric(14,4), date '1600-01-01' + (random() * 300000)::int,
                (random() * 1e18 - 5e17)::int8, (random() * 6e4 - 3e4)::int2, decode(md5(random()::text), 'hex'),
                timestamptz '1900-01-01' + random() * interval '200 years', chr(1 + (random() * 50000)::int)
            from generate_series(1, 900)";
        let (batch, _) = run(session.as_mut(), text).await.unwrap();
        let batch = batch.unwrap();
        let printed = cluster
            .psql("postgres", &text.replace("chr(1 +", "encode(convert_to(chr(1 +").replace("::int)\n", "::int), 'UTF8'), 'hex')\n"));
        for (row, line) in printed.lines().enumerate() {
            for (column, expected) in line.split('|').enumerate() {
                let shown = cell(&batch, row, column);
                if column < 10 {
                    assert_eq!(shown, expected, "row {row} column {column}");
                } else {
                    let hex: String = shown.bytes().map(|byte| format!("{byte:02x}")).collect();
                    assert_eq!(hex, expected);
                }
            }
        }
        assert_eq!(*batch.column(2).data_type(), DataType::Float64);
        assert_eq!(*batch.column(4).data_type(), DataType::Decimal128(14, 4));
    }
}

/// A type, its values, and the physical type of a page of them.
fn tightest() -> Vec<(&'static str, &'static str, DataType)> {
    let timestamp = DataType::Timestamp(TimeUnit::Microsecond, None);
    let instant = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let interval = DataType::Interval(IntervalUnit::MonthDayNano);
    vec![
        ("time", "00:00, 23:59:59.999999, 12:34:56.5", DataType::Time64(TimeUnit::Microsecond)),
        ("time", "00:00, 24:00:00", DataType::Utf8),
        ("time(2)", "12:34:56.789", DataType::Time64(TimeUnit::Microsecond)),
        ("timetz", "12:34:56+01", DataType::Utf8),
        ("timestamp", "0001-01-01, 1969-12-31 23:59:59.999999, 294246-12-31 23:59:59", timestamp.clone()),
        ("timestamp(0)", "2024-02-29 12:34:56.789", timestamp),
        ("timestamp", "2024-02-29, infinity", DataType::Utf8),
        ("timestamp", "2024-02-29, 0001-12-31 BC", DataType::Utf8),
        ("timestamp", "294276-12-31 23:59:59", DataType::Utf8),
        (
            "timestamptz",
            "1800-01-01, 1945-05-24 02:00+00, 2024-03-31 00:59:59.999999+00, 2024-03-31 01:00+00, 294246-12-31 00:00+00",
            instant.clone(),
        ),
        ("timestamptz(3)", "2024-01-01 12:00:00.123456+00, 2024-07-01 12:00:00.5+00", instant.clone()),
        ("timestamptz", "2024-10-27 00:30+00, 2024-10-27 01:30+00", instant),
        ("timestamptz", "2024-01-01, -infinity", DataType::Utf8),
        ("timestamptz", "2024-01-01, 0044-03-15 BC", DataType::Utf8),
        ("uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11, 00000000-0000-0000-0000-000000000000", DataType::FixedSizeBinary(16)),
        ("numeric", "1.50, -0.05, 0.00, 123456789012345678901234567890123456.78", DataType::Decimal128(38, 2)),
        ("numeric", "1, 100000000000000000000000000000000000000", DataType::Decimal256(76, 0)),
        ("numeric", "1e75, -1e75", DataType::Decimal256(76, 0)),
        ("numeric", "1e76", DataType::Utf8),
        ("numeric", "1.5, 1.50", DataType::Utf8),
        ("numeric", "1, NaN", DataType::Utf8),
        ("numeric(60,30)", "1.5, -123456789012345678901234567890", DataType::Decimal256(60, 30)),
        ("numeric(76,76)", "0.5", DataType::Decimal256(76, 76)),
        ("numeric(100,2)", "1.5, 1e40", DataType::Decimal256(76, 2)),
        ("interval", "0, 1 year 2 mons 3 days 04:05:06.789, -1 year 3 days, 1 day -00:00:01, -14 mons, 2562047 hours", interval.clone()),
        ("interval day to minute", "1 day 02:03:04.5", interval),
        ("xid", "0, 4294967295", DataType::UInt32),
        ("interval", "1 day, 2562048 hours", DataType::Utf8),
    ]
}

#[tokio::test]
async fn a_page_has_the_tightest_form_of_what_psql_prints() {
    for cluster in clusters() {
        for zone in ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Africa/Monrovia", "+13:45"] {
            let mut session = session(cluster).await;
            run(session.as_mut(), &format!("set timezone = '{zone}'")).await.unwrap();
            for (kind, values, physical) in tightest() {
                let listed: Vec<String> = values.split(", ").map(|value| format!("'{value}'")).collect();
                let text = format!("select v::{kind} from unnest(array[{}, null]) v", listed.join(", "));
                let (batch, _) = run(session.as_mut(), &text).await.unwrap();
                let batch = batch.unwrap();
                let shown: Vec<String> = (0..batch.num_rows()).map(|row| cell(&batch, row, 0)).collect();
                let printed = cluster.psql("postgres", &format!("set timezone = '{zone}'; {text}"));
                assert_eq!(shown, printed.split_terminator('\n').collect::<Vec<_>>(), "{zone}: {text}");
                assert_eq!(*batch.column(0).data_type(), physical, "{zone}: {text}");
                assert!(batch.column(0).is_null(listed.len()));
            }
        }
    }
}

#[tokio::test]
async fn summer_times_of_more_years_than_a_page_can_tell_are_text() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        run(session.as_mut(), "set timezone = 'Europe/Berlin'").await.unwrap();
        for (years, is_text) in [(30, false), (60, true)] {
            let text = format!("select timestamptz '1980-01-01' + make_interval(months => n) from generate_series(0, {}) n", years * 12);
            let (batch, _) = run(session.as_mut(), &text).await.unwrap();
            let batch = batch.unwrap();
            let printed = cluster.psql("postgres", &format!("set timezone = 'Europe/Berlin'; {text}"));
            for (row, line) in printed.lines().enumerate() {
                assert_eq!(cell(&batch, row, 0), line);
            }
            assert_eq!(*batch.column(0).data_type() == DataType::Utf8, is_text, "{years} years");
        }
    }
}

#[tokio::test]
async fn a_page_keeps_the_text_where_a_value_does_not_fit() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        let text = "select case when n = 1500 then date 'infinity' else date '2024-01-01' end,
                           case when n = 1500 then 'NaN' else 1.5 end::numeric(12,2) from generate_series(1, 3000) n";
        session.execute(text, PAGE).await.unwrap();
        for types in [
            [DataType::Date32, DataType::Decimal128(12, 2)],
            [DataType::Utf8, DataType::Utf8],
            [DataType::Date32, DataType::Decimal128(12, 2)],
        ] {
            let batch = session.fetch(PAGE).await.unwrap().batch;
            assert_eq!([batch.column(0).data_type().clone(), batch.column(1).data_type().clone()], types);
            assert_eq!(batch.schema().field(0).metadata()[shared::page::TYPE_KEY], "date");
        }
        session.finish().await.unwrap();
    }
}

#[tokio::test]
async fn other_settings_of_the_session_never_make_a_cell_wrong() {
    for cluster in clusters() {
        for setting in [
            "DateStyle = 'SQL, DMY'",
            "DateStyle = 'German'",
            "bytea_output = 'escape'",
            "extra_float_digits = 0",
            "extra_float_digits = -5",
            "IntervalStyle = 'iso_8601'",
        ] {
            let mut session = session(cluster).await;
            run(session.as_mut(), &format!("set {setting}")).await.unwrap();
            for value in [
                "date '2024-02-03'",
                "timestamptz '2024-07-01 12:00:00+00'",
                "0.1::float8 + 0.2::float8",
                "1e12::float8",
                "4.94065645841247e-324::float8",
                "1e-40::float4",
                "interval '1 day'",
            ] {
                let text = format!("select {value}");
                let (batch, _) = run(session.as_mut(), &text).await.unwrap();
                let printed = cluster.psql("postgres", &format!("set {setting}; {text}"));
                assert_eq!(cell(&batch.unwrap(), 0, 0), printed.trim_end(), "{setting}: {value}");
            }
            let text = r"select '\x005c80ff41'::bytea";
            let (batch, _) = run(session.as_mut(), text).await.unwrap();
            let printed = cluster.psql("postgres", &format!("set {setting}; {text}"));
            assert_eq!(cell(&batch.unwrap(), 0, 0), printed.trim_end(), "{setting}");
        }
    }
}

#[tokio::test]
async fn a_byte_that_is_no_utf8_is_shown_as_such() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists raw");
        cluster.psql("postgres", "create database raw encoding 'SQL_ASCII' template template0 lc_collate 'C' lc_ctype 'C'");
        let mut target = crate::setting::target(cluster.port, "postgres");
        target.fields.database = Some("raw".to_owned());
        let mut session = crate::setting::connect(&target).await.unwrap();
        run(session.as_mut(), "set client_encoding = 'LATIN1'").await.unwrap();
        assert!(session.take_notices()[0].message.contains("LATIN1"));
        let (batch, _) = run(session.as_mut(), r"select convert_from('\x61ff', 'SQL_ASCII'), 'fine'::text, '{}'::json").await.unwrap();
        let batch = batch.unwrap();
        assert_eq!([cell(&batch, 0, 0), cell(&batch, 0, 1)], [r"a\xff", "fine"]);
        let error = run(session.as_mut(), r"select convert_from('\xff', 'SQL_ASCII')::int").await.unwrap_err();
        assert!(error.problem.message.contains("invalid input syntax"));
        session.close().await;
    }
}
