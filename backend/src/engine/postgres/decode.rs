//! Rows of a result: kept raw as they came, then turned into Arrow column by column.
//!
//! Invariant: no value is ever lost, rounded or refused. A column that holds one value its physical type can't show exactly is sent
//! as the server's text for that batch; a byte of a text that is not UTF-8 is written as `\xe9`, and harms no other row.
//! Each value is looked at twice: once for its place, once to be decoded.

mod values;

use super::types::{EXTENSION_KEY, Kind, Layout};
use super::wire::{Reader, WireError, readable};
use arrow_array::builder::{BinaryBuilder, BooleanBuilder};
use arrow_array::types::{Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BinaryArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use std::sync::Arc;

/// DataRow bodies in their order: rows are pushed behind and taken from the front.
#[derive(Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Where each row ends in `bytes`.
    ends: Vec<usize>,
}

impl Rows {
    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all of them.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// One row more.
    pub fn push(&mut self, body: &[u8]) {
        self.bytes.extend_from_slice(body);
        self.ends.push(self.bytes.len());
    }

    /// How many rows it takes to reach `bytes`; `None` while all together are shorter.
    pub fn reaching(&self, bytes: usize) -> Option<usize> {
        let before = self.ends.partition_point(|end| *end < bytes);
        (before < self.ends.len()).then_some(before + 1)
    }

    /// Forgets the first `count` rows.
    pub fn discard(&mut self, count: usize) {
        let Some(cut) = count.checked_sub(1).and_then(|last| self.ends.get(last).copied()) else { return };
        self.bytes.drain(..cut);
        self.ends.drain(..count);
        for end in &mut self.ends {
            *end -= cut;
        }
    }

    /// The first `count` rows as a batch.
    pub fn batch(&self, count: usize, layout: &Layout, reading: Reading) -> Result<RecordBatch, WireError> {
        let count = count.min(self.len());
        let cells = self.places(count, layout.kinds.len())?;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(layout.kinds.len());
        for (at, kind) in layout.kinds.iter().enumerate() {
            let cells = cells.get(at * count..(at + 1) * count).unwrap_or_default();
            arrays.push(Values { raw: &self.bytes, cells }.decode(*kind, reading)?);
        }
        assemble(arrays, count, layout)
    }

    /// Where each value lies, column by column.
    fn places(&self, count: usize, columns: usize) -> Result<Vec<Place>, WireError> {
        let mut places = vec![Place::NULL; count * columns];
        let mut start = 0;
        for (row, end) in self.ends.iter().take(count).enumerate() {
            let body = self.bytes.get(start..*end).unwrap_or_default();
            let mut reader = Reader::new(body);
            if usize::from(reader.u16()?) != columns {
                return Err(WireError::Protocol("a row has other columns than its description".to_owned()));
            }
            for column in 0..columns {
                let Ok(length) = u32::try_from(reader.i32()?) else { continue };
                let offset = *end - reader.rest().len();
                reader.bytes(length as usize)?;
                if let Some(place) = places.get_mut(column * count + row) {
                    *place = Place { offset, length };
                }
            }
            start = *end;
        }
        Ok(places)
    }
}

/// What the session's settings say about the server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Dates are written as ISO 8601 has them.
    pub iso_dates: bool,
    /// Floats are written with the shortest digits that name them (PostgreSQL 12 and later).
    pub shortest_floats: bool,
}

#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    length: u32,
}

impl Place {
    const NULL: Self = Self { offset: usize::MAX, length: 0 };

    fn is_null(self) -> bool {
        self.offset == usize::MAX
    }
}

/// The values of one column.
struct Values<'a> {
    raw: &'a [u8],
    cells: &'a [Place],
}

impl<'a> Values<'a> {
    /// `None` for NULL.
    fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> + '_ {
        self.cells.iter().map(|cell| match cell.is_null() {
            true => None,
            false => Some(self.raw.get(cell.offset..cell.offset + cell.length as usize).unwrap_or_default()),
        })
    }

    fn decode(&self, kind: Kind, reading: Reading) -> Result<ArrayRef, WireError> {
        let typed = match kind {
            Kind::Boolean => self.booleans(),
            Kind::Int16 => self.primitives::<Int16Type>(values::integer),
            Kind::Int32 => self.primitives::<Int32Type>(values::integer),
            Kind::Int64 => self.primitives::<Int64Type>(values::integer),
            Kind::Oid => self.primitives::<UInt32Type>(values::integer),
            Kind::Float32 if reading.shortest_floats => self.primitives::<Float32Type>(values::float4),
            Kind::Float64 if reading.shortest_floats => self.primitives::<Float64Type>(values::float8),
            Kind::Decimal { precision, scale } => self.decimals(precision, scale),
            Kind::Date if reading.iso_dates => self.primitives::<Date32Type>(values::date),
            Kind::Bytes => self.bytes(),
            Kind::Float32 | Kind::Float64 | Kind::Date | Kind::Text => None,
        };
        typed.map_or_else(|| self.text(), Ok)
    }

    fn nulls(&self) -> Option<NullBuffer> {
        let mut nulls = NullBufferBuilder::new(self.cells.len());
        for cell in self.cells {
            nulls.append(!cell.is_null());
        }
        nulls.finish()
    }

    fn primitives<T: ArrowPrimitiveType>(&self, parse: impl Fn(&[u8]) -> Option<T::Native>) -> Option<ArrayRef> {
        self.primitive_array::<T>(parse).map(|array| Arc::new(array) as ArrayRef)
    }

    fn primitive_array<T: ArrowPrimitiveType>(&self, parse: impl Fn(&[u8]) -> Option<T::Native>) -> Option<PrimitiveArray<T>> {
        let mut out: Vec<T::Native> = Vec::with_capacity(self.cells.len());
        for value in self.iter() {
            out.push(match value {
                Some(text) => parse(text)?,
                None => T::Native::default(),
            });
        }
        PrimitiveArray::<T>::try_new(ScalarBuffer::from(out), self.nulls()).ok()
    }

    fn decimals(&self, precision: u8, scale: i8) -> Option<ArrayRef> {
        let digits = usize::try_from(scale).ok()?;
        let array = self.primitive_array::<Decimal128Type>(|text| values::decimal(text, digits))?;
        let array = array.with_precision_and_scale(precision, scale).ok()?;
        array.validate_decimal_precision(precision).ok()?;
        Some(Arc::new(array))
    }

    fn booleans(&self) -> Option<ArrayRef> {
        let mut out = BooleanBuilder::with_capacity(self.cells.len());
        for value in self.iter() {
            match value {
                None => out.append_null(),
                Some(b"t") => out.append_value(true),
                Some(b"f") => out.append_value(false),
                Some(_) => return None,
            }
        }
        Some(Arc::new(out.finish()))
    }

    fn bytes(&self) -> Option<ArrayRef> {
        let mut out = BinaryBuilder::with_capacity(self.cells.len(), self.byte_len() / 2);
        for value in self.iter() {
            match value {
                None => out.append_null(),
                Some(text) => out.append_value(values::bytea(text)?),
            }
        }
        Some(Arc::new(out.finish()))
    }

    fn byte_len(&self) -> usize {
        self.cells.iter().map(|cell| cell.length as usize).sum()
    }

    /// The server's text as it came; see [`readable`] for what is not UTF-8 in it.
    fn text(&self) -> Result<ArrayRef, WireError> {
        if i32::try_from(self.byte_len()).is_err() {
            return Err(WireError::TooLong(self.byte_len()));
        }
        let mut out: Vec<u8> = Vec::with_capacity(self.byte_len());
        for value in self.iter() {
            out.extend_from_slice(value.unwrap_or_default());
        }
        let offsets = OffsetBuffer::from_lengths(self.cells.iter().map(|cell| cell.length as usize));
        let nulls = self.nulls();
        let bytes = BinaryArray::try_new(offsets, out.into(), nulls).map_err(|error| WireError::Protocol(error.to_string()))?;
        Ok(match StringArray::try_from_binary(bytes.clone()) {
            Ok(text) => Arc::new(text),
            Err(_) => Arc::new(bytes.iter().map(|value| value.map(readable)).collect::<StringArray>()),
        })
    }
}

/// With the schema of the layout, or one that tells the physical types this batch has.
fn assemble(arrays: Vec<ArrayRef>, count: usize, layout: &Layout) -> Result<RecordBatch, WireError> {
    let fits = |(array, field): (&ArrayRef, &Arc<Field>)| array.data_type() == field.data_type();
    let schema = if arrays.iter().zip(layout.schema.fields()).all(fits) {
        Arc::clone(&layout.schema)
    } else {
        let fields = layout.schema.fields().iter().zip(&arrays).map(|(field, array)| refit(field, array.as_ref()));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    };
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(|error| WireError::Protocol(error.to_string()))
}

fn refit(field: &Field, array: &dyn Array) -> Field {
    let mut metadata = field.metadata().clone();
    if field.data_type() != array.data_type() {
        metadata.remove(EXTENSION_KEY);
    }
    Field::new(field.name(), array.data_type().clone(), true).with_metadata(metadata)
}

#[cfg(test)]
mod tests;
