//! What every test starts from.

use arrow_array::RecordBatch;
use backend::engine::{Bound, EngineError, Finished, Param, Session, Target, engine};
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::{Secret, Secrets};
use testing::mariadb::mariadb;

/// A page of the default size.
pub const PAGE: Bound = Bound { rows: 1_000, bytes: 1024 * 1024 };

pub fn target(port: u16, user: &str) -> Target {
    let fields = ConnectionFields {
        name: "test".to_owned(),
        engine: EngineKind::Mysql,
        path: None,
        host: Some("127.0.0.1".to_owned()),
        port: Some(port),
        database: Some("shop".to_owned()),
        user: Some(user.to_owned()),
        tls: None,
        ssh: None,
        read_only: false,
        color: None,
    };
    Target::new(fields, Secrets::default())
}

pub fn with_password(mut target: Target, password: &str) -> Target {
    target.secrets.password = Some(Secret::new(password));
    target
}

pub async fn connect(target: &Target) -> Result<Box<dyn Session>, EngineError> {
    engine(EngineKind::Mysql).connect(target).await
}

pub async fn session() -> Box<dyn Session> {
    connect(&target(mariadb().port, "root")).await.unwrap()
}

/// A statement to its end: all rows (of one page), and how it ended.
pub async fn run(session: &mut dyn Session, sql: &str) -> Result<(Option<RecordBatch>, Finished), EngineError> {
    let started = session.execute(sql, PAGE).await?;
    let batch = match started.schema {
        None => None,
        Some(_) => {
            let fetched = session.fetch(PAGE).await?;
            assert!(!fetched.more, "more than a page");
            Some(fetched.batch)
        }
    };
    Ok((batch, session.finish().await?))
}

/// The same for a statement with parameters.
pub async fn run_with(session: &mut dyn Session, sql: &str, params: &[Param]) -> Result<(Option<RecordBatch>, Finished), EngineError> {
    let started = session.execute_with(sql, params, PAGE).await?;
    let batch = match started.schema {
        None => None,
        Some(_) => Some(session.fetch(PAGE).await?.batch),
    };
    Ok((batch, session.finish().await?))
}

/// The rows of a batch as text; NULL is `NULL`.
pub fn texts(batch: &RecordBatch) -> Vec<Vec<String>> {
    (0..batch.num_rows()).map(|row| (0..batch.num_columns()).map(|column| cell(batch, row, column)).collect()).collect()
}

/// The rows of a statement as text; NULL is `NULL`.
pub async fn rows(session: &mut dyn Session, sql: &str) -> Vec<Vec<String>> {
    texts(&run(session, sql).await.unwrap().0.unwrap())
}

/// The one value of a statement, as text.
pub async fn value(session: &mut dyn Session, sql: &str) -> String {
    let (batch, _) = run(session, sql).await.unwrap();
    cell(&batch.unwrap(), 0, 0)
}

/// A cell as a person sees it; bytes in hexadecimal.
pub fn cell(batch: &RecordBatch, row: usize, column: usize) -> String {
    let field = batch.schema_ref().field(column).clone();
    match shared::format::format_cell(batch.column(column).as_ref(), &field, row) {
        shared::format::Cell::Null => "NULL".to_owned(),
        shared::format::Cell::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
        cell => cell.text().unwrap().into_owned(),
    }
}
