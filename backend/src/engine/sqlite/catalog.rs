//! Names, types and keys of a file and of what is attached to it: one question of each kind for each schema.
//!
//! Invariant: names are values here, never pasted into SQL but as quoted identifiers; a relation that can't be described (a view of a
//! dropped table, a virtual table whose module is not here) is listed without columns, and the rest is there. What has not changed is not
//! looked at: a file counts the changes of its schema itself.

mod describe;

use crate::engine::catalog::{self, CatalogAsk, Told};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row};
use shared::wire::catalog::{Catalog, Column, Relation, RelationKind, Schema};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What a schema is before anything in it is read.
struct Space {
    name: String,
    version: String,
}

/// As much of the catalog as is asked for; `database` is the file's name.
pub fn read(connection: &Connection, database: &str, ask: &CatalogAsk) -> Result<Catalog> {
    let mut spaces = spaces(connection)?;
    let search_path = search_path(&spaces);
    if let CatalogAsk::Of(names) = ask {
        spaces.retain(|space| names.contains(&space.name));
    }
    let is_small = depends_on_size(ask, &spaces)
        && catalog::is_small(spaces.iter().map(|space| count(connection, &space.name)).sum::<Result<usize>>()?);
    let mut schemas = Vec::with_capacity(spaces.len());
    for Space { name, version } in spaces {
        let of_names = catalog::of_names(&version);
        let mut schema = Schema { name, ..Schema::default() };
        let told = ask.told(&schema, &version, &of_names, is_small);
        if told != Told::Unchanged {
            fill(connection, &mut schema, told == Told::Whole)?;
        }
        catalog::tell(&mut schema, told, &version, &of_names);
        schemas.push(schema);
    }
    let mut catalog = Catalog { database: database.to_owned(), search_path, schemas };
    catalog::keep_known(ask, &mut catalog);
    Ok(catalog)
}

/// SQLite looks in `temp` first, then in `main`, then in the others in the order they were attached.
fn search_path(spaces: &[Space]) -> Vec<String> {
    let mut path: Vec<String> = spaces.iter().map(|space| space.name.clone()).collect();
    path.sort_by_key(|name| match name.as_str() {
        "temp" => 0,
        "main" => 1,
        _ => 2,
    });
    path
}

/// Something is asked for that is told whole only where the database is small. Where nothing is, nothing is counted.
fn depends_on_size(ask: &CatalogAsk, spaces: &[Space]) -> bool {
    match ask {
        CatalogAsk::First => true,
        CatalogAsk::Since(known) => spaces.iter().any(|space| !known.known.contains_key(&space.name)),
        CatalogAsk::Of(_) => false,
    }
}

/// The schemas in the order in which they were attached.
fn spaces(connection: &Connection) -> Result<Vec<Space>> {
    let mut select = connection.prepare("SELECT name, file FROM pragma_database_list ORDER BY seq")?;
    let named: Vec<(String, String)> = select.query_map([], |row| Ok((text(row, 0)?, text(row, 1)?)))?.collect::<Result<_>>()?;
    let mut spaces = Vec::with_capacity(named.len());
    for (name, file) in named {
        // `temp` is always there; without a table in it, it tells nothing.
        if name == "temp" && count(connection, &name)? == 0 {
            continue;
        }
        let changes: i64 = connection.query_row(&format!("PRAGMA {}.schema_version", quoted(&name)), [], |row| row.get(0))?;
        spaces.push(Space { version: format!("{changes}{}", identity(Path::new(&file))), name });
    }
    Ok(spaces)
}

/// What tells a file from another one that was put into its place; nothing for what is no file.
#[cfg(unix)]
fn identity(file: &Path) -> String {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(file).map(|file| format!(".{:x}.{:x}", file.dev(), file.ino())).unwrap_or_default()
}

#[cfg(not(unix))]
fn identity(_: &Path) -> String {
    String::new()
}

/// What stands in a schema's own table and is a relation.
const RELATIONS: &str = r"sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'";

fn count(connection: &Connection, schema: &str) -> Result<usize> {
    connection
        .query_row(&format!("SELECT count(*) FROM {}.{RELATIONS}", quoted(schema)), [], |row| row.get::<_, u32>(0))
        .map(|count| count as usize)
}

/// Reads what is in a schema, the whole or its names.
fn fill(connection: &Connection, schema: &mut Schema, whole: bool) -> Result<()> {
    let mut unsure = Vec::new();
    schema.relations = relations(connection, &schema.name, &mut unsure)?;
    let estimates = estimates(connection, &schema.name);
    for relation in &mut schema.relations {
        relation.estimated_rows = estimates.get(&relation.name.to_lowercase()).copied();
    }
    if whole {
        describe::describe(connection, schema, &unsure)?;
        let mut triggers = triggers(connection, &schema.name)?;
        for relation in &mut schema.relations {
            relation.triggers = triggers.remove(&relation.name.to_lowercase()).unwrap_or_default();
        }
        complete_foreign_keys(schema);
    }
    Ok(())
}

/// Relations in the order of their names; `unsure` are the places of those that may be beyond description.
fn relations(connection: &Connection, schema: &str, unsure: &mut Vec<usize>) -> Result<Vec<Relation>> {
    let sql = format!("SELECT name, type, sql LIKE 'create virtual%' FROM {}.{RELATIONS} ORDER BY name", quoted(schema));
    let mut select = connection.prepare(&sql)?;
    let mut rows = select.query([])?;
    let mut relations = Vec::new();
    while let Some(row) = rows.next()? {
        let kind = if text(row, 1)? == "view" { RelationKind::View } else { RelationKind::Table };
        if kind == RelationKind::View || row.get::<_, Option<bool>>(2)?.unwrap_or(false) {
            unsure.push(relations.len());
        }
        relations.push(Relation { name: text(row, 0)?, kind, ..Relation::default() });
    }
    Ok(relations)
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
