//! Rows of the protocols that send text: kept raw as they came, then turned into Arrow column by column.
//!
//! Invariant: no value is lost, rounded or changed. This knows where values lie, not what a server's text means: each engine brings its
//! own reading of one value, and where that has no answer (`None`) the column stays text. Start at [`Rows`] and [`Values`].

mod calendar;
mod decimal;
mod uuid;

pub use calendar::{DAY_MICROS, clock, day, micros, two};

use arrow_array::{ArrayRef, ArrowPrimitiveType, BinaryArray, FixedSizeBinaryArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use shared::page::EXTENSION_KEY;
use std::sync::Arc;

/// Why rows could not become a batch.
#[derive(Debug)]
pub enum RowsError {
    /// One column of a batch has more bytes than Arrow counts.
    TooLong(usize),
    /// Columns that do not fit each other.
    Shape(String),
}

impl From<ArrowError> for RowsError {
    fn from(error: ArrowError) -> Self {
        Self::Shape(error.to_string())
    }
}

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

    /// Bytes of all of them.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// One row more.
    pub fn push(&mut self, body: &[u8]) {
        self.bytes.extend_from_slice(body);
        self.ends.push(self.bytes.len());
    }

    /// One row more, written by `write`; nothing is kept of one that it could not write.
    pub fn push_with<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let start = self.bytes.len();
        match write(&mut self.bytes) {
            Ok(()) => self.ends.push(self.bytes.len()),
            Err(error) => {
                self.bytes.truncate(start);
                return Err(error);
            }
        }
        Ok(())
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

    /// Where the values of the first `count` rows lie. `read` names them row by row, each once.
    pub fn cells<E>(&self, count: usize, columns: usize, read: impl Fn(&[u8], &mut Slots<'_>) -> Result<(), E>) -> Result<Cells<'_>, E> {
        let count = count.min(self.len());
        let mut places = vec![Place::NULL; count * columns];
        let mut start = 0;
        for (row, end) in self.ends.iter().take(count).enumerate() {
            let mut slots = Slots { places: &mut places, at: row, step: count, start };
            read(self.bytes.get(start..*end).unwrap_or_default(), &mut slots)?;
            start = *end;
        }
        Ok(Cells { raw: &self.bytes, places, count })
    }
}

/// Takes the places of one row's values, from the first column to the last.
#[derive(Debug)]
pub struct Slots<'a> {
    places: &'a mut [Place],
    at: usize,
    step: usize,
    start: usize,
}

impl Slots<'_> {
    /// The next column's value, by its place in the row.
    pub fn value(&mut self, offset: usize, length: usize) {
        if let Some(place) = self.places.get_mut(self.at) {
            *place = Place { offset: self.start + offset, length };
        }
        self.at += self.step;
    }

    /// The next column is NULL.
    pub fn null(&mut self) {
        self.at += self.step;
    }
}

#[derive(Clone, Copy, Debug)]
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

/// Values of some rows, found.
#[derive(Debug)]
pub struct Cells<'a> {
    raw: &'a [u8],
    places: Vec<Place>,
    count: usize,
}

impl Cells<'_> {
    /// The values of a column.
    pub fn column(&self, at: usize) -> Values<'_> {
        Values { raw: self.raw, places: self.places.get(at * self.count..(at + 1) * self.count).unwrap_or_default() }
    }

    /// The columns as a batch: with the schema, or with one that tells the physical types it came to and what is noted of them.
    pub fn assemble(&self, columns: Vec<Decoded>, schema: &SchemaRef) -> Result<RecordBatch, RowsError> {
        let fits = |(column, field): (&Decoded, &Arc<Field>)| column.noted.is_none() && column.array.data_type() == field.data_type();
        let schema = if columns.iter().zip(schema.fields()).all(fits) {
            Arc::clone(schema)
        } else {
            let fields = schema.fields().iter().zip(&columns).map(|(field, column)| refit(field, column));
            Arc::new(Schema::new(fields.collect::<Vec<_>>()))
        };
        let arrays = columns.into_iter().map(|column| column.array).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

/// A column's values in their physical form.
#[derive(Debug)]
pub struct Decoded {
    /// The values.
    pub array: ArrayRef,
    /// What the field tells of this batch only: a key of its metadata and the text.
    pub noted: Option<(&'static str, String)>,
}

impl From<ArrayRef> for Decoded {
    fn from(array: ArrayRef) -> Self {
        Self { array, noted: None }
    }
}

fn refit(field: &Field, column: &Decoded) -> Field {
    let mut metadata = field.metadata().clone();
    if field.data_type() != column.array.data_type() {
        metadata.remove(EXTENSION_KEY);
    }
    if let Some((key, text)) = &column.noted {
        metadata.insert((*key).to_owned(), text.clone());
    }
    Field::new(field.name(), column.array.data_type().clone(), true).with_metadata(metadata)
}

/// The values of one column.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    raw: &'a [u8],
    places: &'a [Place],
}

impl<'a> Values<'a> {
    /// How many, NULL among them.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of all of them.
    pub fn byte_len(&self) -> usize {
        self.places.iter().map(|place| place.length).sum()
    }

    /// `None` for NULL.
    pub fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let raw = self.raw;
        self.places.iter().map(move |place| match place.is_null() {
            true => None,
            false => Some(raw.get(place.offset..place.offset + place.length).unwrap_or_default()),
        })
    }

    fn nulls(&self) -> Option<NullBuffer> {
        let mut nulls = NullBufferBuilder::new(self.places.len());
        for place in self.places {
            nulls.append(!place.is_null());
        }
        nulls.finish()
    }

    /// All of them by `parse`, or `None` where it has no answer for one.
    pub fn primitives<T: ArrowPrimitiveType>(&self, parse: impl FnMut(&[u8]) -> Option<T::Native>) -> Option<ArrayRef> {
        self.primitive_array::<T>(parse).map(|array| Arc::new(array) as ArrayRef)
    }

    /// The same, as an array of that type.
    pub fn primitive_array<T: ArrowPrimitiveType>(&self, mut parse: impl FnMut(&[u8]) -> Option<T::Native>) -> Option<PrimitiveArray<T>> {
        let mut out: Vec<T::Native> = Vec::with_capacity(self.places.len());
        for value in self.iter() {
            out.push(match value {
                Some(text) => parse(text)?,
                None => T::Native::default(),
            });
        }
        PrimitiveArray::<T>::try_new(ScalarBuffer::from(out), self.nulls()).ok()
    }

    /// All of them as they came, where each has so many bytes.
    pub fn fixed_bytes(&self, width: u8) -> Option<ArrayRef> {
        let length = usize::from(width);
        if length == 0 {
            return None;
        }
        let mut out: Vec<u8> = Vec::with_capacity(length * self.places.len());
        for value in self.iter() {
            match value {
                None => out.resize(out.len() + length, 0),
                Some(bytes) if bytes.len() == length => out.extend_from_slice(bytes),
                Some(_) => return None,
            }
        }
        Some(Arc::new(FixedSizeBinaryArray::try_new(width.into(), out.into(), self.nulls()).ok()?))
    }

    /// All of them as they came.
    pub fn bytes(&self) -> Result<BinaryArray, RowsError> {
        let length = self.byte_len();
        if i32::try_from(length).is_err() {
            return Err(RowsError::TooLong(length));
        }
        let mut out: Vec<u8> = Vec::with_capacity(length);
        for value in self.iter() {
            out.extend_from_slice(value.unwrap_or_default());
        }
        let offsets = OffsetBuffer::from_lengths(self.places.iter().map(|place| place.length));
        Ok(BinaryArray::try_new(offsets, out.into(), self.nulls())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_from_the_front_and_one_that_fails_leaves_nothing() {
        let mut rows = Rows::default();
        for row in [b"ab".as_slice(), b"", b"cde"] {
            rows.push(row);
        }
        assert_eq!((rows.reaching(1), rows.reaching(3), rows.reaching(6)), (Some(1), Some(3), None));
        let failed = rows.push_with(|out| {
            out.extend_from_slice(b"half");
            Err(())
        });
        assert_eq!((failed, rows.len(), rows.byte_len()), (Err(()), 3, 5));
        rows.discard(2);
        let whole = |body: &[u8], slots: &mut Slots<'_>| -> Result<(), ()> {
            slots.value(1, body.len() - 1);
            slots.null();
            Ok(())
        };
        let cells = rows.cells(9, 2, whole).unwrap();
        assert_eq!(cells.column(0).iter().collect::<Vec<_>>(), [Some(b"de".as_slice())]);
        assert_eq!(cells.column(1).iter().collect::<Vec<_>>(), [None]);
        assert_eq!(cells.column(2).len(), 0);
    }
}
