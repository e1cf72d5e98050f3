//! From the answers' rows to the tree.
//!
//! Invariant: rows that refer to something that is not in the tree (made or dropped between two questions) are left out, never an error.

use crate::engine::catalog::{self, CatalogAsk, Row, Told};
use crate::engine::postgres::session::TextRow;
use crate::engine::postgres::types::{built_in, short_name};
use shared::wire::catalog::{Catalog, Column, ForeignKey, Index, Relation, RelationKind, Routine, Schema};
use std::collections::HashMap;

type Oid = u32;

/// Which question a row answers.
pub const DATABASE: usize = 0;
pub const SEARCH_PATH: usize = 1;
pub const SCHEMAS: usize = 2;
pub const VERSIONS: usize = 3;
pub const NAME_VERSIONS: usize = 10;
pub const RELATIONS: usize = 4;
pub const COLUMNS: usize = 5;
pub const KEYS: usize = 6;
pub const INDEXES: usize = 7;
pub const TRIGGERS: usize = 8;
pub const ROUTINES: usize = 9;

/// What has been answered so far.
#[derive(Debug, Default)]
pub struct Answers {
    database: String,
    search_path: Vec<String>,
    schemas: Vec<Space>,
    relations: Vec<Table>,
    by_oid: HashMap<Oid, usize>,
    routines: Vec<(Oid, Routine)>,
    /// The table and name of the foreign key whose columns are coming.
    last_key: Option<(Oid, String)>,
    types: HashMap<(Oid, i32), String>,
}

#[derive(Debug)]
struct Space {
    oid: Oid,
    schema: Schema,
    told: Told,
    version: String,
    of_names: String,
    /// A person's own schemas are few enough to be told at once.
    is_small: bool,
}

#[derive(Debug)]
struct Table {
    oid: Oid,
    schema: Oid,
    relation: Relation,
    /// Places of `relation.columns`, ascending, with gaps where columns were dropped.
    attributes: Vec<i16>,
}

impl Table {
    fn column_mut(&mut self, attribute: i16) -> Option<&mut Column> {
        let at = self.attributes.binary_search(&attribute).ok()?;
        self.relation.columns.get_mut(at)
    }

    fn column_name(&self, attribute: i16) -> Option<String> {
        let at = self.attributes.binary_search(&attribute).ok()?;
        self.relation.columns.get(at).map(|column| column.name.clone())
    }
}

impl Answers {
    /// One row of one question.
    pub fn take(&mut self, question: usize, row: TextRow) {
        let mut row = Row::new(row);
        // A row with a value too few is skipped: only a server that is none sends it.
        let _ = match question {
            DATABASE => row.text().map(|name| self.database = name),
            SEARCH_PATH => row.text().map(|name| self.search_path.push(name)),
            SCHEMAS => self.schema(row),
            VERSIONS => self.version(row, |space| &mut space.version),
            NAME_VERSIONS => self.version(row, |space| &mut space.of_names),
            RELATIONS => self.relation(row),
            COLUMNS => self.column(row),
            KEYS => self.key(row),
            INDEXES => self.index(row),
            TRIGGERS => self.trigger(row),
            ROUTINES => self.routine(row),
            _ => None,
        };
    }

    fn schema(&mut self, mut row: Row) -> Option<()> {
        let (oid, name, system, denied, is_small) = (row.number()?, row.text()?, flag(&mut row), flag(&mut row), flag(&mut row));
        let schema = Schema { name, system, denied, ..Schema::default() };
        self.schemas.push(Space { oid, schema, told: Told::Whole, version: String::new(), of_names: String::new(), is_small });
        Some(())
    }

    fn version(&mut self, mut row: Row, place: fn(&mut Space) -> &mut String) -> Option<()> {
        let (oid, count, sum) = (row.number::<Oid>()?, row.text()?, row.text()?);
        let space = self.schemas.iter_mut().find(|space| space.oid == oid)?;
        let denied = if space.schema.denied { "-" } else { "" };
        *place(space) = format!("{count}.{sum}{denied}");
        Some(())
    }

    fn relation(&mut self, mut row: Row) -> Option<()> {
        let (oid, schema, name, kind) = (row.number()?, row.number()?, row.text()?, row.text()?);
        let kind = match kind.as_str() {
            "v" => RelationKind::View,
            "m" => RelationKind::MaterializedView,
            "f" => RelationKind::ForeignTable,
            _ => RelationKind::Table,
        };
        let estimated_rows = row.text().and_then(|rows| rows.parse().ok());
        let relation = Relation { name, kind, estimated_rows, comment: row.text(), ..Relation::default() };
        self.by_oid.insert(oid, self.relations.len());
        self.relations.push(Table { oid, schema, relation, attributes: Vec::new() });
        Some(())
    }

    fn column(&mut self, mut row: Row) -> Option<()> {
        let (oid, attribute, name) = (row.number()?, row.number()?, row.text()?);
        let formatted = row.text().unwrap_or_default();
        let type_name = short_name(&formatted);
        let (not_null, default, comment) = (flag(&mut row), row.text(), row.text());
        if let (Some(oid), Some(modifier)) = (row.number::<Oid>().filter(|oid| built_in(*oid).is_none()), row.number()) {
            self.types.entry((oid, modifier)).or_insert(formatted);
        }
        let table = self.table(oid)?;
        table.attributes.push(attribute);
        table.relation.columns.push(Column { name, type_name, not_null, primary_key: 0, default, comment });
        Some(())
    }

    fn key(&mut self, mut row: Row) -> Option<()> {
        let (oid, kind, name) = (row.number()?, row.text()?, row.text()?);
        let (place, attribute) = (row.number()?, row.number()?);
        if kind == "p" {
            self.table(oid)?.column_mut(attribute)?.primary_key = place;
            return Some(());
        }
        let (ref_schema, ref_relation, ref_column) = (row.text()?, row.text()?, row.text()?);
        let is_next = self.last_key.as_ref().is_some_and(|(table, last)| (*table, last) == (oid, &name));
        self.last_key = Some((oid, name));
        let table = self.table(oid)?;
        let column = table.column_name(attribute)?;
        match table.relation.foreign_keys.last_mut().filter(|_| is_next) {
            Some(key) => {
                key.columns.push(column);
                key.ref_columns.push(ref_column);
            }
            None => {
                let key = ForeignKey { columns: vec![column], ref_schema, ref_relation, ref_columns: vec![ref_column] };
                table.relation.foreign_keys.push(key);
            }
        }
        Some(())
    }

    fn index(&mut self, mut row: Row) -> Option<()> {
        let (oid, name, unique, attributes) = (row.number()?, row.text()?, flag(&mut row), numbers(&mut row));
        let table = self.table(oid)?;
        let columns = attributes.into_iter().map(|attribute| table.column_name(attribute).unwrap_or_default()).collect();
        table.relation.indexes.push(Index { name, columns, unique });
        Some(())
    }

    fn trigger(&mut self, mut row: Row) -> Option<()> {
        let (oid, name) = (row.number()?, row.text()?);
        self.table(oid)?.relation.triggers.push(name);
        Some(())
    }

    fn routine(&mut self, mut row: Row) -> Option<()> {
        let (schema, name) = (row.number()?, row.text()?);
        let (arguments, returns) = (row.text().unwrap_or_default(), row.text().unwrap_or_default());
        self.routines.push((schema, Routine { name, arguments, returns }));
        Some(())
    }

    fn table(&mut self, oid: Oid) -> Option<&mut Table> {
        self.relations.get_mut(*self.by_oid.get(&oid)?)
    }

    /// Settles what is told of each schema, once their versions are here.
    pub fn settle(&mut self, ask: &CatalogAsk) {
        for Space { schema, told, version, of_names, is_small, .. } in &mut self.schemas {
            let of_names = catalog::of_names(of_names);
            *told = ask.told(schema, version, &of_names, *is_small);
            catalog::tell(schema, *told, version, &of_names);
        }
    }

    /// The schemas whose names are still to be read, and those of which the whole is: their numbers as arrays' texts. `None` where there
    /// are none.
    pub fn wanted(&self) -> Option<(String, String)> {
        let numbers = |wanted: &[Told]| {
            let all: Vec<String> =
                self.schemas.iter().filter(|space| wanted.contains(&space.told)).map(|space| space.oid.to_string()).collect();
            format!("{{{}}}", all.join(","))
        };
        let is_any = self.schemas.iter().any(|space| space.told != Told::Unchanged);
        is_any.then(|| (numbers(&[Told::Names, Told::Whole]), numbers(&[Told::Whole])))
    }

    /// `schema.table.column` of every column, by table and place.
    pub fn origins(&self) -> HashMap<(Oid, i16), String> {
        let names: HashMap<Oid, &str> = self.schemas.iter().map(|space| (space.oid, space.schema.name.as_str())).collect();
        let mut origins = HashMap::new();
        for table in &self.relations {
            let Some(schema) = names.get(&table.schema) else { continue };
            for (attribute, column) in table.attributes.iter().zip(&table.relation.columns) {
                origins.insert((table.oid, *attribute), format!("{schema}.{}.{}", table.relation.name, column.name));
            }
        }
        origins
    }

    /// What the types of columns are called, where they are not built in.
    pub fn types(&mut self) -> HashMap<(Oid, i32), String> {
        std::mem::take(&mut self.types)
    }

    /// The tree.
    pub fn into_catalog(self, ask: &CatalogAsk) -> Catalog {
        let mut places: HashMap<Oid, usize> = HashMap::new();
        let mut schemas = Vec::with_capacity(self.schemas.len());
        for Space { oid, schema, .. } in self.schemas {
            places.insert(oid, schemas.len());
            schemas.push(schema);
        }
        for table in self.relations {
            if let Some(schema) = places.get(&table.schema).and_then(|at| schemas.get_mut(*at)) {
                schema.relations.push(table.relation);
            }
        }
        for (schema, routine) in self.routines {
            if let Some(schema) = places.get(&schema).and_then(|at| schemas.get_mut(*at)) {
                schema.routines.push(routine);
            }
        }
        let mut catalog = Catalog { database: self.database, search_path: self.search_path, schemas };
        catalog::keep_known(ask, &mut catalog);
        catalog
    }
}

fn flag(row: &mut Row) -> bool {
    row.text().as_deref() == Some("t")
}

/// `1 2` of a vector.
fn numbers(row: &mut Row) -> Vec<i16> {
    let text = row.text().unwrap_or_default();
    text.split(' ').filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
