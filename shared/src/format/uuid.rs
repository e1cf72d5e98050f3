//! A UUID, as every engine writes it.

/// 32 digits in their groups; `None` where there are no 16 bytes.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let n = u128::from_be_bytes(bytes.try_into().ok()?);
    Some(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        n >> 96,
        (n >> 80) & 0xffff,
        (n >> 64) & 0xffff,
        (n >> 48) & 0xffff,
        n & 0xffff_ffff_ffff
    ))
}
