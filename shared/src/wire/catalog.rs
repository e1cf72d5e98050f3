//! The catalog of a database: names, types, keys, for browsing and completion.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub system: bool,
    /// Whoever the connection signs in as may use nothing in it, though its names may be told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub denied: bool,
    /// Another one whenever something in the schema has changed that is told of it here (estimates of rows apart). Opaque.
    #[serde(default)]
    pub version: String,
    /// Its relations are told by name and kind, and what costs nothing more; their columns, keys, indexes and triggers, and its
    /// routines, for whoever asks for the schema.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// It is as it was in the version that the asker knows, so nothing of its contents is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// Tables and views by name.
    #[serde(default)]
    pub relations: Vec<Relation>,
    /// Routines by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routines: Vec<Routine>,
}

/// `POST /api/v1/connections/{id}/catalog/changes`: what the asker has of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct KnownSchemas {
    /// Versions by the names of their schemas.
    pub known: BTreeMap<String, String>,
}

impl KnownSchemas {
    /// This very version of the schema is known.
    pub fn has(&self, schema: &Schema) -> bool {
        self.has_version(&schema.name, &schema.version)
    }

    /// The schema is known, and in this version.
    pub fn has_version(&self, name: &str, version: &str) -> bool {
        !version.is_empty() && self.known.get(name).is_some_and(|known| known == version)
    }
}

/// `POST /api/v1/connections/{id}/catalog/schemas`: whose contents are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WantedSchemas {
    /// Their names.
    pub schemas: Vec<String>,
}

impl Catalog {
    /// The versions of its schemas, to ask for changes with.
    pub fn known(&self) -> KnownSchemas {
        KnownSchemas { known: self.schemas.iter().map(|schema| (schema.name.clone(), schema.version.clone())).collect() }
    }

    /// Takes the contents of schemas that have not changed from the catalog whose versions were asked with. False where one of
    /// them is not in it: the whole must be asked for.
    pub fn take_over(&mut self, old: Self) -> bool {
        let mut old: BTreeMap<String, Schema> = old.schemas.into_iter().map(|schema| (schema.name.clone(), schema)).collect();
        self.schemas.iter_mut().filter(|schema| schema.unchanged).all(|schema| {
            let kept = old.remove(&schema.name).filter(|kept| kept.version == schema.version);
            kept.map(|kept| *schema = kept).is_some()
        })
    }

    /// Puts the schemas that were asked for by name in their places; one that the answer does not have is gone.
    pub fn put_in(&mut self, wanted: &[String], answer: Self) {
        let mut answered: BTreeMap<String, Schema> = answer.schemas.into_iter().map(|schema| (schema.name.clone(), schema)).collect();
        self.schemas.retain_mut(|schema| match answered.remove(&schema.name) {
            Some(new) => {
                *schema = new;
                true
            }
            None => !wanted.contains(&schema.name),
        });
    }

    /// The schema of this name.
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.name == name)
    }

    /// Every schema is as it was.
    pub fn is_unchanged(&self, old: &Self) -> bool {
        self.schemas.iter().all(|schema| schema.unchanged) && self.schemas.len() == old.schemas.len() && self.search_path == old.search_path
    }
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<Index>,
    /// Names of its triggers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_null: bool,
    /// Its place in the primary key, from 1; 0 when it is not in it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub primary_key: u16,
    /// The text of its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The person's words on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// What is usual is not written: in a large catalog it would be a third of the text.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u16) -> bool {
    *number == 0
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(name: &str, version: &str, relations: &[&str]) -> Schema {
        let relations = relations.iter().map(|name| Relation { name: (*name).to_owned(), ..Relation::default() }).collect();
        Schema { name: name.to_owned(), version: version.to_owned(), relations, ..Schema::default() }
    }

    fn unchanged(name: &str, version: &str) -> Schema {
        Schema { unchanged: true, ..schema(name, version, &[]) }
    }

    #[test]
    fn what_has_not_changed_is_taken_over_and_the_rest_is_new() {
        let old =
            Catalog { schemas: vec![schema("a", "1", &["t"]), schema("b", "2", &["u"]), schema("gone", "3", &[])], ..Catalog::default() };
        assert_eq!(old.known().known.get("b").map(String::as_str), Some("2"));
        let mut new =
            Catalog { schemas: vec![unchanged("a", "1"), schema("b", "4", &["u", "v"]), schema("c", "5", &[])], ..Catalog::default() };
        assert!(!new.is_unchanged(&old));
        assert!(new.take_over(old.clone()));
        assert_eq!(new.schemas, [schema("a", "1", &["t"]), schema("b", "4", &["u", "v"]), schema("c", "5", &[])]);
        let all = Catalog { schemas: vec![unchanged("a", "1"), unchanged("b", "2"), unchanged("gone", "3")], ..Catalog::default() };
        assert!(all.is_unchanged(&old));
    }

    #[test]
    fn an_unchanged_schema_that_is_not_there_is_noticed() {
        let old = || Catalog { schemas: vec![schema("a", "1", &["t"])], ..Catalog::default() };
        for stranger in [unchanged("b", "1"), unchanged("a", "2")] {
            assert!(!Catalog { schemas: vec![stranger], ..Catalog::default() }.take_over(old()));
        }
    }

    #[test]
    fn the_contents_of_schemas_come_into_their_places_and_what_is_gone_goes() {
        let partial = |name: &str| Schema { partial: true, ..schema(name, "1~", &["t"]) };
        let mut all = Catalog { schemas: vec![partial("a"), partial("b"), partial("c")], ..Catalog::default() };
        let answer = Catalog { schemas: vec![schema("b", "2", &["t", "u"])], ..Catalog::default() };
        all.put_in(&["b".to_owned(), "c".to_owned()], answer);
        assert_eq!(all.schemas, [partial("a"), schema("b", "2", &["t", "u"])]);
        assert!(all.schema("c").is_none() && all.schema("b").is_some_and(|b| !b.partial));
    }
}
