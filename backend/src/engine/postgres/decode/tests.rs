mod exact;

use super::super::types::{Column, Names};
use super::*;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use shared::format::format_cell;
use shared::page::EXTENSION_KEY;

const ISO: Reading = Reading { iso_dates: true, postgres_intervals: true, shortest_floats: true };

fn layout(oids: &[(u32, i32)]) -> Layout {
    let column = |(oid, modifier): &(u32, i32)| Column { name: "c".to_owned(), table: 0, attribute: 0, oid: *oid, modifier: *modifier };
    Layout::new(oids.iter().map(column).collect(), &Names::default())
}

fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        body.extend(value.map_or(-1, |value| i32::try_from(value.len()).unwrap()).to_be_bytes());
        body.extend(value.unwrap_or_default());
    }
    body
}

/// One column of one value, decoded: its physical type and its text.
fn one(oid: u32, modifier: i32, reading: Reading, text: &str) -> (DataType, String) {
    let mut rows = Rows::default();
    rows.push(&row(&[Some(text.as_bytes())]));
    rows.push(&row(&[None]));
    let batch = batch(&rows, 2, &layout(&[(oid, modifier)]), reading).unwrap();
    assert!(batch.column(0).is_null(1));
    let schema = batch.schema();
    let shown = format_cell(batch.column(0).as_ref(), schema.field(0), 0).text().unwrap().into_owned();
    (batch.column(0).data_type().clone(), shown)
}

#[test]
fn what_is_typed_shows_the_servers_text_again() {
    let numeric = (12 << 16 | 2) + 4;
    for (oid, modifier, text, physical) in [
        (16, -1, "t", DataType::Boolean),
        (21, -1, "-32768", DataType::Int16),
        (20, -1, "-9223372036854775808", DataType::Int64),
        (26, -1, "4294967295", DataType::UInt32),
        (5069, -1, "18446744073709551615", DataType::UInt64),
        (5069, -1, "0", DataType::UInt64),
        (701, -1, "1e+15", DataType::Float64),
        (701, -1, "-Infinity", DataType::Float64),
        (701, -1, "-0", DataType::Float64),
        (700, -1, "1e+06", DataType::Float32),
        (1082, -1, "0001-01-01", DataType::Date32),
        (1082, -1, "5874897-12-31", DataType::Date32),
        (1700, numeric, "-0.05", DataType::Decimal128(12, 2)),
        (17, -1, "\\x00ff", DataType::Binary),
        (1700, (60 << 16 | 30) + 4, "-1.000000000000000000000000000005", DataType::Decimal256(60, 30)),
        (1700, (1000 << 16) + 4, "1", DataType::Decimal128(38, 0)),
        (1700, -1, "-0.00000000000000000000000000000000000001", DataType::Decimal128(38, 38)),
        (1700, -1, "100000000000000000000000000000000000000", DataType::Decimal256(76, 0)),
        (1700, -1, "1.000000000000000000000000000000000000000", DataType::Decimal256(76, 39)),
        (1083, -1, "23:59:59.999999", DataType::Time64(TimeUnit::Microsecond)),
        (1114, -1, "2024-02-29 12:34:56.5", DataType::Timestamp(TimeUnit::Microsecond, None)),
        (1114, -1, "294246-12-31 23:59:59.999999", DataType::Timestamp(TimeUnit::Microsecond, None)),
        (1184, -1, "2024-02-29 12:34:56.5+05:30", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        (1184, -1, "0001-01-01 00:00:00+100", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        (1184, -1, "1883-11-18 12:00:00-07:52:58", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        (1186, -1, "-1 years -2 mons +3 days -04:05:06.789", DataType::Interval(IntervalUnit::MonthDayNano)),
        (1186, -1, "00:00:00", DataType::Interval(IntervalUnit::MonthDayNano)),
        (1186, -1, "-1 days +2562047:47:16.854775", DataType::Interval(IntervalUnit::MonthDayNano)),
        (2950, -1, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", DataType::FixedSizeBinary(16)),
    ] {
        assert_eq!(one(oid, modifier, ISO, text), (physical, text.to_owned()));
    }
}

#[test]
fn what_does_not_fit_keeps_the_servers_text() {
    let numeric = (12 << 16 | 2) + 4;
    for (oid, modifier, text) in [
        (16, -1, "true"),
        (21, -1, "40000"),
        (23, -1, ""),
        (23, -1, "+1"),
        (23, -1, "1 "),
        (20, -1, "9223372036854775808"),
        (20, -1, "99999999999999999999999"),
        (5069, -1, "18446744073709551616"),
        (5069, -1, "+1"),
        (5069, -1, "01"),
        (5069, -1, "-1"),
        (701, -1, "1000000000000000"),
        (701, -1, "5e-324"),
        (701, -1, "abc"),
        (1082, -1, "infinity"),
        (1082, -1, "0044-03-15 BC"),
        (1082, -1, "03.02.2024"),
        (1082, -1, "2024-13-01"),
        (1700, numeric, "NaN"),
        (1700, numeric, "1.5"),
        (1700, numeric, "1.500"),
        (1700, numeric, ".50"),
        (1700, numeric, "99999999999.00"),
        (1700, -1, "NaN"),
        (1700, -1, "-Infinity"),
        (1700, -1, "0.0000000000000000000000000000000000000000000000000000000000000000000000000001234"),
        (1700, (60 << 16 | 30) + 4, "NaN"),
        (1083, -1, "24:00:00"),
        (1083, -1, "10:00:00.50"),
        (1114, -1, "infinity"),
        (1114, -1, "0044-03-15 12:00:00 BC"),
        (1114, -1, "2023-02-29 12:00:00"),
        (1114, -1, "294276-12-31 23:59:59.999999"),
        (1184, -1, "0044-03-15 12:00:00+00 BC"),
        (1184, -1, "2024-01-01 00:00:00"),
        (1184, -1, "2024-01-01 00:00:00-00"),
        (1184, -1, "2024-01-01 00:00:00+02:00"),
        (1184, -1, "2024-01-01 00:00:00 CET"),
        (1186, -1, "@ 1 day"),
        (1186, -1, "P1D"),
        (1186, -1, "1 0:00:00"),
        (1186, -1, "1 day 00:00:00"),
        (1186, -1, "1 years"),
        (1186, -1, "1 year -1 mons"),
        (1186, -1, "14 mons"),
        (1186, -1, "-1 days 00:00:01"),
        (1186, -1, "178956971 years"),
        (1186, -1, "2562047:47:16.854776"),
        (1186, -1, "infinity"),
        (2950, -1, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
        (2950, -1, "a0eebc999c0b4ef8bb6d6bb9bd380a11"),
        (17, -1, "\\x0"),
        (17, -1, "\\9"),
    ] {
        assert_eq!(one(oid, modifier, ISO, text), (DataType::Utf8, text.to_owned()));
    }
    let other = Reading { iso_dates: false, postgres_intervals: false, shortest_floats: false };
    for (oid, text) in [(1114, "2024-01-01 00:00:00"), (1184, "2024-01-01 00:00:00+00"), (1186, "1 day")] {
        assert_eq!(one(oid, -1, other, text), (DataType::Utf8, text.to_owned()));
    }
    assert_eq!(one(1082, -1, other, "2024-01-01").0, DataType::Utf8);
    assert_eq!(one(701, -1, other, "0.10000000000000001"), (DataType::Utf8, "0.10000000000000001".to_owned()));
}

#[test]
fn days_are_counted_from_1970() {
    for (text, days) in [("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2024-03-01", 19_783), ("0001-01-01", -719_162)] {
        assert_eq!(values::date(text.as_bytes()), Some(days), "{text}");
    }
}

#[test]
fn bytea_is_read_in_hexadecimal_and_left_as_text_otherwise() {
    let bytea = |text: &[u8]| {
        let mut bytes = vec![7];
        values::bytea(text, &mut bytes).map(|()| bytes)
    };
    assert_eq!(bytea(b"\\x00Ff"), Some(vec![0, 255]));
    assert_eq!(bytea(b"a\\\\b\\000\\377"), None);
    assert_eq!((bytea(b"\\x"), bytea(b"")), (Some(vec![]), None));
}

#[test]
fn a_page_of_uuids_says_so_only_while_it_has_their_bytes() {
    let uuid = "00000000-0000-0000-0000-00000000000f";
    for (text, extension) in [(uuid, Some("arrow.uuid")), ("?", None)] {
        let mut rows = Rows::default();
        rows.push(&row(&[Some(uuid.as_bytes())]));
        rows.push(&row(&[Some(text.as_bytes())]));
        let batch = batch(&rows, 2, &layout(&[(2950, -1)]), ISO).unwrap();
        assert_eq!(batch.schema().field(0).metadata().get(EXTENSION_KEY).map(String::as_str), extension);
    }
}

#[test]
fn a_page_of_instants_tells_their_offsets() {
    let winter = "2024-01-01 00:00:00+01";
    for (text, offsets) in [
        ("2024-07-01 00:00:00+02", Some("1704063600000000:3600,1719784800000000:7200")),
        ("2024-01-01 00:00:01+01", Some("1704063600000000:3600")),
        // No clock shows one instant in two ways.
        ("2023-12-31 23:00:00+00", None),
    ] {
        let mut rows = Rows::default();
        for text in [text, winter] {
            rows.push(&row(&[Some(text.as_bytes())]));
        }
        let batch = batch(&rows, 2, &layout(&[(1184, -1)]), ISO).unwrap();
        let schema = batch.schema();
        assert_eq!(schema.field(0).metadata().get(OFFSETS_KEY).map(String::as_str), offsets, "{text}");
        let shown = format_cell(batch.column(0).as_ref(), schema.field(0), 0).text().unwrap().into_owned();
        assert_eq!((shown.as_str(), batch.column(0).data_type() == &DataType::Utf8), (text, offsets.is_none()));
    }
}

#[test]
fn numbers_of_one_scale_are_decimals_and_others_stay_text() {
    let kind = |values: &[&str]| {
        let mut rows = Rows::default();
        values.iter().for_each(|text| rows.push(&row(&[Some(text.as_bytes())])));
        batch(&rows, values.len(), &layout(&[(1700, -1)]), ISO).unwrap().column(0).data_type().clone()
    };
    let long = "9".repeat(39);
    assert_eq!(kind(&["1.50", "-20.25", "0.00"]), DataType::Decimal128(38, 2));
    assert_eq!(kind(&["1", long.as_str()]), DataType::Decimal256(76, 0));
    for values in [["1.5", "1.50"], ["1", "1.0"], ["1.0", "1"], ["1", "NaN"], [long.as_str(), "1.5"]] {
        assert_eq!(kind(&values), DataType::Utf8, "{values:?}");
    }
}

#[test]
fn a_byte_that_is_no_utf8_is_written_as_such_and_harms_no_other_row() {
    let mut rows = Rows::default();
    rows.push(&row(&[Some(b"a\xff"), Some(b"{}")]));
    rows.push(&row(&[Some("ä".as_bytes()), None]));
    // Two halves of one character side by side are not one character.
    rows.push(&row(&[Some(b"\xc3"), Some(b"{}")]));
    rows.push(&row(&[Some(b"\xa4"), Some(b"{}")]));
    let batch = batch(&rows, 4, &layout(&[(25, -1), (114, -1)]), ISO).unwrap();
    let shown: Vec<_> = batch.column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(shown, [r"a\xff", "ä", r"\xc3", r"\xa4"]);
    assert_eq!(batch.schema().field(1).metadata().get(EXTENSION_KEY).map(String::as_str), Some("arrow.json"));
}

#[test]
fn rows_are_taken_from_the_front() {
    let mut rows = Rows::default();
    for n in 0..10 {
        rows.push(&row(&[Some(n.to_string().as_bytes())]));
    }
    let each = rows.byte_len() / 10;
    assert_eq!(rows.reaching(1), Some(1));
    assert_eq!(rows.reaching(each), Some(1));
    assert_eq!(rows.reaching(each + 1), Some(2));
    assert_eq!(rows.reaching(10 * each), Some(10));
    assert_eq!(rows.reaching(10 * each + 1), None);
    rows.discard(0);
    rows.discard(3);
    assert_eq!((rows.len(), rows.byte_len()), (7, 7 * each));
    let batch = batch(&rows, 2, &layout(&[(23, -1)]), ISO).unwrap();
    assert_eq!(batch.column(0).as_primitive::<at::Int32Type>().values().as_ref(), [3, 4]);
    rows.discard(7);
    assert_eq!((rows.len(), rows.byte_len()), (0, 0));
}

#[test]
fn mutated_rows_are_a_fault_or_values_never_a_panic() {
    let oids =
        [(16, -1), (23, -1), (701, -1), (1082, -1), (1700, (12 << 16 | 2) + 4), (17, -1), (25, -1), (1184, -1), (1186, -1), (2950, -1)];
    let layout = layout(&oids);
    let typed: [&[u8]; 6] = [b"t", b"42", b"0.5", b"2024-01-01", b"1.50", b"\\x00"];
    let later: [&[u8]; 3] = [b"2024-01-01 00:00:00+01", b"-1 days +00:00:01", b"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"];
    let values: Vec<Option<&[u8]>> = typed.into_iter().map(Some).chain([None]).chain(later.into_iter().map(Some)).collect();
    let whole = row(&values);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..20_000 {
        let mut body = whole.clone();
        for _ in 0..=random(3) {
            let at = random(body.len());
            body[at] = u8::try_from(random(256)).unwrap();
        }
        body.truncate(1 + random(body.len()));
        let mut rows = Rows::default();
        rows.push(&whole);
        rows.push(&body);
        let _ = batch(&rows, 2, &layout, ISO);
    }
}
