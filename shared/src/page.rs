//! A page on the wire: one Arrow IPC stream of one record batch (rows of the page × columns of the result).
//!
//! [`encode`] is called once per page by the server, [`decode`] by any reader. A page comes from the network, so decoding
//! never trusts it: every fault is a [`PageError`], never a panic.

mod checksum;

pub use checksum::crc32;

use crate::limits::PAGE_BYTES_MAX;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;

/// Field metadata: the database's own name of the type.
pub const TYPE_KEY: &str = "sheaf.type";
/// Field metadata: `schema.table.column`.
pub const ORIGIN_KEY: &str = "sheaf.origin";
/// Field metadata: the engine the column came from, as in `EngineKind`'s JSON (`sqlite`, `postgres`). Values are written as that
/// engine's own client writes them (a SQLite REAL is `1.0e+20`, a PostgreSQL double is `1e+20`).
pub const ENGINE_KEY: &str = "sheaf.engine";
/// Field metadata: how far the clock of a column's instants is ahead of UTC, see [`crate::format::Offsets`].
pub const OFFSETS_KEY: &str = "sheaf.offsets";
/// Field metadata: the name of Arrow's extension type, which stands on a physical type.
pub const EXTENSION_KEY: &str = "ARROW:extension:name";
/// The extension type of 16 bytes that are a UUID.
pub const UUID_EXTENSION: &str = "arrow.uuid";
/// Schema metadata: JSON `[[row, column, bytes], …]`, rows of the page whose cell was cut, with the cell's full length in bytes.
pub const CUT_KEY: &str = "sheaf.cut";
/// The media type of a page.
pub const MEDIA_TYPE: &str = "application/vnd.apache.arrow.stream";

/// Why bytes are not a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Longer than any page.
    #[error("the page has {0} bytes, more than the limit")]
    TooLong(usize),
    /// Not an Arrow stream, or a damaged one.
    #[error("the page is damaged: {0}")]
    Damaged(String),
    /// Its bytes are not the ones that were sent.
    #[error("the page was damaged on its way")]
    Changed,
    /// The stream ends before its batch does.
    #[error("the page is cut short")]
    Short,
}

/// The bytes of a page.
pub fn encode(batch: &RecordBatch) -> Result<Vec<u8>, PageError> {
    let damaged = |e: arrow_schema::ArrowError| PageError::Damaged(e.to_string());
    let mut out = Vec::with_capacity(batch.get_array_memory_size() / 2 + 4096);
    let mut writer = StreamWriter::try_new(&mut out, batch.schema_ref()).map_err(damaged)?;
    writer.write(batch).map_err(damaged)?;
    writer.finish().map_err(damaged)?;
    drop(writer);
    Ok(out)
}

/// [`decode`], after a look at the checksum that went ahead of the page (eight hexadecimal digits), if one did.
pub fn decode_checked(bytes: Vec<u8>, checksum: Option<&str>) -> Result<RecordBatch, PageError> {
    let told = checksum.map(|digits| u32::from_str_radix(digits, 16).map_err(|_| PageError::Changed)).transpose()?;
    if told.is_some_and(|told| told != crc32(&bytes)) {
        return Err(PageError::Changed);
    }
    decode(bytes)
}

/// The one record batch of a page; its buffers point into `bytes`.
pub fn decode(bytes: Vec<u8>) -> Result<RecordBatch, PageError> {
    // Room over the limit: the schema and its metadata stand beside the values.
    decode_within(Buffer::from_vec(bytes), 2 * PAGE_BYTES_MAX)
}

/// The one record batch of a stream of at most so many bytes; its buffers point into `bytes`.
pub fn decode_within(mut bytes: Buffer, bytes_max: usize) -> Result<RecordBatch, PageError> {
    if bytes.len() > bytes_max {
        return Err(PageError::TooLong(bytes.len()));
    }
    let damaged = |e: arrow_schema::ArrowError| PageError::Damaged(e.to_string());
    let mut decoder = StreamDecoder::new();
    let batch = decoder.decode(&mut bytes).map_err(damaged)?.ok_or(PageError::Short)?;
    if decoder.decode(&mut bytes).map_err(damaged)?.is_some() {
        return Err(PageError::Damaged("a second batch".to_owned()));
    }
    decoder.finish().map_err(|_| PageError::Short)?;
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int64Array;
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;

    fn page() -> Vec<u8> {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
        encode(&RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![1, 0x1122_3344_5566_7788, 3]))]).unwrap()).unwrap()
    }

    #[test]
    fn a_page_comes_back_as_it_was() {
        let bytes = page();
        let checksum = format!("{:08x}", crc32(&bytes));
        assert_eq!(decode_checked(bytes, Some(&checksum)).unwrap().num_rows(), 3);
    }

    #[test]
    fn a_value_changed_on_its_way_is_seen() {
        let mut bytes = page();
        let checksum = format!("{:08x}", crc32(&bytes));
        let at = bytes.windows(8).position(|eight| eight == 0x1122_3344_5566_7788_i64.to_le_bytes()).unwrap();
        bytes[at] ^= 0x5a;
        assert!(decode(bytes.clone()).is_ok(), "the stream itself is well-formed");
        assert!(matches!(decode_checked(bytes, Some(&checksum)), Err(PageError::Changed)));
    }

    #[test]
    fn a_page_cut_anywhere_is_an_error_and_never_a_panic() {
        let bytes = page();
        for end in 0..bytes.len() - 8 {
            assert!(decode(bytes[..end].to_vec()).is_err(), "cut at {end}");
        }
    }
}
