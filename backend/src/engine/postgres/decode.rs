//! Rows of a result: kept raw as they came, then turned into Arrow column by column.
//!
//! Invariant: no value is ever lost, rounded or refused. A column that holds one value its physical type can't show exactly is sent
//! as the server's text for that batch; a byte of a text that is not UTF-8 is written as `\xe9`, and harms no other row.
//! Each value is looked at twice: once for its place, once to be decoded.

mod values;

use super::types::{Kind, Layout};
use super::wire::{Reader, WireError, readable};
use crate::engine::rows::{Decoded, Rows, Slots, Values};
use arrow_array::builder::{BinaryBuilder, BooleanBuilder};
use arrow_array::types as at;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use shared::format::Offsets;
use shared::page::OFFSETS_KEY;
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
    /// Intervals are written as `IntervalStyle = postgres` has them.
    pub postgres_intervals: bool,
    /// Floats are written with the shortest digits that name them (PostgreSQL 12 and later).
    pub shortest_floats: bool,
}

fn decode(values: Values<'_>, kind: Kind, reading: Reading) -> Result<Decoded, WireError> {
    let typed = match kind {
        Kind::Instant if reading.iso_dates => instants(values),
        kind => plain(values, kind, reading).map(Decoded::from),
    };
    typed.map_or_else(|| text(values).map(Decoded::from), Ok)
}

fn plain(values: Values<'_>, kind: Kind, reading: Reading) -> Option<ArrayRef> {
    match kind {
        Kind::Boolean => booleans(values),
        Kind::Int16 => values.primitives::<at::Int16Type>(values::integer),
        Kind::Int32 => values.primitives::<at::Int32Type>(values::integer),
        Kind::Int64 => values.primitives::<at::Int64Type>(values::integer),
        Kind::Oid => values.primitives::<at::UInt32Type>(values::integer),
        Kind::Xid8 => values.primitives::<at::UInt64Type>(values::xid8),
        Kind::Float32 if reading.shortest_floats => values.primitives::<at::Float32Type>(values::float4),
        Kind::Float64 if reading.shortest_floats => values.primitives::<at::Float64Type>(values::float8),
        Kind::Decimal { precision, scale } => values.decimals(precision, scale),
        Kind::Numeric => values.decimals_of_one_scale(),
        Kind::Date if reading.iso_dates => values.primitives::<at::Date32Type>(values::date),
        Kind::Time if reading.iso_dates => values.primitives::<at::Time64MicrosecondType>(values::time),
        Kind::Timestamp if reading.iso_dates => values.primitives::<at::TimestampMicrosecondType>(values::timestamp),
        Kind::Interval if reading.postgres_intervals => values.primitives::<at::IntervalMonthDayNanoType>(values::interval),
        Kind::Uuid => values.uuids(),
        Kind::Bytes => bytes(values),
        _ => None,
    }
}

/// Instants and how far the session's clock was ahead of UTC at each.
fn instants(values: Values<'_>) -> Option<Decoded> {
    let mut offsets = Vec::with_capacity(values.len());
    let array = values.primitive_array::<at::TimestampMicrosecondType>(|text| {
        let (micros, offset) = values::instant(text)?;
        offsets.push((micros, offset));
        Some(micros)
    })?;
    let offsets = Offsets::of(offsets)?;
    Some(Decoded { array: Arc::new(array.with_timezone("UTC")), noted: offsets.metadata().map(|text| (OFFSETS_KEY, text)) })
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
    // One for all rows: see `backend/tests/allocations.rs`.
    let mut bytes = Vec::new();
    for value in values.iter() {
        match value {
            None => out.append_null(),
            Some(text) => {
                values::bytea(text, &mut bytes)?;
                out.append_value(&bytes);
            }
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
