//! Dates, times and intervals as DuckDB writes them.
//!
//! Invariant: proleptic Gregorian; years before 1 are written with ` (BC)`, behind the date even where a time follows.

use crate::format::calendar;
use arrow_buffer::IntervalMonthDayNano;

const NANOS_OF_DAY: i128 = 86_400_000_000_000;

/// The last value and its negative stand for the infinities, in every unit.
pub fn is_infinite(value: i64) -> bool {
    value == i64::MAX || value == -i64::MAX
}

fn infinity(positive: bool) -> String {
    if positive { "infinity" } else { "-infinity" }.to_owned()
}

/// DATE.
pub fn date(days: i32) -> String {
    if days == i32::MAX || days == -i32::MAX {
        return infinity(days > 0);
    }
    date_of(i64::from(days))
}

fn date_of(days: i64) -> String {
    let (year, month, day) = calendar::civil(days);
    if year > 0 { format!("{year:04}-{month:02}-{day:02}") } else { format!("{:04}-{month:02}-{day:02} (BC)", 1 - year) }
}

/// TIME and TIME_NS, in nanoseconds; the fraction without its trailing zeros.
pub fn time(nanos: i128) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    text + &fraction(nanos.rem_euclid(1_000_000_000))
}

fn fraction(nanos: i128) -> String {
    if nanos == 0 { String::new() } else { format!(".{nanos:09}").trim_end_matches('0').to_owned() }
}

/// TIME WITH TIME ZONE, from its 64 bits: microseconds above, the offset counted down from its largest below.
pub fn time_with_zone(bits: u64) -> String {
    const LARGEST_OFFSET: i64 = 16 * 3600 - 1;
    let below = i64::try_from(bits & 0xff_ffff).unwrap_or(0);
    time(i128::from(bits >> 24) * 1_000) + &offset(LARGEST_OFFSET - below)
}

/// An instant, by a clock that is so many seconds ahead of UTC; `None` where that clock has no such time.
pub fn instant(micros: i64, ahead: i32) -> Option<String> {
    let shown = micros.checked_add(i64::from(ahead) * 1_000_000).filter(|shown| !is_infinite(*shown))?;
    Some(timestamp(shown, 1_000) + &offset(ahead.into()))
}

/// How many seconds the clock is ahead of UTC that an instant has this text by; `None` where the two don't make the same text again.
pub fn ahead(micros: i64, text: &str) -> Option<i32> {
    let at = text.rfind(['+', '-'])?;
    let (sign, digits) = text.get(at..)?.split_at_checked(1)?;
    let mut seconds = 0;
    for (part, unit) in digits.split(':').zip([3_600, 60, 1]) {
        seconds += part.parse::<i32>().ok().filter(|part| (0..60).contains(part))? * unit;
    }
    let ahead = if sign == "-" { -seconds } else { seconds };
    (instant(micros, ahead)? == text).then_some(ahead)
}

fn offset(seconds: i64) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
    match (minutes, rest) {
        (0, 0) => format!("{sign}{hours:02}"),
        (_, 0) => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    }
}

/// A timestamp of any unit, without a zone.
pub fn timestamp(value: i64, nanos_of_unit: i128) -> String {
    if is_infinite(value) {
        return infinity(value > 0);
    }
    let nanos = i128::from(value) * nanos_of_unit;
    let days = i64::try_from(nanos.div_euclid(NANOS_OF_DAY)).unwrap_or(0);
    format!("{} {}", date_of(days), time(nanos.rem_euclid(NANOS_OF_DAY)))
}

/// INTERVAL: years, months, days, then the time if there is one.
pub fn interval(value: IntervalMonthDayNano) -> String {
    let mut parts = Vec::new();
    for (count, name) in [(value.months / 12, "year"), (value.months % 12, "month"), (value.days, "day")] {
        if count != 0 {
            let plural = if count.abs() == 1 { "" } else { "s" };
            parts.push(format!("{count} {name}{plural}"));
        }
    }
    let nanos = unwrapped(value.nanoseconds);
    if nanos != 0 || parts.is_empty() {
        let sign = if nanos < 0 { "-" } else { "" };
        parts.push(sign.to_owned() + &time(nanos.abs()));
    }
    parts.join(" ")
}

/// The nanoseconds that were meant. DuckDB multiplies its microseconds by 1,000 in 64 bits, which is too few beyond 292 years. What is
/// left of 125 times the microseconds is all of it in 61 bits, and 125 has an inverse there: exact for up to 36,000 years of hours.
fn unwrapped(nanos: i64) -> i128 {
    const INVERSE_OF_125: i64 = 0x1cac_0831_26e9_78d5;
    if nanos % 8 != 0 {
        return i128::from(nanos);
    }
    i128::from((nanos >> 3).wrapping_mul(INVERSE_OF_125) << 3 >> 3) * 1_000
}
