//! DuckDB's own name of a type, from the Arrow type it hands out.
//!
//! Invariant: the name is the one DESCRIBE gives, but for an ENUM, whose values come with the rows and not with the type.

use super::bits;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};

/// The name of a column's type.
pub fn type_name(field: &Field) -> String {
    if let Some(name) = bits::extension(field).and_then(of_extension) {
        return name.to_owned();
    }
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) => format!("{}[]", type_name(item)),
        DataType::FixedSizeList(item, count) => format!("{}[{count}]", type_name(item)),
        DataType::Struct(fields) => format!("STRUCT({})", members(fields.iter().map(AsRef::as_ref))),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) => {
                format!("MAP({})", pair.iter().map(|field| type_name(field)).collect::<Vec<_>>().join(", "))
            }
            _ => "MAP".to_owned(),
        },
        DataType::Union(fields, _) => format!("UNION({})", members(fields.iter().map(|(_, field)| field.as_ref()))),
        DataType::Decimal32(width, scale) | DataType::Decimal64(width, scale) | DataType::Decimal128(width, scale) => {
            format!("DECIMAL({width},{scale})")
        }
        other => scalar(other).to_owned(),
    }
}

fn of_extension(name: &str) -> Option<&'static str> {
    Some(match name {
        "hugeint" => "HUGEINT",
        "uhugeint" => "UHUGEINT",
        "time_tz" => "TIME WITH TIME ZONE",
        "bit" => "BIT",
        "bignum" | "varint" => "BIGNUM",
        "arrow.uuid" => "UUID",
        "arrow.json" => "JSON",
        "arrow.bool8" => "BOOLEAN",
        "geoarrow.wkb" => "GEOMETRY",
        _ => return None,
    })
}

fn scalar(kind: &DataType) -> &'static str {
    match kind {
        DataType::Int8 => "TINYINT",
        DataType::Int16 => "SMALLINT",
        DataType::Int32 => "INTEGER",
        DataType::Int64 => "BIGINT",
        DataType::UInt8 => "UTINYINT",
        DataType::UInt16 => "USMALLINT",
        DataType::UInt32 => "UINTEGER",
        DataType::UInt64 => "UBIGINT",
        DataType::Float32 => "FLOAT",
        DataType::Float64 => "DOUBLE",
        DataType::Boolean => "BOOLEAN",
        DataType::Utf8 | DataType::LargeUtf8 => "VARCHAR",
        DataType::Binary | DataType::LargeBinary => "BLOB",
        DataType::Date32 => "DATE",
        DataType::Time64(TimeUnit::Microsecond) => "TIME",
        DataType::Time64(TimeUnit::Nanosecond) => "TIME_NS",
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE",
        DataType::Timestamp(TimeUnit::Second, None) => "TIMESTAMP_S",
        DataType::Timestamp(TimeUnit::Millisecond, None) => "TIMESTAMP_MS",
        DataType::Timestamp(TimeUnit::Microsecond, None) => "TIMESTAMP",
        DataType::Timestamp(TimeUnit::Nanosecond, None) => "TIMESTAMP_NS",
        DataType::Interval(IntervalUnit::MonthDayNano) => "INTERVAL",
        DataType::Dictionary(_, _) => "ENUM",
        DataType::Null => "\"NULL\"",
        _ => "",
    }
}

fn members<'a>(fields: impl Iterator<Item = &'a Field>) -> String {
    let one =
        |field: &Field| if field.name().is_empty() { type_name(field) } else { format!("{} {}", name(field.name()), type_name(field)) };
    fields.map(one).collect::<Vec<_>>().join(", ")
}

/// A member's name, quoted where it must be.
fn name(name: &str) -> String {
    let dialect = crate::sql::dialects::dialect(crate::wire::connection::EngineKind::Duckdb);
    let lower = !name.bytes().any(|byte| byte.is_ascii_uppercase());
    if lower && !dialect.needs_quotes(name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
