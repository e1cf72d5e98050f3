//! UUIDs: 32 digits in groups of 8, 4, 4, 4 and 12, in the small letters that every server writes.

use super::Values;
use arrow_array::{ArrayRef, FixedSizeBinaryArray};
use arrow_buffer::Buffer;
use std::sync::Arc;

/// Where the two digits of each byte begin.
const DIGITS: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
/// Where the dashes stand.
const DASHES: [usize; 4] = [8, 13, 18, 23];

impl Values<'_> {
    /// All of them as 16 bytes each, or `None` where one is written in another way.
    pub fn uuids(&self) -> Option<ArrayRef> {
        let mut out = Vec::with_capacity(self.len() * 16);
        for value in self.iter() {
            out.extend_from_slice(&value.map_or(Some([0; 16]), uuid)?);
        }
        Some(Arc::new(FixedSizeBinaryArray::try_new(16, Buffer::from_vec(out), self.nulls()).ok()?))
    }
}

/// The 16 bytes.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; 36] = text.try_into().ok()?;
    if DASHES.iter().any(|at| text.get(*at) != Some(&b'-')) {
        return None;
    }
    let mut bytes = [0; 16];
    for (byte, at) in bytes.iter_mut().zip(DIGITS) {
        *byte = small_digit(*text.get(at)?)? << 4 | small_digit(*text.get(at + 1)?)?;
    }
    Some(bytes)
}

/// A hexadecimal digit without a capital letter.
fn small_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
