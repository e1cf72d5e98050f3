//! The messages of an Arrow file, one after the other, as bytes.
//!
//! Invariant: no length in the file makes anything be allocated that the file does not have.

use super::{BATCH_BYTES_MAX, FEATHER_1, MAGIC, MARK, cut_short, damaged, unpack, unread};
use arrow_ipc::root_as_message;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The bytes in front of a file's first message, at least.
const HEAD: u64 = 8;
/// Behind this there is no more padding in front of it.
const PADDING_END_MAX: u64 = 4_096;
/// The description of a message: names and types, or where its buffers are.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 20;
/// Messages that are looked at before anything is read; a file has one for some ten thousand rows.
const SKIMMED_MESSAGES_MAX: usize = 100_000;

/// An open file, at its next message.
pub struct Messages {
    file: File,
    /// Bytes that were not read.
    left: u64,
}

/// Looks at all messages without their values: a file that was cut short is told before anybody waits for its rows.
pub fn skim(path: &Path) -> Result<(), String> {
    let mut messages = Messages::open(path)?;
    for _ in 0..SKIMMED_MESSAGES_MAX {
        let Some((_, body)) = messages.description()? else { break };
        messages.skip(body)?;
    }
    Ok(())
}

impl Messages {
    /// At the first message of a file, or of a stream.
    pub fn open(path: &Path) -> Result<Self, String> {
        let mut file = File::open(path).map_err(unread)?;
        let left = to_first_message(&mut file)?;
        Ok(Self { file, left })
    }

    /// The next message with its mark, without compression; `None` where there is none.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some((mut bytes, body)) = self.description()? else { return Ok(None) };
        let described = bytes.len();
        self.read(&mut bytes, body)?;
        plain_message(bytes, described).map(Some)
    }

    /// The mark and the description of the next message, and how many bytes of values follow.
    fn description(&mut self) -> Result<Option<(Vec<u8>, u64)>, String> {
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
        Ok(Some((bytes, body)))
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

    /// Goes past so many bytes, if the file has them.
    fn skip(&mut self, count: u64) -> Result<(), String> {
        self.left = self.left.checked_sub(count).ok_or_else(cut_short)?;
        self.file.seek_relative(i64::try_from(count).map_err(|_| cut_short())?).map_err(unread)
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
    if start.starts_with(FEATHER_1) {
        return Err("is a Feather file of version 1; write it as version 2, which is Arrow's own format".to_owned());
    }
    if !start.starts_with(&MARK) {
        return Err("is no Arrow file".to_owned());
    }
    file.seek(SeekFrom::Start(0)).map_err(unread)?;
    Ok(length)
}

/// How many bytes of values follow a description.
fn body_of(description: &[u8]) -> Result<u64, String> {
    let message = root_as_message(description).map_err(damaged)?;
    let body = u64::try_from(message.bodyLength()).map_err(|_| damaged("a message has a length below zero"))?;
    if body > BATCH_BYTES_MAX {
        return Err(format!("has a batch of {} MiB; Sheaf takes {} MiB", body >> 20, BATCH_BYTES_MAX >> 20));
    }
    Ok(body)
}

/// The message without compression, where it has some; the first `described` bytes are its mark and its description.
fn plain_message(bytes: Vec<u8>, described: usize) -> Result<Vec<u8>, String> {
    let (head, body) = bytes.split_at_checked(described).ok_or_else(cut_short)?;
    let message = root_as_message(head.get(8..).unwrap_or_default()).map_err(damaged)?;
    let packed = unpack::batch_of(&message).and_then(|batch| Some((batch, batch.compression()?.codec())));
    match packed {
        Some((batch, codec)) => unpack::unpacked(&message, &batch, codec, body),
        None => Ok(bytes),
    }
}
