//! Lists, structs, maps, unions and enums as DuckDB writes them.
//!
//! Invariant: a text inside is quoted where DuckDB quotes it, so that what it means can be told apart from what encloses it; NULL
//! inside is the word NULL. What is nested itself is written as it is.

use super::{Instants, bits, text as text_of};
use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, UnionArray};
use arrow_schema::{DataType, Field, Fields};
use std::collections::BTreeSet;

/// A type that Arrow nests, or that stands for another (an enum).
pub fn is_nested(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(_, _)
            | DataType::Struct(_)
            | DataType::Map(_, _)
            | DataType::Union(_, _)
            | DataType::Dictionary(_, _)
    )
}

/// The text of a nested value.
pub fn text(array: &dyn Array, row: usize, instants: &Instants<'_>) -> Option<String> {
    match array.data_type() {
        DataType::List(item) => Some(list(&array.as_list::<i32>().value(row), item, instants)),
        DataType::LargeList(item) => Some(list(&array.as_list::<i64>().value(row), item, instants)),
        DataType::FixedSizeList(item, _) => Some(list(&array.as_fixed_size_list().value(row), item, instants)),
        DataType::Struct(fields) => Some(structure(array, fields, row, instants)),
        DataType::Map(_, _) => Some(map(array, row, instants)),
        DataType::Union(_, _) => union(array.as_any().downcast_ref::<UnionArray>()?, row, instants),
        DataType::Dictionary(_, _) => enumeration(array, row),
        _ => None,
    }
}

fn list(items: &ArrayRef, item: &Field, instants: &Instants<'_>) -> String {
    // A list of JSON is written as JSON.
    let raw = bits::extension(item) == Some("arrow.json");
    let each = |row| {
        if raw { text_of(items, item, row, instants).unwrap_or_else(|| "NULL".to_owned()) } else { inner(items, item, row, instants) }
    };
    format!("[{}]", (0..items.len()).map(each).collect::<Vec<_>>().join(", "))
}

fn structure(array: &dyn Array, fields: &Fields, row: usize, instants: &Instants<'_>) -> String {
    let array = array.as_struct();
    let unnamed = fields.iter().all(|field| field.name().is_empty());
    let parts = fields.iter().zip(array.columns()).map(|(field, column)| {
        let value = inner(column, field, row, instants);
        if unnamed { value } else { format!("{}: {value}", quoted(field.name())) }
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    if unnamed { format!("({parts})") } else { format!("{{{parts}}}") }
}

fn map(array: &dyn Array, row: usize, instants: &Instants<'_>) -> String {
    let entries = array.as_map().value(row);
    let (Some(keys), Some(values)) = (entries.columns().first(), entries.columns().get(1)) else { return "{}".to_owned() };
    let (Some(key), Some(value)) = (entries.fields().first(), entries.fields().get(1)) else { return "{}".to_owned() };
    let each = |at| format!("{}={}", inner(keys, key, at, instants), inner(values, value, at, instants));
    format!("{{{}}}", (0..entries.len()).map(each).collect::<Vec<_>>().join(", "))
}

/// A union's value is its member's.
fn union(array: &UnionArray, row: usize, instants: &Instants<'_>) -> Option<String> {
    let (id, DataType::Union(fields, _)) = (array.type_id(row), array.data_type()) else { return None };
    let (_, field) = fields.iter().find(|(known, _)| *known == id)?;
    text_of(array.child(id), field, array.value_offset(row), instants)
}

fn enumeration(array: &dyn Array, row: usize) -> Option<String> {
    let DataType::Dictionary(key, _) = array.data_type() else { return None };
    let (key, values) = match key.as_ref() {
        DataType::UInt8 => (usize::from(array.as_dictionary::<UInt8Type>().keys().value(row)), array.as_dictionary::<UInt8Type>().values()),
        DataType::UInt16 => {
            (usize::from(array.as_dictionary::<UInt16Type>().keys().value(row)), array.as_dictionary::<UInt16Type>().values())
        }
        DataType::UInt32 => {
            let keys = array.as_dictionary::<UInt32Type>();
            (usize::try_from(keys.keys().value(row)).ok()?, keys.values())
        }
        _ => return None,
    };
    let values = values.as_string_opt::<i32>()?;
    (key < values.len()).then(|| values.value(key).to_owned())
}

/// A value inside another.
fn inner(array: &ArrayRef, field: &Field, row: usize, instants: &Instants<'_>) -> String {
    match text_of(array, field, row, instants) {
        None => "NULL".to_owned(),
        Some(text) if is_nested(array.data_type()) && !matches!(array.data_type(), DataType::Dictionary(_, _)) => text,
        Some(text) if needs_quotes(&text) => quoted(&text),
        Some(text) => text,
    }
}

/// Whether DuckDB quotes this text inside a nested value.
fn needs_quotes(text: &str) -> bool {
    let is_space = |byte: &u8| matches!(byte, b' ' | 9..=13);
    let bytes = text.as_bytes();
    text.is_empty()
        || bytes.first().is_some_and(is_space)
        || bytes.last().is_some_and(is_space)
        || text.eq_ignore_ascii_case("null")
        || bytes.iter().any(|byte| b"\"'(),:=[]{}".contains(byte))
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('\'');
    out
}

/// The instants a column holds, at any depth: what [`text_of`] will ask the caller for.
pub fn instants(array: &dyn Array, into: &mut BTreeSet<i64>) {
    match array.data_type() {
        DataType::Timestamp(_, Some(_)) => {
            into.extend(array.as_primitive_opt::<TimestampMicrosecondType>().into_iter().flat_map(|values| values.iter().flatten()));
        }
        DataType::List(_) => instants(array.as_list::<i32>().values(), into),
        DataType::LargeList(_) => instants(array.as_list::<i64>().values(), into),
        DataType::FixedSizeList(_, _) => instants(array.as_fixed_size_list().values(), into),
        DataType::Struct(_) => array.as_struct().columns().iter().for_each(|column| instants(column, into)),
        DataType::Map(_, _) => array.as_map().entries().columns().iter().for_each(|column| instants(column, into)),
        DataType::Union(fields, _) => {
            if let Some(union) = array.as_any().downcast_ref::<UnionArray>() {
                fields.iter().for_each(|(id, _)| instants(union.child(id), into));
            }
        }
        _ => {}
    }
}
