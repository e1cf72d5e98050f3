//! From the answers' rows to the tree, and to the versions of its schemas.
//!
//! Invariant: rows about a schema or a relation that is not in the tree are left out, never an error.

use super::{KINDS, SYSTEM, Topic};
use crate::engine::catalog::{self, CatalogAsk, Row, Told};
use crate::engine::mysql::session::TextRow;
use sha2::{Digest as _, Sha256};
use shared::wire::catalog::{Catalog, Column, ForeignKey, Index, Relation, RelationKind, Routine, Schema};
use std::collections::{HashMap, HashSet};

/// What the rows of one kind come to in one schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    rows: u64,
    xor: u64,
}

impl Sum {
    /// As [`super::Kind::sum`] has the server count: values that are NULL are left out.
    fn add(&mut self, row: &TextRow) {
        let mut digest = Sha256::new();
        for (at, value) in row.iter().flatten().enumerate() {
            if at > 0 {
                digest.update([0x1f]);
            }
            digest.update(value.as_bytes());
        }
        let first = digest.finalize().iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        self.rows += 1;
        self.xor ^= first;
    }
}

fn version_of(sums: &[Sum]) -> String {
    let parts: Vec<String> = sums.iter().map(|Sum { rows, xor }| format!("{rows}.{xor}")).collect();
    catalog::version_of_parts(parts.iter().map(String::as_str))
}

type Sums = [Sum; KINDS.len()];

/// What has been answered so far.
#[derive(Debug, Default)]
pub struct Answers {
    database: Option<String>,
    /// Relations that are not the system's own, where they were counted.
    own_relations: Option<usize>,
    schemas: Vec<Schema>,
    by_schema: HashMap<String, usize>,
    /// The place of each relation in its schema.
    by_relation: HashMap<(String, String), usize>,
    /// The same of routines, by their specific names.
    by_routine: HashMap<(String, String), usize>,
    /// The constraint that the last foreign key of a relation came from.
    last_constraint: Option<(String, String, String)>,
    sums: HashMap<String, Sums>,
    /// The same of their names.
    name_sums: HashMap<String, Sum>,
    /// Schemas whose rows were read.
    read: HashSet<String>,
}

impl Answers {
    /// One row.
    pub fn take(&mut self, topic: Topic, row: TextRow) {
        if let Topic::Of(kind) = topic
            && let Some(Some(schema)) = row.first()
            && let Some(sum) = self.sums.entry(schema.clone()).or_default().get_mut(kind)
        {
            sum.add(&row);
        }
        if let (Topic::Name, Some(Some(schema))) = (topic, row.first()) {
            self.name_sums.entry(schema.clone()).or_default().add(&row);
        }
        let mut row = Row::new(row);
        // A row with a value too few is skipped: only a server that is none sends it.
        let _ = match topic {
            Topic::State => {
                self.database = row.text();
                self.own_relations = row.number();
                Some(())
            }
            Topic::Schema => row.text().map(|name| self.schema(name)),
            Topic::Name | Topic::Of(0) => self.relation(row),
            Topic::Of(1) => self.column(row),
            Topic::Of(2) => self.foreign_key(row),
            Topic::Of(3) => self.index(row),
            Topic::Of(4) => self.trigger(row),
            Topic::Of(5) => self.routine(row),
            Topic::Of(_) => self.parameter(row),
            Topic::NameSum => sum(&mut row).map(|(schema, sum)| {
                self.name_sums.insert(schema, sum);
            }),
            Topic::Sum(kind) => sum(&mut row).and_then(|(schema, sum)| {
                *self.sums.entry(schema).or_default().get_mut(kind)? = sum;
                Some(())
            }),
        };
    }

    fn schema(&mut self, name: String) {
        self.by_schema.insert(name.clone(), self.schemas.len());
        let system = SYSTEM.contains(&name.to_ascii_lowercase().as_str());
        self.schemas.push(Schema { name, system, ..Schema::default() });
    }

    fn schema_mut(&mut self, name: &str) -> Option<&mut Schema> {
        self.schemas.get_mut(*self.by_schema.get(name)?)
    }

    fn relation_mut(&mut self, key: &(String, String)) -> Option<&mut Relation> {
        let at = *self.by_relation.get(key)?;
        self.schema_mut(&key.0)?.relations.get_mut(at)
    }

    fn relation(&mut self, mut row: Row) -> Option<()> {
        let (schema, name, kind) = (row.text()?, row.text()?, row.text()?);
        let kind = if kind.ends_with("VIEW") && kind != "SYSTEM VIEW" { RelationKind::View } else { RelationKind::Table };
        // A view's comment is the word VIEW.
        let comment = row.text().filter(|comment| !comment.is_empty() && kind != RelationKind::View);
        let key = (schema, name);
        if let Some(known) = self.relation_mut(&key) {
            (known.kind, known.comment) = (kind, comment);
            return Some(());
        }
        let relations = &mut self.schema_mut(&key.0)?.relations;
        let at = relations.len();
        relations.push(Relation { name: key.1.clone(), kind, comment, ..Relation::default() });
        self.by_relation.insert(key, at);
        Some(())
    }

    fn column(&mut self, mut row: Row) -> Option<()> {
        let key = (row.text()?, row.text()?);
        let (name, type_name, nullable) = (row.text()?, row.text()?, row.text()?);
        let (default, extra, comment) = (row.text(), row.text().unwrap_or_default(), row.text());
        let default = match extra.to_ascii_lowercase().contains("auto_increment") {
            true => Some("AUTO_INCREMENT".to_owned()),
            false => default.filter(|default| default != "NULL"),
        };
        let comment = comment.filter(|comment| !comment.is_empty());
        let column = Column { name, type_name, not_null: nullable == "NO", primary_key: 0, default, comment };
        self.relation_mut(&key)?.columns.push(column);
        Some(())
    }

    fn foreign_key(&mut self, mut row: Row) -> Option<()> {
        let key = (row.text()?, row.text()?);
        let constraint = (key.0.clone(), key.1.clone(), row.text()?);
        let (column, ref_schema, ref_relation, ref_column) = (row.text()?, row.text()?, row.text()?, row.text()?);
        let is_next = self.last_constraint.as_ref() == Some(&constraint);
        self.last_constraint = Some(constraint);
        let keys = &mut self.relation_mut(&key)?.foreign_keys;
        match keys.last_mut().filter(|_| is_next) {
            Some(last) => {
                last.columns.push(column);
                last.ref_columns.push(ref_column);
            }
            None => keys.push(ForeignKey { columns: vec![column], ref_schema, ref_relation, ref_columns: vec![ref_column] }),
        }
        Some(())
    }

    fn index(&mut self, mut row: Row) -> Option<()> {
        let key = (row.text()?, row.text()?);
        let (name, unique, column) = (row.text()?, row.text()? == "0", row.text().unwrap_or_default());
        let relation = self.relation_mut(&key)?;
        let place = match relation.indexes.last_mut().filter(|last| last.name == name) {
            Some(last) => {
                last.columns.push(column.clone());
                last.columns.len()
            }
            None => {
                relation.indexes.push(Index { name: name.clone(), columns: vec![column.clone()], unique });
                1
            }
        };
        if name == "PRIMARY"
            && let Some(column) = relation.columns.iter_mut().find(|known| known.name == column)
        {
            column.primary_key = u16::try_from(place).unwrap_or(u16::MAX);
        }
        Some(())
    }

    fn trigger(&mut self, mut row: Row) -> Option<()> {
        let key = (row.text()?, row.text()?);
        let name = row.text()?;
        self.relation_mut(&key)?.triggers.push(name);
        Some(())
    }

    fn routine(&mut self, mut row: Row) -> Option<()> {
        let key = (row.text()?, row.text()?);
        let (name, returns) = (row.text()?, row.text().unwrap_or_default());
        let routines = &mut self.schema_mut(&key.0)?.routines;
        let at = routines.len();
        routines.push(Routine { name, arguments: String::new(), returns });
        self.by_routine.insert(key, at);
        Some(())
    }

    fn parameter(&mut self, mut row: Row) -> Option<()> {
        let key = (row.text()?, row.text()?);
        let (mode, name, type_name) = (row.text(), row.text().unwrap_or_default(), row.text()?);
        let at = *self.by_routine.get(&key)?;
        let arguments = &mut self.schema_mut(&key.0)?.routines.get_mut(at)?.arguments;
        if !arguments.is_empty() {
            arguments.push_str(", ");
        }
        if let Some(mode) = mode.filter(|mode| mode != "IN") {
            arguments.push_str(&mode);
            arguments.push(' ');
        }
        arguments.push_str(&format!("{name} {type_name}"));
        Some(())
    }

    fn is_small(&self) -> bool {
        self.own_relations.is_some_and(catalog::is_small)
    }

    /// The rows of a small database were asked for, or what they come to.
    fn covers(&self, schema: &Schema) -> bool {
        self.is_small() && !schema.system
    }

    fn told(&self, ask: &CatalogAsk, schema: &Schema) -> (Told, String, String) {
        let names = self.name_sums.get(&schema.name).copied().unwrap_or_default();
        let (version, of_names) = (self.version(schema), catalog::of_names(&version_of(&[names])));
        (ask.told(schema, &version, &of_names, self.is_small()), version, of_names)
    }

    fn version(&self, schema: &Schema) -> String {
        version_of(&self.sums.get(&schema.name).copied().unwrap_or_default())
    }

    /// Schemas that are known whole, and of which it was not asked yet what they come to.
    pub fn unsummed(&self, ask: &CatalogAsk) -> Vec<String> {
        let unsummed = self.schemas.iter().filter(|schema| ask.known_whole(&schema.name).is_some() && !self.covers(schema));
        unsummed.map(|schema| schema.name.clone()).collect()
    }

    /// Schemas of which the names are to be told and were not read: they are asked for next.
    pub fn unnamed(&mut self, ask: &CatalogAsk) -> Vec<String> {
        let wanted = self.to_be(Told::Names, ask);
        self.name_sums.retain(|schema, _| !wanted.contains(schema));
        wanted
    }

    fn to_be(&self, told: Told, ask: &CatalogAsk) -> Vec<String> {
        let is_wanted = |schema: &&Schema| match ask {
            CatalogAsk::First => false,
            CatalogAsk::Since(_) => self.told(ask, schema).0 == told,
            CatalogAsk::Of(names) => told == Told::Whole && names.contains(&schema.name),
        };
        self.schemas.iter().filter(is_wanted).map(|schema| schema.name.clone()).collect()
    }

    /// Schemas of which the whole is to be told and was not read: it is asked for next.
    pub fn unread(&mut self, ask: &CatalogAsk) -> Vec<String> {
        let wanted = self.to_be(Told::Whole, ask);
        // Counted anew, from the rows.
        self.sums.retain(|schema, _| !wanted.contains(schema));
        self.read.extend(wanted.iter().cloned());
        wanted
    }

    /// The tree.
    pub fn into_catalog(mut self, ask: &CatalogAsk) -> Catalog {
        let mut schemas = std::mem::take(&mut self.schemas);
        if let CatalogAsk::Of(names) = ask {
            schemas.retain(|schema| names.contains(&schema.name));
        }
        for schema in &mut schemas {
            let (told, version, of_names) = self.told(ask, schema);
            // What was read because it had changed may be as it was by now: it is told, since it is here.
            let told = match told {
                _ if self.read.contains(&schema.name) => Told::Whole,
                Told::Unchanged if !schema.relations.is_empty() => Told::Names,
                told => told,
            };
            catalog::tell(schema, told, &version, &of_names);
        }
        let search_path = self.database.iter().cloned().collect();
        let mut catalog = Catalog { search_path, database: self.database.unwrap_or_default(), schemas };
        catalog::keep_known(ask, &mut catalog);
        catalog
    }
}

/// A schema and what something of it comes to.
fn sum(row: &mut Row) -> Option<(String, Sum)> {
    Some((row.text()?, Sum { rows: row.number()?, xor: row.number()? }))
}

#[cfg(test)]
mod tests;
