use super::super::types::{Column, Names};
use super::*;
use crate::engine::rows::EXTENSION_KEY;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use shared::format::format_cell;

const ISO: Reading = Reading { iso_dates: true, shortest_floats: true };

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
        (701, -1, "1e+15", DataType::Float64),
        (701, -1, "-Infinity", DataType::Float64),
        (701, -1, "-0", DataType::Float64),
        (700, -1, "1e+06", DataType::Float32),
        (1082, -1, "0001-01-01", DataType::Date32),
        (1082, -1, "5874897-12-31", DataType::Date32),
        (1700, numeric, "-0.05", DataType::Decimal128(12, 2)),
        (17, -1, "\\x00ff", DataType::Binary),
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
        (17, -1, "\\x0"),
        (17, -1, "\\9"),
    ] {
        assert_eq!(one(oid, modifier, ISO, text), (DataType::Utf8, text.to_owned()));
    }
    let other = Reading { iso_dates: false, shortest_floats: false };
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
    assert_eq!(values::bytea(b"\\x00Ff"), Some(vec![0, 255]));
    assert_eq!(values::bytea(b"a\\\\b\\000\\377"), None);
    assert_eq!((values::bytea(b"\\x"), values::bytea(b"")), (Some(vec![]), None));
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
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values().as_ref(), [3, 4]);
    rows.discard(7);
    assert_eq!((rows.len(), rows.byte_len()), (0, 0));
}

#[test]
fn mutated_rows_are_a_fault_or_values_never_a_panic() {
    let oids = [(16, -1), (23, -1), (701, -1), (1082, -1), (1700, (12 << 16 | 2) + 4), (17, -1), (25, -1)];
    let layout = layout(&oids);
    let whole = row(&[Some(b"t"), Some(b"42"), Some(b"0.5"), Some(b"2024-01-01"), Some(b"1.50"), Some(b"\\x00"), None]);
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
