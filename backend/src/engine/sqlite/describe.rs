//! What the columns of a result are: name, type, origin.
//!
//! Invariant: names are SQLite's, never changed: they may repeat and may be empty.

use super::decode::affinity;
use arrow_schema::{DataType, Field};
use rusqlite::Statement;
use shared::page::{ENGINE_KEY, ORIGIN_KEY, TYPE_KEY};
use std::collections::HashMap;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: String,
    /// The type in the table's declaration; none for an expression, or where the table gives none.
    declared: Option<String>,
    /// `schema.table.column`, where it is a table's.
    origin: Option<String>,
    /// The storage class the first page shows, for a column without a declared type.
    shown: Option<&'static str>,
}

impl Column {
    /// Settles the type of a column whose table declares none.
    pub fn show_type(&mut self, class: &'static str) {
        self.shown = Some(class);
    }

    /// What a page of NULLs is typed as.
    pub fn affinity(&self) -> DataType {
        affinity(self.declared.as_deref())
    }

    /// The column's field with this physical type.
    pub fn field(&self, data_type: DataType) -> Field {
        let type_name = self.declared.as_deref().or(self.shown).unwrap_or("");
        let mut metadata = HashMap::from([(TYPE_KEY.to_owned(), type_name.to_owned()), (ENGINE_KEY.to_owned(), "sqlite".to_owned())]);
        if let Some(origin) = &self.origin {
            metadata.insert(ORIGIN_KEY.to_owned(), origin.clone());
        }
        Field::new(&self.name, data_type, true).with_metadata(metadata)
    }
}

/// The columns of a statement. To be asked after the first step: SQLite may prepare it anew there, when the schema has changed.
pub fn columns(statement: &Statement<'_>) -> Vec<Column> {
    let origins = statement.columns_with_metadata();
    let mut columns = Vec::with_capacity(origins.len());
    for (column, origin) in statement.columns().iter().zip(&origins) {
        let from = match (origin.database_name(), origin.table_name(), origin.origin_name()) {
            (Some(schema), Some(table), Some(name)) => Some(format!("{schema}.{table}.{name}")),
            _ => None,
        };
        columns.push(Column {
            name: column.name().to_owned(),
            declared: column.decl_type().filter(|name| !name.is_empty()).map(str::to_owned),
            origin: from,
            shown: None,
        });
    }
    columns
}
