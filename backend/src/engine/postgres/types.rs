//! What a result column is: its name for a person, its physical type in a page.
//!
//! Invariant: a physical type is chosen only where the server's text of every value of it can be had back exactly
//! (`shared::format` writes it); everything else stays the server's text.

mod builtin;

use super::origins::Origins;
use super::wire::{Reader, WireError};
use arrow_schema::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use builtin::BUILT_IN;
use shared::page::{ENGINE_KEY, EXTENSION_KEY, ORIGIN_KEY, TYPE_KEY, UUID_EXTENSION};
use std::collections::HashMap;
use std::sync::Arc;

/// How the values of a column are decoded from the server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `t` or `f`.
    Boolean,
    /// 16 bits.
    Int16,
    /// 32 bits.
    Int32,
    /// 64 bits.
    Int64,
    /// The number of an object, of a transaction or of a command: 32 bits without a sign.
    Oid,
    /// The number of a transaction with its epoch: 64 bits without a sign.
    Xid8,
    /// `float4`.
    Float32,
    /// `float8`.
    Float64,
    /// `numeric` of a fixed scale.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits behind the point.
        scale: i8,
    },
    /// `numeric` whose values have the scale they were made with.
    Numeric,
    /// Days.
    Date,
    /// A time of day.
    Time,
    /// A date and time without a zone.
    Timestamp,
    /// An instant, written by the clock of the session's zone.
    Instant,
    /// Months, days and a time.
    Interval,
    /// 16 bytes.
    Uuid,
    /// Bytes.
    Bytes,
    /// The server's text.
    Text,
}

impl Kind {
    /// By the type's number and modifier.
    pub fn of(oid: u32, modifier: i32) -> Self {
        match oid {
            16 => Self::Boolean,
            17 => Self::Bytes,
            20 => Self::Int64,
            21 => Self::Int16,
            23 => Self::Int32,
            26 | 28 | 29 => Self::Oid,
            700 => Self::Float32,
            701 => Self::Float64,
            1082 => Self::Date,
            1083 => Self::Time,
            1114 => Self::Timestamp,
            1184 => Self::Instant,
            1186 => Self::Interval,
            2950 => Self::Uuid,
            5069 => Self::Xid8,
            1700 => Self::decimal(modifier),
            _ => Self::Text,
        }
    }

    fn decimal(modifier: i32) -> Self {
        let Some((precision, scale)) = numeric_modifier(modifier) else { return Self::Numeric };
        match (u8::try_from(precision), i8::try_from(scale)) {
            (Ok(precision @ 1..=DECIMAL256_MAX_PRECISION), Ok(scale)) if scale >= 0 && i16::from(scale) <= i16::from(precision) => {
                Self::Decimal { precision, scale }
            }
            _ => Self::Numeric,
        }
    }

    /// The physical type in a page that fits it.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Int16 => DataType::Int16,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Oid => DataType::UInt32,
            Self::Xid8 => DataType::UInt64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Decimal { precision, scale } if precision <= DECIMAL128_MAX_PRECISION => DataType::Decimal128(precision, scale),
            Self::Decimal { precision, scale } => DataType::Decimal256(precision, scale),
            Self::Numeric => DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0),
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            Self::Uuid => DataType::FixedSizeBinary(16),
            Self::Bytes => DataType::Binary,
            Self::Text => DataType::Utf8,
        }
    }
}

/// One column as the RowDescription tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its label; may be empty, may repeat.
    pub name: String,
    /// The table it comes from; 0 where it is computed.
    pub table: u32,
    /// Its place in that table.
    pub attribute: i16,
    /// Its type.
    pub oid: u32,
    /// The type's modifier; -1 without.
    pub modifier: i32,
}

impl Column {
    /// All columns of a RowDescription.
    pub fn read_all(body: &[u8]) -> Result<Vec<Self>, WireError> {
        let mut reader = Reader::new(body);
        let count = reader.u16()?;
        (0..count).map(|_| Self::read(&mut reader)).collect()
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let name = reader.c_text()?;
        let table = reader.u32()?;
        let attribute = reader.i16()?;
        let oid = reader.u32()?;
        let _size = reader.i16()?;
        let modifier = reader.i32()?;
        let _format = reader.i16()?;
        Ok(Self { name, table, attribute, oid, modifier })
    }
}

/// What a session knows about types and columns.
#[derive(Debug, Default)]
pub struct Names {
    /// Where columns come from, and what types that are not built in are called.
    pub origins: Origins,
}

impl Names {
    /// Types of these columns that have no name yet.
    pub fn missing_types(&self, columns: &[Column]) -> Vec<(u32, i32)> {
        let known = |column: &&Column| built_in(column.oid).is_none() && self.origins.type_name((column.oid, column.modifier)).is_none();
        let mut missing: Vec<_> = columns.iter().filter(known).map(|column| (column.oid, column.modifier)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Something was altered or dropped: names may have changed.
    pub fn forget(&mut self) {
        self.origins.forget();
    }

    /// The name of a type with its modifier.
    pub fn type_name(&self, oid: u32, modifier: i32) -> String {
        if let Some(name) = built_in(oid) {
            return with_modifier(name, modifier);
        }
        self.origins.type_name((oid, modifier)).unwrap_or_else(|| format!("type {oid}"))
    }
}

/// A result's columns, made once for the statement.
#[derive(Clone, Debug)]
pub struct Layout {
    /// As the server told them.
    pub columns: Vec<Column>,
    /// How each is decoded.
    pub kinds: Vec<Kind>,
    /// Of a page that fits them.
    pub schema: SchemaRef,
}

impl Layout {
    /// With the names known now.
    pub fn new(columns: Vec<Column>, names: &Names) -> Self {
        let kinds: Vec<Kind> = columns.iter().map(|column| Kind::of(column.oid, column.modifier)).collect();
        let origins = names.origins.of_columns(&columns);
        let described = columns.iter().zip(&kinds).zip(origins);
        let fields: Vec<Field> = described.map(|((column, kind), origin)| field(column, *kind, names, origin)).collect();
        Self { columns, kinds, schema: Arc::new(Schema::new(fields)) }
    }
}

fn field(column: &Column, kind: Kind, names: &Names, origin: Option<String>) -> Field {
    let mut metadata = HashMap::from([
        (TYPE_KEY.to_owned(), names.type_name(column.oid, column.modifier)),
        (ENGINE_KEY.to_owned(), "postgres".to_owned()),
    ]);
    if let Some(origin) = origin {
        metadata.insert(ORIGIN_KEY.to_owned(), origin);
    }
    // arrow.json stands on text of any kind; arrow.uuid only on 16 bytes: in a page of text it is taken away.
    let extension = match column.oid {
        114 | 3802 => Some("arrow.json"),
        2950 => Some(UUID_EXTENSION),
        _ => None,
    };
    if let Some(extension) = extension {
        metadata.insert(EXTENSION_KEY.to_owned(), extension.to_owned());
    }
    Field::new(&column.name, kind.data_type(), true).with_metadata(metadata)
}

/// The name of a type that every server has under the same number.
pub fn built_in(oid: u32) -> Option<&'static str> {
    let at = BUILT_IN.binary_search_by_key(&oid, |(known, _)| *known).ok()?;
    BUILT_IN.get(at).map(|(_, name)| *name)
}

/// Modifiers as each type's `typmodout` writes them.
fn with_modifier(name: &str, modifier: i32) -> String {
    if modifier < 0 {
        return name.to_owned();
    }
    let (element, brackets) = name.strip_suffix("[]").map_or((name, ""), |element| (element, "[]"));
    let written = match element {
        "varchar" => format!("varchar({})", modifier.saturating_sub(4)),
        "bpchar" => format!("char({})", modifier.saturating_sub(4)),
        "bit" | "varbit" | "time" | "timetz" | "timestamp" | "timestamptz" => format!("{element}({modifier})"),
        "numeric" => match numeric_modifier(modifier) {
            Some((precision, scale)) => format!("numeric({precision},{scale})"),
            None => element.to_owned(),
        },
        "interval" => interval(modifier),
        _ => element.to_owned(),
    };
    written + brackets
}

/// Precision and scale; utils/adt/numeric.c, `make_numeric_typmod`.
fn numeric_modifier(modifier: i32) -> Option<(i32, i32)> {
    let packed = modifier.checked_sub(4).filter(|packed| *packed >= 0)?;
    Some(((packed >> 16) & 0xffff, ((packed & 0x7ff) ^ 1024) - 1024))
}

/// utils/adt/timestamp.c, `intervaltypmodout`.
fn interval(modifier: i32) -> String {
    const UNITS: [(i32, &str); 6] = [(4, "year"), (2, "month"), (8, "day"), (1024, "hour"), (2048, "minute"), (4096, "second")];
    let (precision, range) = (modifier & 0xffff, (modifier >> 16) & 0x7fff);
    let mut text = "interval".to_owned();
    if range != 0x7fff {
        let units: Vec<&str> = UNITS.iter().filter(|(bit, _)| range & bit != 0).map(|(_, unit)| *unit).collect();
        match units.as_slice() {
            [] => {}
            [only] => text.push_str(&format!(" {only}")),
            [first, .., last] => text.push_str(&format!(" {first} to {last}")),
        }
    }
    if precision != 0xffff {
        text.push_str(&format!("({precision})"));
    }
    text
}

/// `format_type`'s SQL spelling with the short names that results use, so that the explorer and the grid agree.
pub fn short_name(formatted: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("character varying", "varchar"),
        ("character", "char"),
        ("bit varying", "varbit"),
        ("double precision", "float8"),
        ("real", "float4"),
        ("bigint", "int8"),
        ("integer", "int4"),
        ("smallint", "int2"),
        ("boolean", "bool"),
    ];
    for (zone, short) in [(" with time zone", "tz"), (" without time zone", "")] {
        let stem = ["timestamp", "time"].into_iter().find(|stem| formatted.starts_with(stem) && formatted.contains(zone));
        if let Some(stem) = stem {
            return formatted.replacen(zone, "", 1).replacen(stem, &format!("{stem}{short}"), 1);
        }
    }
    for (long, short) in WORDS {
        if let Some(rest) = formatted.strip_prefix(long).filter(|rest| rest.is_empty() || rest.starts_with(['(', '['])) {
            return format!("{short}{rest}");
        }
    }
    formatted.to_owned()
}

#[cfg(test)]
mod tests;
