//! Which file is opened. Each fault is one sentence.
//!
//! Invariant: opening never makes a file, and never one of Sheaf's own.

use super::Form;
use crate::engine::EngineError;
use crate::engine::sqlite::own;
use shared::problem::ErrorCode;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes that tell what a file is.
const START_BYTES: u64 = 16;

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
        let given = path.unwrap_or("").trim();
        if given.is_empty() {
            return Err(cannot_open("Give the path of the file."));
        }
        let path = std::fs::canonicalize(given).map_err(|e| io_fault(given, &e))?;
        if own::is_own(&path) {
            return Err(EngineError { problem: own::problem(), ..cannot_open("") });
        }
        if path.is_dir() {
            return Err(cannot_open(format!("{given} is a folder, not a file.")));
        }
        if !path.is_file() {
            return Err(cannot_open(format!("{given} is not a regular file.")));
        }
        let mut start = Vec::new();
        let file = std::fs::File::open(&path).map_err(|e| io_fault(given, &e))?;
        file.take(START_BYTES).read_to_end(&mut start).map_err(|e| io_fault(given, &e))?;
        let form = Form::of(&path, &start).unwrap_or(Form::Database);
        if form == Form::Database && start.get(8..12) != Some(b"DUCK") && !start.is_empty() {
            return Err(cannot_open(format!("{given} is no DuckDB database, and its name does not end as a file of rows does.")));
        }
        form.readable().map_err(cannot_open)?;
        if path.to_str().is_none() {
            return Err(cannot_open(format!("The path {given} is not in UTF-8.")));
        }
        Ok(Self { path, form, read_only })
    }

    /// The file's name, for people.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// What the view over a file of rows is called.
    pub fn view(&self) -> String {
        self.path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The path as DuckDB is told it.
    pub fn text(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

pub fn cannot_open(sentence: impl Into<String>) -> EngineError {
    EngineError::not_sent(ErrorCode::CannotOpen, sentence)
}

fn io_fault(given: &str, e: &io::Error) -> EngineError {
    let sentence = match e.kind() {
        io::ErrorKind::NotFound => format!("There is no such file: {given}."),
        io::ErrorKind::PermissionDenied => format!("This user may not read {given}."),
        io::ErrorKind::NotADirectory => format!("There is no such file: {given}; a part of its path is not a folder."),
        _ => format!("{given} cannot be opened: {e}."),
    };
    let mut fault = cannot_open(sentence);
    if Path::new(given).is_relative() {
        let folder = std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
        fault.problem.detail = Some(format!("The path is relative to {folder}."));
    }
    fault
}
