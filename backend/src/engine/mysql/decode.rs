//! Rows of a result: kept raw as they came, then turned into Arrow column by column.
//!
//! Invariant: no value is ever lost, rounded or refused. A column that holds one value its physical type can't show exactly (a zero
//! date, 838 hours) is sent as the server's text for that batch; text that is not UTF-8 as its bytes.

mod values;

use super::types::{Kind, Layout};
use super::wire::{Reader, WireError};
use crate::engine::rows::{Decoded, Rows, Slots, Values};
use arrow_array::types as at;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use std::sync::Arc;

/// The first `count` rows as a batch; a row is a message of the text protocol.
pub fn batch(rows: &Rows, count: usize, layout: &Layout) -> Result<RecordBatch, WireError> {
    let columns = layout.kinds.len();
    let cells = rows.cells(count, columns, |body, slots| places(body, columns, slots))?;
    let arrays = layout.kinds.iter().enumerate().map(|(at, kind)| decode(cells.column(at), *kind).map(Decoded::from));
    Ok(cells.assemble(arrays.collect::<Result<_, _>>()?, &layout.schema)?)
}

/// Where each value of a row lies.
fn places(body: &[u8], columns: usize, slots: &mut Slots<'_>) -> Result<(), WireError> {
    let mut reader = Reader::new(body);
    for _ in 0..columns {
        match reader.value()? {
            None => slots.null(),
            Some(value) => slots.value(body.len() - reader.rest().len() - value.len(), value.len()),
        }
    }
    if !reader.rest().is_empty() {
        return Err(WireError::Protocol("a row has other columns than its description".to_owned()));
    }
    Ok(())
}

fn decode(values: Values<'_>, kind: Kind) -> Result<ArrayRef, WireError> {
    let typed = match kind {
        Kind::Signed(8) => values.primitives::<at::Int8Type>(values::signed),
        Kind::Signed(16) => values.primitives::<at::Int16Type>(values::signed),
        Kind::Signed(32) => values.primitives::<at::Int32Type>(values::signed),
        Kind::Signed(_) => values.primitives::<at::Int64Type>(values::signed),
        Kind::Unsigned(8) => values.primitives::<at::UInt8Type>(values::unsigned),
        Kind::Unsigned(16) => values.primitives::<at::UInt16Type>(values::unsigned),
        Kind::Unsigned(32) => values.primitives::<at::UInt32Type>(values::unsigned),
        Kind::Unsigned(_) => values.primitives::<at::UInt64Type>(values::unsigned),
        Kind::Float32 => values.primitives::<at::Float32Type>(values::float),
        Kind::Float64 => values.primitives::<at::Float64Type>(values::double),
        Kind::Decimal { precision, scale } => values.decimals(precision, scale),
        Kind::Date => values.primitives::<at::Date32Type>(values::date),
        Kind::Time(digits) => values.primitives::<at::Time64MicrosecondType>(|text| values::time(text, digits)),
        Kind::DateTime(digits) => values.primitives::<at::TimestampMicrosecondType>(|text| values::date_time(text, digits)),
        Kind::Uuid => values.uuids(),
        Kind::FixedBytes(width) => return bits(values, width),
        Kind::MadeBits(width) => match values.primitives::<at::UInt64Type>(values::unsigned) {
            Some(numbers) => Some(numbers),
            None => return bits(values, width),
        },
        Kind::Bytes => return Ok(Arc::new(values.bytes()?)),
        Kind::Text => None,
    };
    typed.map_or_else(|| text(values), Ok)
}

/// Bytes, as many for each value where that is so.
fn bits(values: Values<'_>, width: u8) -> Result<ArrayRef, WireError> {
    values.fixed_bytes(width).map_or_else(|| Ok(Arc::new(values.bytes()?) as ArrayRef), Ok)
}

/// The server's text as it came, or its bytes where they are not UTF-8.
fn text(values: Values<'_>) -> Result<ArrayRef, WireError> {
    let bytes = values.bytes()?;
    Ok(match StringArray::try_from_binary(bytes.clone()) {
        Ok(text) => Arc::new(text),
        Err(_) => Arc::new(bytes),
    })
}
