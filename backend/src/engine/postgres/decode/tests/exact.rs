//! Whatever text comes: what is typed shows that very text again, and what the server writes is typed.

use super::*;
use shared::format::Cell;

/// Numbers that are the same at every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: i64) -> i64 {
        i64::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    /// Either sign, small as often as large, at most 18 digits.
    fn any(&mut self, limit: i64) -> i64 {
        let digits = u32::try_from(self.below(18) + 1).unwrap();
        let size = self.below(limit.min(10_i64.pow(digits)));
        if self.below(2) == 0 { size } else { -size }
    }
}

fn fraction(micros: i64) -> String {
    match format!(".{micros:06}").trim_end_matches('0') {
        "." => String::new(),
        digits => digits.to_owned(),
    }
}

fn clock(random: &mut Random) -> String {
    let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
    let micros = random.any(1_000_000).abs() % 1_000_000;
    format!("{hour:02}:{minute:02}:{second:02}{}", fraction(micros))
}

fn day(random: &mut Random) -> String {
    let year = [random.below(294_000), random.below(9_999), 1_900 + random.below(200)][usize::try_from(random.below(3)).unwrap()] + 1;
    format!("{year:04}-{:02}-{:02}", random.below(12) + 1, random.below(28) + 1)
}

fn offset(random: &mut Random) -> String {
    let sign = if random.below(2) == 0 { '+' } else { '-' };
    match (random.below(15) + 1, random.below(59) + 1, random.below(59) + 1, random.below(4)) {
        (hours, _, _, 0 | 1) => format!("{sign}{hours:02}"),
        (hours, minutes, _, 2) => format!("{sign}{hours:02}:{minutes:02}"),
        (hours, minutes, seconds, _) => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

fn numeric(random: &mut Random) -> String {
    let whole = random.any(i64::MAX);
    let digits: String = (0..random.below(55)).map(|_| char::from(b'0' + u8::try_from(random.below(10)).unwrap())).collect();
    if digits.is_empty() { whole.to_string() } else { format!("{}{}.{digits}5", if whole < 0 { "-" } else { "" }, whole.abs()) }
}

/// As the server writes one, in an order of its own making: signs behind parts below zero.
fn interval(random: &mut Random) -> String {
    let mut parts = Vec::new();
    let mut below = false;
    let sign = if random.below(2) == 0 { 1 } else { -1 };
    let months = [sign * random.below(178_000_000), sign * random.below(12), random.any(100_000)];
    for (count, unit) in months.into_iter().zip(["year", "mon", "day"]) {
        if random.below(2) == 0 || count == 0 {
            continue;
        }
        let plus = if below && count > 0 { "+" } else { "" };
        parts.push(format!("{plus}{count} {unit}{}", if count == 1 { "" } else { "s" }));
        below = count < 0;
    }
    let micros = random.any(9_000_000_000_000_000);
    if parts.is_empty() || (micros != 0 && random.below(2) == 0) {
        let sign = if micros < 0 {
            "-"
        } else if below {
            "+"
        } else {
            ""
        };
        let (seconds, rest) = (micros.abs() / 1_000_000, micros.abs() % 1_000_000);
        parts.push(format!("{sign}{:02}:{:02}:{:02}{}", seconds / 3600, seconds / 60 % 60, seconds % 60, fraction(rest)));
    }
    parts.join(" ")
}

fn uuid(random: &mut Random) -> String {
    let (high, low) = (random.next(), random.next());
    format!("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48, low & 0xffff_ffff_ffff)
}

fn shown(oid: u32, text: &str) -> (DataType, String) {
    let mut rows = Rows::default();
    rows.push(&row(&[Some(text.as_bytes())]));
    let batch = batch(&rows, 1, &layout(&[(oid, -1)]), ISO).unwrap();
    let schema = batch.schema();
    match format_cell(batch.column(0).as_ref(), schema.field(0), 0) {
        Cell::Text(shown) => (batch.column(0).data_type().clone(), shown.into_owned()),
        other => panic!("{text:?} is {other:?}"),
    }
}

#[test]
fn what_the_server_writes_is_typed_and_no_other_text_is_changed() {
    type Make = fn(&mut Random) -> String;
    let kinds: [(u32, Make); 9] = [
        (20, |random| random.any(i64::MAX).to_string()),
        (26, |random| random.below(1 << 32).to_string()),
        (1082, day),
        (1083, clock),
        (1114, |random| format!("{} {}", day(random), clock(random))),
        (1184, |random| format!("{} {}{}", day(random), clock(random), offset(random))),
        (1186, interval),
        (1700, numeric),
        (2950, uuid),
    ];
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for (oid, make) in kinds {
        for _ in 0..2_000 {
            let text = make(&mut random);
            let (kind, again) = shown(oid, &text);
            assert_eq!(again, text, "{oid}");
            assert_ne!(kind, DataType::Utf8, "{oid}: {text}");
            let mut other = text.into_bytes();
            for _ in 0..=random.below(2) {
                let at = usize::try_from(random.below(i64::try_from(other.len()).unwrap() + 1)).unwrap();
                let byte = b"0123456789-+:. aesy"[usize::try_from(random.below(19)).unwrap()];
                match random.below(3) {
                    0 if at < other.len() => drop(other.remove(at)),
                    1 if at < other.len() => other[at] = byte,
                    _ => other.insert(at, byte),
                }
            }
            let other = String::from_utf8(other).unwrap();
            assert_eq!(shown(oid, &other).1, other, "{oid}");
        }
    }
}
