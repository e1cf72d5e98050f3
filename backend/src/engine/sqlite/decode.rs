//! From SQLite's values to a record batch: one builder a column, fed row by row.
//!
//! Invariant: no value is changed. SQLite types each value, not the column, so the page is typed by what it holds: one storage
//! class gives a plain array, several give a `DenseUnion` of them with the [`Class`] as its type id. TEXT that is not UTF-8 (SQLite
//! does not check) keeps its bytes as a `Binary` child of its own.

use super::describe::Column;
use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UnionArray, new_null_array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema, UnionFields};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use shared::page::TYPE_KEY;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of one column in a batch at which it ends, whatever was asked: with one value of SQLite's largest size (10⁹) on top, its
/// 32-bit offsets still hold.
const COLUMN_BYTES_MAX: usize = 1 << 30;

/// SQLite's storage classes, and TEXT that is not UTF-8; the numbers are the type ids of a mixed column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// 64-bit integer.
    Integer = 0,
    /// 64-bit float.
    Real = 1,
    /// Text.
    Text = 2,
    /// Bytes.
    Blob = 3,
    /// Bytes that were stored as text and are none.
    BrokenText = 4,
}

impl Class {
    const ALL: [Self; 5] = [Self::Integer, Self::Real, Self::Text, Self::Blob, Self::BrokenText];

    /// The name of the child of a mixed column.
    fn child_name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Text => "text",
            Self::Blob => "blob",
            Self::BrokenText => "text, not UTF-8",
        }
    }

    fn type_name(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text | Self::BrokenText => "TEXT",
            Self::Blob => "BLOB",
        }
    }
}

/// A page that is being filled.
pub struct Page {
    cells: Vec<Cells>,
    rows: usize,
    bytes: usize,
}

impl Page {
    /// An empty page of `columns` columns.
    pub fn new(columns: usize) -> Self {
        Self { cells: (0..columns).map(|_| Cells::Nulls(0)).collect(), rows: 0, bytes: 0 }
    }

    /// Copies one row.
    pub fn push(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        for (column, cells) in self.cells.iter_mut().enumerate() {
            self.bytes += cells.push(row.get_ref(column)?);
        }
        self.rows += 1;
        Ok(())
    }

    /// The page holds as much as asked for.
    pub fn is_full(&self, rows: usize, bytes: usize) -> bool {
        self.rows >= rows.max(1) || self.bytes >= bytes.min(COLUMN_BYTES_MAX)
    }

    /// The names of the classes it holds, column by column: what an expression's type is called.
    pub fn type_names(&self) -> Vec<&'static str> {
        self.cells.iter().map(Cells::type_name).collect()
    }

    /// The batch. `columns` are as many as this page was made for.
    pub fn finish(self, columns: &[Column]) -> Result<RecordBatch, ArrowError> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays = Vec::with_capacity(columns.len());
        for (cells, column) in self.cells.into_iter().zip(columns) {
            let array = cells.finish(column)?;
            fields.push(column.field(array.data_type().clone()));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
    }
}

/// One column of a page that is being filled.
enum Cells {
    Nulls(usize),
    Integer(Int64Builder),
    Real(Float64Builder),
    Text(StringBuilder),
    Blob(BinaryBuilder),
    Mixed(Box<Mixed>),
}

impl Cells {
    /// Appends a value; its size in bytes.
    fn push(&mut self, value: ValueRef<'_>) -> usize {
        match (&mut *self, value) {
            (Self::Integer(to), ValueRef::Integer(value)) => to.append_value(value),
            (Self::Real(to), ValueRef::Real(value)) => to.append_value(value),
            (Self::Text(to), ValueRef::Text(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => to.append_value(text),
                Err(_) => self.mix().push(value),
            },
            (Self::Blob(to), ValueRef::Blob(bytes)) => to.append_value(bytes),
            (Self::Nulls(count), ValueRef::Null) => *count += 1,
            (Self::Integer(to), ValueRef::Null) => to.append_null(),
            (Self::Real(to), ValueRef::Null) => to.append_null(),
            (Self::Text(to), ValueRef::Null) => to.append_null(),
            (Self::Blob(to), ValueRef::Null) => to.append_null(),
            (Self::Mixed(to), _) => to.push(value),
            (Self::Nulls(count), _) => {
                *self = Self::start(*count, value);
                return self.push(value);
            }
            _ => self.mix().push(value),
        }
        match value {
            ValueRef::Null => 0,
            ValueRef::Integer(_) | ValueRef::Real(_) => 8,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        }
    }

    /// A column of the class of its first value, with the NULLs that came before it.
    fn start(nulls: usize, first: ValueRef<'_>) -> Self {
        match first {
            ValueRef::Null => Self::Nulls(nulls),
            ValueRef::Integer(_) => {
                let mut to = Int64Builder::new();
                to.append_nulls(nulls);
                Self::Integer(to)
            }
            ValueRef::Real(_) => {
                let mut to = Float64Builder::new();
                to.append_nulls(nulls);
                Self::Real(to)
            }
            ValueRef::Text(_) => {
                let mut to = StringBuilder::new();
                to.append_nulls(nulls);
                Self::Text(to)
            }
            ValueRef::Blob(_) => {
                let mut to = BinaryBuilder::new();
                to.append_nulls(nulls);
                Self::Blob(to)
            }
        }
    }

    /// Turns the column into a mixed one; what it holds becomes a child as it is.
    fn mix(&mut self) -> &mut Mixed {
        if !matches!(self, Self::Mixed(_)) {
            let mixed = match std::mem::replace(self, Self::Nulls(0)) {
                Self::Nulls(count) => Mixed::new(Class::Text, count, |m| m.text.append_nulls(count)),
                Self::Integer(child) => Mixed::new(Class::Integer, child.values_slice().len(), |m| m.integer = child),
                Self::Real(child) => Mixed::new(Class::Real, child.values_slice().len(), |m| m.real = child),
                Self::Text(child) => Mixed::new(Class::Text, child.offsets_slice().len() - 1, |m| m.text = child),
                Self::Blob(child) => Mixed::new(Class::Blob, child.offsets_slice().len() - 1, |m| m.blob = child),
                Self::Mixed(mixed) => *mixed,
            };
            *self = Self::Mixed(Box::new(mixed));
        }
        match self {
            Self::Mixed(mixed) => mixed,
            // The line above made it so.
            _ => unreachable!(),
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Nulls(_) => "NULL",
            Self::Integer(_) => "INTEGER",
            Self::Real(_) => "REAL",
            Self::Text(_) => "TEXT",
            Self::Blob(_) => "BLOB",
            Self::Mixed(mixed) => mixed.type_name(),
        }
    }

    fn finish(self, column: &Column) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Nulls(count) => new_null_array(&column.affinity(), count),
            Self::Integer(mut from) => Arc::new(from.finish()),
            Self::Real(mut from) => Arc::new(from.finish()),
            Self::Text(mut from) => Arc::new(from.finish()),
            Self::Blob(mut from) => Arc::new(from.finish()),
            Self::Mixed(from) => Arc::new(from.finish()?),
        })
    }
}

/// A column of several classes: for each row the class and the place among that class's values.
struct Mixed {
    /// The class whose child holds the NULLs.
    home: Class,
    type_ids: Vec<i8>,
    offsets: Vec<i32>,
    integer: Int64Builder,
    real: Float64Builder,
    text: StringBuilder,
    blob: BinaryBuilder,
    broken: BinaryBuilder,
}

impl Mixed {
    fn new(home: Class, rows: usize, fill: impl FnOnce(&mut Self)) -> Self {
        let mut mixed = Self {
            home,
            type_ids: vec![home as i8; rows],
            offsets: (0..rows).map(offset).collect(),
            integer: Int64Builder::new(),
            real: Float64Builder::new(),
            text: StringBuilder::new(),
            blob: BinaryBuilder::new(),
            broken: BinaryBuilder::new(),
        };
        fill(&mut mixed);
        mixed
    }

    fn len(&self, class: Class) -> usize {
        match class {
            Class::Integer => self.integer.values_slice().len(),
            Class::Real => self.real.values_slice().len(),
            Class::Text => self.text.offsets_slice().len() - 1,
            Class::Blob => self.blob.offsets_slice().len() - 1,
            Class::BrokenText => self.broken.offsets_slice().len() - 1,
        }
    }

    fn push(&mut self, value: ValueRef<'_>) {
        let text = match value {
            ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        };
        let class = match value {
            ValueRef::Null => self.home,
            ValueRef::Integer(_) => Class::Integer,
            ValueRef::Real(_) => Class::Real,
            ValueRef::Text(_) if text.is_some() => Class::Text,
            ValueRef::Text(_) => Class::BrokenText,
            ValueRef::Blob(_) => Class::Blob,
        };
        self.type_ids.push(class as i8);
        self.offsets.push(offset(self.len(class)));
        match value {
            ValueRef::Integer(value) => self.integer.append_value(value),
            ValueRef::Real(value) => self.real.append_value(value),
            ValueRef::Blob(bytes) => self.blob.append_value(bytes),
            ValueRef::Text(bytes) => match text {
                Some(text) => self.text.append_value(text),
                None => self.broken.append_value(bytes),
            },
            ValueRef::Null => match self.home {
                Class::Integer => self.integer.append_null(),
                Class::Real => self.real.append_null(),
                Class::Text => self.text.append_null(),
                Class::Blob => self.blob.append_null(),
                Class::BrokenText => self.broken.append_null(),
            },
        }
    }

    fn classes(&self) -> impl Iterator<Item = Class> {
        Class::ALL.into_iter().filter(|class| self.len(*class) > 0)
    }

    fn type_name(&self) -> &'static str {
        let mut names = self.classes().map(Class::type_name);
        let first = names.next().unwrap_or("NULL");
        // ANY is what a STRICT table calls a column of any class.
        if names.all(|name| name == first) { first } else { "ANY" }
    }

    fn finish(mut self) -> Result<UnionArray, ArrowError> {
        let mut children: Vec<ArrayRef> = Vec::new();
        let mut fields = Vec::new();
        let mut type_ids = Vec::new();
        for class in self.classes().collect::<Vec<_>>() {
            let array: ArrayRef = match class {
                Class::Integer => Arc::new(self.integer.finish()),
                Class::Real => Arc::new(self.real.finish()),
                Class::Text => Arc::new(self.text.finish()),
                Class::Blob => Arc::new(self.blob.finish()),
                Class::BrokenText => Arc::new(self.broken.finish()),
            };
            let metadata = HashMap::from([(TYPE_KEY.to_owned(), class.type_name().to_owned())]);
            fields.push(Field::new(class.child_name(), array.data_type().clone(), true).with_metadata(metadata));
            type_ids.push(class as i8);
            children.push(array);
        }
        UnionArray::try_new(
            UnionFields::try_new(type_ids, fields)?,
            ScalarBuffer::from(self.type_ids),
            Some(ScalarBuffer::from(self.offsets)),
            children,
        )
    }
}

/// An offset in a child. A page has far fewer rows than this can hold: its bytes and rows are bounded.
fn offset(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

/// The type of a page's column that holds NULLs only: what its declared type would hold.
pub fn affinity(declared: Option<&str>) -> DataType {
    let name = declared.unwrap_or("").to_ascii_uppercase();
    let has = |part: &str| name.contains(part);
    // The order is SQLite's own: datatype3.html, section 3.1.
    if has("INT") {
        DataType::Int64
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        DataType::Utf8
    } else if has("BLOB") {
        DataType::Binary
    } else if has("REAL") || has("FLOA") || has("DOUB") {
        DataType::Float64
    } else {
        DataType::Null
    }
}
