use super::*;
use arrow_array::*;
use arrow_buffer::{IntervalMonthDayNano, ScalarBuffer, i256};
use arrow_schema::UnionFields;
use std::collections::HashMap;
use std::sync::Arc;

fn field(physical: &DataType, engine: &str, type_name: &str) -> Field {
    let meta = HashMap::from([(ENGINE_KEY.to_owned(), engine.to_owned()), (crate::page::TYPE_KEY.to_owned(), type_name.to_owned())]);
    Field::new("c", physical.clone(), true).with_metadata(meta)
}

fn all(array: &dyn Array, engine: &str, type_name: &str) -> Vec<String> {
    let field = field(array.data_type(), engine, type_name);
    (0..array.len()).map(|row| format_cell(array, &field, row).text().map_or("∅".to_owned(), Cow::into_owned)).collect()
}

/// Checked against `select x::float8` of PostgreSQL 15.
#[test]
fn doubles_are_written_as_postgres_writes_them() {
    let values = [
        1e20,
        1e15,
        123456789012345.0,
        1e14,
        0.1,
        0.1 + 0.2,
        1e-4,
        1e-5,
        1.5e-7,
        -0.0,
        0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e23,
        5e-324,
        f64::MAX,
        9007199254740993.0,
        100.0,
        -2.5,
        2e-20,
        3e15,
    ];
    let expected = [
        "1e+20",
        "1e+15",
        "123456789012345",
        "100000000000000",
        "0.1",
        "0.30000000000000004",
        "0.0001",
        "1e-05",
        "1.5e-07",
        "-0",
        "0",
        "NaN",
        "Infinity",
        "-Infinity",
        "9.999999999999999e+22",
        "5e-324",
        "1.7976931348623157e+308",
        "9.007199254740992e+15",
        "100",
        "-2.5",
        "2e-20",
        "3e+15",
    ];
    assert_eq!(all(&Float64Array::from(values.to_vec()), "postgres", "double precision"), expected);
}

#[test]
#[expect(clippy::excessive_precision, reason = "halfway between two shortest forms: the digits in full are what is tested")]
fn reals_are_written_as_postgres_writes_them() {
    let values = vec![0.4_f32, 1e6, 999999.0, 16777216.0, 1e-5, f32::NAN, f32::MAX, 3034090.25, 158877.625];
    let expected = ["0.4", "1e+06", "999999", "1.6777216e+07", "1e-05", "NaN", "3.4028235e+38", "3.0340902e+06", "158877.62"];
    assert_eq!(all(&Float32Array::from(values), "postgres", "real"), expected);
}

/// Checked against sqlite3 3.40; where its 15 digits lose the value, the digits that keep it.
#[test]
fn reals_are_written_as_sqlite_writes_them() {
    let values =
        vec![1e20, 1.0, 0.5, 1e15, 123456789012345.0, 1e-5, 0.0001, -2.5, f64::INFINITY, f64::NEG_INFINITY, 0.1 + 0.2, -0.0, 2e-20];
    let expected = [
        "1.0e+20",
        "1.0",
        "0.5",
        "1.0e+15",
        "123456789012345.0",
        "1.0e-05",
        "0.0001",
        "-2.5",
        "Inf",
        "-Inf",
        "0.30000000000000004",
        "0.0",
        "2.0e-20",
    ];
    assert_eq!(all(&Float64Array::from(values), "sqlite", "REAL"), expected);
}

#[test]
fn every_written_double_reads_back_as_itself() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..50_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let value = f64::from_bits(state);
        if value.is_finite() {
            assert_eq!(float::postgres_f64(value).parse(), Ok(value));
            assert_eq!(float::sqlite(value).parse(), Ok(value));
        }
    }
}

#[test]
fn integers_keep_every_digit() {
    let array = Int64Array::from(vec![Some(-3297260625658750771), Some(i64::MAX), None]);
    assert_eq!(all(&array, "postgres", "bigint"), ["-3297260625658750771", "9223372036854775807", "∅"]);
    assert_eq!(all(&UInt64Array::from(vec![u64::MAX]), "mysql", "BIGINT UNSIGNED"), ["18446744073709551615"]);
}

#[test]
fn decimals_keep_their_scale() {
    let make = |values: Vec<i128>, scale| Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap();
    assert_eq!(all(&make(vec![12345, -5, 0, 100], 2), "postgres", "numeric(12,2)"), ["123.45", "-0.05", "0.00", "1.00"]);
    assert_eq!(all(&make(vec![7], 0), "postgres", "numeric"), ["7"]);
    assert_eq!(all(&make(vec![7, 0], -2), "postgres", "numeric(3,-2)"), ["700", "0"]);
}

#[test]
fn wide_decimals_keep_every_digit() {
    let make = |values: Vec<i256>, scale| Decimal256Array::from(values).with_precision_and_scale(76, scale).unwrap();
    let most = i256::from_string(&"9".repeat(76)).unwrap();
    let step = i256::from_i128(1_000_000_000);
    let (array, nines) = (make(vec![most, most.wrapping_neg(), i256::ZERO, step], 0), "9".repeat(76));
    assert_eq!(all(&array, "postgres", "numeric"), [nines.as_str(), &format!("-{nines}"), "0", "1000000000"]);
    assert_eq!(all(&make(vec![i256::MINUS_ONE, step], 10), "postgres", "numeric"), ["-0.0000000001", "0.1000000000"]);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..1_000 {
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            i256::from_i128(i128::from(state))
        };
        let (high, low, bits) = (next(), next(), next().as_i128() >> 57);
        let value = (high << u8::try_from(bits).unwrap()).wrapping_sub(low);
        assert_eq!(all(&make(vec![value], 0), "postgres", "numeric"), [value.to_string()]);
    }
}

#[test]
fn intervals_are_written_as_postgres_writes_them() {
    let array = IntervalMonthDayNanoArray::from(
        [
            (14, 3, 14_706_789_000_000),
            (-14, 3, -1_000_000_000),
            (0, -1, 1_000),
            (0, 0, 0),
            (-12, 0, 3_600_000_000_000_000),
            (1, 1, 0),
            (0, 0, 1),
        ]
        .map(|(months, days, nanos)| IntervalMonthDayNano::new(months, days, nanos))
        .to_vec(),
    );
    let expected = [
        "1 year 2 mons 3 days 04:05:06.789",
        "-1 years -2 mons +3 days -00:00:01",
        "-1 days +00:00:00.000001",
        "00:00:00",
        "-1 years +1000:00:00",
        "1 mon 1 day",
        "∅",
    ];
    assert_eq!(all(&array, "postgres", "interval"), expected);
}

#[test]
fn a_uuid_is_told_by_its_extension() {
    let array = FixedSizeBinaryArray::try_from_iter([[0xa0; 16]].into_iter()).unwrap();
    assert_eq!(all(&array, "postgres", "bytea"), [format!("\\x{}", "a0".repeat(16))]);
    let named = HashMap::from([(EXTENSION_KEY.to_owned(), UUID_EXTENSION.to_owned())]);
    let field = Field::new("c", array.data_type().clone(), true).with_metadata(named);
    assert_eq!(format_cell(&array, &field, 0).text().unwrap(), "a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0");
}

#[test]
fn mysql_writes_as_many_digits_of_a_second_as_its_type_has() {
    let array = TimestampMicrosecondArray::from(vec![0, 1_500_000, 120]);
    for (type_name, expected) in [
        ("DATETIME", ["1970-01-01 00:00:00", "1970-01-01 00:00:01", "1970-01-01 00:00:00"]),
        ("TIMESTAMP(1)", ["1970-01-01 00:00:00.0", "1970-01-01 00:00:01.5", "1970-01-01 00:00:00.0"]),
        ("DATETIME(6)", ["1970-01-01 00:00:00.000000", "1970-01-01 00:00:01.500000", "1970-01-01 00:00:00.000120"]),
    ] {
        assert_eq!(all(&array, "mysql", type_name), expected);
    }
    assert_eq!(all(&Time64MicrosecondArray::from(vec![3_723_000_100]), "mysql", "TIME(4)"), ["01:02:03.0001"]);
    assert_eq!(all(&array, "postgres", "timestamp(3)"), ["1970-01-01 00:00:00", "1970-01-01 00:00:01.5", "1970-01-01 00:00:00.00012"]);
}

#[test]
fn booleans_are_letters_in_postgres_only() {
    let array = BooleanArray::from(vec![Some(true), Some(false), None]);
    assert_eq!(all(&array, "postgres", "boolean"), ["t", "f", "∅"]);
    assert_eq!(all(&array, "duckdb", "BOOLEAN"), ["true", "false", "∅"]);
}

#[test]
fn dates_and_times_are_iso() {
    let array = Date32Array::from(vec![0, 19_782, -1, -719_163, 2_932_897]);
    assert_eq!(all(&array, "postgres", "date"), ["1970-01-01", "2024-02-29", "1969-12-31", "0001-12-31 BC", "10000-01-01"]);
    let array = TimestampMicrosecondArray::from(vec![0, 1_500_000, -1]);
    assert_eq!(all(&array, "postgres", "timestamp"), ["1970-01-01 00:00:00", "1970-01-01 00:00:01.5", "1969-12-31 23:59:59.999999"]);
    let array = array.with_timezone("UTC");
    assert_eq!(all(&array, "postgres", "timestamptz")[0], "1970-01-01 00:00:00+00");
    for (offsets, text) in [("0:19800", "05:30:00+05:30"), ("0:3600", "01:00:00+01"), ("0:361815", "04:30:15+100:30:15"), ("x", "∅")] {
        let named = HashMap::from([(crate::page::OFFSETS_KEY.to_owned(), offsets.to_owned())]);
        let field = Field::new("c", array.data_type().clone(), true).with_metadata(named);
        let shown = format_cell(&array, &field, 0).text().unwrap_or(Cow::Borrowed("∅"));
        assert!(shown.ends_with(text), "{shown}");
    }
    assert_eq!(all(&Time64MicrosecondArray::from(vec![3_723_000_100]), "postgres", "time"), ["01:02:03.0001"]);
}

#[test]
fn text_is_untouched_and_bytes_are_hexadecimal() {
    assert_eq!(all(&StringArray::from(vec![Some(" a\tb\n"), Some(""), None]), "sqlite", "TEXT"), [" a\tb\n", "", "∅"]);
    assert_eq!(all(&BinaryArray::from(vec![&[0xde, 0xad, 0x0f][..], b""]), "postgres", "bytea"), ["\\xdead0f", "\\x"]);
    assert_eq!(all(&NullArray::new(1), "sqlite", ""), ["∅"]);
}

#[test]
fn values_of_several_storage_classes_are_each_their_own() {
    let parts: Vec<(i8, ArrayRef)> = vec![
        (0, Arc::new(NullArray::new(1))),
        (1, Arc::new(Int64Array::from(vec![7]))),
        (2, Arc::new(Float64Array::from(vec![1.0]))),
        (3, Arc::new(StringArray::from(vec!["x"]))),
        (4, Arc::new(BinaryArray::from(vec![&[1_u8][..]]))),
    ];
    let fields: UnionFields = parts.iter().map(|(id, a)| (*id, Arc::new(Field::new("v", a.data_type().clone(), true)))).collect();
    let ids = ScalarBuffer::from(vec![1_i8, 0, 3, 2, 4]);
    let offsets = ScalarBuffer::from(vec![0_i32; 5]);
    let union = UnionArray::try_new(fields, ids, Some(offsets), parts.into_iter().map(|(_, a)| a).collect()).unwrap();
    assert_eq!(all(&union, "sqlite", "ANY"), ["7", "∅", "x", "1.0", "\\x01"]);
}

#[test]
fn a_row_that_is_not_there_is_no_value() {
    let array = Int32Array::from(vec![1]);
    assert_eq!(format_cell(&array, &field(array.data_type(), "sqlite", ""), 1), Cell::Unreadable);
}

#[test]
fn a_prefix_formats_no_more_than_it_shows() {
    let long = "ä".repeat(100_000);
    let (head, cut) = Cell::Text(Cow::Borrowed(&long)).prefix(10).unwrap();
    assert_eq!((head.as_ref(), cut), ("ääääääääää", true));
    assert_eq!(Cell::Text(Cow::Borrowed("abc")).prefix(3).unwrap(), (Cow::Borrowed("abc"), false));
    assert_eq!(Cell::Bytes(&[1, 2, 3, 4]).prefix(4).unwrap(), (Cow::<str>::Owned("\\x010203".to_owned()), true));
    assert_eq!(Cell::Null.prefix(4), None);
}
