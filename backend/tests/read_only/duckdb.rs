//! DuckDB: one file, its folder, and the process that works on it.

#[path = "duckdb/attempts.rs"]
mod attempts;

use crate::siege::{Digest, Siege, compare, files};
use adbc_core::options::{OptionDatabase, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use attempts::ATTEMPTS;
use backend::engine::duckdb::library;
use backend::engine::worker::process;
use backend::engine::{Bound, Session, Target, engine};
use shared::format::format_cell;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::Secrets;
use std::path::Path;

const SET_UP: &[&str] = &[
    "CREATE TABLE guarded (n INTEGER PRIMARY KEY, t VARCHAR DEFAULT 'kept_row')",
    "INSERT INTO guarded (n) VALUES (1), (2), (3)",
    "CREATE INDEX guarded_t ON guarded (t)",
    "CREATE SEQUENCE counter",
    "CREATE TABLE counted (n INTEGER DEFAULT nextval('counter'))",
    "INSERT INTO counted DEFAULT VALUES",
    "CREATE VIEW seen AS SELECT n, t FROM guarded",
    "CREATE SCHEMA other",
    "CREATE TYPE mood AS ENUM ('good', 'bad')",
    "CREATE MACRO twice(x) AS x * 2",
    "CREATE MACRO rows_of(x) AS TABLE SELECT n FROM guarded WHERE n > x",
    "COMMENT ON TABLE guarded IS 'kept'",
    "CHECKPOINT",
];

/// What a writable connection is asked.
const KEPT: &[&str] = &[
    "SELECT string_agg(n || t, ',' ORDER BY n) FROM guarded",
    "SELECT string_agg(n::VARCHAR, ',') FROM counted",
    "SELECT string_agg(coalesce(sql, '') || coalesce(comment, ''), chr(10) ORDER BY sql) FROM duckdb_tables()",
    "SELECT string_agg(sequence_name || coalesce(last_value, 0), ',') FROM duckdb_sequences()",
    "SELECT string_agg(view_name, ',' ORDER BY view_name) FROM duckdb_views() WHERE NOT internal",
    "SELECT string_agg(index_name, ',') FROM duckdb_indexes()",
    "SELECT string_agg(schema_name, ',' ORDER BY schema_name) FROM duckdb_schemas() WHERE NOT internal",
    "SELECT string_agg(type_name, ',' ORDER BY type_name) FROM duckdb_types() WHERE NOT internal",
    "SELECT string_agg(function_name, ',' ORDER BY function_name) FROM duckdb_functions() WHERE NOT internal",
];

fn fields(path: &Path) -> ConnectionFields {
    ConnectionFields { path: Some(path.display().to_string()), ..ConnectionFields::new("test", EngineKind::Duckdb) }
}

/// Makes the file by the driver alone, without Sheaf.
fn make(path: &Path) {
    let option = (OptionDatabase::Other("path".to_owned()), OptionValue::String(path.to_str().unwrap().to_owned()));
    let mut driver = library::load(&library::find().unwrap()).unwrap();
    let mut connection = driver.new_database_with_opts([option]).unwrap().new_connection().unwrap();
    for sql in SET_UP {
        let mut statement = connection.new_statement().unwrap();
        statement.set_sql_query(sql).unwrap();
        statement.execute().unwrap().for_each(|batch| drop(batch.unwrap()));
    }
}

/// A session that may write.
async fn writer(path: &Path) -> Box<dyn Session> {
    engine(EngineKind::Duckdb).connect(&Target::new(fields(path), Secrets::default())).await.unwrap()
}

/// What the file holds, asked by a writable connection; nobody else has it open.
async fn content(path: &Path) -> Digest {
    let mut session = writer(path).await;
    let mut digest = Digest::new();
    for sql in KEPT {
        session.execute(sql, Bound { rows: 10, bytes: 1 << 20 }).await.unwrap();
        let batch = session.fetch(Bound { rows: 10, bytes: 1 << 20 }).await.unwrap().batch;
        session.finish().await.unwrap();
        let cell = format_cell(batch.column(0).as_ref(), batch.schema_ref().field(0), 0).text().unwrap_or_default().into_owned();
        digest.insert((*sql).to_owned(), cell);
    }
    session.close().await;
    digest
}

#[tokio::test]
async fn nothing_that_a_read_only_connection_sends_changes_anything() {
    process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("guarded.duckdb");
    std::fs::write(folder.path().join("rows.csv"), "a\n1\n").unwrap();
    make(&path);
    let before = content(&path).await;
    let files_before = files(folder.path());
    assert!(before[KEPT[0]].contains("kept_row"));
    let siege = Siege {
        fields: fields(&path),
        password: None,
        write: "INSERT INTO guarded.main.guarded (n) VALUES (666)",
        // A session may name the database otherwise, for itself; that is no way to it.
        refusals: &["read-only", "does not exist", "aborted"],
        folder: folder.path(),
    };
    siege.lay(ATTEMPTS).await;
    // Its bytes first: whoever opens it for writing may change them.
    compare(&[("files".to_owned(), files_before)].into(), &[("files".to_owned(), files(folder.path()))].into());
    compare(&before, &content(&path).await);
}
