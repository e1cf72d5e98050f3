//! Messages whose buffers are compressed (LZ4 as frames, ZSTD), written anew without that.
//! Source: Arrow columnar format, "Compression": eight bytes in front of each buffer say how long it is unpacked, -1 that it is not packed.
//!
//! Invariant: the sizes a message declares are added up before anything is unpacked, and nothing becomes longer than was declared: a
//! small file can't grow past [`BATCH_BYTES_MAX`]. The decoder behind this knows no codec, so it sees plain buffers only.

use super::{BATCH_BYTES_MAX, MARK, damaged};
use arrow_ipc::{
    Buffer, CompressionType, DictionaryBatchBuilder, FieldNode, Message, MessageBuilder, MessageHeader, RecordBatch, RecordBatchBuilder,
};
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use std::io::Read;

/// In front of each buffer: its length once it is unpacked.
const PREFIX_BYTES: usize = 8;
/// The prefix of one that is as it was.
const NOT_PACKED: i64 = -1;
/// Where a buffer may begin; no type asks for more.
const ALIGNMENT: usize = 64;
/// The description of a message is a multiple of this.
const DESCRIPTION_ALIGNMENT: usize = 8;

/// The batch that a message brings, of rows or of a dictionary's values.
pub fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()))
}

/// The whole message with its mark, without compression. `body` is what follows its description.
pub fn unpacked(message: &Message, batch: &RecordBatch, codec: CompressionType, body: &[u8]) -> Result<Vec<u8>, String> {
    let packed = batch.buffers().map(|buffers| buffers.iter().map(|buffer| Packed::of(buffer, body)).collect::<Result<Vec<_>, _>>());
    let packed = packed.transpose()?.unwrap_or_default();
    let whole = packed.iter().try_fold(0_usize, |sum, buffer| sum.checked_add(buffer.length)?.checked_next_multiple_of(ALIGNMENT));
    let whole = whole.filter(|whole| *whole as u64 <= BATCH_BYTES_MAX).ok_or_else(too_long)?;
    let mut values = Vec::new();
    values.try_reserve_exact(whole).map_err(|_| "has a batch that does not fit into memory".to_owned())?;
    let mut places = Vec::with_capacity(packed.len());
    for buffer in &packed {
        places.push(Buffer::new(signed(values.len())?, signed(buffer.length)?));
        buffer.unpack(codec, &mut values)?;
        values.resize(values.len().next_multiple_of(ALIGNMENT), 0);
    }
    let description = described(message, batch, &places, signed(values.len())?);
    let length = description.len().next_multiple_of(DESCRIPTION_ALIGNMENT);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(PREFIX_BYTES + length + values.len()).map_err(|_| "has a batch that does not fit into memory".to_owned())?;
    bytes.extend_from_slice(&MARK);
    bytes.extend_from_slice(&u32::try_from(length).map_err(damaged)?.to_le_bytes());
    bytes.extend_from_slice(&description);
    bytes.resize(PREFIX_BYTES + length, 0);
    bytes.extend_from_slice(&values);
    Ok(bytes)
}

/// A buffer as it stands in the file.
struct Packed<'a> {
    bytes: &'a [u8],
    is_packed: bool,
    /// Bytes once it is unpacked, by its own word.
    length: usize,
}

impl<'a> Packed<'a> {
    fn of(place: &Buffer, body: &'a [u8]) -> Result<Self, String> {
        let outside = || damaged("a buffer lies outside of its message");
        let (start, length) = (usize::try_from(place.offset()), usize::try_from(place.length()));
        let (start, length) = (start.map_err(|_| outside())?, length.map_err(|_| outside())?);
        let bytes = start.checked_add(length).and_then(|end| body.get(start..end)).ok_or_else(outside)?;
        if bytes.is_empty() {
            return Ok(Self { bytes, is_packed: false, length: 0 });
        }
        let (prefix, bytes) = bytes.split_first_chunk::<PREFIX_BYTES>().ok_or_else(|| damaged("a packed buffer has no length"))?;
        match i64::from_le_bytes(*prefix) {
            NOT_PACKED => Ok(Self { bytes, is_packed: false, length: bytes.len() }),
            length => {
                let length = usize::try_from(length).map_err(|_| damaged("a packed buffer has a length below zero"))?;
                Ok(Self { bytes, is_packed: length > 0, length })
            }
        }
    }

    fn unpack(&self, codec: CompressionType, into: &mut Vec<u8>) -> Result<(), String> {
        match codec {
            _ if !self.is_packed => into.extend_from_slice(self.bytes.get(..self.length).unwrap_or_default()),
            CompressionType::LZ4_FRAME => self.read_all(lz4_flex::frame::FrameDecoder::new(self.bytes), into)?,
            CompressionType::ZSTD => self.read_all(ruzstd::decoding::StreamingDecoder::new(self.bytes).map_err(unreadable)?, into)?,
            _ => return Err("is packed in a way that Sheaf does not know".to_owned()),
        }
        Ok(())
    }

    /// As many bytes as were declared, and no more of them.
    fn read_all(&self, mut reader: impl Read, into: &mut Vec<u8>) -> Result<(), String> {
        let read = reader.by_ref().take(self.length as u64).read_to_end(into).map_err(unreadable)?;
        let over = reader.read(&mut [0]).map_err(unreadable)?;
        if read == self.length && over == 0 { Ok(()) } else { Err(damaged("a packed buffer is not as long as it says")) }
    }
}

/// The description of the same batch over buffers at these places.
fn described(message: &Message, batch: &RecordBatch, places: &[Buffer], body: i64) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let rows = described_batch(&mut builder, batch, places);
    let header: WIPOffset<UnionWIPOffset> = match message.header_as_dictionary_batch() {
        Some(from) => {
            let mut dictionary = DictionaryBatchBuilder::new(&mut builder);
            dictionary.add_id(from.id());
            dictionary.add_data(rows);
            dictionary.add_isDelta(from.isDelta());
            dictionary.finish().as_union_value()
        }
        None => rows.as_union_value(),
    };
    let is_dictionary = message.header_type() == MessageHeader::DictionaryBatch;
    let mut whole = MessageBuilder::new(&mut builder);
    whole.add_version(message.version());
    whole.add_header_type(if is_dictionary { MessageHeader::DictionaryBatch } else { MessageHeader::RecordBatch });
    whole.add_header(header);
    whole.add_bodyLength(body);
    let whole = whole.finish();
    builder.finish(whole, None);
    builder.finished_data().to_vec()
}

fn described_batch<'a>(builder: &mut FlatBufferBuilder<'a>, from: &RecordBatch, places: &[Buffer]) -> WIPOffset<RecordBatch<'a>> {
    let nodes: Vec<FieldNode> = from.nodes().map(|nodes| nodes.iter().copied().collect()).unwrap_or_default();
    let views: Option<Vec<i64>> = from.variadicBufferCounts().map(|counts| counts.iter().collect());
    let (nodes, buffers) = (builder.create_vector(&nodes), builder.create_vector(places));
    let views = views.map(|views| builder.create_vector(&views));
    let mut batch = RecordBatchBuilder::new(builder);
    batch.add_length(from.length());
    batch.add_nodes(nodes);
    batch.add_buffers(buffers);
    if let Some(views) = views {
        batch.add_variadicBufferCounts(views);
    }
    batch.finish()
}

fn signed(length: usize) -> Result<i64, String> {
    i64::try_from(length).map_err(damaged)
}

fn unreadable(why: impl std::fmt::Display) -> String {
    damaged(format_args!("a packed buffer cannot be unpacked: {why}"))
}

fn too_long() -> String {
    format!("has a batch that is over {} MiB once it is unpacked; Sheaf takes {0} MiB", BATCH_BYTES_MAX >> 20)
}
