//! A database file in a folder of its own, and the cells of what it answers.

use arrow_array::RecordBatch;
use backend::engine::{Bound, EngineError, Session, Target, engine};
use shared::format::format_cell;
use shared::page;
use shared::wire::connection::{ConnectionFields, EngineKind};
use std::path::{Path, PathBuf};

/// A page of the usual size.
pub const PAGE: Bound = Bound { rows: 1_000, bytes: 1 << 20 };

/// So many rows.
pub fn bound(rows: usize) -> Bound {
    Bound { rows, bytes: usize::MAX }
}

/// A file that goes when the test is over.
pub struct Db {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Db {
    /// A file with this in it.
    pub fn new(setup: &str) -> Self {
        Self::named("test.db", setup)
    }

    /// The same under a name of one's own.
    pub fn named(name: &str, setup: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        rusqlite::Connection::open(folder.path().join("made.db")).unwrap().execute_batch(setup).unwrap();
        // A file without a table is an empty one.
        std::fs::OpenOptions::new().create(true).append(true).open(folder.path().join("made.db")).unwrap();
        std::fs::rename(folder.path().join("made.db"), &path).unwrap();
        Self { folder, path }
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A session that may write.
    pub async fn session(&self) -> Box<dyn Session> {
        connect(self.path.to_str().unwrap(), false).await.unwrap()
    }

    /// A session that may only read.
    pub async fn read_only(&self) -> Box<dyn Session> {
        connect(self.path.to_str().unwrap(), true).await.unwrap()
    }
}

/// Opens any path.
pub async fn connect(path: &str, read_only: bool) -> Result<Box<dyn Session>, EngineError> {
    let fields = ConnectionFields { path: Some(path.to_owned()), read_only, ..ConnectionFields::new("test", EngineKind::Sqlite) };
    backend::engine::worker::process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
    engine(EngineKind::Sqlite).connect(&Target::new(fields, shared::wire::secrets::Secrets::default())).await
}

/// The cells as the grid shows them, after the way over the wire; NULL is `∅`.
pub fn rows(batch: &RecordBatch) -> Vec<Vec<String>> {
    let batch = page::decode(page::encode(batch).unwrap()).unwrap();
    let cell = |row: usize, column: usize| {
        let text = format_cell(batch.column(column).as_ref(), batch.schema_ref().field(column), row).text();
        text.map_or_else(|| "∅".to_owned(), std::borrow::Cow::into_owned)
    };
    (0..batch.num_rows()).map(|row| (0..batch.num_columns()).map(|column| cell(row, column)).collect()).collect()
}

/// The first page's batch of a statement, which is then finished.
pub async fn batch(session: &mut Box<dyn Session>, sql: &str) -> RecordBatch {
    session.execute(sql, PAGE).await.unwrap();
    let fetched = session.fetch(PAGE).await.unwrap();
    session.finish().await.unwrap();
    fetched.batch
}

/// The first page's cells of a statement, which is then finished.
pub async fn one(session: &mut Box<dyn Session>, sql: &str) -> Vec<Vec<String>> {
    rows(&batch(session, sql).await)
}

/// Runs statements without rows.
pub async fn run(session: &mut Box<dyn Session>, statements: &[&str]) {
    for sql in statements {
        session.execute(sql, PAGE).await.unwrap();
        session.finish().await.unwrap();
    }
}
