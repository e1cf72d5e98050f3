use super::*;

fn shape(number: u8, decimals: u8) -> Shape {
    Shape { number, unsigned: false, filled: None, decimals }
}

/// The text of one value.
fn text(shape: Shape, value: &[u8]) -> String {
    let mut out = Vec::new();
    Shapes { columns: vec![shape], text: Vec::new() }.write_row(&[&[0, 0], value].concat(), &mut out).unwrap();
    let mut reader = Reader::new(&out);
    String::from_utf8(reader.value().unwrap().unwrap().to_vec()).unwrap()
}

#[test]
#[expect(clippy::excessive_precision, reason = "the very number in the middle between two texts")]
fn numbers_are_written_as_the_servers_text_has_them() {
    assert_eq!(text(shape(number::TINY, 0), &[0x80]), "-128");
    assert_eq!(text(Shape { unsigned: true, ..shape(number::LONGLONG, 0) }, &[0xff; 8]), u64::MAX.to_string());
    assert_eq!(text(Shape { filled: Some(8), ..shape(number::LONG, 0) }, &[42, 0, 0, 0]), "00000042");
    assert_eq!(text(Shape { filled: Some(4), unsigned: true, ..shape(number::YEAR, 0) }, &[0, 0]), "0000");
    for (value, written) in [
        (0.1, "0.1"),
        (-0.0, "-0"),
        (1e14, "100000000000000"),
        (123_456_789_012_345.0, "123456789012345"),
        (233_115_890_514_796.125, "233115890514796.12"),
        (1e15, "1e15"),
        (1_234_567_890_123_456.0, "1.234567890123456e15"),
        (3_256_974_830_977_874.5, "3256974830977874.5"),
        (1.5e300, "1.5e300"),
        (-f64::MAX, "-1.7976931348623157e308"),
        (5e-324, "5e-324"),
        (1e-15, "0.000000000000001"),
        (1e-16, "1e-16"),
        (120.25, "120.25"),
    ] {
        assert_eq!(text(shape(number::DOUBLE, 31), &f64::to_le_bytes(value)), written);
    }
    for (value, written) in [(0.1_f32, "0.1"), (16_777_217.0, "16777200"), (0.123_456_79, "0.123457"), (1e20, "1e20")] {
        assert_eq!(text(shape(number::FLOAT, 31), &value.to_le_bytes()), written);
    }
    for (value, decimals, written) in [(1.5, 4, "1.5000"), (0.125, 2, "0.12"), (-3.0, 0, "-3"), (1e21, 1, "1000000000000000000000.0")] {
        assert_eq!(text(shape(number::DOUBLE, decimals), &f64::to_le_bytes(value)), written);
    }
}

#[test]
fn days_and_times_are_written_with_all_that_was_not_sent() {
    assert_eq!(text(shape(number::DATE, 0), &[0]), "0000-00-00");
    assert_eq!(text(shape(number::DATE, 0), &[4, 0xe8, 7, 2, 29]), "2024-02-29");
    assert_eq!(text(shape(number::DATETIME, 0), &[0]), "0000-00-00 00:00:00");
    assert_eq!(text(shape(number::DATETIME, 3), &[0]), "0000-00-00 00:00:00.000");
    assert_eq!(text(shape(number::TIMESTAMP, 0), &[4, 0xe8, 7, 2, 29]), "2024-02-29 00:00:00");
    assert_eq!(text(shape(number::DATETIME, 6), &[11, 0xe8, 7, 2, 29, 12, 34, 56, 10, 0, 0, 0]), "2024-02-29 12:34:56.000010");
    assert_eq!(text(shape(number::TIME, 0), &[0]), "00:00:00");
    assert_eq!(text(shape(number::TIME, 0), &[8, 1, 34, 0, 0, 0, 22, 59, 59]), "-838:59:59");
    assert_eq!(text(shape(number::TIME, 6), &[12, 0, 0, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0]), "01:02:03.000001");
    assert_eq!(text(shape(number::TIME, 39), &[8, 0, 0, 0, 0, 0, 1, 2, 3]), "01:02:03");
}

#[test]
fn nulls_are_told_by_the_map_and_long_values_keep_their_count() {
    let mut shapes = Shapes { columns: (0..9).map(|_| shape(number::VAR_STRING, 0)).collect(), text: Vec::new() };
    let mut body = vec![0, 0b1111_1000, 0b0000_0101];
    for length in [1_usize, 300] {
        write_counted(&vec![b'x'; length], &mut body);
    }
    // Columns 0, 7 (bits 2 and 9) have values; the rest are NULL.
    let mut out = Vec::new();
    shapes.write_row(&body, &mut out).unwrap();
    let mut reader = Reader::new(&out);
    let lengths: Vec<_> = (0..9).map(|_| reader.value().unwrap().map(<[u8]>::len)).collect();
    assert_eq!(lengths, [Some(1), None, None, None, None, None, None, Some(300), None]);
    for length in [0, 250, 251, 65_535, 65_536, 1 << 24] {
        let mut out = Vec::new();
        write_counted(&vec![7; length], &mut out);
        assert_eq!(Reader::new(&out).counted().unwrap().len(), length);
    }
}

#[test]
fn a_row_cut_short_or_with_bytes_over_is_a_fault_never_a_panic() {
    let numbers = [
        number::TINY,
        number::LONGLONG,
        number::DOUBLE,
        number::FLOAT,
        number::DATE,
        number::DATETIME,
        number::TIME,
        number::NEWDECIMAL,
        number::YEAR,
    ];
    for kind in numbers {
        let mut shapes = Shapes { columns: vec![shape(kind, 6)], text: Vec::new() };
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..2_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let bytes = state.to_le_bytes();
            let body = [&[0, 0], &bytes[..usize::from(bytes[7]) % 8], &[bytes[0] % 12; 5][..usize::from(bytes[6]) % 6]].concat();
            let _ = shapes.write_row(&body, &mut Vec::new());
        }
        assert!(shapes.write_row(&[0], &mut Vec::new()).is_err());
        assert!(shapes.write_row(&[0, 0], &mut Vec::new()).is_err());
        assert!(shapes.write_row(&[1, 0, 0], &mut Vec::new()).is_err());
    }
}
