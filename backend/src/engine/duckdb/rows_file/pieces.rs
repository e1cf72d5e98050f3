//! A file's rows, piece by piece: each goes through DuckDB, so that every value is what it would be in a result of DuckDB's own.
//!
//! Invariant: no more than one piece is in DuckDB, and one batch of the file beside it; its table goes with the reading.

use super::{ROWS, Reader, hand_over};
use crate::engine::duckdb::arrow_file::{ArrowFile, Fault};
use crate::engine::duckdb::database::{interrupt_of, run};
use crate::engine::worker::signals::Signals;
use adbc_core::error::{Error, Result as AdbcResult, Status};
use adbc_core::options::IngestMode;
use adbc_core::{Connection as _, Database as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedStatement};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::path::Path;
use std::sync::PoisonError;

/// Rows of a piece: some pages.
const PIECE_ROWS: usize = 16_384;

/// The rows of a file in their order. Fields are dropped in theirs: what is read before its connection.
pub struct Pieces {
    piece: Option<Piece>,
    connection: ManagedConnection,
    file: ArrowFile,
    fault: Fault,
    /// Read from the file and not in a piece.
    held: Option<RecordBatch>,
    schema: SchemaRef,
    /// The file's name, for people.
    name: String,
    table: String,
    /// Rows that are still wanted.
    left: u64,
}

struct Piece {
    reader: Reader,
    _statement: ManagedStatement,
}

impl Pieces {
    /// At the file's beginning; nothing of its rows is read yet.
    pub fn open(
        database: &ManagedDatabase,
        path: &Path,
        name: &str,
        table: String,
        limit: Option<u64>,
        signals: &Signals,
    ) -> AdbcResult<Self> {
        let file = ArrowFile::open(path).map_err(|why| Error::with_message_and_status(format!("{name} {why}."), Status::IO))?;
        let mut connection = database.new_connection()?;
        let piece = select(&mut connection, ROWS, Some(signals))?;
        let (fault, schema) = (file.fault(), piece.reader.schema());
        let left = limit.unwrap_or(u64::MAX);
        Ok(Self { piece: Some(piece), connection, file, fault, held: None, schema, name: name.to_owned(), table, left })
    }

    /// The next rows of the file, at most a piece of them.
    fn rows(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let batch = match self.held.take() {
            Some(batch) => batch,
            None => match self.file.next().transpose() {
                Ok(Some(batch)) => batch,
                Ok(None) => return Ok(None),
                Err(e) => {
                    let why = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
                    return Err(why.map_or(e, |why| ArrowError::ComputeError(format!("{} {why}.", self.name))));
                }
            },
        };
        let rows = batch.num_rows().min(PIECE_ROWS);
        if rows < batch.num_rows() {
            self.held = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        Ok(Some(batch.slice(0, rows)))
    }

    fn through_duckdb(&mut self, rows: RecordBatch) -> AdbcResult<Piece> {
        run(&mut self.connection, &format!("DROP TABLE IF EXISTS {ROWS}.{}", self.table))?;
        let schema = rows.schema();
        let rows = Box::new(RecordBatchIterator::new([Ok(rows)], schema));
        hand_over(&mut self.connection, &self.table, IngestMode::Create, rows, None)?;
        select(&mut self.connection, &self.table, None)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while self.left > 0 {
            match self.piece.as_mut().and_then(|piece| piece.reader.next()).transpose()? {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => {
                    let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(batch.num_rows());
                    self.left -= wanted as u64;
                    return Ok(Some(batch.slice(0, wanted)));
                }
                None => {
                    self.piece = None;
                    let Some(rows) = self.rows()? else { break };
                    let piece = self.through_duckdb(rows);
                    self.piece = Some(piece.map_err(|e| ArrowError::ExternalError(Box::new(e)))?);
                }
            }
        }
        Ok(None)
    }
}

/// What DuckDB calls the columns.
pub fn names(connection: &mut ManagedConnection) -> AdbcResult<Vec<String>> {
    let schema = select(connection, ROWS, None)?.reader.schema();
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

fn select(connection: &mut ManagedConnection, table: &str, signals: Option<&Signals>) -> AdbcResult<Piece> {
    let mut statement = connection.new_statement()?;
    if let Some(signals) = signals {
        signals.attach(interrupt_of(&statement));
    }
    statement.set_sql_query(format!("SELECT * FROM {ROWS}.{table}"))?;
    let reader = statement.execute()?;
    Ok(Piece { reader: Box::new(reader), _statement: statement })
}

impl Drop for Pieces {
    fn drop(&mut self) {
        self.piece = None;
        let _ = run(&mut self.connection, &format!("DROP TABLE IF EXISTS {ROWS}.{}", self.table));
    }
}

impl Iterator for Pieces {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

impl RecordBatchReader for Pieces {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
