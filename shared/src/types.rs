//! What a column is, seen by its reader: the kind decides alignment and glyph, never the text of a value.
//!
//! Invariant: the kind comes from the database's own type name first, since a page's physical type may differ from page to page.
//! A new column type is one line in [`WORDS`] and, if it has a physical type of its own, one arm in [`crate::format`].

use crate::page::TYPE_KEY;
use arrow_schema::{DataType, Field};

/// How a column is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Right-aligned, tabular figures.
    Number,
    /// Left-aligned.
    Text,
    /// Centred.
    Boolean,
    /// Dates, times, intervals.
    Temporal,
    /// Bytes, shown in hexadecimal.
    Binary,
    /// JSON of any spelling.
    Json,
    /// Everything else: uuid, arrays, ranges, geometry.
    Other,
}

/// First word of a type's name (lower case, without length and array marks) and its kind.
const WORDS: &[(&str, ColumnKind)] = &[
    ("bigint", ColumnKind::Number),
    ("bigserial", ColumnKind::Number),
    ("decimal", ColumnKind::Number),
    ("double", ColumnKind::Number),
    ("float", ColumnKind::Number),
    ("float4", ColumnKind::Number),
    ("float8", ColumnKind::Number),
    ("hugeint", ColumnKind::Number),
    ("int", ColumnKind::Number),
    ("int2", ColumnKind::Number),
    ("int4", ColumnKind::Number),
    ("int8", ColumnKind::Number),
    ("integer", ColumnKind::Number),
    ("mediumint", ColumnKind::Number),
    ("money", ColumnKind::Number),
    ("number", ColumnKind::Number),
    ("numeric", ColumnKind::Number),
    ("oid", ColumnKind::Number),
    ("real", ColumnKind::Number),
    ("serial", ColumnKind::Number),
    ("smallint", ColumnKind::Number),
    ("smallserial", ColumnKind::Number),
    ("tinyint", ColumnKind::Number),
    ("ubigint", ColumnKind::Number),
    ("uinteger", ColumnKind::Number),
    ("unsigned", ColumnKind::Number),
    ("usmallint", ColumnKind::Number),
    ("utinyint", ColumnKind::Number),
    ("xid", ColumnKind::Number),
    ("bool", ColumnKind::Boolean),
    ("boolean", ColumnKind::Boolean),
    ("char", ColumnKind::Text),
    ("character", ColumnKind::Text),
    ("citext", ColumnKind::Text),
    ("clob", ColumnKind::Text),
    ("longtext", ColumnKind::Text),
    ("mediumtext", ColumnKind::Text),
    ("name", ColumnKind::Text),
    ("nchar", ColumnKind::Text),
    ("nvarchar", ColumnKind::Text),
    ("text", ColumnKind::Text),
    ("tinytext", ColumnKind::Text),
    ("varchar", ColumnKind::Text),
    ("date", ColumnKind::Temporal),
    ("datetime", ColumnKind::Temporal),
    ("interval", ColumnKind::Temporal),
    ("time", ColumnKind::Temporal),
    ("timestamp", ColumnKind::Temporal),
    ("timestamptz", ColumnKind::Temporal),
    ("timetz", ColumnKind::Temporal),
    ("year", ColumnKind::Temporal),
    ("binary", ColumnKind::Binary),
    ("blob", ColumnKind::Binary),
    ("bytea", ColumnKind::Binary),
    ("longblob", ColumnKind::Binary),
    ("mediumblob", ColumnKind::Binary),
    ("tinyblob", ColumnKind::Binary),
    ("varbinary", ColumnKind::Binary),
    ("json", ColumnKind::Json),
    ("jsonb", ColumnKind::Json),
    ("uuid", ColumnKind::Other),
];

/// The kind of a column.
pub fn kind_of(field: &Field) -> ColumnKind {
    let name = type_name(field).trim();
    if name.ends_with(']') {
        return ColumnKind::Other;
    }
    let word = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let known = WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, kind)| *kind);
    known.unwrap_or_else(|| physical_kind(field.data_type(), word.is_empty()))
}

/// The database's own name of the column's type; empty where it has none.
pub fn type_name(field: &Field) -> &str {
    field.metadata().get(TYPE_KEY).map(String::as_str).unwrap_or_default()
}

fn physical_kind(physical: &DataType, nameless: bool) -> ColumnKind {
    match physical {
        DataType::Boolean => ColumnKind::Boolean,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => ColumnKind::Binary,
        DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) => ColumnKind::Temporal,
        DataType::Timestamp(_, _) | DataType::Interval(_) => ColumnKind::Temporal,
        number if number.is_numeric() => ColumnKind::Number,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if nameless => ColumnKind::Text,
        _ => ColumnKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn kind(type_name: &str, physical: DataType) -> ColumnKind {
        kind_of(&Field::new("c", physical, true).with_metadata(HashMap::from([(TYPE_KEY.to_owned(), type_name.to_owned())])))
    }

    #[test]
    fn the_databases_type_name_decides_over_the_physical_type() {
        assert_eq!(kind("numeric(12,2)", DataType::Utf8), ColumnKind::Number);
        assert_eq!(kind("BIGINT UNSIGNED", DataType::Utf8), ColumnKind::Number);
        assert_eq!(kind("BOOLEAN", DataType::Int64), ColumnKind::Boolean);
        assert_eq!(kind("timestamp with time zone", DataType::Utf8), ColumnKind::Temporal);
        assert_eq!(kind("interval", DataType::Utf8), ColumnKind::Temporal);
        assert_eq!(kind("jsonb", DataType::Utf8), ColumnKind::Json);
        assert_eq!(kind("VARCHAR(40)", DataType::Utf8), ColumnKind::Text);
    }

    #[test]
    fn arrays_and_unknown_types_are_other() {
        assert_eq!(kind("integer[]", DataType::Utf8), ColumnKind::Other);
        assert_eq!(kind("point", DataType::Utf8), ColumnKind::Other);
        assert_eq!(kind("uuid", DataType::Utf8), ColumnKind::Other);
        assert_eq!(kind("uuid", DataType::FixedSizeBinary(16)), ColumnKind::Other);
    }

    #[test]
    fn a_column_without_a_type_name_goes_by_its_values() {
        assert_eq!(kind("", DataType::Int64), ColumnKind::Number);
        assert_eq!(kind("", DataType::Utf8), ColumnKind::Text);
        assert_eq!(kind("", DataType::Binary), ColumnKind::Binary);
        assert_eq!(kind("", DataType::Null), ColumnKind::Other);
    }
}
