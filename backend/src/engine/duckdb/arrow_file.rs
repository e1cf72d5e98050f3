//! Arrow's own files, read for DuckDB, which reads them by an extension only: message by message, in the form for files and in that for
//! streams.
//!
//! Invariant: the file is not believed. No length in it makes anything be allocated that the file does not have; a batch is checked whole
//! before DuckDB sees it; the decoder's own panics are errors. Fault and end are told once.

mod plain;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::root_as_message;
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A file begins and ends with this; a stream has neither.
pub const MAGIC: &[u8] = b"ARROW1";
/// The bytes in front of a file's first message, at least.
const HEAD: u64 = 8;
/// Behind this there is no more padding in front of it.
const PADDING_END_MAX: u64 = 4_096;
/// Each message begins with this, then comes the length of its description.
const MARK: [u8; 4] = [0xff; 4];
/// The last message of a stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
/// The description of a message: names and types, or where its buffers are.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 20;
/// The values of one message. It is held as DuckDB takes it over.
const BATCH_BYTES_MAX: u64 = 1 << 30;
/// Rows of a message: columns of nothing but NULL have no bytes.
const BATCH_ROWS_MAX: usize = 1 << 27;
/// Rows whose dictionaries are looked up at once: what stands once in a dictionary may stand in every row.
const PLAIN_ROWS: usize = 8_192;

/// Why a file can't be read: the end of a sentence that begins with its name. Filled in where the reading stopped.
pub type Fault = Arc<Mutex<Option<String>>>;

/// The batches of a file, one after the other.
pub struct ArrowFile {
    file: File,
    /// Bytes that were not read.
    left: u64,
    decoder: StreamDecoder,
    /// Read and not decoded.
    ready: Buffer,
    /// Decoded and not handed out.
    held: Option<RecordBatch>,
    schema: SchemaRef,
    has_dictionaries: bool,
    ended: bool,
    fault: Fault,
}

impl ArrowFile {
    /// Opens one and reads what its columns are.
    pub fn open(path: &Path) -> Result<Self, String> {
        let mut file = File::open(path).map_err(unread)?;
        let left = to_first_message(&mut file)?;
        let mut opened = Self {
            file,
            left,
            decoder: StreamDecoder::new(),
            ready: Buffer::default(),
            held: None,
            schema: SchemaRef::new(arrow_schema::Schema::empty()),
            has_dictionaries: false,
            ended: false,
            fault: Fault::default(),
        };
        // What a message says is known when the next one begins.
        while opened.decoder.schema().is_none() && !opened.ended {
            opened.held = opened.step()?;
        }
        let schema = opened.decoder.schema().ok_or("has no columns")?;
        opened.has_dictionaries = schema.fields().iter().any(|field| plain::has_dictionary(field.data_type()));
        opened.schema = plain::schema(&schema);
        Ok(opened)
    }

    /// Where a fault of the reading will be.
    pub fn fault(&self) -> Fault {
        Arc::clone(&self.fault)
    }

    /// Decodes what is ready, or else what comes next.
    fn step(&mut self) -> Result<Option<RecordBatch>, String> {
        if self.ready.is_empty() {
            let message = self.message()?;
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

    /// The bytes of the next message with their mark; `None` where there is none.
    fn message(&mut self) -> Result<Option<Vec<u8>>, String> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        self.read(&mut bytes, 8)?;
        let Some((mark, length)) = bytes.split_first_chunk::<4>() else { return Err(cut_short()) };
        if *mark != MARK {
            return Err(damaged("there is no message where one should be"));
        }
        let length = u64::from(u32::from_le_bytes(length.try_into().map_err(|_| cut_short())?));
        if length == 0 {
            return Ok(None);
        }
        if length > DESCRIPTION_BYTES_MAX {
            return Err(damaged("a message has too long a description"));
        }
        self.read(&mut bytes, length)?;
        let body = body_of(bytes.get(8..).unwrap_or_default())?;
        self.read(&mut bytes, body)?;
        Ok(Some(bytes))
    }

    /// Reads so many bytes more, if the file has them.
    fn read(&mut self, into: &mut Vec<u8>, count: u64) -> Result<(), String> {
        self.left = self.left.checked_sub(count).ok_or_else(cut_short)?;
        let held = into.len();
        let length = usize::try_from(count).map_err(|_| cut_short())?;
        into.try_reserve_exact(length).map_err(|_| "has a batch that does not fit into memory".to_owned())?;
        (&self.file).take(count).read_to_end(into).map_err(unread)?;
        if into.len() - held == length { Ok(()) } else { Err(cut_short()) }
    }

    /// The batch without dictionaries, or the first rows of it, where it has some.
    fn plain(&mut self, batch: RecordBatch) -> Result<RecordBatch, String> {
        if !self.has_dictionaries {
            return Ok(batch);
        }
        let rows = batch.num_rows().min(PLAIN_ROWS);
        if rows < batch.num_rows() {
            self.held = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        catch_unwind(AssertUnwindSafe(|| plain::batch(&batch.slice(0, rows), &self.schema)))
            .map_err(|_| damaged("its dictionaries do not fit its rows"))?
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

/// Goes to the first message; how many bytes may be read from there on.
fn to_first_message(file: &mut File) -> Result<u64, String> {
    let length = file.metadata().map_err(unread)?.len();
    let mut start = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut start).map_err(unread)?;
    if start.starts_with(MAGIC) {
        // Behind the footer, which is not needed: the messages stand in front of it as in a stream.
        let tail = i64::try_from(MAGIC.len()).unwrap_or_default();
        let mut end = Vec::new();
        file.seek(SeekFrom::End(-tail)).and_then(|_| file.read_to_end(&mut end)).map_err(unread)?;
        if end != MAGIC || length < 2 * HEAD {
            return Err(cut_short());
        }
        let mut first = HEAD;
        file.seek(SeekFrom::Start(first)).map_err(unread)?;
        // Some writers put the first message further on, with zeros in front of it.
        let mut word = [0; 8];
        while first < PADDING_END_MAX && file.read_exact(&mut word).is_ok() && word == [0; 8] {
            first += HEAD;
        }
        file.seek(SeekFrom::Start(first)).map_err(unread)?;
        return Ok(length.saturating_sub(first));
    }
    if !start.starts_with(&MARK) {
        return Err("is no Arrow file".to_owned());
    }
    file.seek(SeekFrom::Start(0)).map_err(unread)?;
    Ok(length)
}

/// How many bytes of values follow a description, if they can be read.
fn body_of(description: &[u8]) -> Result<u64, String> {
    let message = root_as_message(description).map_err(damaged)?;
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    if message.header_as_record_batch().or(dictionary).is_some_and(|batch| batch.compression().is_some()) {
        return Err("has compressed buffers, which Sheaf does not unpack: write it without compression, or as Parquet".to_owned());
    }
    let body = u64::try_from(message.bodyLength()).map_err(|_| damaged("a message has a length below zero"))?;
    if body > BATCH_BYTES_MAX {
        return Err(format!("has a batch of {} MiB; Sheaf takes {} MiB", body >> 20, BATCH_BYTES_MAX >> 20));
    }
    Ok(body)
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
