//! From DuckDB's batches to pages.
//!
//! Invariant: no value is changed. Scalars keep their Arrow type; what Arrow has no scalar for (HUGEINT, UUID, BIT, INTERVAL, ENUM,
//! nested types) travels as the text that DuckDB itself would print, under DuckDB's own name of the type.

use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, IntervalUnit, Schema, SchemaRef};
use shared::format::duckdb;
use shared::page::{ENGINE_KEY, TYPE_KEY};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// How a column travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As it is.
    Kept,
    /// A byte that means a truth value.
    Truth,
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
        let schema = Arc::new(Schema::new(columns.iter().map(|column| column.to.clone()).collect::<Vec<_>>()));
        let zoned = columns.iter().any(|column| column.way == Way::Text);
        Self { columns, schema, zoned }
    }

    /// The pages' schema.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The instants whose text must be asked for.
    pub fn instants(&self, batch: &RecordBatch) -> BTreeSet<i64> {
        let mut found = BTreeSet::new();
        if self.zoned {
            for (column, array) in self.columns.iter().zip(batch.columns()) {
                if column.way == Way::Text {
                    duckdb::instants(array.as_ref(), &mut found);
                }
            }
        }
        found.retain(|micros| micros.unsigned_abs() != i64::MAX.unsigned_abs());
        found
    }

    /// A batch of a page.
    pub fn convert(&self, batch: &RecordBatch, instants: &Instants) -> Result<RecordBatch, ArrowError> {
        let arrays = self.columns.iter().zip(batch.columns()).map(|(column, array)| column.convert(array, instants)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema(), arrays, &options)
    }
}

impl Column {
    fn of(from: &FieldRef) -> Self {
        let way = way(from);
        let kind = match way {
            Way::Kept => from.data_type().clone(),
            Way::Truth => DataType::Boolean,
            Way::Text => DataType::Utf8,
        };
        let metadata = HashMap::from([(TYPE_KEY.to_owned(), duckdb::type_name(from)), (ENGINE_KEY.to_owned(), "duckdb".to_owned())]);
        Self { from: Arc::clone(from), to: Field::new(from.name(), kind, true).with_metadata(metadata), way }
    }

    fn convert(&self, array: &ArrayRef, instants: &Instants) -> ArrayRef {
        match self.way {
            Way::Kept => Arc::clone(array),
            Way::Truth => match array.as_primitive_opt::<Int8Type>() {
                Some(bytes) => {
                    let mut truths = BooleanBuilder::with_capacity(bytes.len());
                    bytes.iter().for_each(|byte| truths.append_option(byte.map(|byte| byte != 0)));
                    Arc::new(truths.finish())
                }
                None => Arc::clone(array),
            },
            Way::Text => {
                let mut texts = StringBuilder::new();
                for row in 0..array.len() {
                    texts.append_option(duckdb::text(array.as_ref(), &self.from, row, &|micros| instants.get(&micros).cloned()));
                }
                Arc::new(texts.finish())
            }
        }
    }
}

fn way(field: &Field) -> Way {
    match field.data_type() {
        DataType::Int8 if field.metadata().get(shared::page::EXTENSION_KEY).is_some_and(|name| name == "arrow.bool8") => Way::Truth,
        kind if duckdb::is_nested(kind) || duckdb::is_opaque(field) => Way::Text,
        DataType::Interval(IntervalUnit::MonthDayNano) => Way::Text,
        DataType::Timestamp(_, Some(zone)) if !is_utc(zone) => Way::Text,
        _ => Way::Kept,
    }
}

/// Names of UTC's own zone.
fn is_utc(zone: &str) -> bool {
    ["UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal", "GMT", "Etc/GMT"].contains(&zone)
}
