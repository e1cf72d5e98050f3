//! One batch of several, whose columns may differ in their physical type.
//!
//! Invariant: no value is changed; where two physical types meet, the column takes one that holds both exactly: a dense union of
//! SQLite's classes, else the text of each value.

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array, UnionArray, new_null_array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, UnionFields, UnionMode};
use arrow_select::concat::concat;
use arrow_select::take::take;
use shared::format::format_cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All rows of `pieces`, in order.
pub(super) fn join(pieces: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
    let (Some(first), rest) = (pieces.first(), pieces.get(1..).unwrap_or_default()) else {
        return Err(ArrowError::InvalidArgumentError("no rows were fetched".to_owned()));
    };
    if rest.is_empty() {
        return Ok(first.clone());
    }
    let rows = pieces.iter().map(RecordBatch::num_rows).sum();
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for (at, field) in first.schema().fields().iter().enumerate() {
        let arrays: Option<Vec<&ArrayRef>> = pieces.iter().map(|piece| piece.columns().get(at)).collect();
        let arrays = arrays.ok_or_else(|| ArrowError::SchemaError("the columns changed between two fetches".to_owned()))?;
        let column = join_column(field, &arrays)?;
        let same = field.data_type() == column.data_type() && (field.is_nullable() || column.logical_null_count() == 0);
        fields.push(if same {
            field.clone()
        } else {
            let changed = Field::new(field.name(), column.data_type().clone(), true);
            Arc::new(changed.with_metadata(field.metadata().clone()))
        });
        columns.push(column);
    }
    let schema = Schema::new_with_metadata(fields, first.schema().metadata().clone());
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &RecordBatchOptions::new().with_row_count(Some(rows)))
}

/// `count` rows from `from` on, without the memory of the others.
pub(super) fn rows(batch: &RecordBatch, from: usize, count: usize) -> Result<RecordBatch, ArrowError> {
    let slice = batch.slice(from, count);
    if !slice.columns().iter().any(|column| matches!(column.data_type(), DataType::Union(_, _))) {
        return Ok(slice);
    }
    // A slice of a union keeps all values of its children.
    let indices = UInt64Array::from_iter_values((from as u64)..(from + count) as u64);
    let columns = batch.columns().iter().map(|column| take(column, &indices, None)).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new_with_options(batch.schema(), columns, &RecordBatchOptions::new().with_row_count(Some(count)))
}

fn join_column(field: &FieldRef, arrays: &[&ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let mut kinds = arrays.iter().map(|array| array.data_type()).filter(|kind| **kind != DataType::Null);
    let Some(first) = kinds.next() else {
        return Ok(new_null_array(&DataType::Null, arrays.iter().map(|array| array.len()).sum()));
    };
    let is_union = |kind: &DataType| matches!(kind, DataType::Union(_, UnionMode::Dense));
    if !is_union(first) && kinds.clone().all(|kind| kind == first) {
        let typed: Vec<ArrayRef> = arrays.iter().map(|array| typed(array, first)).collect();
        return concat(&typed.iter().map(|array| array.as_ref() as &dyn Array).collect::<Vec<_>>());
    }
    let is_class = |kind: &DataType| class_of(kind).is_some() || is_union(kind);
    if is_class(first) && kinds.all(is_class) { join_classes(arrays) } else { join_text(field, arrays) }
}

fn typed(array: &ArrayRef, kind: &DataType) -> ArrayRef {
    if array.data_type() == kind { array.clone() } else { new_null_array(kind, array.len()) }
}

/// The id and name that a plain column has in a union: SQLite's storage classes.
fn class_of(kind: &DataType) -> Option<(i8, &'static str)> {
    Some(match kind {
        DataType::Int64 => (0, "integer"),
        DataType::Float64 => (1, "real"),
        DataType::Utf8 => (2, "text"),
        DataType::Binary => (3, "blob"),
        _ => return None,
    })
}

/// One class of a union that is being joined.
struct Class {
    field: FieldRef,
    parts: Vec<ArrayRef>,
    len: usize,
}

fn join_classes(arrays: &[&ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let overflow = || ArrowError::InvalidArgumentError("too many values in one page".to_owned());
    let mut classes: BTreeMap<i8, Class> = BTreeMap::new();
    let (mut type_ids, mut offsets) = (Vec::new(), Vec::new());
    for array in arrays {
        // The children of this array, and where each begins in the joined one.
        let mut begins: BTreeMap<i8, usize> = BTreeMap::new();
        let mut add = |id: i8, field: FieldRef, part: &ArrayRef| -> Result<(), ArrowError> {
            let class = classes.entry(id).or_insert_with(|| Class { field: field.clone(), parts: Vec::new(), len: 0 });
            if class.field.data_type() != part.data_type() {
                return Err(ArrowError::SchemaError("a class changed its type between two fetches".to_owned()));
            }
            begins.insert(id, class.len);
            class.len += part.len();
            class.parts.push(part.clone());
            Ok(())
        };
        if let DataType::Union(fields, _) = array.data_type() {
            let union = array.as_union();
            for (id, field) in fields.iter() {
                add(id, field.clone(), union.child(id))?;
            }
            for row in 0..union.len() {
                let id = union.type_id(row);
                let at = begins.get(&id).copied().unwrap_or(0) + union.value_offset(row);
                type_ids.push(id);
                offsets.push(i32::try_from(at).map_err(|_| overflow())?);
            }
        } else {
            // NULLs alone go to any class; it is text where none is known yet.
            let kind = if *array.data_type() == DataType::Null { DataType::Utf8 } else { array.data_type().clone() };
            let (id, name) = class_of(&kind).ok_or_else(overflow)?;
            add(id, Arc::new(Field::new(name, kind.clone(), true)), &typed(array, &kind))?;
            let begin = begins.get(&id).copied().unwrap_or(0);
            for row in 0..array.len() {
                type_ids.push(id);
                offsets.push(i32::try_from(begin + row).map_err(|_| overflow())?);
            }
        }
    }
    let mut children = Vec::new();
    for class in classes.values() {
        children.push(concat(&class.parts.iter().map(|part| part.as_ref() as &dyn Array).collect::<Vec<_>>())?);
    }
    let fields = UnionFields::try_new(classes.keys().copied(), classes.values().map(|class| class.field.clone()))?;
    let union = UnionArray::try_new(fields, ScalarBuffer::from(type_ids), Some(ScalarBuffer::from(offsets)), children)?;
    Ok(Arc::new(union))
}

fn join_text(field: &FieldRef, arrays: &[&ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let mut to = StringBuilder::new();
    for array in arrays {
        for row in 0..array.len() {
            to.append_option(format_cell(array.as_ref(), field, row).text());
        }
    }
    Ok(Arc::new(to.finish()))
}
