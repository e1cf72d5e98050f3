//! Decimals: any number of digits, a fixed number of them behind the point.
//!
//! Invariant: of each value exactly one way of writing it is taken, the one that `shared::format` gives back.

use super::Values;
use arrow_array::ArrayRef;
use arrow_array::types::{Decimal128Type, Decimal256Type};
use arrow_buffer::i256;
use arrow_schema::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION};
use std::sync::Arc;

/// Digits that 64 bits always hold.
const STEP: usize = 18;

impl Values<'_> {
    /// All of them as decimals of that form, or `None` where one is not.
    pub fn decimals(&self, precision: u8, scale: i8) -> Option<ArrayRef> {
        let digits = usize::try_from(scale).ok()?;
        if precision <= DECIMAL128_MAX_PRECISION {
            let array = self.primitive_array::<Decimal128Type>(|text| decimal128(text, digits))?;
            let array = array.with_precision_and_scale(precision, scale).ok()?;
            array.validate_decimal_precision(precision).ok()?;
            return Some(Arc::new(array));
        }
        let array = self.primitive_array::<Decimal256Type>(|text| decimal256(text, digits))?;
        let array = array.with_precision_and_scale(precision, scale).ok()?;
        array.validate_decimal_precision(precision).ok()?;
        Some(Arc::new(array))
    }

    /// All of them with as many digits behind the point as the first has, in the narrowest form of that; `None` where one has others.
    pub fn decimals_of_one_scale(&self) -> Option<ArrayRef> {
        let first = self.iter().flatten().next().unwrap_or_default();
        let scale = first.iter().rev().position(|byte| *byte == b'.').unwrap_or(0);
        let scale = i8::try_from(scale).ok()?;
        let narrow = || self.decimals(DECIMAL128_MAX_PRECISION, scale);
        // Digits do not fit where there are more of them than the form has, and only then.
        let is_long = self.iter().flatten().any(|text| text.len() > usize::from(DECIMAL128_MAX_PRECISION));
        narrow().or_else(|| if is_long { self.decimals(DECIMAL256_MAX_PRECISION, scale) } else { None })
    }
}

/// A decimal with exactly `scale` digits behind the point, without the point; `None` for any other way of writing it.
fn decimal128(text: &[u8], scale: usize) -> Option<i128> {
    let (negative, whole, fraction) = parts(text, scale)?;
    let append = |value: i128, power: u64, part: u64| value.checked_mul(power.into())?.checked_add(part.into());
    let value = digits(fraction, digits(whole, 0, append)?, append)?;
    // There is no minus zero in a decimal.
    (!negative || value != 0).then_some(if negative { -value } else { value })
}

/// The same for more digits.
fn decimal256(text: &[u8], scale: usize) -> Option<i256> {
    let (negative, whole, fraction) = parts(text, scale)?;
    let wide = |part: u64| i256::from_i128(part.into());
    let append = |value: i256, power: u64, part: u64| value.checked_mul(wide(power))?.checked_add(wide(part));
    let value = digits(fraction, digits(whole, i256::ZERO, append)?, append)?;
    (!negative || value != i256::ZERO).then(|| if negative { value.wrapping_neg() } else { value })
}

/// Whether there is a minus, and what stands before and behind the point.
fn parts(text: &[u8], scale: usize) -> Option<(bool, &[u8], &[u8])> {
    let (negative, number) = match text {
        [b'-', number @ ..] => (true, number),
        number => (false, number),
    };
    let (whole, fraction) = match scale {
        0 => (number, [].as_slice()),
        scale => {
            let (whole, rest) = number.split_at_checked(number.len().checked_sub(scale + 1)?)?;
            (whole, rest.strip_prefix(b".")?)
        }
    };
    (!whole.is_empty() && (whole.len() == 1 || !whole.starts_with(b"0"))).then_some((negative, whole, fraction))
}

/// The digits behind those that `value` has, many at once: `append` gets a power of ten and a number below it.
fn digits<T>(text: &[u8], mut value: T, append: impl Fn(T, u64, u64) -> Option<T>) -> Option<T> {
    for step in text.chunks(STEP) {
        let (mut power, mut part) = (1_u64, 0_u64);
        for byte in step {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            power *= 10;
            part = part * 10 + u64::from(digit);
        }
        value = append(value, power, part)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(decimal128(b"2.50", 2), Some(250));
        assert_eq!(decimal128(b"-0.01", 2), Some(-1));
        assert_eq!(decimal128(b"99999999999999999999999999999999999999", 0), Some(10_i128.pow(38) - 1));
        assert_eq!(decimal128(b"999999999999999999999999999999999999999", 0), None);
        let most = "9".repeat(76);
        assert_eq!(decimal256(most.as_bytes(), 0).map(|value| value.to_string()), Some(most.clone()));
        assert_eq!(decimal256(format!("-0.{most}").as_bytes(), 76).map(|value| value.to_string()), Some(format!("-{most}")));
        for text in [b"2.5".as_slice(), b"2,50", b".50", b"-0.00", b"02.50", b"", b"-", b"x.yz", b"2.5x", b"+2.50"] {
            assert_eq!(decimal128(text, 2), None, "{text:?}");
            assert_eq!(decimal256(text, 2), None, "{text:?}");
        }
    }
}
