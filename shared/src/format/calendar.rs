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

/// A time of day, fraction without trailing zeros.
pub fn time_of_micros(micros: i64) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = micros.rem_euclid(1_000_000);
    if fraction != 0 {
        text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
    }
    text
}

/// A date and time; an instant is written in UTC.
pub fn timestamp(micros: i64, instant: bool) -> String {
    let (text, era) = split(micros.div_euclid(86_400_000_000));
    let zone = if instant { "+00" } else { "" };
    format!("{text} {}{zone}{era}", time_of_micros(micros.rem_euclid(86_400_000_000)))
}
