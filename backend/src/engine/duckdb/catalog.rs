//! Names, types and keys of an open file: a question of each kind, whatever its size and however many schemas are asked for.
//!
//! Invariant: names come as values and go as values, never pasted into SQL.
//!
//! A schema's version is counted by DuckDB, from all that is told of it, without moving any of it.

use super::thread::rows_of;
use crate::engine::catalog::{self, CatalogAsk, Told};
use adbc_core::error::Result;
use adbc_driver_manager::ManagedConnection;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use shared::format::duckdb::cell;
use shared::wire::catalog::{Catalog, Column, ForeignKey, Index, Relation, RelationKind, Routine, Schema};
use std::collections::BTreeMap;

/// As much of the catalog as is asked for; `name` is the file's.
pub fn read(connection: &mut ManagedConnection, name: &str, ask: &CatalogAsk) -> Result<Catalog> {
    let mut search_path: Vec<String> = each(connection, "SELECT current_schema()", &[])?.iter().map(|row| row.text(0)).collect();
    search_path.push("main".to_owned());
    search_path.dedup();
    let mut schemas = schemas(connection, ask)?;
    let chosen = |wanted: &[Told]| -> Vec<String> {
        schemas.iter().filter(|(_, (told, _))| wanted.contains(told)).map(|(name, _)| name.clone()).collect()
    };
    let (named, whole) = (chosen(&[Told::Names, Told::Whole]), chosen(&[Told::Whole]));
    let mut relations = relations(connection, &named)?;
    columns(connection, &whole, &mut relations)?;
    keys(connection, &whole, &mut relations)?;
    indexes(connection, &whole, &mut relations)?;
    for ((schema, _), relation) in relations {
        if let Some((_, schema)) = schemas.get_mut(&schema) {
            schema.relations.push(relation);
        }
    }
    for (schema, routine) in routines(connection, &whole)? {
        if let Some((_, schema)) = schemas.get_mut(&schema) {
            schema.routines.push(routine);
        }
    }
    let schemas = schemas.into_values().map(|(_, schema)| schema).collect();
    let mut catalog = Catalog { database: name.to_owned(), search_path, schemas };
    catalog::keep_known(ask, &mut catalog);
    Ok(catalog)
}

/// A row of an answer.
struct Row {
    batch: RecordBatch,
    row: usize,
}

impl Row {
    fn optional(&self, at: usize) -> Option<String> {
        let (array, field) = (self.batch.columns().get(at)?, self.batch.schema_ref().fields().get(at)?.clone());
        cell(array.as_ref(), &field, self.row)
    }

    fn text(&self, at: usize) -> String {
        self.optional(at).unwrap_or_default()
    }

    fn truth(&self, at: usize) -> bool {
        self.optional(at).is_some_and(|text| text == "true")
    }

    fn list(&self, at: usize) -> Vec<String> {
        let values = self.batch.columns().get(at).and_then(|array| array.as_list_opt::<i32>()).map(|lists| lists.value(self.row));
        let Some(values) = values else { return Vec::new() };
        values.as_string_opt::<i32>().map(|texts| texts.iter().map(|text| text.unwrap_or("").to_owned()).collect()).unwrap_or_default()
    }
}

type Relations = BTreeMap<(String, String), Relation>;

fn each(connection: &mut ManagedConnection, sql: &str, values: &[String]) -> Result<Vec<Row>> {
    let batches = rows_of(connection, sql, values)?;
    Ok(batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| Row { batch: batch.clone(), row })).collect())
}

/// The rows of a question that are about these schemas.
fn about(connection: &mut ManagedConnection, schemas: &[String], sql: &str, order: &str) -> Result<Vec<Row>> {
    if schemas.is_empty() {
        return Ok(Vec::new());
    }
    let places = vec!["?"; schemas.len()].join(", ");
    each(connection, &format!("SELECT * FROM ({sql}) q WHERE schema_name IN ({places}) ORDER BY {order}"), schemas)
}

/// The schemas there are, what is told of each, and its version.
fn schemas(connection: &mut ManagedConnection, ask: &CatalogAsk) -> Result<BTreeMap<String, (Told, Schema)>> {
    let sql =
        "SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() AND (NOT internal OR schema_name = 'main')";
    let mut names: Vec<String> = each(connection, sql, &[])?.iter().map(|row| row.text(0)).collect();
    if let CatalogAsk::Of(wanted) = ask {
        names.retain(|name| wanted.contains(name));
    }
    let counted = each(connection, &versions(), &[])?;
    let relations = counted.iter().filter_map(|row| row.text(1).parse::<usize>().ok()).sum();
    let versions: BTreeMap<String, String> = counted.iter().map(|row| (row.text(0), format!("{}.{}", row.text(2), row.text(3)))).collect();
    let schema = |name: String| {
        let mut schema = Schema { name: name.clone(), ..Schema::default() };
        let version = versions.get(&name).map_or("0", String::as_str);
        let of_names = catalog::of_names(version);
        let told = ask.told(&schema, version, &of_names, catalog::is_small(relations));
        catalog::tell(&mut schema, told, version, &of_names);
        (name, (told, schema))
    };
    Ok(names.into_iter().map(schema).collect())
}

// Everything that is listed is of the database in use, and not DuckDB's own; what is temporary lies in a database of its own.

const RELATIONS: &str = "SELECT schema_name, table_name AS name, 'table' AS kind, comment, estimated_size::VARCHAR AS size FROM duckdb_tables() \
        WHERE (database_name = current_database() AND NOT internal) OR temporary \
    UNION ALL SELECT schema_name, view_name, 'view', comment, NULL FROM duckdb_views() \
        WHERE (database_name = current_database() AND NOT internal) OR (temporary AND NOT internal)";

const COLUMNS: &str = "SELECT schema_name, table_name, column_name, data_type, NOT is_nullable AS not_null, column_default, comment, column_index \
    FROM duckdb_columns() WHERE (database_name = current_database() AND NOT internal) OR database_name = 'temp'";

const KEYS: &str = "SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names, \
        constraint_index FROM duckdb_constraints() WHERE database_name IN (current_database(), 'temp') \
        AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY', 'UNIQUE')";

const INDEXES: &str = "SELECT schema_name, table_name, index_name, is_unique, expressions FROM duckdb_indexes() \
    WHERE database_name = current_database()";

/// Macros: DuckDB's own functions are not listed.
const ROUTINES: &str = "SELECT schema_name, function_name, array_to_string(parameters, ', ') AS arguments, \
        coalesce(return_type, '') AS returns FROM duckdb_functions() WHERE NOT internal AND database_name = current_database()";

/// Of each schema the number of its relations, the number of all that is told of it, and a hash of that.
fn versions() -> String {
    format!(
        "SELECT s, sum(r)::VARCHAR, count(*)::VARCHAR, bit_xor(h)::VARCHAR FROM ( \
            SELECT schema_name AS s, 1 AS r, hash(1, name, kind, comment) AS h FROM ({RELATIONS}) \
            UNION ALL SELECT schema_name, 0, hash(2, table_name, column_name, data_type, not_null, column_default, comment, column_index) \
                FROM ({COLUMNS}) \
            UNION ALL SELECT schema_name, 0, hash(3, table_name, constraint_type, constraint_column_names, referenced_table, \
                referenced_column_names, constraint_index) FROM ({KEYS}) \
            UNION ALL SELECT schema_name, 0, hash(4, table_name, index_name, is_unique, expressions) FROM ({INDEXES}) \
            UNION ALL SELECT schema_name, 0, hash(5, function_name, arguments, returns) FROM ({ROUTINES}) \
        ) GROUP BY s"
    )
}

fn relations(connection: &mut ManagedConnection, schemas: &[String]) -> Result<Relations> {
    let rows = about(connection, schemas, RELATIONS, "schema_name, name")?;
    let relation = |row: &Row| Relation {
        name: row.text(1),
        kind: if row.text(2) == "view" { RelationKind::View } else { RelationKind::Table },
        comment: row.optional(3),
        estimated_rows: row.optional(4).and_then(|count| count.parse().ok()),
        ..Relation::default()
    };
    Ok(rows.iter().map(|row| ((row.text(0), row.text(1)), relation(row))).collect())
}

fn columns(connection: &mut ManagedConnection, schemas: &[String], relations: &mut Relations) -> Result<()> {
    for row in about(connection, schemas, COLUMNS, "schema_name, table_name, column_index")? {
        if let Some(relation) = relations.get_mut(&(row.text(0), row.text(1))) {
            let (name, type_name, not_null) = (row.text(2), row.text(3), row.truth(4));
            relation.columns.push(Column { name, type_name, not_null, primary_key: 0, default: row.optional(5), comment: row.optional(6) });
        }
    }
    Ok(())
}

fn keys(connection: &mut ManagedConnection, schemas: &[String], relations: &mut Relations) -> Result<()> {
    for row in about(connection, schemas, KEYS, "constraint_index")? {
        let Some(relation) = relations.get_mut(&(row.text(0), row.text(1))) else { continue };
        let columns = row.list(3);
        match row.text(2).as_str() {
            "PRIMARY KEY" => {
                for (place, name) in (1..).zip(&columns) {
                    if let Some(column) = relation.columns.iter_mut().find(|column| column.name == *name) {
                        column.primary_key = place;
                    }
                }
            }
            "UNIQUE" => relation.indexes.push(Index { name: String::new(), columns, unique: true }),
            _ => relation.foreign_keys.push(ForeignKey {
                columns,
                ref_schema: row.text(0),
                ref_relation: row.text(4),
                ref_columns: row.list(5),
            }),
        }
    }
    Ok(())
}

fn indexes(connection: &mut ManagedConnection, schemas: &[String], relations: &mut Relations) -> Result<()> {
    for row in about(connection, schemas, INDEXES, "index_name")? {
        if let Some(relation) = relations.get_mut(&(row.text(0), row.text(1))) {
            let known = |name: String| if relation.columns.iter().any(|column| column.name == name) { name } else { String::new() };
            let columns = listed(&row.text(4)).into_iter().map(known).collect();
            relation.indexes.push(Index { name: row.text(2), columns, unique: row.truth(3) });
        }
    }
    Ok(())
}

fn routines(connection: &mut ManagedConnection, schemas: &[String]) -> Result<Vec<(String, Routine)>> {
    let rows = about(connection, schemas, ROUTINES, "function_name")?;
    Ok(rows.iter().map(|row| (row.text(0), Routine { name: row.text(1), arguments: row.text(2), returns: row.text(3) })).collect())
}

/// The names in the text of a list, `[a, '"b c"', '(lower(d))']`: in apostrophes what is not plain, and within those in quotes what is a
/// name and no expression.
fn listed(text: &str) -> Vec<String> {
    let mut rest = text.trim_start_matches('[');
    let mut all = Vec::new();
    while !rest.is_empty() && rest != "]" {
        let (item, behind) = match rest.strip_prefix('\'') {
            Some(begun) => within_apostrophes(begun),
            None => {
                let end = rest.find([',', ']']).unwrap_or(rest.len());
                (rest.get(..end).unwrap_or_default().to_owned(), rest.get(end..).unwrap_or_default())
            }
        };
        let name = item.strip_prefix('"').and_then(|item| item.strip_suffix('"')).map(|name| name.replace("\"\"", "\""));
        all.push(name.unwrap_or(item));
        rest = behind.strip_prefix(", ").unwrap_or_default();
    }
    all
}

/// What stands before the next apostrophe that no backslash is before, and what is behind it.
fn within_apostrophes(text: &str) -> (String, &str) {
    let (mut item, mut escaped) = (String::new(), false);
    for (at, character) in text.char_indices() {
        match character {
            '\\' if !escaped => escaped = true,
            '\'' if !escaped => return (item, text.get(at + 1..).unwrap_or_default()),
            _ => {
                item.push(character);
                escaped = false;
            }
        }
    }
    (item, "")
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn names_are_read_from_a_lists_text_as_duckdb_writes_it() {
        for (text, names) in [
            ("[a, Up]", &["a", "Up"][..]),
            (r#"['"quo""te"']"#, &["quo\"te"]),
            (r#"['"a, b"', '"apo\'s"', '"back\\slash"', plain]"#, &["a, b", "apo's", "back\\slash", "plain"]),
            (r#"['"[x]"', '"emo🦀"', '(lower(s))', '"select"']"#, &["[x]", "emo🦀", "(lower(s))", "select"]),
            ("[]", &[]),
            ("['never ended", &["never ended"]),
        ] {
            assert_eq!(listed(text), names, "{text}");
        }
    }
}
