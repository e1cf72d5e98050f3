//! `interval` as `IntervalStyle = postgres` has it: utils/adt/datetime.c, EncodeInterval.
//!
//! Invariant: each value is taken in the one way that the server writes it; `shared::format::interval` writes the same.

use crate::engine::rows::{micros, two};
use arrow_buffer::IntervalMonthDayNano;

/// Units in their order, and how many months one has; a day has none of its own.
const UNITS: [(&[u8], i32); 3] = [(b"year", 12), (b"mon", 1), (b"day", 0)];
const HOUR_NANOS: i64 = 3_600_000_000_000;
const SECOND_NANOS: i64 = 1_000_000_000;

/// Months, days and nanoseconds, each with its own sign.
pub fn interval(text: &[u8]) -> Option<IntervalMonthDayNano> {
    let mut counts = [0_i32; 3];
    let mut parts = text.split(|byte| *byte == b' ');
    // The part before is below zero: then a positive one says so.
    let mut below = false;
    let mut units = UNITS.iter().zip(&mut counts);
    let mut nanoseconds = None;
    while let Some(part) = parts.next() {
        if nanoseconds.is_some() {
            return None;
        }
        if part.contains(&b':') {
            nanoseconds = Some(time(part, below)?);
            continue;
        }
        let count = count(part, below)?;
        let unit = parts.next()?;
        let unit = if count == 1 { unit } else { unit.strip_suffix(b"s")? };
        let (_, slot) = units.find(|((name, _), _)| *name == unit)?;
        *slot = count;
        below = count < 0;
    }
    let [years, months, days] = counts;
    if months.abs() >= 12 || i64::from(years) * i64::from(months) < 0 {
        return None;
    }
    // Nothing at all is the time of nothing, which is written in no other case.
    let is_nothing = counts == [0; 3];
    if nanoseconds.is_none() && is_nothing || nanoseconds == Some(0) && !is_nothing {
        return None;
    }
    let months = years.checked_mul(12)?.checked_add(months)?;
    Some(IntervalMonthDayNano { months, days, nanoseconds: nanoseconds.unwrap_or_default() })
}

/// Takes off the sign: is it a minus?
fn sign(text: &[u8], below: bool) -> Option<(bool, &[u8])> {
    match text {
        [b'-', rest @ ..] => Some((true, rest)),
        [b'+', rest @ ..] if below => Some((false, rest)),
        rest if !below => Some((false, rest)),
        _ => None,
    }
}

fn count(text: &[u8], below: bool) -> Option<i32> {
    let (negative, digits) = sign(text, below)?;
    let size: i64 = digits.first().filter(|first| first.is_ascii_digit()).and_then(|_| super::integer(digits))?;
    i32::try_from(if negative { -size } else { size }).ok().filter(|count| *count != 0)
}

/// Nanoseconds of hours, minutes and seconds.
fn time(text: &[u8], below: bool) -> Option<i64> {
    let (negative, text) = sign(text, below)?;
    let (hours, rest) = text.split_at_checked(text.iter().position(|byte| *byte == b':')?)?;
    let hours: i64 = match *hours {
        [tens, ones] => two(tens, ones)?.into(),
        [b'1'..=b'9', _, _, ..] => super::integer(hours)?,
        _ => return None,
    };
    let (&[b':', m0, m1, b':', s0, s1], rest) = rest.split_first_chunk::<6>()? else { return None };
    let (minutes, seconds) = (two(m0, m1)?, two(s0, s1)?);
    let fraction = match rest {
        [] => 0,
        [b'.', digits @ ..] if !digits.ends_with(b"0") => micros(digits)? * 1_000,
        _ => return None,
    };
    if minutes >= 60 || seconds >= 60 {
        return None;
    }
    let nanos = hours.checked_mul(HOUR_NANOS)?.checked_add(i64::from(minutes * 60 + seconds) * SECOND_NANOS)?.checked_add(fraction)?;
    (!negative || nanos != 0).then_some(if negative { -nanos } else { nanos })
}
