//! Sheaf's engines without the server around them: a session, driven as a run drives it.

use crate::BenchError;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use backend::engine::{Bound, EngineError, Session, Target, engine};
use shared::wire::connection::ConnectionFields;
use shared::wire::secrets::Secrets;
use std::time::Instant;

/// A page as the server asks for it.
const PAGE: Bound = Bound { rows: 1_000, bytes: 1024 * 1024 };

/// A session in use.
pub struct Engine(Box<dyn Session>);

/// What reading a result came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    /// Milliseconds from the statement to its end.
    pub ms: f64,
    /// Rows.
    pub rows: u64,
    /// Sum of the first column, an integer.
    pub sum: u64,
}

impl Engine {
    /// Opens a session.
    pub async fn connect(fields: ConnectionFields) -> Result<Self, BenchError> {
        let target = Target::new(fields, Secrets::default());
        Ok(Self(engine(target.fields.engine).connect(&target).await.map_err(failed)?))
    }

    /// Milliseconds of a word that has nothing to do: the reset of a session in which nothing was changed. On SQLite that is the way to the
    /// session's process and back.
    pub async fn nothing(&mut self) -> Result<f64, BenchError> {
        let started = Instant::now();
        self.0.reset().await.map_err(failed)?;
        Ok(started.elapsed().as_secs_f64() * 1_000.0)
    }

    /// Reads a whole result into Arrow, page by page.
    pub async fn read(&mut self, sql: &str) -> Result<Read, BenchError> {
        let started = Instant::now();
        let (mut rows, mut sum) = (0, 0);
        if self.0.execute(sql, PAGE).await.map_err(failed)?.schema.is_some() {
            loop {
                let fetched = self.0.fetch(PAGE).await.map_err(failed)?;
                rows += fetched.batch.num_rows() as u64;
                sum += first_column(&fetched.batch);
                if !fetched.more {
                    break;
                }
            }
        }
        self.0.finish().await.map_err(failed)?;
        Ok(Read { ms: started.elapsed().as_secs_f64() * 1_000.0, rows, sum })
    }
}

fn first_column(batch: &RecordBatch) -> u64 {
    let Some(column) = batch.columns().first() else { return 0 };
    let longs = column.as_primitive_opt::<Int64Type>().map(|all| all.values().iter().map(|value| *value as u64).sum());
    let ints = || column.as_primitive_opt::<Int32Type>().map_or(0, |all| all.values().iter().map(|value| *value as u64).sum());
    longs.unwrap_or_else(ints)
}

fn failed(error: EngineError) -> BenchError {
    BenchError::failed("the engine", error)
}
