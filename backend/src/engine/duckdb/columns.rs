//! From DuckDB's batches to pages.
//!
//! Invariant: no value is changed. Scalars keep their Arrow type, or get the one that DuckDB has none for (HUGEINT); what Arrow has no
//! scalar for (BIT, TIMETZ, ENUM, nested types) travels as the text that DuckDB itself would print, under DuckDB's own name of the type.
//! So does, for a page, a column with a value that its Arrow type can't give back (an INTERVAL that was handed over wrapped).

mod moments;

use super::rows_file::OwnNames;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal256Type, Int8Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::i256;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, IntervalUnit, Schema, SchemaRef};
use shared::format::duckdb::{self, Opaque};
use shared::page::{ENGINE_KEY, EXTENSION_KEY, OFFSETS_KEY, ORIGIN_KEY, TYPE_KEY, UUID_EXTENSION};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Digits of the largest UHUGEINT, and so of any HUGEINT.
const HUGE_DIGITS: u8 = 39;

/// How a column travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As it is.
    Kept,
    /// As it is, under the name of an extension type.
    Named(&'static str),
    /// A byte that means a truth value.
    Truth,
    /// 16 bytes that are a number.
    Huge(Opaque),
    /// As it is, or as text where it came wrapped.
    Interval,
    /// As instants with the offsets of the session's clock, or as text.
    Instant,
    /// As instants of a clock that is UTC's by another name.
    Utc,
    /// As text.
    Text,
}

struct Column {
    from: FieldRef,
    to: Field,
    way: Way,
}

/// The columns of a result.
pub struct Columns {
    columns: Vec<Column>,
    schema: SchemaRef,
    zoned: bool,
}

/// Texts of instants, by their microseconds.
pub type Instants = BTreeMap<i64, String>;

impl Columns {
    /// Those of DuckDB's schema.
    pub fn of(schema: &Schema) -> Self {
        let columns: Vec<Column> = schema.fields().iter().map(Column::of).collect();
        let schema = schema_of(&columns);
        let zoned = columns.iter().any(|column| column.way.is_zoned());
        Self { columns, schema, zoned }
    }

    /// With the names that the file itself has, where DuckDB's are others.
    pub fn called(mut self, names: Option<OwnNames>) -> Self {
        let Some(names) = names.filter(|names| names.own.len() == self.columns.len()) else { return self };
        for (column, (own, origin)) in self.columns.iter_mut().zip(names.own.into_iter().zip(names.origins)) {
            let mut metadata = column.to.metadata().clone();
            metadata.insert(ORIGIN_KEY.to_owned(), origin);
            column.to = column.to.clone().with_name(own).with_metadata(metadata);
        }
        self.schema = schema_of(&self.columns);
        self
    }

    /// The schema of a page that fits them.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The instants whose text must be asked for.
    pub fn instants(&self, batch: &RecordBatch) -> BTreeSet<i64> {
        let mut found = BTreeSet::new();
        if self.zoned {
            for (column, array) in self.columns.iter().zip(batch.columns()) {
                if column.way.is_zoned() {
                    duckdb::instants(array.as_ref(), &mut found);
                }
            }
        }
        found.retain(|micros| !duckdb::is_infinite(*micros));
        found
    }

    /// A batch of a page.
    pub fn convert(&self, batch: &RecordBatch, instants: &Instants) -> Result<RecordBatch, ArrowError> {
        let pairs = self.columns.iter().zip(batch.columns()).map(|(column, array)| column.convert(array, instants));
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = pairs.unzip();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
    }
}

fn schema_of(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(|column| column.to.clone()).collect::<Vec<_>>()))
}

impl Way {
    fn of(field: &Field) -> Self {
        match (field.data_type(), duckdb::opaque(field)) {
            (DataType::Int8, Some(Opaque::Truth)) => Self::Truth,
            (DataType::FixedSizeBinary(16), Some(Opaque::Uuid)) => Self::Named(UUID_EXTENSION),
            (DataType::FixedSizeBinary(16), Some(kind @ (Opaque::Huge | Opaque::UnsignedHuge))) => Self::Huge(kind),
            (DataType::Utf8, Some(Opaque::Json)) => Self::Named("arrow.json"),
            (_, Some(_)) => Self::Text,
            (kind, None) if duckdb::is_nested(kind) => Self::Text,
            (DataType::Interval(IntervalUnit::MonthDayNano), None) => Self::Interval,
            (DataType::Timestamp(_, Some(zone)), None) if !is_utc(zone) => Self::Instant,
            (DataType::Timestamp(_, Some(_)), None) => Self::Utc,
            _ => Self::Kept,
        }
    }

    fn data_type(self, from: &DataType) -> DataType {
        match self {
            Self::Kept | Self::Named(_) | Self::Interval => from.clone(),
            Self::Truth => DataType::Boolean,
            Self::Huge(_) => DataType::Decimal256(HUGE_DIGITS, 0),
            Self::Instant | Self::Utc => moments::data_type(),
            Self::Text => DataType::Utf8,
        }
    }

    fn is_zoned(self) -> bool {
        matches!(self, Self::Text | Self::Instant)
    }
}

impl Column {
    fn of(from: &FieldRef) -> Self {
        let way = Way::of(from);
        let mut metadata = HashMap::from([(TYPE_KEY.to_owned(), duckdb::type_name(from)), (ENGINE_KEY.to_owned(), "duckdb".to_owned())]);
        if let Way::Named(name) = way {
            metadata.insert(EXTENSION_KEY.to_owned(), name.to_owned());
        }
        Self { from: Arc::clone(from), to: Field::new(from.name(), way.data_type(from.data_type()), true).with_metadata(metadata), way }
    }

    /// Its field and values in a page.
    fn convert(&self, array: &ArrayRef, instants: &Instants) -> (Field, ArrayRef) {
        let typed = match self.way {
            Way::Kept | Way::Named(_) => Some(Arc::clone(array)),
            Way::Truth => truths(array),
            Way::Huge(kind) => huge(array, kind),
            Way::Interval => moments::are_whole(array).then(|| Arc::clone(array)),
            Way::Instant => {
                if let Some((array, offsets)) = moments::instants(array, instants) {
                    return (noted(&self.to, offsets), array);
                }
                None
            }
            Way::Utc => moments::of_utc(array),
            Way::Text => None,
        };
        match typed {
            Some(typed) => (self.to.clone(), typed),
            None => (self.to.clone().with_data_type(DataType::Utf8), self.texts(array, instants)),
        }
    }

    fn texts(&self, array: &ArrayRef, instants: &Instants) -> ArrayRef {
        let mut texts = StringBuilder::new();
        for row in 0..array.len() {
            texts.append_option(duckdb::text(array.as_ref(), &self.from, row, &|micros| instants.get(&micros).cloned()));
        }
        Arc::new(texts.finish())
    }
}

fn noted(field: &Field, offsets: Option<String>) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.extend(offsets.map(|offsets| (OFFSETS_KEY.to_owned(), offsets)));
    field.clone().with_metadata(metadata)
}

fn truths(array: &ArrayRef) -> Option<ArrayRef> {
    let bytes = array.as_primitive_opt::<Int8Type>()?;
    let mut truths = BooleanBuilder::with_capacity(bytes.len());
    bytes.iter().for_each(|byte| truths.append_option(byte.map(|byte| byte != 0)));
    Some(Arc::new(truths.finish()))
}

fn huge(array: &ArrayRef, kind: Opaque) -> Option<ArrayRef> {
    let number = |bytes: &[u8]| {
        let bytes: [u8; 16] = bytes.try_into().ok()?;
        Some(match kind {
            Opaque::UnsignedHuge => i256::from_parts(u128::from_le_bytes(bytes), 0),
            _ => i256::from_i128(i128::from_le_bytes(bytes)),
        })
    };
    let bytes = array.as_fixed_size_binary_opt()?;
    let numbers: PrimitiveArray<Decimal256Type> = bytes.iter().map(|bytes| bytes.and_then(number)).collect();
    Some(Arc::new(numbers.with_precision_and_scale(HUGE_DIGITS, 0).ok()?))
}

/// Names of UTC's own zone.
fn is_utc(zone: &str) -> bool {
    ["UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal", "GMT", "Etc/GMT"].contains(&zone)
}
