//! Columns, keys and indexes of relations: one question of each kind, about all of them.
//!
//! Invariant: a relation that SQLite cannot describe ends a question with an error at its own place. It is left out, and the question goes on
//! behind it; those that may be such are asked about apart from the others.

use super::{optional, text};
use rusqlite::{Connection, ErrorCode, Result, Row, params};
use shared::wire::catalog::{Column, ForeignKey, Index, Relation, RelationKind, Schema};

/// Names go in as one value, and come back as their places in it.
const COLUMNS: &str = r#"SELECT n.key, x.name, x.type, x."notnull", x.pk, x.dflt_value
    FROM json_each(?1) n CROSS JOIN pragma_table_xinfo(n.value, ?2) x"#;
const FOREIGN_KEYS: &str = r#"SELECT n.key, f.id, f."table", f."from", f."to"
    FROM json_each(?1) n CROSS JOIN pragma_foreign_key_list(n.value, ?2) f"#;
/// The name of an expression's column is NULL.
const INDEXES: &str = r#"SELECT n.key, i.name, i."unique", x.name
    FROM json_each(?1) n CROSS JOIN pragma_index_list(n.value, ?2) i CROSS JOIN pragma_index_xinfo(i.name, ?2) x
    WHERE i.origin <> 'pk' AND x.key = 1"#;

/// Puts columns, keys and indexes into the relations of a schema; `unsure` are the places of those that may be beyond description.
pub fn describe(connection: &Connection, schema: &mut Schema, unsure: &[usize]) -> Result<()> {
    let all = 0..schema.relations.len();
    let sure: Vec<usize> = all.filter(|at| unsure.binary_search(at).is_err()).collect();
    let Schema { name, relations, .. } = schema;
    for places in [&sure, unsure] {
        each(connection, COLUMNS, name, relations, places, &mut column)?;
    }
    let tables: Vec<usize> =
        (0..relations.len()).filter(|at| relations.get(*at).is_some_and(|one| one.kind == RelationKind::Table)).collect();
    let mut last = None;
    each(connection, FOREIGN_KEYS, name, relations, &tables, &mut |relation, row| foreign_key(relation, row, &mut last))?;
    each(connection, INDEXES, name, relations, &tables, &mut index)?;
    for relation in relations {
        // The key declared last comes first.
        relation.foreign_keys.reverse();
        relation.foreign_keys.iter_mut().for_each(|key| key.ref_schema.clone_from(name));
        relation.indexes.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(())
}

/// Asks about the relations in these places; each row goes to the one it is about.
fn each(
    connection: &Connection,
    sql: &str,
    schema: &str,
    relations: &mut [Relation],
    places: &[usize],
    take: &mut dyn FnMut(&mut Relation, &Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut select = connection.prepare(sql)?;
    let mut rest = places;
    while !rest.is_empty() {
        let names: Vec<&str> = rest.iter().filter_map(|at| relations.get(*at)).map(|relation| relation.name.as_str()).collect();
        let names = serde_json::to_string(&names).unwrap_or_default();
        let mut reached = 0;
        let mut rows = select.query(params![names, schema])?;
        let ended = loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let at = usize::try_from(row.get::<_, u32>(0)?).unwrap_or(usize::MAX);
                    reached = at.saturating_add(1);
                    if let Some(relation) = rest.get(at).and_then(|at| relations.get_mut(*at)) {
                        take(relation, row)?;
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        match ended {
            Ok(()) => return Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => return Err(error),
            // The one behind the last that was described.
            Err(_) => rest = rest.get(reached.saturating_add(1)..).unwrap_or(&[]),
        }
    }
    Ok(())
}

fn column(relation: &mut Relation, row: &Row<'_>) -> Result<()> {
    relation.columns.push(Column {
        name: text(row, 1)?,
        type_name: text(row, 2)?,
        not_null: row.get(3)?,
        primary_key: row.get(4)?,
        default: optional(row, 5)?,
        comment: None,
    });
    Ok(())
}

/// Keys stand one after the other, the last one first; `last` is the number of the one whose columns are coming.
fn foreign_key(relation: &mut Relation, row: &Row<'_>, last: &mut Option<(i64, i64)>) -> Result<()> {
    let key = (row.get(0)?, row.get(1)?);
    if last.replace(key) != Some(key) {
        relation.foreign_keys.push(ForeignKey { ref_relation: text(row, 2)?, ..ForeignKey::default() });
    }
    if let Some(key) = relation.foreign_keys.last_mut() {
        key.columns.push(text(row, 3)?);
        // NULL stands for the parent's primary key.
        key.ref_columns.extend(optional(row, 4)?);
    }
    Ok(())
}

fn index(relation: &mut Relation, row: &Row<'_>) -> Result<()> {
    let (name, column) = (text(row, 1)?, optional(row, 3)?.unwrap_or_default());
    match relation.indexes.last_mut().filter(|last| last.name == name) {
        Some(last) => last.columns.push(column),
        None => relation.indexes.push(Index { name, columns: vec![column], unique: row.get(2)? }),
    }
    Ok(())
}
