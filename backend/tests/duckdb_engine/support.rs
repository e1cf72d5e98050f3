//! A database file in a folder of its own, and the cells of what it answers.

use adbc_core::options::{OptionDatabase, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use adbc_driver_manager::ManagedDriver;
use arrow_array::RecordBatch;
use backend::engine::duckdb::library;
use backend::engine::worker::process;
use backend::engine::{Bound, EngineError, Session, Target, engine};
use shared::format::format_cell;
use shared::page;
use shared::wire::connection::{ConnectionFields, EngineKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

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
    /// A database with this in it.
    pub fn new(setup: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.duckdb");
        plainly(&path, setup);
        Self { folder, path }
    }

    /// A file of rows.
    pub fn file(name: &str, content: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Self { folder, path }
    }

    /// A file that DuckDB itself writes; `{}` in the statement stands for its path.
    pub fn written(name: &str, sql: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        plainly(Path::new(":memory:"), &[&sql.replace("{}", path.to_str().unwrap())]);
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

/// The library in the test's own process, loaded once.
fn driver() -> ManagedDriver {
    static DRIVER: Mutex<Option<ManagedDriver>> = Mutex::new(None);
    let mut driver = DRIVER.lock().unwrap();
    driver.get_or_insert_with(|| library::load(&library::find().unwrap()).unwrap()).clone()
}

/// Runs statements by the driver alone, without Sheaf.
fn plainly(path: &Path, statements: &[&str]) {
    let option = (OptionDatabase::Other("path".to_owned()), OptionValue::String(path.to_str().unwrap().to_owned()));
    let database = driver().new_database_with_opts([option]).unwrap();
    let mut connection = database.new_connection().unwrap();
    for sql in statements {
        let mut statement = connection.new_statement().unwrap();
        statement.set_sql_query(sql).unwrap();
        statement.execute().unwrap().for_each(|batch| drop(batch.unwrap()));
    }
}

/// Opens any path.
pub async fn connect(path: &str, read_only: bool) -> Result<Box<dyn Session>, EngineError> {
    process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
    let fields = ConnectionFields { path: Some(path.to_owned()), read_only, ..ConnectionFields::new("test", EngineKind::Duckdb) };
    engine(EngineKind::Duckdb).connect(&Target::new(fields, shared::wire::secrets::Secrets::default())).await
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
    session.execute(sql, PAGE).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let fetched = session.fetch(PAGE).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
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
        session.execute(sql, PAGE).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        session.finish().await.unwrap();
    }
}

/// The refusal of a statement.
pub async fn refusal(session: &mut Box<dyn Session>, sql: &str) -> EngineError {
    match session.execute(sql, PAGE).await {
        Err(e) => e,
        Ok(started) if started.schema.is_some() => session.fetch(PAGE).await.err().unwrap_or_else(|| panic!("{sql} ran")),
        Ok(_) => panic!("{sql} ran"),
    }
}
