//! One batch of several, whose columns may differ in their physical type.
//!
//! Invariant: no value is changed; where two physical types meet, the column takes one that holds both exactly: the wider of two decimals,
//! a dense union of SQLite's classes, else the text of each value.

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, Decimal256Array, RecordBatch, RecordBatchOptions, UInt64Array, UnionArray, new_null_array};
use arrow_buffer::{ScalarBuffer, i256};
use arrow_schema::{ArrowError, DECIMAL256_MAX_PRECISION, DataType, Field, FieldRef, Schema, UnionFields, UnionMode};
use arrow_select::concat::concat;
use arrow_select::take::take;
use shared::format::{Offsets, format_cell};
use shared::page::{EXTENSION_KEY, OFFSETS_KEY};
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
    for at in 0..first.num_columns() {
        let parts: Option<Vec<Part<'_>>> = pieces.iter().map(|piece| Part::of(piece, at)).collect();
        let parts = parts.ok_or_else(|| ArrowError::SchemaError("the columns changed between two fetches".to_owned()))?;
        let (field, column) = join_column(&parts)?;
        fields.push(field);
        columns.push(column);
    }
    let schema = Schema::new_with_metadata(fields, first.schema().metadata().clone());
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &RecordBatchOptions::new().with_row_count(Some(rows)))
}

/// A column in one piece.
struct Part<'a> {
    field: &'a FieldRef,
    array: &'a ArrayRef,
}

impl<'a> Part<'a> {
    fn of(piece: &'a RecordBatch, at: usize) -> Option<Self> {
        Some(Self { field: piece.schema_ref().fields().get(at)?, array: piece.columns().get(at)? })
    }

    /// Its values; of NULLs alone, whatever type they have, nothing but NULLs.
    fn values(&self) -> ArrayRef {
        match self.array.null_count() == self.array.len() {
            true => new_null_array(&DataType::Null, self.array.len()),
            false => self.array.clone(),
        }
    }
}

fn join_column(parts: &[Part<'_>]) -> Result<(FieldRef, ArrayRef), ArrowError> {
    let noted = joined_offsets(parts);
    let column = match noted {
        None => join_text(parts)?,
        Some(_) => join_values(parts)?,
    };
    // What a field says of a physical type goes for that type only.
    let Some(same) = parts.iter().find(|part| part.field.data_type() == column.data_type()).or(parts.first()) else {
        return Err(ArrowError::InvalidArgumentError("no rows were fetched".to_owned()));
    };
    let mut metadata = same.field.metadata().clone();
    metadata.remove(OFFSETS_KEY);
    if same.field.data_type() != column.data_type() {
        metadata.remove(EXTENSION_KEY);
    } else if let (Some(offsets), DataType::Timestamp(_, _)) = (noted.flatten(), column.data_type()) {
        metadata.insert(OFFSETS_KEY.to_owned(), offsets);
    }
    let nullable = same.field.is_nullable() || same.field.data_type() != column.data_type() || column.logical_null_count() > 0;
    let field = Field::new(same.field.name(), column.data_type().clone(), nullable).with_metadata(metadata);
    Ok((Arc::new(field), column))
}

/// The offsets of all parts in one list, where they have some; `None` where they do not fit into one.
fn joined_offsets(parts: &[Part<'_>]) -> Option<Option<String>> {
    if !parts.iter().any(|part| part.field.metadata().contains_key(OFFSETS_KEY)) {
        return Some(None);
    }
    let mut instants = Vec::new();
    for part in parts {
        let Some(array) = part.array.as_primitive_opt::<TimestampMicrosecondType>() else { continue };
        for micros in array.iter().flatten() {
            instants.push((micros, Offsets::ahead(part.field, micros)?));
        }
    }
    Offsets::of(instants).map(|offsets| offsets.metadata())
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

fn join_values(parts: &[Part<'_>]) -> Result<ArrayRef, ArrowError> {
    let is_union = |kind: &DataType| matches!(kind, DataType::Union(_, UnionMode::Dense));
    let (Some(first), is_one) = (parts.first(), parts.windows(2).all(same_type)) else { return join_text(parts) };
    if is_one && !is_union(first.array.data_type()) {
        return concat(&parts.iter().map(|part| part.array.as_ref() as &dyn Array).collect::<Vec<_>>());
    }
    let arrays: Vec<ArrayRef> = parts.iter().map(Part::values).collect();
    let kinds: Vec<&DataType> = arrays.iter().map(|array| array.data_type()).filter(|kind| **kind != DataType::Null).collect();
    let Some(first) = kinds.first() else {
        return Ok(new_null_array(&DataType::Null, arrays.iter().map(|array| array.len()).sum()));
    };
    if !is_union(first) && kinds.iter().all(|kind| kind == first) {
        let typed: Vec<ArrayRef> = arrays.iter().map(|array| typed(array, first)).collect();
        return concat(&typed.iter().map(|array| array.as_ref() as &dyn Array).collect::<Vec<_>>());
    }
    if let Some(scale) = one_scale(&kinds) {
        return join_decimals(&arrays, scale);
    }
    let is_class = |kind: &&DataType| class_of(kind).is_some() || is_union(kind);
    if kinds.iter().all(is_class) { join_classes(&arrays) } else { join_text(parts) }
}

fn same_type(pair: &[Part<'_>]) -> bool {
    matches!(pair, [one, other] if one.array.data_type() == other.array.data_type())
}

/// The digits behind the point that decimals of both widths have in common.
fn one_scale(kinds: &[&DataType]) -> Option<i8> {
    let scale = |kind: &&DataType| match kind {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => Some(*scale),
        _ => None,
    };
    let first = kinds.first().and_then(scale)?;
    kinds.iter().all(|kind| scale(kind) == Some(first)).then_some(first)
}

/// Decimals of one scale in the wider form.
fn join_decimals(arrays: &[ArrayRef], scale: i8) -> Result<ArrayRef, ArrowError> {
    let wide = DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale);
    let widened = |array: &ArrayRef| -> Result<ArrayRef, ArrowError> {
        let values: Decimal256Array = match (array.as_primitive_opt::<Decimal128Type>(), array.as_primitive_opt::<Decimal256Type>()) {
            (Some(narrow), _) => narrow.unary(i256::from_i128),
            (_, Some(values)) => values.clone(),
            _ => return Ok(new_null_array(&wide, array.len())),
        };
        Ok(Arc::new(values.with_precision_and_scale(DECIMAL256_MAX_PRECISION, scale)?))
    };
    let arrays = arrays.iter().map(widened).collect::<Result<Vec<_>, _>>()?;
    concat(&arrays.iter().map(|array| array.as_ref() as &dyn Array).collect::<Vec<_>>())
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

fn join_classes(arrays: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
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

fn join_text(parts: &[Part<'_>]) -> Result<ArrayRef, ArrowError> {
    let mut to = StringBuilder::new();
    for part in parts {
        for row in 0..part.array.len() {
            to.append_option(format_cell(part.array.as_ref(), part.field, row).text());
        }
    }
    Ok(Arc::new(to.finish()))
}
