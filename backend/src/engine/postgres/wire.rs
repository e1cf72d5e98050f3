//! Messages in and out of a link. One message: a tag, four bytes of length that count themselves, a body.
//! Source: PostgreSQL documentation, "Frontend/Backend Protocol", "Message Formats".
//!
//! Invariant: no byte of the server makes this panic, or allocate more than [`MESSAGE_BYTES_MAX`] beside the read buffer's step.
//! It knows lengths and tags, not what messages mean. [`Wire::next`] may be dropped half way without losing a byte.

use crate::engine::dial::Link;
use crate::engine::rows::RowsError;
use bytes::{Buf, BytesMut};
use std::borrow::Cow;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Bytes of one message's body, at most; a longer one is skipped.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// PostgreSQL itself makes none longer (`MaxAllocSize`).
const MESSAGE_BYTES_EVER: usize = 0x4000_0000;
/// The tag of a message with one row (DataRow).
pub const ROW: u8 = b'D';
const READ_STEP_BYTES: usize = 64 * 1024;
const HEADER_BYTES: usize = 5;

/// What can be wrong with a link.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The server closed it.
    #[error("the server closed the connection")]
    Closed,
    /// The system says so.
    #[error("the connection broke: {0}")]
    Broken(#[from] std::io::Error),
    /// Not PostgreSQL's protocol.
    #[error("the server does not follow the protocol: {0}")]
    Protocol(String),
    /// A message over [`MESSAGE_BYTES_MAX`]; it is skipped, and the link is good for the next one.
    #[error("the server sent one message of {} MiB, more than the {} MiB that are read at once", bytes >> 20, MESSAGE_BYTES_MAX >> 20)]
    TooLong {
        /// Its kind.
        tag: u8,
        /// Bytes of its body.
        bytes: usize,
    },
}

/// One message of the server.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its kind.
    pub tag: u8,
    /// What follows the length.
    pub body: &'a [u8],
}

impl From<RowsError> for WireError {
    fn from(error: RowsError) -> Self {
        match error {
            RowsError::TooLong(bytes) => Self::TooLong { tag: ROW, bytes },
            RowsError::Shape(what) => Self::Protocol(what),
        }
    }
}

/// Both directions of a link.
pub struct Wire {
    link: Link,
    input: BytesMut,
    /// Bytes at the front of `input` that belong to the message given out last.
    given: usize,
    /// Bytes still to come of a message that is skipped.
    skip: usize,
    /// What the next [`Wire::send`] sends.
    pub output: BytesMut,
}

impl Wire {
    /// Over an open link on which nothing of this protocol was read yet.
    pub fn new(link: Link) -> Self {
        Self { link, input: BytesMut::new(), given: 0, skip: 0, output: BytesMut::new() }
    }

    /// Sends all of `output` in one flight.
    pub async fn send(&mut self) -> Result<(), WireError> {
        let sent = self.link.write_all_buf(&mut self.output).await;
        self.output.clear();
        sent?;
        Ok(self.link.flush().await?)
    }

    /// What has arrived, from the message given out last on.
    pub fn arrived(&self) -> &[u8] {
        &self.input
    }

    /// Says that nothing more will be sent.
    pub async fn shut_down(&mut self) {
        let _ = self.link.shutdown().await;
    }

    /// The next message, waiting for it.
    pub async fn next(&mut self) -> Result<Message<'_>, WireError> {
        self.input.advance(self.given.min(self.input.len()));
        self.given = 0;
        let length = loop {
            if let Some(length) = self.front()? {
                break length;
            }
            self.fill().await?;
        };
        self.given = HEADER_BYTES + length;
        let tag = self.input.first().copied().unwrap_or_default();
        Ok(Message { tag, body: self.input.get(HEADER_BYTES..HEADER_BYTES + length).unwrap_or_default() })
    }

    /// The length of the first message's body, if all of it is here.
    fn front(&mut self) -> Result<Option<usize>, WireError> {
        let skipped = self.skip.min(self.input.len());
        self.input.advance(skipped);
        self.skip -= skipped;
        let Some(header) = self.input.first_chunk::<HEADER_BYTES>().filter(|_| self.skip == 0) else { return Ok(None) };
        let [tag, length @ ..] = *header;
        let declared = u32::from_be_bytes(length) as usize;
        if !(4..=MESSAGE_BYTES_EVER).contains(&declared) {
            return Err(WireError::Protocol(format!("a message {:?} of {declared} bytes", char::from(tag))));
        }
        let body = declared - 4;
        if body > MESSAGE_BYTES_MAX {
            self.skip = HEADER_BYTES + body;
            return Err(WireError::TooLong { tag, bytes: body });
        }
        Ok((self.input.len() >= HEADER_BYTES + body).then_some(body))
    }

    async fn fill(&mut self) -> Result<(), WireError> {
        self.input.reserve(READ_STEP_BYTES);
        if self.link.read_buf(&mut self.input).await? == 0 {
            return Err(WireError::Closed);
        }
        Ok(())
    }
}

/// Text with each byte that is not UTF-8 written as `\xe9`: nothing of it is lost, and the rest reads as it should.
pub fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(text)
}

/// Reads a message's body from front to back; whatever is missing is a [`WireError::Protocol`].
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// From the body's start.
    pub fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    fn short() -> WireError {
        WireError::Protocol("a message ends before its content does".to_owned())
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or_else(Self::short)?;
        self.rest = rest;
        Ok(head)
    }

    /// The next bytes, as many as the array has.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or_else(Self::short)?;
        self.rest = rest;
        Ok(*head)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, WireError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_be_bytes)
    }

    /// Two bytes, signed.
    pub fn i16(&mut self) -> Result<i16, WireError> {
        self.array().map(i16::from_be_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_be_bytes)
    }

    /// Four bytes, signed.
    pub fn i32(&mut self) -> Result<i32, WireError> {
        self.array().map(i32::from_be_bytes)
    }

    /// The bytes up to a zero byte, which is taken too.
    pub fn c_bytes(&mut self) -> Result<&'a [u8], WireError> {
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or_else(Self::short)?;
        let text = self.bytes(end)?;
        self.u8()?;
        Ok(text)
    }

    /// The same as text.
    pub fn c_text(&mut self) -> Result<String, WireError> {
        Ok(readable(self.c_bytes()?).into_owned())
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests;
