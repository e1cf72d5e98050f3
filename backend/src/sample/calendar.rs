//! Dates as SQLite writes them.

/// The date of a day, counted from 1970-01-01, as `YYYY-MM-DD`.
pub fn date(day: i64) -> String {
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The moment of a second, counted from 1970-01-01, as `YYYY-MM-DD HH:MM:SS`.
pub fn moment(second: i64) -> String {
    let (year, month, day) = civil(second.div_euclid(86_400));
    let of_day = second.rem_euclid(86_400);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60)
}

/// Moments in the order of time: the date is written once a day.
#[derive(Default)]
pub struct Moments {
    day: i64,
    text: String,
}

impl Moments {
    /// The same text as [`moment`].
    pub fn write(&mut self, second: i64) -> &str {
        let day = second.div_euclid(86_400);
        if self.text.is_empty() || self.day != day {
            self.day = day;
            self.text = date(day);
            self.text.push(' ');
        }
        self.text.truncate(11);
        let of_day = second.rem_euclid(86_400);
        for (number, end) in [(of_day / 3_600, ":"), (of_day / 60 % 60, ":"), (of_day % 60, "")] {
            self.text.extend([digit(number / 10), digit(number % 10)]);
            self.text.push_str(end);
        }
        &self.text
    }
}

fn digit(number: i64) -> char {
    u32::try_from(number).ok().and_then(|number| char::from_digit(number, 10)).unwrap_or('0')
}

/// Year, month and day: the proleptic Gregorian calendar in eras of 400 years that begin in March.
fn civil(day: i64) -> (i64, i64, i64) {
    let from_march_0000 = day + 719_468;
    let era = from_march_0000.div_euclid(146_097);
    let of_era = from_march_0000.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(moment(1_735_689_599), "2024-12-31 23:59:59");
        let mut moments = Moments::default();
        for second in [0, 1, 59, 3_661, 86_399, 86_400, 1_709_164_799, 1_709_164_800, 1_735_689_599] {
            assert_eq!(moments.write(second), moment(second));
        }
    }
}
