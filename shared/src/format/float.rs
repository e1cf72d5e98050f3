//! Binary floating point as the engines' own clients write it.
//!
//! Invariant: reading the text back gives the same value.

/// Decimal digits without a point, and the exponent of the first one.
struct Digits {
    digits: String,
    exponent: i32,
}

/// Reads Rust's `{:e}` form.
fn digits_of(scientific: &str) -> Digits {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    Digits { digits: mantissa.chars().filter(char::is_ascii_digit).collect(), exponent: exponent.parse().unwrap_or(0) }
}

/// PostgreSQL's double precision (`extra_float_digits = 1`): the shortest digits that lie strictly inside the value's interval,
/// fixed from 1e-4 up to 1e15. src/common/d2s.c.
pub fn postgres_f64(value: f64) -> String {
    if let Some(word) = special(value, "Infinity") {
        return word;
    }
    let mut shortest = digits_of(&shortest_f64(value.abs()));
    if on_the_edge(value.abs(), &shortest) {
        // d2s.c refuses a decimal that lies exactly between two doubles: 9.999999999999999e+22, not 1e+23.
        for places in shortest.digits.len()..17 {
            let text = format!("{:.places$e}", value.abs());
            let longer = digits_of(&text);
            if text.parse() == Ok(value.abs()) && !on_the_edge(value.abs(), &longer) {
                shortest = Digits { digits: longer.digits.trim_end_matches('0').to_owned(), ..longer };
                break;
            }
        }
    }
    written(value.is_sign_negative(), &shortest, 15, Fraction::AsNeeded)
}

/// The shortest digits that read back as the value; of two equally near ones the even one, as Ryu has it (Rust takes the upper).
fn shortest_f64(size: f64) -> String {
    let text = format!("{size:e}");
    let even = format!("{size:.places$e}", places = places_of(&text));
    if even.parse() == Ok(size) { even } else { text }
}

fn places_of(scientific: &str) -> usize {
    digits_of(scientific).digits.len().saturating_sub(1)
}

/// PostgreSQL's real: fixed from 1e-4 up to 1e6. src/common/f2s.c.
pub fn postgres_f32(value: f32) -> String {
    if let Some(word) = special(f64::from(value), "Infinity") {
        return word;
    }
    written(value.is_sign_negative(), &inside_f32(value.abs()), 6, Fraction::AsNeeded)
}

/// The shortest digits that lie strictly inside the value's interval.
fn inside_f32(size: f32) -> Digits {
    let mut text = format!("{size:e}");
    let even = format!("{size:.places$e}", places = places_of(&text));
    if even.parse() == Ok(size) {
        text = even;
    }
    if half_way(size, &text) {
        // As above (f2s.c).
        let longer = (1..9).map(|places| format!("{size:.places$e}")).find(|longer| longer.parse() == Ok(size) && !half_way(size, longer));
        text = longer.unwrap_or(text);
    }
    let mut digits = digits_of(&text);
    digits.digits.truncate(digits.digits.trim_end_matches('0').len().max(1));
    digits
}

/// The reals on both sides.
fn neighbours(value: f32) -> impl Iterator<Item = f32> {
    let bits = value.to_bits();
    [bits.checked_sub(1), bits.checked_add(1)].into_iter().flatten().map(f32::from_bits)
}

/// The text lies half way between a real and a neighbour: such a place is a double.
fn half_way(value: f32, text: &str) -> bool {
    let read = text.parse::<f64>().unwrap_or(f64::NAN);
    neighbours(value).map(|other| f64::midpoint(f64::from(value), f64::from(other))).any(|middle| middle == read)
}

/// SQLite's REAL as text: `%!.15g` (src/vdbemem.c), with as many digits more as the value needs to be exact.
pub fn sqlite(value: f64) -> String {
    if let Some(word) = special(value, "Inf") {
        return word;
    }
    let text = format!("{:.14e}", value.abs());
    let mut digits = digits_of(&text);
    if text.parse() != Ok(value.abs()) {
        digits = digits_of(&shortest_f64(value.abs()));
    }
    let trimmed = digits.digits.trim_end_matches('0').len().max(1);
    digits.digits.truncate(trimmed);
    written(value < 0.0, &digits, 15, Fraction::Always)
}

/// DuckDB's DOUBLE: the shortest digits, fixed from 1e-4 up to 1e16, always with a fraction there.
pub fn duckdb_f64(value: f64) -> String {
    match duckdb_special(value) {
        Some(word) => word.to_owned(),
        None => written(value.is_sign_negative(), &digits_of(&shortest_f64(value.abs())), 16, Fraction::InFixed),
    }
}

/// DuckDB's FLOAT: the shortest digits too. Its printer (fmt's Grisu) is unsure where a decimal of so few digits lies at an edge of the
/// value's interval, or two lie equally near: then it prints the value as a double.
pub fn duckdb_f32(value: f32) -> String {
    if let Some(word) = duckdb_special(f64::from(value)) {
        return word.to_owned();
    }
    let size = value.abs();
    let text = format!("{size:e}");
    let digits = if is_unsure(size, &text) { shortest_f64(f64::from(size)) } else { text };
    written(value.is_sign_negative(), &digits_of(&digits), 16, Fraction::InFixed)
}

fn is_unsure(size: f32, text: &str) -> bool {
    let places = places_of(text);
    if half_way(size, text) || is_between_two(size, places) {
        return true;
    }
    // The shortest digits of an odd mantissa keep inside the interval: a shorter decimal at its edge is met first.
    size.to_bits() & 1 == 1
        && neighbours(size).filter(|other| other.is_finite()).map(|other| f64::midpoint(f64::from(size), f64::from(other))).any(|edge| {
            let shortest = digits_of(&format!("{edge:e}"));
            shortest.digits.len() <= places && is_exactly(edge, &shortest)
        })
}

/// The value lies half way between two decimals of so many places, both within its interval.
fn is_between_two(size: f32, places: usize) -> bool {
    let wide = f64::from(size);
    let longer = digits_of(&format!("{wide:.places$e}", places = places + 1));
    let Some(below) = longer.digits.strip_suffix('5').filter(|_| is_exactly(wide, &longer)) else { return false };
    let (first, rest) = below.split_at(1.min(below.len()));
    let below = format!("{first}.{rest}e{}", longer.exponent).parse::<f64>();
    let edge = neighbours(size).next().map(|other| f64::midpoint(wide, f64::from(other)));
    below.is_ok_and(|below| edge.is_none_or(|edge| below >= edge))
}

/// The digits are all of the value's. No real and no edge of its interval has more than 115.
fn is_exactly(value: f64, number: &Digits) -> bool {
    let all = digits_of(&format!("{value:.115e}"));
    all.exponent == number.exponent && all.digits.trim_end_matches('0') == number.digits.trim_end_matches('0')
}

fn duckdb_special(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some(if value.is_sign_negative() { "-nan" } else { "nan" }),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

fn special(value: f64, infinity: &str) -> Option<String> {
    if value.is_nan() {
        return Some("NaN".to_owned());
    }
    value.is_infinite().then(|| if value > 0.0 { infinity.to_owned() } else { format!("-{infinity}") })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fraction {
    AsNeeded,
    /// `.0` after a whole number.
    Always,
    /// `.0` after a whole number, but not before an exponent.
    InFixed,
}

fn written(negative: bool, number: &Digits, fixed_below: i32, fraction: Fraction) -> String {
    let mut out = String::with_capacity(24);
    if negative {
        out.push('-');
    }
    let Digits { digits, exponent } = number;
    if !(-4..fixed_below).contains(exponent) {
        let (first, rest) = digits.split_at(1.min(digits.len()));
        out.push_str(first);
        push_fraction(&mut out, rest, if fraction == Fraction::InFixed { Fraction::AsNeeded } else { fraction });
        out.push('e');
        out.push(if *exponent < 0 { '-' } else { '+' });
        out.push_str(&format!("{:02}", exponent.unsigned_abs()));
        return out;
    }
    match usize::try_from(*exponent) {
        Err(_) => {
            out.push_str("0.");
            for _ in 1..exponent.unsigned_abs() {
                out.push('0');
            }
            out.push_str(digits);
        }
        Ok(exponent) if digits.len() <= exponent + 1 => {
            out.push_str(digits);
            for _ in digits.len()..exponent + 1 {
                out.push('0');
            }
            push_fraction(&mut out, "", fraction);
        }
        Ok(exponent) => {
            let (whole, rest) = digits.split_at(exponent + 1);
            out.push_str(whole);
            push_fraction(&mut out, rest, fraction);
        }
    }
    out
}

fn push_fraction(out: &mut String, digits: &str, fraction: Fraction) {
    if digits.is_empty() && fraction == Fraction::AsNeeded {
        return;
    }
    out.push('.');
    out.push_str(if digits.is_empty() { "0" } else { digits });
}

/// The decimal lies exactly half way between `value` and a neighbour. Only then do the tie rules of two printers differ.
fn on_the_edge(value: f64, number: &Digits) -> bool {
    let bits = value.to_bits();
    if value == 0.0 || bits & 1 == 1 {
        return false; // Rust's printer keeps strictly inside for an odd mantissa, as PostgreSQL's does.
    }
    let Ok(mut odd) = number.digits.parse::<u128>() else { return false };
    let mut power_of_two = 0_i32;
    let ten = number.exponent + 1 - i32::try_from(number.digits.len()).unwrap_or(0);
    if !(-24..=24).contains(&ten) || odd == 0 {
        return false; // no double's edge has so few digits out there
    }
    for _ in 0..ten.unsigned_abs() {
        if ten > 0 {
            odd = odd.saturating_mul(5);
            power_of_two += 1;
        } else if odd % 5 == 0 {
            odd /= 5;
            power_of_two -= 1;
        } else {
            return false;
        }
    }
    power_of_two += i32::try_from(odd.trailing_zeros()).unwrap_or(0);
    odd >>= odd.trailing_zeros();
    let fraction = bits & ((1 << 52) - 1);
    let biased = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
    let (mantissa, exponent) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    let (mantissa, lower_is_nearer) = (u128::from(mantissa), fraction == 0 && biased > 1);
    let upper = (2 * mantissa + 1, exponent - 1);
    let lower = if lower_is_nearer { (4 * mantissa - 1, exponent - 2) } else { (2 * mantissa - 1, exponent - 1) };
    (odd, power_of_two) == upper || (odd, power_of_two) == lower
}
