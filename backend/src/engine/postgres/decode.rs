//! Rows of a result: kept raw as they came, then turned into Arrow column by column.
//!
//! Invariant: no value is ever lost, rounded or refused. A column that holds one value its physical type can't show exactly is sent
//! as the server's text for that batch; a byte of a text that is not UTF-8 is written as `\xe9`, and harms no other row.
//! Each value is looked at twice: once for its place, once to be decoded.

mod values;

use super::types::{Kind, Layout};
use super::wire::{Reader, WireError, readable};
use crate::engine::rows::{Rows, Slots, Values};
use arrow_array::builder::{BinaryBuilder, BooleanBuilder};
use arrow_array::types::{Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt32Type};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use std::sync::Arc;

/// The first `count` rows as a batch; a row is a DataRow body.
pub fn batch(rows: &Rows, count: usize, layout: &Layout, reading: Reading) -> Result<RecordBatch, WireError> {
    let columns = layout.kinds.len();
    let cells = rows.cells(count, columns, |body, slots| places(body, columns, slots))?;
    let arrays = layout.kinds.iter().enumerate().map(|(at, kind)| decode(cells.column(at), *kind, reading));
    Ok(cells.assemble(arrays.collect::<Result<_, _>>()?, &layout.schema)?)
}

/// Where each value of a row lies.
fn places(body: &[u8], columns: usize, slots: &mut Slots<'_>) -> Result<(), WireError> {
    let mut reader = Reader::new(body);
    if usize::from(reader.u16()?) != columns {
        return Err(WireError::Protocol("a row has other columns than its description".to_owned()));
    }
    for _ in 0..columns {
        let Ok(length) = u32::try_from(reader.i32()?) else {
            slots.null();
            continue;
        };
        let offset = body.len() - reader.rest().len();
        reader.bytes(length as usize)?;
        slots.value(offset, length as usize);
    }
    Ok(())
}

/// What the session's settings say about the server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Dates are written as ISO 8601 has them.
    pub iso_dates: bool,
    /// Floats are written with the shortest digits that name them (PostgreSQL 12 and later).
    pub shortest_floats: bool,
}

fn decode(values: Values<'_>, kind: Kind, reading: Reading) -> Result<ArrayRef, WireError> {
    let typed = match kind {
        Kind::Boolean => booleans(values),
        Kind::Int16 => values.primitives::<Int16Type>(values::integer),
        Kind::Int32 => values.primitives::<Int32Type>(values::integer),
        Kind::Int64 => values.primitives::<Int64Type>(values::integer),
        Kind::Oid => values.primitives::<UInt32Type>(values::integer),
        Kind::Float32 if reading.shortest_floats => values.primitives::<Float32Type>(values::float4),
        Kind::Float64 if reading.shortest_floats => values.primitives::<Float64Type>(values::float8),
        Kind::Decimal { precision, scale } => values.decimals(precision, scale),
        Kind::Date if reading.iso_dates => values.primitives::<Date32Type>(values::date),
        Kind::Bytes => bytes(values),
        Kind::Float32 | Kind::Float64 | Kind::Date | Kind::Text => None,
    };
    typed.map_or_else(|| text(values), Ok)
}

fn booleans(values: Values<'_>) -> Option<ArrayRef> {
    let mut out = BooleanBuilder::with_capacity(values.len());
    for value in values.iter() {
        match value {
            None => out.append_null(),
            Some(b"t") => out.append_value(true),
            Some(b"f") => out.append_value(false),
            Some(_) => return None,
        }
    }
    Some(Arc::new(out.finish()))
}

fn bytes(values: Values<'_>) -> Option<ArrayRef> {
    let mut out = BinaryBuilder::with_capacity(values.len(), values.byte_len() / 2);
    for value in values.iter() {
        match value {
            None => out.append_null(),
            Some(text) => out.append_value(values::bytea(text)?),
        }
    }
    Some(Arc::new(out.finish()))
}

/// The server's text as it came; see [`readable`] for what is not UTF-8 in it.
fn text(values: Values<'_>) -> Result<ArrayRef, WireError> {
    let bytes = values.bytes()?;
    Ok(match StringArray::try_from_binary(bytes.clone()) {
        Ok(text) => Arc::new(text),
        Err(_) => Arc::new(bytes.iter().map(|value| value.map(readable)).collect::<StringArray>()),
    })
}

#[cfg(test)]
mod tests;
