//! Which file is opened. Each fault is one sentence.
//!
//! Invariant: as of [`files`]; and the path has no links in it, so that it is the same for every way the file is named.

use super::Form;
use crate::engine::EngineError;
use crate::engine::files::{self, cannot_open};
use std::path::PathBuf;

/// A file, and how it is opened.
#[derive(Clone, Debug)]
pub struct Place {
    /// From the root, links followed.
    pub path: PathBuf,
    /// What it is.
    pub form: Form,
    /// Only reading.
    pub read_only: bool,
}

impl Place {
    /// Checks that `path` is a file that can be read.
    pub fn find(path: Option<&str>, read_only: bool) -> Result<Self, EngineError> {
        let found = files::find(path, "the file", std::fs::canonicalize)?;
        let files::Found { given, path, start } = found;
        let form = Form::of(&path, &start).unwrap_or(Form::Database);
        if form == Form::Database && !files::is_duckdb(&start) && !start.is_empty() {
            return Err(cannot_open(format!("{given} is no DuckDB database, and its name does not end as a file of rows does.")));
        }
        if path.to_str().is_none() {
            return Err(cannot_open(format!("The path {given} is not in UTF-8.")));
        }
        Ok(Self { path, form, read_only })
    }

    /// The file's name, for people.
    pub fn name(&self) -> String {
        files::name_of(&self.path)
    }

    /// The path as DuckDB is told it.
    pub fn text(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}
