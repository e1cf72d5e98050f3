use super::*;
use crate::page::{EXTENSION_KEY, OFFSETS_KEY};
use arrow_array::{BinaryArray, Float64Array, IntervalMonthDayNanoArray, TimestampMicrosecondArray};
use arrow_buffer::IntervalMonthDayNano;
use std::collections::HashMap;

fn all(array: &dyn Array, extension: &[(&str, &str)]) -> Vec<String> {
    let metadata = extension.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<HashMap<_, _>>();
    let field = Field::new("c", array.data_type().clone(), true).with_metadata(metadata);
    (0..array.len()).map(|row| cell(array, &field, row).unwrap_or_else(|| "∅".to_owned())).collect()
}

#[test]
fn doubles_are_written_as_duckdb_writes_them() {
    let array = Float64Array::from(vec![1.0, 1e15, 1e16, 1e-4, 1e-5, -0.0, 1.5e300, f64::NAN, f64::NEG_INFINITY]);
    let expected = ["1.0", "1000000000000000.0", "1e+16", "0.0001", "1e-05", "-0.0", "1.5e+300", "nan", "-inf"];
    assert_eq!(all(&array, &[]), expected);
}

#[test]
fn intervals_name_their_parts() {
    let of = IntervalMonthDayNano::new;
    let array = IntervalMonthDayNanoArray::from(vec![of(0, 0, 0), of(14, 3, 3_723_500_000_000), of(-1, 1, 0), of(0, 0, -1_000)]);
    assert_eq!(all(&array, &[]), ["00:00:00", "1 year 2 months 3 days 01:02:03.5", "-1 month 1 day", "-00:00:00.000001"]);
}

#[test]
fn an_interval_that_duckdb_hands_over_wrapped_is_whole_again() {
    let wrapped = |micros: i64| IntervalMonthDayNano::new(0, 0, micros.wrapping_mul(1_000));
    let values = [292 * 31_557_600_000_000, 9_223_372_036_854_776, -9_223_372_036_854_776, (1 << 60) - 1, -(1 << 60), 1, -1];
    let array = IntervalMonthDayNanoArray::from(values.map(wrapped).to_vec());
    let expected = ["2559672:00:00", "2562047:47:16.854776", "-2562047:47:16.854776", "320255973:30:06.846975", "-320255973:30:06.846976"];
    assert_eq!(all(&array, &[])[..5], expected);
}

#[test]
fn an_instant_is_utc_unless_the_caller_says() {
    let array = TimestampMicrosecondArray::from(vec![0, i64::MAX]).with_timezone("Europe/Berlin");
    assert_eq!(all(&array, &[]), ["1970-01-01 00:00:00+00", "infinity"]);
    let field = Field::new("c", array.data_type().clone(), true);
    assert_eq!(text(&array, &field, 0, &|_| Some("x".to_owned())).unwrap(), "x");
}

#[test]
fn an_instant_is_written_by_the_clock_that_its_page_tells() {
    let array = TimestampMicrosecondArray::from(vec![0, 1_000_000, i64::MAX, -i64::MAX]).with_timezone("UTC");
    let of = |offsets: &str| all(&array, &[(OFFSETS_KEY, offsets)]);
    assert_eq!(of("0:20700")[..2], ["1970-01-01 05:45:00+05:45", "1970-01-01 05:45:01+05:45"]);
    assert_eq!(of("0:-2670,1000000:-2640"), ["1969-12-31 23:15:30-00:44:30", "1969-12-31 23:16:01-00:44", "infinity", "-infinity"]);
    assert_eq!(of("nonsense")[0], "∅", "no clock is made up");
}

#[test]
fn a_clock_is_known_by_the_text_of_an_instant() {
    for (micros, text, expected) in [
        (0, "1970-01-01 00:00:00+00", Some(0)),
        (500_000, "1969-12-31 19:00:00.5-05", Some(-18_000)),
        (0, "1969-12-31 23:15:30-00:44:30", Some(-2_670)),
        (0, "1970-01-01 05:45:00+05:45", Some(20_700)),
        (0, "1970-01-01 00:00:00+01", None),
        (0, "1970-01-01 00:00:00", None),
        (0, "1970-01-01 00:00:00-00", None),
        (0, "1970-01-01 05:45:00+5:45", None),
        (0, "infinity", None),
        (0, "", None),
    ] {
        assert_eq!(ahead(micros, text), expected, "{text}");
    }
}

#[test]
fn opaque_bytes_of_a_wrong_form_are_bytes() {
    let opaque = |name: &str| format!("{{\"type_name\":\"{name}\",\"vendor_name\":\"DuckDB\"}}");
    let array = BinaryArray::from(vec![&[1_u8, 0xff][..]]);
    assert_eq!(all(&array, &[(EXTENSION_KEY, "arrow.opaque"), (EXTENSION_METADATA, &opaque("hugeint"))]), ["\\x01\\xFF"]);
    assert_eq!(all(&array, &[(EXTENSION_KEY, "arrow.opaque"), (EXTENSION_METADATA, &opaque("bit"))]), ["1111111"]);
    assert_eq!(all(&array, &[(EXTENSION_KEY, "geoarrow.wkb")]), ["\\x01\\xFF"]);
}
