//! The catalog in one flight: every question is sent before the first answer comes, and none is asked for each table.
//! Source: MySQL and MariaDB documentation, "INFORMATION_SCHEMA Tables".
//!
//! Invariant: nothing is interpolated; what the user may not see is not in the answers. Rows are not estimated: MariaDB would open
//! every table for that. Start at [`Answers`].

use super::session::TextRow;
use shared::wire::catalog::{Catalog, Column, ForeignKey, Index, Relation, RelationKind, Routine, Schema};
use std::collections::HashMap;

/// One question after the other; their order is that of [`Answers::take`].
pub const QUESTIONS: [&str; 9] = [
    "SELECT DATABASE()",
    "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME",
    "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES ORDER BY TABLE_SCHEMA, TABLE_NAME",
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT \
     FROM information_schema.COLUMNS ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
    "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME \
     FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL \
     ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION",
    "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME \
     FROM information_schema.STATISTICS ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
    "SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS ORDER BY TRIGGER_NAME",
    "SELECT ROUTINE_SCHEMA, SPECIFIC_NAME, ROUTINE_NAME, DTD_IDENTIFIER FROM information_schema.ROUTINES ORDER BY ROUTINE_NAME",
    "SELECT SPECIFIC_SCHEMA, SPECIFIC_NAME, PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER \
     FROM information_schema.PARAMETERS WHERE ORDINAL_POSITION > 0 ORDER BY ORDINAL_POSITION",
];

/// Schemas of the server itself.
const SYSTEM: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// What has been answered so far.
#[derive(Debug, Default)]
pub struct Answers {
    database: Option<String>,
    schemas: Vec<Schema>,
    by_schema: HashMap<String, usize>,
    /// The place of each relation in its schema.
    by_relation: HashMap<(String, String), usize>,
    /// The same of routines, by their specific names.
    by_routine: HashMap<(String, String), usize>,
    /// The constraint that the last foreign key of a relation came from.
    last_constraint: Option<(String, String, String)>,
}

impl Answers {
    /// One row of one question.
    pub fn take(&mut self, question: usize, row: TextRow) {
        let mut row = Row { values: row.into_iter() };
        // A row with a value too few is skipped: only a server that is none sends it.
        let _ = match question {
            0 => row.text().map(|name| self.database = Some(name)),
            1 => row.text().map(|name| self.schema(name)),
            2 => self.relation(row),
            3 => self.column(row),
            4 => self.foreign_key(row),
            5 => self.index(row),
            6 => self.trigger(row),
            7 => self.routine(row),
            _ => self.parameter(row),
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
        let relations = &mut self.schema_mut(&schema)?.relations;
        let at = relations.len();
        relations.push(Relation { name: name.clone(), kind, comment, ..Relation::default() });
        self.by_relation.insert((schema, name), at);
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

    /// The tree.
    pub fn into_catalog(self) -> Catalog {
        Catalog { search_path: self.database.iter().cloned().collect(), database: self.database.unwrap_or_default(), schemas: self.schemas }
    }
}

/// Values of a row from left to right.
struct Row {
    values: std::vec::IntoIter<Option<String>>,
}

impl Row {
    fn text(&mut self) -> Option<String> {
        self.values.next().flatten()
    }
}
