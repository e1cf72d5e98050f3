//! Dates and times in ISO form, as psql writes them (`DateStyle = ISO`).
//!
//! Invariant: proleptic Gregorian, no time zone data; years before 1 are written with ` BC`.

/// Days since 1970-01-01 as year, month, day. Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn split(days: i64) -> (String, &'static str) {
    let (year, month, day) = civil(days);
    let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    (format!("{year:04}-{month:02}-{day:02}"), era)
}

/// A date.
pub fn date(days: i64) -> String {
    let (text, era) = split(days);
    text + era
}

/// A time of day. The fraction has so many digits, or those that it needs.
pub fn time_of_micros(micros: i64, digits: Option<usize>) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    text.push_str(&fraction(micros.rem_euclid(1_000_000), digits));
    text
}

/// Microseconds of a second behind a point; nothing where there are no digits.
pub(super) fn fraction(micros: i64, digits: Option<usize>) -> String {
    let all = format!(".{micros:06}");
    let shown = match digits {
        Some(0) => "",
        Some(digits) => all.get(..=digits).unwrap_or(&all),
        None => all.trim_end_matches('0').trim_end_matches('.'),
    };
    shown.to_owned()
}

/// A date and time without a zone. The fraction has so many digits, or those that it needs.
pub fn timestamp(micros: i64, digits: Option<usize>) -> String {
    let (text, era) = split(micros.div_euclid(86_400_000_000));
    format!("{text} {}{era}", time_of_micros(micros.rem_euclid(86_400_000_000), digits))
}

/// An instant by a clock that is so many seconds ahead of UTC.
pub fn instant(micros: i64, ahead: i32) -> String {
    let local = micros.saturating_add(i64::from(ahead) * 1_000_000);
    let (text, era) = split(local.div_euclid(86_400_000_000));
    format!("{text} {}{}{era}", time_of_micros(local.rem_euclid(86_400_000_000), None), zone(ahead))
}

/// `+02`, `-05:30`, `-00:00:52`.
fn zone(ahead: i32) -> String {
    let sign = if ahead < 0 { '-' } else { '+' };
    let size = ahead.unsigned_abs();
    let (hours, minutes, seconds) = (size / 3600, size / 60 % 60, size % 60);
    match (minutes, seconds) {
        (0, 0) => format!("{sign}{hours:02}"),
        (_, 0) => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
    }
}
