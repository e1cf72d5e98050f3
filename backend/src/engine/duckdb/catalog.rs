//! Names, types and keys of an open file: four questions, whatever its size.
//!
//! Invariant: names come as values, never pasted into SQL.

use super::thread::rows_of;
use adbc_core::error::Result;
use adbc_driver_manager::ManagedConnection;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use shared::format::duckdb::cell;
use shared::wire::catalog::{Catalog, Column, ForeignKey, Index, Relation, RelationKind, Routine, Schema};
use std::collections::BTreeMap;

/// Everything that is listed is one of the database in use, and not DuckDB's own.
const HERE: &str = "database_name = current_database() AND NOT internal";

type Relations = BTreeMap<(String, String), Relation>;

/// The catalog; `name` is the file's.
pub fn read(connection: &mut ManagedConnection, name: &str) -> Result<Catalog> {
    let mut relations = relations(connection)?;
    columns(connection, &mut relations)?;
    keys(connection, &mut relations)?;
    indexes(connection, &mut relations)?;
    let mut schemas = schemas(connection)?;
    for ((schema, _), relation) in relations {
        schemas.entry(schema.clone()).or_insert_with(|| Schema { name: schema, ..Schema::default() }).relations.push(relation);
    }
    for (schema, routine) in routines(connection)? {
        if let Some(schema) = schemas.get_mut(&schema) {
            schema.routines.push(routine);
        }
    }
    let mut search_path: Vec<String> = each(connection, "SELECT current_schema()")?.iter().map(|row| row.text(0)).collect();
    search_path.push("main".to_owned());
    search_path.dedup();
    Ok(Catalog { database: name.to_owned(), search_path, schemas: schemas.into_values().collect() })
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

fn each(connection: &mut ManagedConnection, sql: &str) -> Result<Vec<Row>> {
    let batches = rows_of(connection, sql)?;
    Ok(batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| Row { batch: batch.clone(), row })).collect())
}

fn schemas(connection: &mut ManagedConnection) -> Result<BTreeMap<String, Schema>> {
    let sql =
        "SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() AND (NOT internal OR schema_name = 'main')";
    let rows = each(connection, sql)?;
    Ok(rows.iter().map(|row| (row.text(0), Schema { name: row.text(0), ..Schema::default() })).collect())
}

fn relations(connection: &mut ManagedConnection) -> Result<Relations> {
    // Temporary tables lie in a database of their own.
    let sql = format!(
        "SELECT schema_name, table_name, 'table', comment, estimated_size::VARCHAR FROM duckdb_tables() WHERE ({HERE}) OR temporary \
         UNION ALL SELECT schema_name, view_name, 'view', comment, NULL FROM duckdb_views() WHERE ({HERE}) OR (temporary AND NOT internal)"
    );
    let rows = each(connection, &sql)?;
    let relation = |row: &Row| Relation {
        name: row.text(1),
        kind: if row.text(2) == "view" { RelationKind::View } else { RelationKind::Table },
        comment: row.optional(3),
        estimated_rows: row.optional(4).and_then(|count| count.parse().ok()),
        ..Relation::default()
    };
    Ok(rows.iter().map(|row| ((row.text(0), row.text(1)), relation(row))).collect())
}

fn columns(connection: &mut ManagedConnection, relations: &mut Relations) -> Result<()> {
    let sql = format!(
        "SELECT schema_name, table_name, column_name, data_type, NOT is_nullable, column_default, comment FROM duckdb_columns() \
         WHERE ({HERE}) OR database_name = 'temp' ORDER BY schema_name, table_name, column_index"
    );
    for row in each(connection, &sql)? {
        if let Some(relation) = relations.get_mut(&(row.text(0), row.text(1))) {
            let (name, type_name, not_null) = (row.text(2), row.text(3), row.truth(4));
            relation.columns.push(Column { name, type_name, not_null, primary_key: 0, default: row.optional(5), comment: row.optional(6) });
        }
    }
    Ok(())
}

fn keys(connection: &mut ManagedConnection, relations: &mut Relations) -> Result<()> {
    let sql = "SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names \
               FROM duckdb_constraints() WHERE database_name IN (current_database(), 'temp') \
               AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY', 'UNIQUE') ORDER BY constraint_index";
    for row in each(connection, sql)? {
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

fn indexes(connection: &mut ManagedConnection, relations: &mut Relations) -> Result<()> {
    let sql = "SELECT schema_name, table_name, index_name, is_unique, expressions FROM duckdb_indexes() \
               WHERE database_name = current_database() ORDER BY index_name";
    for row in each(connection, sql)? {
        if let Some(relation) = relations.get_mut(&(row.text(0), row.text(1))) {
            // Written as a list: `[a, '"b c"']`.
            let words = row.text(4);
            let inner = words.trim_start_matches('[').trim_end_matches(']');
            let plain = |part: &str| part.trim_matches('\'').trim_matches('"').to_owned();
            let known = |name: String| if relation.columns.iter().any(|column| column.name == name) { name } else { String::new() };
            let columns = inner.split(", ").map(|part| known(plain(part))).collect();
            relation.indexes.push(Index { name: row.text(2), columns, unique: row.truth(3) });
        }
    }
    Ok(())
}

/// Macros: DuckDB's own functions are not listed.
fn routines(connection: &mut ManagedConnection) -> Result<Vec<(String, Routine)>> {
    let sql = "SELECT schema_name, function_name, array_to_string(parameters, ', '), coalesce(return_type, '') FROM duckdb_functions() \
               WHERE NOT internal AND database_name = current_database() ORDER BY function_name";
    let rows = each(connection, sql)?;
    Ok(rows.iter().map(|row| (row.text(0), Routine { name: row.text(1), arguments: row.text(2), returns: row.text(3) })).collect())
}
