//! Batches in types that DuckDB takes: without dictionaries, since DuckDB 1.5 frees a dictionary before it has read all that points into it,
//! and crashes; decimals of more than 38 digits, which it has not, as their text, and half floats, which it has not either, as whole ones.
//!
//! Invariant: values are the same, each where its key was; whatever has nothing of that in it is passed on as it is.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal256Type, Float16Type, Float32Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::take::take;
use shared::format::format_cell;
use std::sync::Arc;

/// The schema in those types.
pub fn schema(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(fields(schema.fields())))
}

/// The batch in that schema.
pub fn batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let arrays = batch.columns().iter().map(|column| array(column)).collect::<Result<_, _>>()?;
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &RecordBatchOptions::new().with_row_count(Some(batch.num_rows())))
}

/// Whether it is another type, or one within is.
pub fn is_other(kind: &DataType) -> bool {
    plain(kind) != *kind
}

fn fields(from: &Fields) -> Fields {
    from.iter().map(field).collect()
}

fn field(from: &FieldRef) -> FieldRef {
    Arc::new(Field::new(from.name(), plain(from.data_type()), from.is_nullable()).with_metadata(from.metadata().clone()))
}

fn plain(kind: &DataType) -> DataType {
    match kind {
        DataType::Dictionary(_, values) => plain(values),
        DataType::Decimal256(_, _) => DataType::Utf8,
        DataType::Float16 => DataType::Float32,
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(field(item), *length),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        DataType::Struct(parts) => DataType::Struct(fields(parts)),
        other => other.clone(),
    }
}

fn array(from: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if !is_other(from.data_type()) {
        return Ok(Arc::clone(from));
    }
    if let Some(dictionary) = from.as_any_dictionary_opt() {
        return array(&take(dictionary.values(), dictionary.keys(), None)?);
    }
    if from.as_primitive_opt::<Decimal256Type>().is_some() {
        let field = Field::new("", from.data_type().clone(), true);
        return Ok(Arc::new((0..from.len()).map(|row| format_cell(from.as_ref(), &field, row).text()).collect::<StringArray>()));
    }
    if let Some(halves) = from.as_primitive_opt::<Float16Type>() {
        return Ok(Arc::new(halves.unary::<_, Float32Type>(f32::from)));
    }
    let data = from.to_data();
    let children =
        data.child_data().iter().map(|child| Ok(array(&make_array(child.clone()))?.to_data())).collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(make_array(data.clone().into_builder().data_type(plain(data.data_type())).child_data(children).build()?))
}
