//! Dates as SQLite writes them.

pub use shared::format::calendar::date;

/// The moment of a second, counted from 1970-01-01, as `YYYY-MM-DD HH:MM:SS`.
pub fn moment(second: i64) -> String {
    shared::format::calendar::timestamp(second * 1_000_000, None)
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
