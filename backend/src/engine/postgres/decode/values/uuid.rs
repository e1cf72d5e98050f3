//! `uuid`: 32 digits in groups of 8, 4, 4, 4 and 12; utils/adt/uuid.c, uuid_out.

/// Where the two digits of each byte begin.
const DIGITS: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
/// Where the dashes stand.
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// The 16 bytes.
pub fn uuid(text: &[u8]) -> Option<[u8; 16]> {
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

/// A hexadecimal digit in the case that the server writes.
fn small_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
