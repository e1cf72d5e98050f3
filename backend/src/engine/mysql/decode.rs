//! Rows of a result: kept raw as they came, then turned into Arrow column by column.
//!
//! Invariant: no value is ever lost, rounded or refused. A column that holds one value its physical type can't show exactly (a zero
//! date, 838 hours) is sent as the server's text for that batch; text that is not UTF-8 as its bytes.

mod values;

use super::types::{EXTENSION_KEY, Kind, Layout};
use super::wire::{Reader, WireError};
use arrow_array::builder::StringBuilder;
use arrow_array::types as at;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BinaryArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use std::sync::Arc;

/// Row messages in their order: pushed behind and taken from the front.
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
    pub fn batch(&self, count: usize, layout: &Layout) -> Result<RecordBatch, WireError> {
        let count = count.min(self.len());
        let cells = self.places(count, layout.kinds.len())?;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(layout.kinds.len());
        for (at, kind) in layout.kinds.iter().enumerate() {
            let cells = cells.get(at * count..(at + 1) * count).unwrap_or_default();
            arrays.push(Values { raw: &self.bytes, cells }.decode(*kind)?);
        }
        assemble(arrays, count, layout)
    }

    /// Where each value lies, column by column.
    fn places(&self, count: usize, columns: usize) -> Result<Vec<Place>, WireError> {
        let mut places = vec![Place::NULL; count * columns];
        let mut start = 0;
        for (row, end) in self.ends.iter().take(count).enumerate() {
            let mut reader = Reader::new(self.bytes.get(start..*end).unwrap_or_default());
            for column in 0..columns {
                let Some(value) = reader.value()? else { continue };
                let offset = *end - reader.rest().len() - value.len();
                if let Some(place) = places.get_mut(column * count + row) {
                    *place = Place { offset, length: value.len() };
                }
            }
            if !reader.rest().is_empty() {
                return Err(WireError::Protocol("a row has other columns than its description".to_owned()));
            }
            start = *end;
        }
        Ok(places)
    }
}

#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    length: usize,
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
            false => Some(self.raw.get(cell.offset..cell.offset + cell.length).unwrap_or_default()),
        })
    }

    fn decode(&self, kind: Kind) -> Result<ArrayRef, WireError> {
        let typed = match kind {
            Kind::Signed(8) => self.primitives::<at::Int8Type>(values::signed),
            Kind::Signed(16) => self.primitives::<at::Int16Type>(values::signed),
            Kind::Signed(32) => self.primitives::<at::Int32Type>(values::signed),
            Kind::Signed(_) => self.primitives::<at::Int64Type>(values::signed),
            Kind::Unsigned(8) => self.primitives::<at::UInt8Type>(values::unsigned),
            Kind::Unsigned(16) => self.primitives::<at::UInt16Type>(values::unsigned),
            Kind::Unsigned(32) => self.primitives::<at::UInt32Type>(values::unsigned),
            Kind::Unsigned(_) => self.primitives::<at::UInt64Type>(values::unsigned),
            Kind::Float32 => self.primitives::<at::Float32Type>(values::float),
            Kind::Float64 => self.primitives::<at::Float64Type>(values::double),
            Kind::Decimal { precision, scale } => self.decimals(precision, scale),
            Kind::Date => self.primitives::<at::Date32Type>(values::date),
            Kind::Time => self.primitives::<at::Time64MicrosecondType>(values::time),
            Kind::DateTime => self.primitives::<at::TimestampMicrosecondType>(values::date_time),
            Kind::Bits => return Ok(self.bits()),
            Kind::Bytes => return self.bytes().map(|bytes| Arc::new(bytes) as ArrayRef),
            Kind::Text => None,
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
        let array = self.primitive_array::<at::Decimal128Type>(|text| values::decimal(text, digits))?;
        let array = array.with_precision_and_scale(precision, scale).ok()?;
        array.validate_decimal_precision(precision).ok()?;
        Some(Arc::new(array))
    }

    fn bits(&self) -> ArrayRef {
        let mut out = StringBuilder::with_capacity(self.cells.len(), self.cells.len() * 8);
        for value in self.iter() {
            match value {
                None => out.append_null(),
                Some(bytes) => out.append_value(values::bits(bytes)),
            }
        }
        Arc::new(out.finish())
    }

    fn bytes(&self) -> Result<BinaryArray, WireError> {
        let length = self.cells.iter().map(|cell| cell.length).sum();
        if i32::try_from(length).is_err() {
            return Err(WireError::TooLong(length));
        }
        let mut out: Vec<u8> = Vec::with_capacity(length);
        for value in self.iter() {
            out.extend_from_slice(value.unwrap_or_default());
        }
        let offsets = OffsetBuffer::from_lengths(self.cells.iter().map(|cell| cell.length));
        BinaryArray::try_new(offsets, out.into(), self.nulls()).map_err(|error| WireError::Protocol(error.to_string()))
    }

    /// The server's text as it came, or its bytes where they are not UTF-8.
    fn text(&self) -> Result<ArrayRef, WireError> {
        let bytes = self.bytes()?;
        Ok(match StringArray::try_from_binary(bytes.clone()) {
            Ok(text) => Arc::new(text),
            Err(_) => Arc::new(bytes),
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
