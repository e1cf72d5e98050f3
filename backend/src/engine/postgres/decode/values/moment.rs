//! Days, times and instants as `DateStyle = ISO` has them: utils/adt/datetime.c, EncodeDateTime.
//!
//! Invariant: each value is taken in the one way that the server writes it. What lies before our era or beyond the numbers of the
//! physical type stays text, and so do the infinities.

use crate::engine::rows::{DAY_MICROS, clock, day, micros, two};

/// There is no later date.
const YEAR_MAX: i32 = 5_874_897;

/// Days since 1970-01-01.
pub fn date(text: &[u8]) -> Option<i32> {
    let (year, rest) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let &[b'-', month_tens, month_ones, b'-', day_tens, day_ones] = rest else { return None };
    let year = match *year {
        [y0, y1, y2, y3] => two(y0, y1)? * 100 + two(y2, y3)?,
        [b'1'..=b'9', _, _, _, _, ..] => super::integer(year).filter(|year| *year <= YEAR_MAX)?,
        _ => return None,
    };
    day(year, two(month_tens, month_ones)?, two(day_tens, day_ones)?)
}

/// Microseconds since midnight.
pub fn time(text: &[u8]) -> Option<i64> {
    let (micros, rest) = exact_clock(text)?;
    rest.is_empty().then_some(micros)
}

/// Microseconds since 1970-01-01 00:00:00, without a zone.
pub fn timestamp(text: &[u8]) -> Option<i64> {
    let (micros, rest) = local(text)?;
    rest.is_empty().then_some(micros)
}

/// Microseconds since 1970-01-01 00:00:00 UTC, and the seconds by which the clock of the text is ahead of UTC.
pub fn instant(text: &[u8]) -> Option<(i64, i32)> {
    let (micros, rest) = local(text)?;
    let offset = offset(rest)?;
    Some((micros.checked_sub(i64::from(offset) * 1_000_000)?, offset))
}

fn local(text: &[u8]) -> Option<(i64, &[u8])> {
    let space = match text.get(10) {
        Some(b' ') => 10,
        _ => text.iter().position(|byte| *byte == b' ')?,
    };
    let (day, rest) = text.split_at_checked(space)?;
    let (micros, rest) = exact_clock(rest.strip_prefix(b" ")?)?;
    Some((i64::from(date(day)?).checked_mul(DAY_MICROS)?.checked_add(micros)?, rest))
}

/// A time of day with its fraction, which ends in no zero; and the rest of the text.
fn exact_clock(text: &[u8]) -> Option<(i64, &[u8])> {
    let (whole, rest) = clock(text)?;
    let Some(rest) = rest.strip_prefix(b".") else { return Some((whole, rest)) };
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (fraction, rest) = rest.split_at_checked(end)?;
    if fraction.ends_with(b"0") {
        return None;
    }
    Some((whole + micros(fraction)?, rest))
}

/// Seconds ahead of UTC: hours, then minutes and seconds where there are some.
fn offset(text: &[u8]) -> Option<i32> {
    let (sign, text) = match text {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let end = text.iter().position(|byte| *byte == b':').unwrap_or(text.len());
    let (hours, rest) = text.split_at_checked(end)?;
    let hours = match *hours {
        [tens, ones] => two(tens, ones)?,
        // A zone set by its hours may be a week away.
        [b'1', tens, ones] => 100 + two(tens, ones)?,
        _ => return None,
    };
    let (minutes, seconds) = match *rest {
        [] => (0, 0),
        [b':', m0, m1] => (two(m0, m1).filter(|minutes| *minutes > 0)?, 0),
        [b':', m0, m1, b':', s0, s1] => (two(m0, m1)?, two(s0, s1).filter(|seconds| *seconds > 0)?),
        _ => return None,
    };
    let ahead = sign * (hours * 3600 + minutes * 60 + seconds);
    // UTC itself is `+00`.
    (minutes < 60 && seconds < 60 && (ahead != 0 || sign > 0)).then_some(ahead)
}
