//! Values as DuckDB writes them: what `CAST(x AS VARCHAR)` gives, and so what its own client prints.
//!
//! Invariant: the text is DuckDB's, nested values included. What DuckDB hands out as opaque bytes (HUGEINT, UUID, BIT, …) is told by
//! the field's extension name. An instant in a zone other than UTC can't be written here, since there are no zone data: the caller
//! gives its text ([`Instants`]). Start at [`text`]; checked cell by cell against the engine in the server's tests.

mod bits;
mod geometry;
mod names;
mod nested;
mod temporal;

pub use bits::{Opaque, opaque};
pub use names::type_name;
pub use nested::{instants, is_nested};
pub use temporal::{ahead, is_infinite};

use super::decimal::{narrow, wide};
use super::{Offsets, float, value};
use crate::page::ENGINE_KEY;
use arrow_array::cast::AsArray;
use arrow_array::{Array, types as at};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};

/// Arrow's field metadata: its parameters.
pub const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// The text of an instant (microseconds since 1970) in the session's zone; `None` where it is UTC's.
pub type Instants<'a> = dyn Fn(i64) -> Option<String> + 'a;

/// The column came from DuckDB.
pub fn is_of(field: &Field) -> bool {
    field.metadata().get(ENGINE_KEY).is_some_and(|engine| engine == "duckdb")
}

/// A cell of a page.
pub fn cell(array: &dyn Array, field: &Field, row: usize) -> Option<String> {
    if matches!(array.data_type(), DataType::Timestamp(TimeUnit::Microsecond, Some(_))) && !array.is_null(row) {
        let micros = value::<at::TimestampMicrosecondType>(array, row);
        return if is_infinite(micros) {
            text(array, field, row, &|_| None)
        } else {
            temporal::instant(micros, Offsets::ahead(field, micros)?)
        };
    }
    text(array, field, row, &|_| None)
}

/// The text of a value that is not NULL; `None` where it is NULL, or of a physical type that DuckDB never gives.
pub fn text(array: &dyn Array, field: &Field, row: usize, instants: &Instants<'_>) -> Option<String> {
    if row >= array.len() || array.is_null(row) {
        return None;
    }
    if let Some(text) = bits::text(array, field, row) {
        return Some(text);
    }
    Some(match array.data_type() {
        DataType::Int8 => value::<at::Int8Type>(array, row).to_string(),
        DataType::Int16 => value::<at::Int16Type>(array, row).to_string(),
        DataType::Int32 => value::<at::Int32Type>(array, row).to_string(),
        DataType::Int64 => value::<at::Int64Type>(array, row).to_string(),
        DataType::UInt8 => value::<at::UInt8Type>(array, row).to_string(),
        DataType::UInt16 => value::<at::UInt16Type>(array, row).to_string(),
        DataType::UInt32 => value::<at::UInt32Type>(array, row).to_string(),
        DataType::UInt64 => value::<at::UInt64Type>(array, row).to_string(),
        DataType::Float32 => float::duckdb_f32(value::<at::Float32Type>(array, row)),
        DataType::Float64 => float::duckdb_f64(value::<at::Float64Type>(array, row)),
        DataType::Decimal32(width, scale) => decimal_text(i128::from(value::<at::Decimal32Type>(array, row)), *width, *scale),
        DataType::Decimal64(width, scale) => decimal_text(i128::from(value::<at::Decimal64Type>(array, row)), *width, *scale),
        DataType::Decimal128(width, scale) => decimal_text(value::<at::Decimal128Type>(array, row), *width, *scale),
        DataType::Decimal256(_, scale) => wide(value::<at::Decimal256Type>(array, row), *scale),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).to_owned(),
        DataType::Binary => bits::blob(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bits::blob(array.as_binary::<i64>().value(row)),
        DataType::FixedSizeBinary(_) => bits::blob(array.as_fixed_size_binary().value(row)),
        DataType::Date32 => temporal::date(value::<at::Date32Type>(array, row)),
        DataType::Time64(TimeUnit::Microsecond) => temporal::time(i128::from(value::<at::Time64MicrosecondType>(array, row)) * 1_000),
        DataType::Time64(TimeUnit::Nanosecond) => temporal::time(i128::from(value::<at::Time64NanosecondType>(array, row))),
        DataType::Timestamp(TimeUnit::Second, _) => temporal::timestamp(value::<at::TimestampSecondType>(array, row), 1_000_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) => temporal::timestamp(value::<at::TimestampMillisecondType>(array, row), 1_000_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => temporal::timestamp(value::<at::TimestampNanosecondType>(array, row), 1),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let micros = value::<at::TimestampMicrosecondType>(array, row);
            let text = temporal::timestamp(micros, 1_000);
            match zone {
                Some(_) if !is_infinite(micros) => instants(micros).unwrap_or(text + "+00"),
                _ => text,
            }
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => temporal::interval(value::<at::IntervalMonthDayNanoType>(array, row)),
        _ => return nested::text(array, row, instants),
    })
}

/// A decimal with all digits of its scale; DuckDB writes no zero before the point where the type has no digit there.
fn decimal_text(value: i128, width: u8, scale: i8) -> String {
    let text = narrow(value, scale);
    if scale > 0 && u8::try_from(scale) == Ok(width) { text.replacen("0.", ".", 1) } else { text }
}

#[cfg(test)]
mod tests;
