//! What DuckDB hands out as bytes with a name beside them, and bytes themselves.
//!
//! Invariant: bytes that don't have the form their name promises are written as a BLOB, never dropped.

use super::{EXTENSION_METADATA, geometry, temporal};
use crate::format::uuid;
use crate::page::{EXTENSION_KEY, UUID_EXTENSION};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_schema::{DataType, Field};
use std::fmt::Write as _;

/// DuckDB's own name of an opaque type (`hugeint`, `bit`, …), or Arrow's name of an extension (`arrow.uuid`).
pub fn extension(field: &Field) -> Option<&str> {
    let name = field.metadata().get(EXTENSION_KEY)?;
    if name != "arrow.opaque" {
        return Some(name);
    }
    let parameters = field.metadata().get(EXTENSION_METADATA)?;
    parameters.split("\"type_name\":\"").nth(1)?.split('"').next()
}

/// Extension types that a page may have in a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// A byte that is zero or not.
    Truth,
    /// JSON, as text.
    Json,
    /// 16 bytes, the highest first.
    Uuid,
    /// 16 bytes, the lowest first, of a number with a sign.
    Huge,
    /// The same without a sign.
    UnsignedHuge,
    /// Any other.
    Other,
}

/// Which of them a field is of; `None` where it is of no extension type.
pub fn opaque(field: &Field) -> Option<Opaque> {
    Some(match extension(field)? {
        "arrow.bool8" => Opaque::Truth,
        "arrow.json" => Opaque::Json,
        UUID_EXTENSION => Opaque::Uuid,
        "hugeint" => Opaque::Huge,
        "uhugeint" => Opaque::UnsignedHuge,
        _ => Opaque::Other,
    })
}

/// The text of a value of an extension type; `None` where it is none.
pub fn text(array: &dyn Array, field: &Field, row: usize) -> Option<String> {
    let name = extension(field)?;
    if name == "arrow.bool8" {
        return Some((array.as_primitive_opt::<Int8Type>()?.value(row) != 0).to_string());
    }
    let bytes = match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(row),
        _ => return None,
    };
    match name {
        "hugeint" => Some(i128::from_le_bytes(bytes.try_into().ok()?).to_string()),
        "uhugeint" => Some(u128::from_le_bytes(bytes.try_into().ok()?).to_string()),
        "time_tz" => Some(temporal::time_with_zone(u64::from_le_bytes(bytes.try_into().ok()?))),
        UUID_EXTENSION => uuid::text(bytes),
        "bit" => bit(bytes),
        "bignum" | "varint" => bignum(bytes),
        "geoarrow.wkb" => geometry::text(bytes),
        _ => None,
    }
}

/// BIT: the first byte counts the bits that only fill up the second.
fn bit(bytes: &[u8]) -> Option<String> {
    let (padding, bytes) = bytes.split_first()?;
    let mut text = String::with_capacity(8 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:08b}");
    }
    text.get(usize::from(*padding)..).map(str::to_owned)
}

/// BIGNUM: three bytes of sign and length, then the size, highest byte first; all of it inverted where the number is negative.
fn bignum(bytes: &[u8]) -> Option<String> {
    /// Digits that one step of the long division gives.
    const STEP: u64 = 1_000_000_000_000_000_000;
    let (header, size) = bytes.split_at_checked(3)?;
    let negative = header.first()? & 0x80 == 0;
    let mut words: Vec<u32> = Vec::with_capacity(size.len() / 4 + 1);
    let lead = size.len() % 4;
    let (head, tail) = size.split_at(lead);
    for chunk in std::iter::once(head).filter(|head| !head.is_empty()).chain(tail.chunks(4)) {
        words.push(chunk.iter().fold(0, |word, byte| word << 8 | u32::from(if negative { !byte } else { *byte })));
    }
    let mut steps = Vec::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0_u64;
        for word in &mut words {
            let whole = (u128::from(rest) << 32) | u128::from(*word);
            *word = u32::try_from(whole / u128::from(STEP)).unwrap_or(0);
            rest = u64::try_from(whole % u128::from(STEP)).unwrap_or(0);
        }
        steps.push(rest);
    }
    let mut text = String::from(if negative { "-" } else { "" });
    match steps.pop() {
        None => text.push('0'),
        Some(first) => {
            let _ = write!(text, "{first}");
        }
    }
    for step in steps.iter().rev() {
        let _ = write!(text, "{step:018}");
    }
    Some(text)
}

/// BLOB: printable ASCII as it is, every other byte (and the marks that could be misread) as `\x` and two digits.
pub fn blob(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if (32..=126).contains(byte) && !matches!(byte, b'\\' | b'\'' | b'"') {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text
}
