//! Arrow's own files, read for DuckDB, which reads them by an extension only: message by message, in the form for files and in that for
//! streams.
//!
//! Invariant: the file is not believed. No length in it makes anything be allocated that the file does not have; a batch is checked whole
//! before DuckDB sees it; the decoder's own panics are errors. Fault and end are told once.

mod messages;
mod plain;
mod unpack;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{ArrowError, SchemaRef};
use messages::Messages;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub use messages::skim;

/// A file begins and ends with this; a stream has neither.
pub const MAGIC: &[u8] = b"ARROW1";
/// What was called Feather before it was Arrow's own format begins with this.
pub const FEATHER_1: &[u8] = b"FEA1";
/// Each message begins with this, then comes the length of its description.
const MARK: [u8; 4] = [0xff; 4];
/// The last message of a stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
/// The values of one message. It is held as DuckDB takes it over.
const BATCH_BYTES_MAX: u64 = 1 << 30;
/// Rows of a message: columns of nothing but NULL have no bytes.
const BATCH_ROWS_MAX: usize = 1 << 27;
/// Rows that are made anew at once: what stands once in a dictionary may stand in every row.
const PLAIN_ROWS: usize = 8_192;

/// Why a file can't be read: the end of a sentence that begins with its name. Filled in where the reading stopped.
pub type Fault = Arc<Mutex<Option<String>>>;

/// The batches of a file, one after the other.
pub struct ArrowFile {
    messages: Messages,
    decoder: StreamDecoder,
    /// Read and not decoded.
    ready: Buffer,
    /// Decoded and not handed out.
    held: Option<RecordBatch>,
    schema: SchemaRef,
    has_others: bool,
    ended: bool,
    fault: Fault,
}

impl ArrowFile {
    /// Opens one and reads what its columns are.
    pub fn open(path: &Path) -> Result<Self, String> {
        let mut opened = Self {
            messages: Messages::open(path)?,
            decoder: StreamDecoder::new(),
            ready: Buffer::default(),
            held: None,
            schema: SchemaRef::new(arrow_schema::Schema::empty()),
            has_others: false,
            ended: false,
            fault: Fault::default(),
        };
        // What a message says is known when the next one begins.
        while opened.decoder.schema().is_none() && !opened.ended {
            opened.held = opened.step()?;
        }
        let schema = opened.decoder.schema().filter(|schema| !schema.fields().is_empty()).ok_or("has no columns")?;
        opened.has_others = schema.fields().iter().any(|field| plain::is_other(field.data_type()));
        opened.schema = plain::schema(&schema);
        Ok(opened)
    }

    /// What its columns are.
    pub fn columns(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Where a fault of the reading will be.
    pub fn fault(&self) -> Fault {
        Arc::clone(&self.fault)
    }

    /// Decodes what is ready, or else what comes next.
    fn step(&mut self) -> Result<Option<RecordBatch>, String> {
        if self.ready.is_empty() {
            let message = self.messages.next()?;
            self.ended = message.is_none();
            self.ready = Buffer::from_vec(message.unwrap_or_else(|| END.to_vec()));
        }
        let decoded = catch_unwind(AssertUnwindSafe(|| self.decoder.decode(&mut self.ready)));
        let batch = decoded.map_err(|_| damaged("its parts do not fit together"))?.map_err(damaged)?;
        match batch {
            Some(batch) if batch.num_rows() > BATCH_ROWS_MAX => Err(format!("has a batch of {} rows, too many", batch.num_rows())),
            batch => Ok(batch),
        }
    }

    /// The batch in types that DuckDB takes, or the first rows of it, where it has others.
    fn plain(&mut self, batch: RecordBatch) -> Result<RecordBatch, String> {
        if !self.has_others {
            return Ok(batch);
        }
        let rows = batch.num_rows().min(PLAIN_ROWS);
        if rows < batch.num_rows() {
            self.held = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        catch_unwind(AssertUnwindSafe(|| plain::batch(&batch.slice(0, rows), &self.schema)))
            .map_err(|_| damaged("its parts do not fit its rows"))?
            .map_err(damaged)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, String> {
        loop {
            if let Some(batch) = self.held.take() {
                return self.plain(batch).map(Some);
            }
            if self.ended && self.ready.is_empty() {
                return Ok(None);
            }
            self.held = self.step()?;
        }
    }
}

fn unread(e: std::io::Error) -> String {
    format!("cannot be read: {e}")
}

fn damaged(why: impl std::fmt::Display) -> String {
    // Of a long account only what is wrong, not where in the description that is.
    let why = why.to_string();
    format!("is damaged: {}", why.lines().next().unwrap_or_default().trim_end_matches('.'))
}

fn cut_short() -> String {
    "is cut short".to_owned()
}

impl Iterator for ArrowFile {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch().transpose()?;
        Some(next.map_err(|why| {
            self.ended = true;
            self.ready = Buffer::default();
            self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why.clone());
            ArrowError::IpcError(why)
        }))
    }
}

impl RecordBatchReader for ArrowFile {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
