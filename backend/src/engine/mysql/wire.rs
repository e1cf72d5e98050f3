//! Packets in and out of a link. One packet: three bytes of length, a number, a body; a body of 16 MiB - 1 goes on in the next.
//! Source: MySQL documentation, "MySQL Packets"; MariaDB documentation, "Packet".
//!
//! Invariant: no byte of the server makes this panic, or keep more than [`MESSAGE_BYTES_MAX`] of one message. It knows lengths, not
//! what messages mean. [`Wire::next`] may be dropped half way without losing a byte, and reads no further ahead than one step.

use crate::engine::dial::Link;
use crate::engine::rows::RowsError;
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Bytes of one message, at most; a longer one is skipped.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A packet of this length goes on in the next.
const PACKET_BYTES_MAX: usize = 0xff_ffff;
/// As the server's own buffer (`net_buffer_length`): what is read ahead counts as moved.
const READ_STEP_BYTES: usize = 16 * 1024;
const HEADER_BYTES: usize = 4;

/// What can be wrong with a link.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The server closed it.
    #[error("the server closed the connection")]
    Closed,
    /// The system says so.
    #[error("the connection broke: {0}")]
    Broken(#[from] std::io::Error),
    /// Not MySQL's protocol.
    #[error("the server does not follow the protocol: {0}")]
    Protocol(String),
    /// A message over [`MESSAGE_BYTES_MAX`]; it is skipped, and the link is good for the next one.
    #[error("the server sent one message of {} MiB, more than the {} MiB that are read at once", .0 >> 20, MESSAGE_BYTES_MAX >> 20)]
    TooLong(usize),
}

impl From<RowsError> for WireError {
    fn from(error: RowsError) -> Self {
        match error {
            RowsError::TooLong(bytes) => Self::TooLong(bytes),
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
    /// A message of several packets, as far as it came.
    long: BytesMut,
    /// Its bytes, also those that were not kept.
    long_bytes: usize,
    long_given: bool,
    long_open: bool,
    /// The number of the next packet of a conversation.
    number: u8,
    /// What the next [`Wire::send`] sends.
    pub output: BytesMut,
}

enum Step {
    Short(usize),
    Long,
    More,
}

impl Wire {
    /// Over an open link on which nothing of this protocol was read yet.
    pub fn new(link: Link) -> Self {
        Self {
            link,
            input: BytesMut::new(),
            given: 0,
            long: BytesMut::new(),
            long_bytes: 0,
            long_given: false,
            long_open: false,
            number: 0,
            output: BytesMut::new(),
        }
    }

    /// The link below, for TLS. `None` where the server already said more than was taken: that must not count as encrypted.
    pub fn into_link(mut self) -> Option<Link> {
        self.release();
        self.input.is_empty().then_some(self.link)
    }

    /// After TLS was put on the link: packets are numbered on.
    pub fn go_on_at(&mut self, number: u8) {
        self.number = number;
    }

    /// Writes a command, the start of a new conversation.
    pub fn write_command(&mut self, kind: u8, body: &[u8]) {
        self.number = 0;
        let mut whole = Vec::with_capacity(body.len() + 1);
        whole.push(kind);
        whole.extend_from_slice(body);
        self.write_reply(&whole);
    }

    /// Writes an answer within a conversation.
    pub fn write_reply(&mut self, body: &[u8]) {
        let mut rest = body;
        loop {
            let (packet, after) = rest.split_at(rest.len().min(PACKET_BYTES_MAX));
            let [low, middle, high, ..] = packet.len().to_le_bytes();
            self.output.extend_from_slice(&[low, middle, high, self.number]);
            self.output.extend_from_slice(packet);
            self.number = self.number.wrapping_add(1);
            rest = after;
            if packet.len() < PACKET_BYTES_MAX {
                return;
            }
        }
    }

    /// Sends all of `output` in one flight.
    pub async fn send(&mut self) -> Result<(), WireError> {
        let sent = self.link.write_all_buf(&mut self.output).await;
        self.output.clear();
        sent?;
        Ok(self.link.flush().await?)
    }

    /// Says that nothing more will be sent.
    pub async fn shut_down(&mut self) {
        let _ = self.link.shutdown().await;
    }

    /// The next message, waiting for it.
    pub async fn next(&mut self) -> Result<&[u8], WireError> {
        self.release();
        loop {
            match self.step()? {
                Step::More => self.fill().await?,
                Step::Short(length) => {
                    self.given = HEADER_BYTES + length;
                    return Ok(self.input.get(HEADER_BYTES..HEADER_BYTES + length).unwrap_or_default());
                }
                Step::Long => {
                    self.long_given = true;
                    return Ok(&self.long);
                }
            }
        }
    }

    fn release(&mut self) {
        self.input.advance(self.given.min(self.input.len()));
        self.given = 0;
        if std::mem::take(&mut self.long_given) {
            self.long = BytesMut::new();
        }
    }

    fn step(&mut self) -> Result<Step, WireError> {
        loop {
            let Some(&[low, middle, high, number]) = self.input.first_chunk::<HEADER_BYTES>() else { return Ok(Step::More) };
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            if self.input.len() < HEADER_BYTES + length {
                return Ok(Step::More);
            }
            self.number = number.wrapping_add(1);
            if length < PACKET_BYTES_MAX && !self.long_open {
                return Ok(Step::Short(length));
            }
            self.input.advance(HEADER_BYTES);
            let packet = self.input.split_to(length);
            self.long_bytes = self.long_bytes.saturating_add(length);
            match self.long_bytes <= MESSAGE_BYTES_MAX {
                true => self.long.extend_from_slice(&packet),
                false => self.long = BytesMut::new(),
            }
            self.long_open = length == PACKET_BYTES_MAX;
            if !self.long_open {
                let bytes = std::mem::take(&mut self.long_bytes);
                return if bytes <= MESSAGE_BYTES_MAX { Ok(Step::Long) } else { Err(WireError::TooLong(bytes)) };
            }
        }
    }

    async fn fill(&mut self) -> Result<(), WireError> {
        let mut step = (&mut self.link).take(READ_STEP_BYTES as u64);
        self.input.reserve(READ_STEP_BYTES);
        if step.read_buf(&mut self.input).await? == 0 {
            return Err(WireError::Closed);
        }
        Ok(())
    }
}

/// Reads a message from front to back; whatever is missing is a [`WireError::Protocol`].
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// From the message's start.
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

    /// Two bytes, the low one first, as all numbers here.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of one, three, four or nine bytes.
    pub fn number(&mut self) -> Result<u64, WireError> {
        match self.u8()? {
            0xfc => self.u16().map(u64::from),
            0xfd => self.array().map(|[low, middle, high]: [u8; 3]| u64::from(u32::from_le_bytes([low, middle, high, 0]))),
            0xfe => self.array().map(u64::from_le_bytes),
            0xfb | 0xff => Err(WireError::Protocol("a number that is none".to_owned())),
            small => Ok(u64::from(small)),
        }
    }

    /// Bytes with their count before them.
    pub fn counted(&mut self) -> Result<&'a [u8], WireError> {
        let count = self.number()?;
        self.bytes(usize::try_from(count).map_err(|_| Self::short())?)
    }

    /// The same as text; what is not UTF-8 in it is shown as such.
    pub fn counted_text(&mut self) -> Result<String, WireError> {
        Ok(String::from_utf8_lossy(self.counted()?).into_owned())
    }

    /// Bytes with one byte of count before them.
    pub fn counted_by_byte(&mut self) -> Result<&'a [u8], WireError> {
        let count = self.u8()?;
        self.bytes(usize::from(count))
    }

    /// One value of a row; `None` for NULL.
    pub fn value(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        match self.rest.split_first() {
            Some((0xfb, rest)) => {
                self.rest = rest;
                Ok(None)
            }
            _ => self.counted().map(Some),
        }
    }

    /// The bytes up to a zero byte, which is taken too; all that is left where there is none.
    pub fn c_bytes(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| *byte == 0).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        text
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests;
