//! Decimals, exactly: all digits of their scale.

use arrow_buffer::i256;
use std::fmt::Write as _;

/// Of 128 bits.
pub(super) fn narrow(value: i128, scale: i8) -> String {
    scaled(value < 0, &value.unsigned_abs().to_string(), scale)
}

/// Of 256 bits.
pub(super) fn wide(value: i256, scale: i8) -> String {
    scaled(value < i256::ZERO, &digits(value.wrapping_abs()), scale)
}

fn scaled(negative: bool, digits: &str, scale: i8) -> String {
    let sign = if negative { "-" } else { "" };
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { usize::from(scale.unsigned_abs()) };
        return format!("{sign}{digits}{:0<zeros$}", "");
    }
    let scale = usize::from(scale.unsigned_abs());
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// The digits of a number without a sign, by long division over words of 32 bits.
fn digits(value: i256) -> String {
    /// Nine digits are what one step gives.
    const STEP: u64 = 1_000_000_000;
    let bytes = value.to_be_bytes();
    let (words, _) = bytes.as_chunks::<4>();
    let mut words: Vec<u64> = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).collect();
    let mut steps = Vec::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0;
        for word in &mut words {
            let whole = rest << 32 | *word;
            *word = whole / STEP;
            rest = whole % STEP;
        }
        steps.push(rest);
    }
    let mut text = steps.pop().unwrap_or_default().to_string();
    for step in steps.iter().rev() {
        let _ = write!(text, "{step:09}");
    }
    text
}
