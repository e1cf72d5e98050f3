//! One value: from the server's text to its physical form, or `None` where that would not give the same text back.
//!
//! Invariant: `None` is never an error, only "keep the text".

mod interval;
mod moment;

pub use interval::interval;
pub use moment::{date, instant, time, timestamp};

/// Any integer, as PostgreSQL writes it: digits, a minus, nothing else.
pub fn integer<T: TryFrom<i64>>(text: &[u8]) -> Option<T> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 19 || (digits.starts_with(b"0") && text != b"0") {
        return None;
    }
    // Counted downwards, since the lowest number has no positive twin.
    let mut value = 0_i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    T::try_from(if negative { value } else { value.checked_neg()? }).ok()
}

/// `xid8`: an integer without a sign.
pub fn xid8(text: &[u8]) -> Option<u64> {
    let value: u64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let is_own = text.first().is_some_and(u8::is_ascii_digit) && (text == b"0" || !text.starts_with(b"0"));
    is_own.then_some(value)
}

/// `double precision` in the shortest digits.
pub fn float8(text: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let size = value.abs();
    // The notation tells whether these are the digits of `extra_float_digits >= 1`, the only ones that can be made again;
    // below it the smallest numbers lose digits too.
    let scientific = size != 0.0 && size.is_finite() && !(1e-4..1e15).contains(&size);
    (text.contains(&b'e') == scientific && !value.is_subnormal()).then_some(value)
}

/// `real` in the shortest digits.
pub fn float4(text: &[u8]) -> Option<f32> {
    let value: f32 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let size = value.abs();
    let scientific = size != 0.0 && size.is_finite() && !(1e-4..1e6).contains(&size);
    (text.contains(&b'e') == scientific && !value.is_subnormal()).then_some(value)
}

/// `bytea` in hexadecimal, into `out` in place of what was there. The other form (`bytea_output = escape`) stays the text that was asked
/// for; it never begins like this.
pub fn bytea(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (pairs, rest) = text.strip_prefix(b"\\x")?.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    out.clear();
    for [high, low] in pairs {
        out.push(hex_digit(*high)? << 4 | hex_digit(*low)?);
    }
    Some(())
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
