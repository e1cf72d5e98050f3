//! One value: from the server's text to its physical form, or `None` where that would not give the same text back.
//!
//! Invariant: `None` is never an error, only "keep the text".

use crate::engine::rows::{DAY_MICROS, clock, day, micros, two};
use std::fmt::{Display, Write};

/// Digits that are a number's own: no sign, no zero too many.
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || (text.len() > 1 && text.starts_with(b"0")) {
        return None;
    }
    text.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        value.checked_mul(10)?.checked_add(u64::from((digit <= 9).then_some(digit)?))
    })
}

/// An integer without a sign.
pub fn unsigned<T: TryFrom<u64>>(text: &[u8]) -> Option<T> {
    T::try_from(digits(text)?).ok()
}

/// An integer, with a minus or without.
pub fn signed<T: TryFrom<i128>>(text: &[u8]) -> Option<T> {
    let value = match text {
        [b'-', rest @ ..] => -i128::from(digits(rest).filter(|value| *value != 0)?),
        rest => i128::from(digits(rest)?),
    };
    T::try_from(value).ok()
}

/// `DOUBLE`, where the server writes the shortest digits in the plain notation.
pub fn double(text: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let size = value.abs();
    (size == 0.0 || (1e-4..1e15).contains(&size)).then_some(value).filter(|value| is_written(*value, text))
}

/// `FLOAT`; the server writes six digits of it.
pub fn float(text: &[u8]) -> Option<f32> {
    let value: f32 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let size = value.abs();
    (size == 0.0 || (1e-4..1e6).contains(&size)).then_some(value).filter(|value| is_written(*value, text))
}

/// The value's shortest form is this text.
fn is_written(value: impl Display, text: &[u8]) -> bool {
    let mut rest = Rest(text);
    write!(rest, "{value}").is_ok() && rest.0.is_empty()
}

/// Takes away what is written to it, as long as it begins with that.
struct Rest<'a>(&'a [u8]);

impl Write for Rest<'_> {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        self.0 = self.0.strip_prefix(piece.as_bytes()).ok_or(std::fmt::Error)?;
        Ok(())
    }
}

/// Days since 1970-01-01 of a date that exists.
pub fn date(text: &[u8]) -> Option<i32> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text else { return None };
    day(two(y0, y1)? * 100 + two(y2, y3)?, two(m0, m1)?, two(d0, d1)?)
}

/// Microseconds of a time within a day, with so many digits behind the seconds.
pub fn time(text: &[u8], digits: u8) -> Option<i64> {
    let (whole, rest) = clock(text)?;
    match (digits, rest) {
        (0, []) => Some(whole),
        (1.., [b'.', fraction @ ..]) if fraction.len() == usize::from(digits) => Some(whole + micros(fraction)?),
        _ => None,
    }
}

/// Microseconds since 1970-01-01 00:00:00, without a zone.
pub fn date_time(text: &[u8], digits: u8) -> Option<i64> {
    let (day, rest) = text.split_at_checked(10)?;
    Some(i64::from(date(day)?) * DAY_MICROS + time(rest.strip_prefix(b" ")?, digits)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_taken_only_as_the_server_writes_them() {
        assert_eq!(unsigned::<u64>(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(signed::<i64>(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!((signed::<i8>(b"128"), signed::<i8>(b"-128"), unsigned::<u8>(b"0")), (None, Some(-128), Some(0)));
        for text in [b"".as_slice(), b"-", b"-0", b"00", b"007", b"+1", b"1 ", b"18446744073709551616", b"1.0"] {
            assert_eq!((signed::<i64>(text), unsigned::<u64>(text)), (None, None), "{text:?}");
        }
        assert_eq!(unsigned::<u16>(b"0000"), None, "the year that is none");
    }

    #[test]
    fn floats_are_taken_only_where_the_same_text_comes_back() {
        for text in ["0", "-0", "0.1", "1234.5", "0.30000000000000004", "999999999999999", "-2.5"] {
            assert!(double(text.as_bytes()).is_some(), "{text}");
        }
        for text in ["1e20", "1.50", "1e-5", "0.00001", "1000000000000000", "nan", "inf", "", "+1", "01"] {
            assert_eq!(double(text.as_bytes()), None, "{text}");
        }
        assert_eq!((float(b"2.5625"), float(b"16777200")), (Some(2.5625), None));
    }

    #[test]
    fn dates_that_do_not_exist_stay_text() {
        assert_eq!((date(b"1970-01-01"), date(b"2024-02-29"), date(b"0001-01-01")), (Some(0), Some(19_782), Some(-719_162)));
        for text in ["0000-00-00", "2024-02-30", "2023-02-29", "2024-00-10", "2024-10-00", "0000-01-01", "2024-1-1", "20240101"] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(date_time(b"1970-01-02 00:00:01", 0), Some(DAY_MICROS + 1_000_000));
        assert_eq!((date_time(b"0000-00-00 00:00:00", 0), date_time(b"1970-01-01", 0)), (None, None));
    }

    #[test]
    fn a_time_of_more_than_a_day_stays_text() {
        assert_eq!(time(b"23:59:59", 0), Some(DAY_MICROS - 1_000_000));
        for text in ["838:59:59", "-01:00:00", "24:00:00", "10:60:00", "10:00:00.5", ""] {
            assert_eq!(time(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn a_fraction_has_as_many_digits_as_its_column() {
        assert_eq!(
            (time(b"00:00:00.010", 3), time(b"00:00:00.000001", 6), time(b"00:00:01.5", 1)),
            (Some(10_000), Some(1), Some(1_500_000))
        );
        assert_eq!(date_time(b"1970-01-02 00:00:01.25", 2), Some(DAY_MICROS + 1_250_000));
        for text in ["10:00:00", "10:00:00.", "10:00:00.5", "10:00:00.500", "-10:00:00.50", "100:00:00.50", "10:00:00,50"] {
            assert_eq!(time(text.as_bytes(), 2), None, "{text}");
        }
        assert_eq!(date_time(b"0000-00-00 00:00:00.000", 3), None);
    }
}
