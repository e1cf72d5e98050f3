//! What a file is to DuckDB: a database of its own, or rows to be read.
//!
//! Invariant: decided by the file's beginning where that tells, else by its name; one table.

use super::arrow_file;
use crate::engine::files::is_duckdb;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Forms of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// A DuckDB database.
    Database,
    /// Parquet.
    Parquet,
    /// Comma-separated values, or tab-separated ones.
    Csv,
    /// JSON, or one JSON value a line.
    Json,
    /// Arrow's own format, of files or of streams.
    Arrow,
}

const ENDINGS: &[(&str, Form)] = &[
    ("duckdb", Form::Database),
    ("ddb", Form::Database),
    ("parquet", Form::Parquet),
    ("parq", Form::Parquet),
    ("csv", Form::Csv),
    ("tsv", Form::Csv),
    ("json", Form::Json),
    ("jsonl", Form::Json),
    ("ndjson", Form::Json),
    ("arrow", Form::Arrow),
    ("arrows", Form::Arrow),
    ("feather", Form::Arrow),
];

impl Form {
    /// The form of a file that begins like this.
    pub fn of(path: &Path, start: &[u8]) -> Option<Self> {
        if is_duckdb(start) {
            return Some(Self::Database);
        }
        if start.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        if [arrow_file::MAGIC, arrow_file::FEATHER_1].iter().any(|magic| start.starts_with(magic)) {
            return Some(Self::Arrow);
        }
        let ending = path.extension()?.to_str()?;
        ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, form)| *form)
    }

    /// Rows to be read, and no database.
    pub fn is_rows(self) -> bool {
        self != Self::Database
    }

    /// DuckDB's table function that reads such a file, where it has one.
    pub fn reader(self) -> Option<&'static str> {
        match self {
            Self::Parquet => Some("read_parquet"),
            Self::Csv => Some("read_csv"),
            Self::Json => Some("read_json"),
            Self::Database | Self::Arrow => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_decides_over_the_name() {
        let form = |name: &str, start: &[u8]| Form::of(Path::new(name), start);
        assert_eq!(form("a.db", b"12345678DUCKxxxx"), Some(Form::Database));
        assert_eq!(form("a.csv", b"PAR1"), Some(Form::Parquet));
        assert_eq!(form("a.CSV", b"a,b"), Some(Form::Csv));
        assert_eq!(form("a.ndjson", b""), Some(Form::Json));
        assert_eq!(form("a.db", b""), None);
        assert_eq!(form("a", b"a,b"), None);
        assert_eq!(form("a.feather", b""), Some(Form::Arrow));
        assert_eq!(form("a", b"ARROW1\0\0"), Some(Form::Arrow));
        assert_eq!(form("a", b"FEA1\0\0\0\0"), Some(Form::Arrow));
    }
}
