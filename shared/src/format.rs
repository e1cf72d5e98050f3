//! A value as text, exactly: what the database holds is what the cell shows and what copy gives.
//!
//! Invariant: nothing is rounded, grouped or shortened; text is the engine's own client's (psql, sqlite3) where that is exact.
//! NULL is not text, and no text stands for it. A page is never trusted: a row or type that isn't there is [`Cell::Unreadable`].
//! Start at [`format_cell`].

pub mod calendar;
mod decimal;
pub mod duckdb;
mod float;
mod interval;
mod offsets;
mod uuid;

pub use offsets::Offsets;

use crate::page::{ENGINE_KEY, EXTENSION_KEY, UUID_EXTENSION};
use crate::types::type_name;
use arrow_array::cast::AsArray;
use arrow_array::types as at;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, UnionArray};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use std::borrow::Cow;

/// One value of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// SQL NULL.
    Null,
    /// The text of the value.
    Text(Cow<'a, str>),
    /// Bytes; their text is [`hex`].
    Bytes(&'a [u8]),
    /// The page has no such row, or a physical type this version can't read.
    Unreadable,
}

impl<'a> Cell<'a> {
    /// The whole text; `None` for NULL.
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Cell::Null | Cell::Unreadable => None,
            Cell::Text(text) => Some(text),
            Cell::Bytes(bytes) => Some(Cow::Owned(hex(bytes))),
        }
    }

    /// The text's beginning, at most `chars` characters, without formatting the rest; and whether something was left off.
    pub fn prefix(self, chars: usize) -> Option<(Cow<'a, str>, bool)> {
        match self {
            Cell::Null | Cell::Unreadable => None,
            Cell::Bytes(bytes) => {
                let (head, rest) = bytes.split_at(bytes.len().min(chars / 2 + 1));
                Some((Cow::Owned(hex(head)), !rest.is_empty()))
            }
            Cell::Text(text) => Some(match text.char_indices().nth(chars).map(|(at, _)| at) {
                None => (text, false),
                Some(at) => match text {
                    Cow::Borrowed(text) => (Cow::Borrowed(text.get(..at).unwrap_or(text)), true),
                    Cow::Owned(mut text) => {
                        text.truncate(at);
                        (Cow::Owned(text), true)
                    }
                },
            }),
        }
    }
}

/// Bytes as `\x` and hexadecimal digits (PostgreSQL's `bytea_output = hex`; taken for every engine).
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| DIGITS.get(usize::from(n & 15)).copied().map_or('0', char::from);
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("\\x");
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(*byte));
    }
    text
}

/// The value of a row. `field` is the column's own (its metadata tells the engine and the type).
pub fn format_cell<'a>(array: &'a dyn Array, field: &Field, row: usize) -> Cell<'a> {
    if row >= array.len() {
        return Cell::Unreadable;
    }
    if array.is_null(row) {
        return Cell::Null;
    }
    match array.data_type() {
        DataType::Null => Cell::Null,
        DataType::Utf8 => Cell::Text(Cow::Borrowed(array.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => Cell::Text(Cow::Borrowed(array.as_string::<i64>().value(row))),
        DataType::Utf8View => Cell::Text(Cow::Borrowed(array.as_string_view().value(row))),
        DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Cell::Bytes(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Cell::Bytes(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(16) if is_uuid(field) => {
            uuid::text(array.as_fixed_size_binary().value(row)).map_or(Cell::Unreadable, |text| Cell::Text(Cow::Owned(text)))
        }
        DataType::FixedSizeBinary(_) => Cell::Bytes(array.as_fixed_size_binary().value(row)),
        DataType::Boolean => Cell::Text(Cow::Borrowed(boolean(array.as_boolean().value(row), field))),
        DataType::Union(_, _) => union_cell(array, field, row),
        _ if duckdb::is_of(field) => duckdb::cell(array, field, row).map_or(Cell::Unreadable, |text| Cell::Text(Cow::Owned(text))),
        _ => scalar(array, field, row).map_or(Cell::Unreadable, |text| Cell::Text(Cow::Owned(text))),
    }
}

fn is_uuid(field: &Field) -> bool {
    field.metadata().get(EXTENSION_KEY).is_some_and(|name| name == UUID_EXTENSION)
}

/// psql writes `t` and `f`; other clients write words.
fn boolean(value: bool, field: &Field) -> &'static str {
    let postgres = match field.metadata().get(ENGINE_KEY) {
        Some(engine) => engine == "postgres",
        None => matches!(type_name(field), "boolean" | "bool"),
    };
    match (postgres, value) {
        (true, true) => "t",
        (true, false) => "f",
        (false, true) => "true",
        (false, false) => "false",
    }
}

/// A SQLite column of several storage classes: each value is formatted as its own class.
fn union_cell<'a>(array: &'a dyn Array, field: &Field, row: usize) -> Cell<'a> {
    let Some(union) = array.as_any().downcast_ref::<UnionArray>() else { return Cell::Unreadable };
    let id = union.type_id(row);
    let DataType::Union(fields, _) = union.data_type() else { return Cell::Unreadable };
    if !fields.iter().any(|(known, _)| known == id) {
        return Cell::Unreadable;
    }
    let child: &'a ArrayRef = union.child(id);
    if matches!(child.data_type(), DataType::Union(_, _)) {
        return Cell::Unreadable;
    }
    format_cell(child.as_ref(), field, union.value_offset(row))
}

fn value<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn scalar(array: &dyn Array, field: &Field, row: usize) -> Option<String> {
    let sqlite = || field.metadata().get(ENGINE_KEY).is_some_and(|engine| engine == "sqlite");
    Some(match array.data_type() {
        DataType::Int8 => value::<at::Int8Type>(array, row).to_string(),
        DataType::Int16 => value::<at::Int16Type>(array, row).to_string(),
        DataType::Int32 => value::<at::Int32Type>(array, row).to_string(),
        DataType::Int64 => value::<at::Int64Type>(array, row).to_string(),
        DataType::UInt8 => value::<at::UInt8Type>(array, row).to_string(),
        DataType::UInt16 => value::<at::UInt16Type>(array, row).to_string(),
        DataType::UInt32 => value::<at::UInt32Type>(array, row).to_string(),
        DataType::UInt64 => value::<at::UInt64Type>(array, row).to_string(),
        DataType::Float32 => float::postgres_f32(value::<at::Float32Type>(array, row)),
        DataType::Float64 if sqlite() => float::sqlite(value::<at::Float64Type>(array, row)),
        DataType::Float64 => float::postgres_f64(value::<at::Float64Type>(array, row)),
        DataType::Decimal128(_, scale) => decimal::narrow(value::<at::Decimal128Type>(array, row), *scale),
        DataType::Decimal256(_, scale) => decimal::wide(value::<at::Decimal256Type>(array, row), *scale),
        DataType::Date32 => calendar::date(i64::from(value::<at::Date32Type>(array, row))),
        DataType::Date64 => calendar::date(value::<at::Date64Type>(array, row).div_euclid(86_400_000)),
        DataType::Time64(TimeUnit::Microsecond) => {
            calendar::time_of_micros(value::<at::Time64MicrosecondType>(array, row), fraction_digits(field))
        }
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            calendar::timestamp(value::<at::TimestampMicrosecondType>(array, row), fraction_digits(field))
        }
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            let micros = value::<at::TimestampMicrosecondType>(array, row);
            calendar::instant(micros, Offsets::ahead(field, micros)?)
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => interval::postgres(value::<at::IntervalMonthDayNanoType>(array, row))?,
        _ => return None,
    })
}

/// Digits behind the seconds, where a column has a fixed number of them, as MySQL's have: `DATETIME(3)`, `TIME`.
fn fraction_digits(field: &Field) -> Option<usize> {
    let mysql = field.metadata().get(ENGINE_KEY).is_some_and(|engine| engine == "mysql");
    mysql.then(|| type_name(field).split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')?.parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests;
