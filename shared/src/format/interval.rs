//! Intervals as psql writes them (`IntervalStyle = postgres`): utils/adt/datetime.c, EncodeInterval.

use super::calendar::fraction;
use arrow_buffer::IntervalMonthDayNano;
use std::fmt::Write as _;

/// Years, months, days and a time, each with its own sign; `None` where there are parts of microseconds, which PostgreSQL has not.
pub(super) fn postgres(value: IntervalMonthDayNano) -> Option<String> {
    let mut text = String::new();
    // Behind a part below zero, one above zero has a sign of its own.
    let mut below = false;
    for (count, unit) in [(value.months / 12, "year"), (value.months % 12, "mon"), (value.days, "day")] {
        if count != 0 {
            let gap = if text.is_empty() { "" } else { " " };
            let plus = if below && count > 0 { "+" } else { "" };
            let plural = if count == 1 { "" } else { "s" };
            let _ = write!(text, "{gap}{plus}{count} {unit}{plural}");
            below = count < 0;
        }
    }
    if value.nanoseconds % 1_000 != 0 {
        return None;
    }
    if value.nanoseconds != 0 || text.is_empty() {
        let gap = if text.is_empty() { "" } else { " " };
        let sign = if value.nanoseconds < 0 {
            "-"
        } else if below {
            "+"
        } else {
            ""
        };
        let micros = value.nanoseconds.unsigned_abs() / 1_000;
        let (seconds, part) = (micros / 1_000_000, i64::try_from(micros % 1_000_000).unwrap_or_default());
        let _ = write!(text, "{gap}{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        text.push_str(&fraction(part, None));
    }
    Some(text)
}
