//! Days and times in the form that ISO 8601 has for them, digit by digit.
//!
//! Invariant: a day or a time that does not exist has no number, and what has another form has none either.

/// Microseconds of a second.
const SECOND_MICROS: i64 = 1_000_000;
/// Microseconds of a day.
pub const DAY_MICROS: i64 = 86_400 * SECOND_MICROS;

/// A number of two digits.
pub fn two(tens: u8, ones: u8) -> Option<i32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| i32::from(tens) * 10 + i32::from(ones))
}

/// Days since 1970-01-01 of a day that exists, in our era.
pub fn day(year: i32, month: i32, day: i32) -> Option<i32> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (year > 0 && (1..=days).contains(&day)).then(|| days_from_civil(year, month, day))
}

/// Microseconds of a time of day at the beginning of the text, without its fraction; and the rest of the text.
pub fn clock(text: &[u8]) -> Option<(i64, &[u8])> {
    let (&[h0, h1, b':', m0, m1, b':', s0, s1], rest) = text.split_first_chunk::<8>()? else { return None };
    let (hour, minute, second) = (two(h0, h1)?, two(m0, m1)?, two(s0, s1)?);
    (hour < 24 && minute < 60 && second < 60).then(|| (i64::from(hour * 3600 + minute * 60 + second) * SECOND_MICROS, rest))
}

/// Microseconds of the digits of a fraction, six at most.
pub fn micros(digits: &[u8]) -> Option<i64> {
    let missing = 6_usize.checked_sub(digits.len())?;
    let value = digits.iter().try_fold(0_i64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then(|| value * 10 + i64::from(digit))
    })?;
    (!digits.is_empty()).then(|| (0..missing).fold(value, |value, _| value * 10))
}

/// Days since 1970-01-01. Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
fn days_from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_do_not_exist_have_no_number() {
        assert_eq!((day(1970, 1, 1), day(2024, 2, 29), day(1, 1, 1)), (Some(0), Some(19_782), Some(-719_162)));
        for (year, month, of_month) in [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0), (0, 1, 1)] {
            assert_eq!(day(year, month, of_month), None, "{year}-{month}-{of_month}");
        }
    }

    #[test]
    fn a_time_is_within_its_day_and_a_fraction_has_six_digits_at_most() {
        assert_eq!(clock(b"23:59:59.5"), Some((DAY_MICROS - SECOND_MICROS, b".5".as_slice())));
        for text in ["24:00:00", "12:60:00", "12:00:60", "1:00:00", "12:00", "12-00-00", "1x:00:00", ""] {
            assert_eq!(clock(text.as_bytes()), None, "{text}");
        }
        assert_eq!((micros(b"5"), micros(b"000001"), micros(b"120")), (Some(500_000), Some(1), Some(120_000)));
        assert_eq!((micros(b""), micros(b"1234567"), micros(b"1x")), (None, None, None));
    }
}
