//! Names, types and keys of a file and of what is attached to it.
//!
//! Invariant: names are values here, never pasted into SQL but as quoted identifiers; a relation that can't be described (a view of a
//! dropped table) is listed without columns, and the rest is there.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row, Statement, params};
use shared::wire::catalog::{Catalog, Column, ForeignKey, Index, Relation, RelationKind, Schema};
use std::collections::{BTreeMap, HashMap};

/// The catalog; `database` is the file's name.
pub fn read(connection: &Connection, database: &str) -> Result<Catalog> {
    let names = schemas(connection)?;
    let mut relations = relations(connection)?;
    let mut describe = Describe::prepare(connection)?;
    let mut schemas = Vec::with_capacity(names.len());
    for name in names {
        let found = relations.remove(&name).unwrap_or_default();
        // `temp` is always there; without a table in it, it tells nothing.
        if name == "temp" && found.is_empty() {
            continue;
        }
        schemas.push(schema(connection, &mut describe, name, found)?);
    }
    for schema in &mut schemas {
        complete_foreign_keys(schema);
    }
    Ok(Catalog { database: database.to_owned(), search_path: search_path(&schemas), schemas })
}

/// SQLite looks in `temp` first, then in `main`, then in the others in the order they were attached.
fn search_path(schemas: &[Schema]) -> Vec<String> {
    let mut path: Vec<String> = schemas.iter().map(|schema| schema.name.clone()).collect();
    path.sort_by_key(|name| match name.as_str() {
        "temp" => 0,
        "main" => 1,
        _ => 2,
    });
    path
}

fn schemas(connection: &Connection) -> Result<Vec<String>> {
    let mut select = connection.prepare("SELECT name FROM pragma_database_list ORDER BY seq")?;
    select.query_map([], |row| text(row, 0))?.collect()
}

/// Relations without columns, by schema, in the order of their names.
fn relations(connection: &Connection) -> Result<HashMap<String, Vec<Relation>>> {
    let mut select =
        connection.prepare(r"SELECT schema, name, type FROM pragma_table_list WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name")?;
    let mut by_schema: HashMap<String, Vec<Relation>> = HashMap::new();
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let kind = if text(row, 2)? == "view" { RelationKind::View } else { RelationKind::Table };
        by_schema.entry(text(row, 0)?).or_default().push(Relation { name: text(row, 1)?, kind, ..Relation::default() });
    }
    Ok(by_schema)
}

fn schema(connection: &Connection, describe: &mut Describe<'_>, name: String, mut relations: Vec<Relation>) -> Result<Schema> {
    let mut triggers = triggers(connection, &name)?;
    let estimates = estimates(connection, &name);
    for relation in &mut relations {
        // Each may fail for a relation whose definition no longer fits, without harm to the others.
        relation.columns = describe.columns(&name, &relation.name).unwrap_or_default();
        if relation.kind == RelationKind::Table {
            relation.foreign_keys = describe.foreign_keys(&name, &relation.name).unwrap_or_default();
            relation.indexes = describe.indexes(&name, &relation.name).unwrap_or_default();
        }
        let key = relation.name.to_lowercase();
        relation.triggers = triggers.remove(&key).unwrap_or_default();
        relation.estimated_rows = estimates.get(&key).copied();
    }
    Ok(Schema { name, relations, ..Schema::default() })
}

/// Names of triggers by the lower-case name of their table.
fn triggers(connection: &Connection, schema: &str) -> Result<HashMap<String, Vec<String>>> {
    let sql = format!("SELECT tbl_name, name FROM {}.sqlite_schema WHERE type = 'trigger' ORDER BY name", quoted(schema));
    let mut by_table: HashMap<String, Vec<String>> = HashMap::new();
    let mut select = connection.prepare(&sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        by_table.entry(text(row, 0)?.to_lowercase()).or_default().push(text(row, 1)?);
    }
    Ok(by_table)
}

/// What ANALYZE counted, by the lower-case name of the table; nothing where it never ran.
fn estimates(connection: &Connection, schema: &str) -> HashMap<String, u64> {
    let sql = format!("SELECT tbl, stat FROM {}.sqlite_stat1", quoted(schema));
    let mut counts = HashMap::new();
    let Ok(mut select) = connection.prepare(&sql) else { return counts };
    let Ok(mut rows) = select.query([]) else { return counts };
    while let Ok(Some(row)) = rows.next() {
        let (Ok(table), Ok(stat)) = (text(row, 0), text(row, 1)) else { continue };
        // The first number is the rows of the index, which for a partial one are fewer than the table's.
        if let Some(rows) = stat.split(' ').next().and_then(|rows| rows.parse().ok()) {
            let count = counts.entry(table.to_lowercase()).or_insert(rows);
            *count = rows.max(*count);
        }
    }
    counts
}

/// The statements that describe one relation.
struct Describe<'c> {
    columns: Statement<'c>,
    foreign_keys: Statement<'c>,
    indexes: Statement<'c>,
    index_columns: Statement<'c>,
}

impl<'c> Describe<'c> {
    fn prepare(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            columns: connection.prepare(r#"SELECT name, type, "notnull", pk, dflt_value FROM pragma_table_xinfo(?, ?) ORDER BY cid"#)?,
            // Declared last comes first with the smallest id.
            foreign_keys: connection
                .prepare(r#"SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, ?) ORDER BY id DESC, seq"#)?,
            indexes: connection.prepare(r#"SELECT name, "unique" FROM pragma_index_list(?, ?) WHERE origin <> 'pk' ORDER BY name"#)?,
            index_columns: connection.prepare("SELECT name FROM pragma_index_xinfo(?, ?) WHERE key = 1 ORDER BY seqno")?,
        })
    }

    fn columns(&mut self, schema: &str, relation: &str) -> Result<Vec<Column>> {
        let described = self.columns.query_map(params![relation, schema], |row| {
            Ok(Column {
                name: text(row, 0)?,
                type_name: text(row, 1)?,
                not_null: row.get(2)?,
                primary_key: row.get(3)?,
                default: optional(row, 4)?,
                comment: None,
            })
        })?;
        described.collect()
    }

    fn foreign_keys(&mut self, schema: &str, relation: &str) -> Result<Vec<ForeignKey>> {
        let mut keys: Vec<ForeignKey> = Vec::new();
        let mut last = None;
        let mut rows = self.foreign_keys.query(params![relation, schema])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if last.replace(id) != Some(id) {
                keys.push(ForeignKey { ref_schema: schema.to_owned(), ref_relation: text(row, 1)?, ..ForeignKey::default() });
            }
            if let Some(key) = keys.last_mut() {
                key.columns.push(text(row, 2)?);
                // NULL stands for the parent's primary key.
                key.ref_columns.extend(optional(row, 3)?);
            }
        }
        Ok(keys)
    }

    fn indexes(&mut self, schema: &str, relation: &str) -> Result<Vec<Index>> {
        let mut indexes = Vec::new();
        let mut rows = self.indexes.query(params![relation, schema])?;
        while let Some(row) = rows.next()? {
            let name = text(row, 0)?;
            // The name of an expression's column is NULL.
            let columns = self.index_columns.query_map(params![name, schema], |row| Ok(optional(row, 0)?.unwrap_or_default()))?;
            indexes.push(Index { columns: columns.collect::<Result<_>>()?, name, unique: row.get(1)? });
        }
        Ok(indexes)
    }
}

/// Gives foreign keys the names their parents have, in the parents' own spelling, and implicit ones the parents' primary key.
fn complete_foreign_keys(schema: &mut Schema) {
    let parents: BTreeMap<String, (String, Vec<Column>)> =
        schema.relations.iter().map(|relation| (relation.name.to_lowercase(), (relation.name.clone(), relation.columns.clone()))).collect();
    for key in schema.relations.iter_mut().flat_map(|relation| &mut relation.foreign_keys) {
        let Some((name, columns)) = parents.get(&key.ref_relation.to_lowercase()) else { continue };
        key.ref_relation.clone_from(name);
        if key.ref_columns.is_empty() {
            let mut keyed: Vec<&Column> = columns.iter().filter(|column| column.primary_key > 0).collect();
            keyed.sort_by_key(|column| column.primary_key);
            key.ref_columns = keyed.iter().map(|column| column.name.clone()).collect();
        }
        for wanted in &mut key.ref_columns {
            if let Some(column) = columns.iter().find(|column| column.name.eq_ignore_ascii_case(wanted)) {
                wanted.clone_from(&column.name);
            }
        }
    }
}

/// An identifier in double quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(row: &Row<'_>, column: usize) -> Result<String> {
    Ok(optional(row, column)?.unwrap_or_default())
}

/// A name, also one that is not UTF-8 in a hostile file.
fn optional(row: &Row<'_>, column: usize) -> Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}
