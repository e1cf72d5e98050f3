//! The catalog of a database: names, types, keys, for browsing and completion.

use serde::{Deserialize, Serialize};

/// `GET /api/v1/connections/{id}/catalog`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Catalog {
    /// The database's own name.
    pub database: String,
    /// The schemas an unqualified name is looked up in, in order.
    pub search_path: Vec<String>,
    /// Schemas by name.
    pub schemas: Vec<Schema>,
}

/// One schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// Belongs to the database system itself (`pg_catalog`, …).
    #[serde(default)]
    pub system: bool,
    /// Tables and views by name.
    pub relations: Vec<Relation>,
    /// Routines by name.
    #[serde(default)]
    pub routines: Vec<Routine>,
}

/// What kind of relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// Holds rows.
    #[default]
    Table,
    /// A stored query.
    View,
    /// A stored query with its rows.
    MaterializedView,
    /// Rows elsewhere.
    ForeignTable,
}

/// A table or view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// What kind.
    pub kind: RelationKind,
    /// The person's words on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The database's own guess of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_rows: Option<u64>,
    /// Columns in their order.
    pub columns: Vec<Column>,
    /// Foreign keys of it.
    #[serde(default)]
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes of it.
    #[serde(default)]
    pub indexes: Vec<Index>,
    /// Names of its triggers.
    #[serde(default)]
    pub triggers: Vec<String>,
}

/// A column of a relation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The database's own name of its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// NULL is refused.
    #[serde(default)]
    pub not_null: bool,
    /// Its place in the primary key, from 1; 0 when it is not in it.
    #[serde(default)]
    pub primary_key: u16,
    /// The text of its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The person's words on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// A foreign key: `columns` of this relation refer to `ref_columns` of another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForeignKey {
    /// Own columns.
    pub columns: Vec<String>,
    /// The other relation's schema.
    pub ref_schema: String,
    /// The other relation.
    pub ref_relation: String,
    /// Its columns, in the order of `columns`.
    pub ref_columns: Vec<String>,
}

/// An index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its columns; an expression is empty text.
    pub columns: Vec<String>,
    /// No two rows are equal in it.
    #[serde(default)]
    pub unique: bool,
}

/// A routine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// Its arguments as the database writes them.
    pub arguments: String,
    /// What it returns, as the database writes it.
    pub returns: String,
}
