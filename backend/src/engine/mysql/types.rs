//! What a result column is: its name for a person, its physical type in a page.
//! Source: MySQL documentation, "Column Definition"; MariaDB documentation, "Result Set Packets", "Extended metadata".
//!
//! Invariant: a physical type is chosen only where the server's text of every value of it can be had back exactly
//! (`shared::format` writes it); everything else stays the server's text.

use super::connect::Agreed;
use super::wire::{Reader, WireError};
use arrow_schema::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, Schema, SchemaRef, TimeUnit};
use shared::page::{ENGINE_KEY, EXTENSION_KEY, ORIGIN_KEY, TYPE_KEY, UUID_EXTENSION};
use std::collections::HashMap;
use std::sync::Arc;

const UNSIGNED: u16 = 1 << 5;
const ZEROFILL: u16 = 1 << 6;
/// Of an expression whose text is bytes; of a table's column only where it was made so.
const BYTES: u16 = 1 << 7;
const ENUM: u16 = 1 << 8;
const SET: u16 = 1 << 11;
/// The character set of what has none.
const BINARY: u16 = 63;
/// What the server says where a number of decimals is not fixed.
const DECIMALS_FREE: u8 = 31;

/// Digits behind the seconds.
const FRACTION_MAX: u8 = 6;

/// Bytes of a `BIT`, at most.
const BIT_BYTES_MAX: u8 = 8;

/// Numbers of types on the wire.
#[allow(missing_docs)] // Each is the name that the documentation has.
pub mod number {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const NEWDATE: u8 = 14;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const VECTOR: u8 = 242;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const TINY_BLOB: u8 = 249;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const GEOMETRY: u8 = 255;
}

/// How the values of a column are decoded from the server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 8 to 64 bits, with a sign.
    Signed(u8),
    /// 8 to 64 bits, without.
    Unsigned(u8),
    /// `FLOAT`.
    Float32,
    /// `DOUBLE`.
    Float64,
    /// `DECIMAL`.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits behind the point.
        scale: i8,
    },
    /// Days.
    Date,
    /// A time within a day, with so many digits behind the seconds.
    Time(u8),
    /// A date and time without a zone, with so many digits behind the seconds.
    DateTime(u8),
    /// MariaDB's `UUID`: 16 bytes.
    Uuid,
    /// `BIT` and `BINARY`: so many bytes.
    FixedBytes(u8),
    /// `BIT` of an expression: the server sends its bytes, or the digits of the number that they are.
    MadeBits(u8),
    /// Bytes.
    Bytes,
    /// The server's text.
    Text,
}

impl Kind {
    /// The physical type in a page that fits it.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Signed(8) => DataType::Int8,
            Self::Signed(16) => DataType::Int16,
            Self::Signed(32) => DataType::Int32,
            Self::Signed(_) => DataType::Int64,
            Self::Unsigned(8) => DataType::UInt8,
            Self::Unsigned(16) => DataType::UInt16,
            Self::Unsigned(32) => DataType::UInt32,
            Self::Unsigned(_) => DataType::UInt64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Decimal { precision, scale } if precision <= DECIMAL128_MAX_PRECISION => DataType::Decimal128(precision, scale),
            Self::Decimal { precision, scale } => DataType::Decimal256(precision, scale),
            Self::Date => DataType::Date32,
            Self::Time(_) => DataType::Time64(TimeUnit::Microsecond),
            Self::DateTime(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::Uuid => DataType::FixedSizeBinary(16),
            Self::FixedBytes(bytes) => DataType::FixedSizeBinary(bytes.into()),
            Self::MadeBits(_) => DataType::UInt64,
            Self::Bytes => DataType::Binary,
            Self::Text => DataType::Utf8,
        }
    }
}

/// One column as the server tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its label; may be empty, may repeat.
    pub name: String,
    /// `schema.table.column`, where it comes from one.
    pub origin: Option<String>,
    charset: u16,
    /// The most characters or digits of a value, in bytes.
    pub length: u32,
    /// Its type, see [`number`].
    pub number: u8,
    flags: u16,
    /// Digits behind the point; 31 or more where they are not fixed.
    pub decimals: u8,
    /// MariaDB's own name of the type, e.g. `uuid`.
    extended_name: Option<String>,
    /// What the text is by its form, e.g. `json`.
    extended_format: Option<String>,
}

impl Column {
    /// Reads one definition.
    pub fn read(body: &[u8], agreed: Agreed) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        let _catalog = reader.counted()?;
        let schema = reader.counted_text()?;
        let _alias = reader.counted()?;
        let table = reader.counted_text()?;
        let name = reader.counted_text()?;
        let own_name = reader.counted_text()?;
        let mut column = Self { name, ..Self::default() };
        if !table.is_empty() && !own_name.is_empty() {
            column.origin = Some(if schema.is_empty() { format!("{table}.{own_name}") } else { format!("{schema}.{table}.{own_name}") });
        }
        if agreed.extended_types {
            let mut extended = Reader::new(reader.counted()?);
            while let Ok(what) = extended.u8() {
                let text = extended.counted_text()?;
                match what {
                    0 => column.extended_name = Some(text),
                    1 => column.extended_format = Some(text),
                    _ => {}
                }
            }
        }
        let _fixed = reader.number()?;
        column.charset = reader.u16()?;
        column.length = reader.u32()?;
        column.number = reader.u8()?;
        column.flags = reader.u16()?;
        column.decimals = reader.u8()?;
        Ok(column)
    }

    /// Without a sign.
    pub fn is_unsigned(&self) -> bool {
        self.has(UNSIGNED)
    }

    /// Filled up with zeros on the left.
    pub fn is_filled(&self) -> bool {
        self.has(ZEROFILL)
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// How its values are decoded.
    pub fn kind(&self) -> Kind {
        let integer = |bits| if self.has(UNSIGNED) { Kind::Unsigned(bits) } else { Kind::Signed(bits) };
        match self.number {
            // Filled with zeros, the text is not the number's own.
            _ if self.has(ZEROFILL) && self.number != number::YEAR => Kind::Text,
            number::TINY => integer(8),
            number::SHORT => integer(16),
            number::LONG | number::INT24 => integer(32),
            number::LONGLONG => integer(64),
            number::YEAR => Kind::Unsigned(16),
            number::FLOAT => Kind::Float32,
            number::DOUBLE => Kind::Float64,
            number::DECIMAL | number::NEWDECIMAL => self.decimal(),
            number::DATE | number::NEWDATE => Kind::Date,
            number::TIME if self.decimals <= FRACTION_MAX => Kind::Time(self.decimals),
            number::TIMESTAMP | number::DATETIME if self.decimals <= FRACTION_MAX => Kind::DateTime(self.decimals),
            _ if self.extended_name.as_deref() == Some("uuid") => Kind::Uuid,
            number::BIT => self.bits(),
            number::GEOMETRY | number::VECTOR => Kind::Bytes,
            number::STRING if self.is_bytes() => u8::try_from(self.length).map_or(Kind::Bytes, Kind::FixedBytes),
            number::VARCHAR | number::TINY_BLOB..=number::STRING if self.is_bytes() => Kind::Bytes,
            _ => Kind::Text,
        }
    }

    fn is_bytes(&self) -> bool {
        self.charset == BINARY && !self.has(ENUM | SET) && self.extended_name.as_deref().is_none_or(|name| !is_textual(name))
    }

    fn precision(&self) -> u32 {
        self.length.saturating_sub(u32::from(self.decimals > 0)).saturating_sub(u32::from(!self.has(UNSIGNED)))
    }

    fn decimal(&self) -> Kind {
        match (u8::try_from(self.precision()), i8::try_from(self.decimals)) {
            (Ok(precision @ 1..=DECIMAL256_MAX_PRECISION), Ok(scale)) if self.decimals <= precision => Kind::Decimal { precision, scale },
            _ => Kind::Text,
        }
    }

    fn bits(&self) -> Kind {
        match u8::try_from(self.length.div_ceil(8)) {
            Ok(bytes @ 1..=BIT_BYTES_MAX) if self.has(BYTES) => Kind::MadeBits(bytes),
            Ok(bytes @ 1..=BIT_BYTES_MAX) => Kind::FixedBytes(bytes),
            _ => Kind::Bytes,
        }
    }

    fn is_json(&self) -> bool {
        self.number == number::JSON || self.extended_format.as_deref() == Some("json")
    }

    /// The server's own name of the type.
    pub fn type_name(&self) -> String {
        if let Some(name) = self.extended_name.as_deref().filter(|name| !name.is_empty()) {
            return name.to_ascii_uppercase();
        }
        let signed = |name: &str| {
            let unsigned = if self.has(UNSIGNED) { " UNSIGNED" } else { "" };
            let filled = if self.has(ZEROFILL) { " ZEROFILL" } else { "" };
            format!("{name}{unsigned}{filled}")
        };
        let fraction = |name: &str| match self.decimals {
            0 | DECIMALS_FREE.. => name.to_owned(),
            digits => format!("{name}({digits})"),
        };
        match self.number {
            number::TINY => signed("TINYINT"),
            number::SHORT => signed("SMALLINT"),
            number::INT24 => signed("MEDIUMINT"),
            number::LONG => signed("INT"),
            number::LONGLONG => signed("BIGINT"),
            number::FLOAT => signed("FLOAT"),
            number::DOUBLE => signed("DOUBLE"),
            number::DECIMAL | number::NEWDECIMAL => signed(&format!("DECIMAL({},{})", self.precision(), self.decimals)),
            number::NULL => "NULL".to_owned(),
            number::DATE | number::NEWDATE => "DATE".to_owned(),
            number::TIME => fraction("TIME"),
            number::DATETIME => fraction("DATETIME"),
            number::TIMESTAMP => fraction("TIMESTAMP"),
            number::YEAR => "YEAR".to_owned(),
            number::BIT => format!("BIT({})", self.length),
            number::JSON => "JSON".to_owned(),
            number::VECTOR => "VECTOR".to_owned(),
            number::GEOMETRY => "GEOMETRY".to_owned(),
            _ if self.is_json() => "JSON".to_owned(),
            number::ENUM => "ENUM".to_owned(),
            number::SET => "SET".to_owned(),
            number::STRING if self.has(ENUM) => "ENUM".to_owned(),
            number::STRING if self.has(SET) => "SET".to_owned(),
            number::TINY_BLOB..=number::BLOB => self.long_name(),
            number::STRING => self.of_length("BINARY", "CHAR"),
            number::VARCHAR | number::VAR_STRING => self.of_length("VARBINARY", "VARCHAR"),
            other => format!("type {other}"),
        }
    }

    fn of_length(&self, bytes: &str, text: &str) -> String {
        match self.charset == BINARY {
            true => format!("{bytes}({})", self.length),
            false => format!("{text}({})", self.length / bytes_of_a_character(self.charset)),
        }
    }

    /// The server tells all four sizes as one type, and their lengths in bytes of the connection's character set.
    fn long_name(&self) -> String {
        let size = match self.length {
            0..=1_020 => "TINY",
            1_021..=262_140 => "",
            262_141..=67_108_860 => "MEDIUM",
            _ => "LONG",
        };
        format!("{size}{}", if self.charset == BINARY { "BLOB" } else { "TEXT" })
    }

    fn field(&self) -> Field {
        let mut metadata = HashMap::from([(TYPE_KEY.to_owned(), self.type_name()), (ENGINE_KEY.to_owned(), "mysql".to_owned())]);
        if let Some(origin) = &self.origin {
            metadata.insert(ORIGIN_KEY.to_owned(), origin.clone());
        }
        let extension = match self.kind() {
            Kind::Uuid => Some(UUID_EXTENSION),
            _ => self.is_json().then_some("arrow.json"),
        };
        if let Some(extension) = extension {
            metadata.insert(EXTENSION_KEY.to_owned(), extension.to_owned());
        }
        Field::new(&self.name, self.kind().data_type(), true).with_metadata(metadata)
    }
}

/// Types of MariaDB whose text has no character set.
fn is_textual(name: &str) -> bool {
    matches!(name, "uuid" | "inet4" | "inet6" | "xmltype")
}

/// Of the character sets a client speaks: utf8mb4, utf8mb3, and those of one byte.
fn bytes_of_a_character(charset: u16) -> u32 {
    match charset {
        33 | 76 | 83 | 192..=215 | 223 => 3,
        45 | 46 | 224..=247 | 255..=323 | 2304.. => 4,
        _ => 1,
    }
}

/// A result's columns, made once for the statement.
#[derive(Clone, Debug)]
pub struct Layout {
    /// How each is decoded.
    pub kinds: Vec<Kind>,
    /// Of a page that fits them.
    pub schema: SchemaRef,
}

impl Layout {
    /// Of the columns the server told.
    pub fn new(columns: &[Column]) -> Self {
        let kinds = columns.iter().map(Column::kind).collect();
        Self { kinds, schema: Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(number: u8, length: u32, flags: u16, decimals: u8, charset: u16) -> Column {
        Column { number, length, flags, decimals, charset, ..Column::default() }
    }

    #[test]
    fn types_have_the_servers_names_and_the_tightest_form() {
        let table = [
            (column(number::LONGLONG, 20, UNSIGNED, 0, BINARY), "BIGINT UNSIGNED", Kind::Unsigned(64)),
            (column(number::TINY, 1, 0, 0, BINARY), "TINYINT", Kind::Signed(8)),
            (column(number::LONG, 5, UNSIGNED | ZEROFILL, 0, BINARY), "INT UNSIGNED ZEROFILL", Kind::Text),
            (column(number::YEAR, 4, UNSIGNED | ZEROFILL, 0, BINARY), "YEAR", Kind::Unsigned(16)),
            (column(number::NEWDECIMAL, 7, 0, 2, BINARY), "DECIMAL(5,2)", Kind::Decimal { precision: 5, scale: 2 }),
            (column(number::NEWDECIMAL, 67, 0, 30, BINARY), "DECIMAL(65,30)", Kind::Decimal { precision: 65, scale: 30 }),
            (column(number::DATETIME, 19, 0, 0, BINARY), "DATETIME", Kind::DateTime(0)),
            (column(number::DATETIME, 26, 0, 6, BINARY), "DATETIME(6)", Kind::DateTime(6)),
            (column(number::TIME, 17, 0, 39, BINARY), "TIME", Kind::Text),
            (column(number::BIT, 8, UNSIGNED, 0, BINARY), "BIT(8)", Kind::FixedBytes(1)),
            (column(number::BIT, 9, UNSIGNED, 0, BINARY), "BIT(9)", Kind::FixedBytes(2)),
            (column(number::BIT, 9, UNSIGNED | BYTES, 0, BINARY), "BIT(9)", Kind::MadeBits(2)),
            (column(number::BLOB, 65_535, 0, 0, BINARY), "BLOB", Kind::Bytes),
            (column(number::BLOB, 65_535, 0, 0, 45), "TEXT", Kind::Text),
            (column(number::STRING, 16, 0, 0, BINARY), "BINARY(16)", Kind::FixedBytes(16)),
            (column(number::VAR_STRING, 80, 0, 0, 255), "VARCHAR(20)", Kind::Text),
            (column(number::STRING, 12, ENUM, 0, 45), "ENUM", Kind::Text),
            (column(number::JSON, 0, 0, 0, 45), "JSON", Kind::Text),
            (column(number::GEOMETRY, 0, 0, 0, BINARY), "GEOMETRY", Kind::Bytes),
        ];
        for (column, name, kind) in table {
            assert_eq!((column.type_name().as_str(), column.kind()), (name, kind));
        }
    }
}
