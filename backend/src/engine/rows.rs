//! Rows of the protocols that send text: kept raw as they came, then turned into Arrow column by column.
//!
//! Invariant: no value is lost, rounded or changed. This knows where values lie, not what a server's text means: each engine brings its
//! own reading of one value, and where that has no answer (`None`) the column stays text. Start at [`Rows`] and [`Values`].

use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BinaryArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use std::sync::Arc;

/// Field metadata of Arrow's extension types.
pub const EXTENSION_KEY: &str = "ARROW:extension:name";

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

    /// The columns as a batch: with the schema, or with one that tells the physical types it came to.
    pub fn assemble(&self, arrays: Vec<ArrayRef>, schema: &SchemaRef) -> Result<RecordBatch, RowsError> {
        let fits = |(array, field): (&ArrayRef, &Arc<Field>)| array.data_type() == field.data_type();
        let schema = if arrays.iter().zip(schema.fields()).all(fits) {
            Arc::clone(schema)
        } else {
            let fields = schema.fields().iter().zip(&arrays).map(|(field, array)| refit(field, array.as_ref()));
            Arc::new(Schema::new(fields.collect::<Vec<_>>()))
        };
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

fn refit(field: &Field, array: &dyn Array) -> Field {
    let mut metadata = field.metadata().clone();
    if field.data_type() != array.data_type() {
        metadata.remove(EXTENSION_KEY);
    }
    Field::new(field.name(), array.data_type().clone(), true).with_metadata(metadata)
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
    pub fn primitives<T: ArrowPrimitiveType>(&self, parse: impl Fn(&[u8]) -> Option<T::Native>) -> Option<ArrayRef> {
        self.primitive_array::<T>(parse).map(|array| Arc::new(array) as ArrayRef)
    }

    fn primitive_array<T: ArrowPrimitiveType>(&self, parse: impl Fn(&[u8]) -> Option<T::Native>) -> Option<PrimitiveArray<T>> {
        let mut out: Vec<T::Native> = Vec::with_capacity(self.places.len());
        for value in self.iter() {
            out.push(match value {
                Some(text) => parse(text)?,
                None => T::Native::default(),
            });
        }
        PrimitiveArray::<T>::try_new(ScalarBuffer::from(out), self.nulls()).ok()
    }

    /// All of them as decimals of that form, or `None` where one is not.
    pub fn decimals(&self, precision: u8, scale: i8) -> Option<ArrayRef> {
        let digits = usize::try_from(scale).ok()?;
        let array = self.primitive_array::<Decimal128Type>(|text| decimal(text, digits))?;
        let array = array.with_precision_and_scale(precision, scale).ok()?;
        array.validate_decimal_precision(precision).ok()?;
        Some(Arc::new(array))
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

/// A decimal with exactly `scale` digits behind the point, without the point; `None` for any other way of writing it.
pub fn decimal(text: &[u8], scale: usize) -> Option<i128> {
    let (negative, number) = match text {
        [b'-', number @ ..] => (true, number),
        number => (false, number),
    };
    let (whole, fraction) = match scale {
        0 => (number, [].as_slice()),
        scale => {
            let (whole, rest) = number.split_at_checked(number.len().checked_sub(scale + 1)?)?;
            (whole, rest.strip_prefix(b".")?)
        }
    };
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with(b"0")) {
        return None;
    }
    let mut value = 0_i128;
    for byte in whole.iter().chain(fraction) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i128::from(digit))?;
    }
    // There is no minus zero in a decimal.
    (!negative || value != 0).then_some(if negative { -value } else { value })
}

/// Days since 1970-01-01. Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
pub fn days_from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(decimal(b"2.50", 2), Some(250));
        assert_eq!(decimal(b"-0.01", 2), Some(-1));
        assert_eq!(decimal(b"99999999999999999999999999999999999999", 0), Some(10_i128.pow(38) - 1));
        for text in [b"2.5".as_slice(), b"2,50", b".50", b"-0.00", b"02.50", b"", b"x.yz"] {
            assert_eq!(decimal(text, 2), None, "{text:?}");
        }
    }

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
