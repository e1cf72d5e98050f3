//! What goes between the server and a process of its own: frames with a length before them.
//!
//! A frame is `u32` length of the rest, `u64` session, `u32` length of the head, the head (JSON), zeroes up to a multiple of 16, the
//! body (bytes, an Arrow stream). Numbers are little-endian.
//!
//! Invariant: whoever reads takes no length for granted: no frame is longer than it may be, memory is taken as bytes come, and a frame
//! that is not of this form is an error, never a panic.

use arrow_buffer::Buffer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, IoSlice, Read, Write};

const LENGTH: usize = 4;
const SESSION: usize = 8;
/// Before the head: the session and the head's length.
const BEFORE_HEAD: usize = SESSION + 4;
/// The body begins where any Arrow value may lie, so that it needs no copy.
const ALIGNMENT: usize = 16;
/// Memory that is taken on the word of a frame alone.
const TRUSTED_BYTES: usize = 1 << 20;

/// A frame, taken apart.
#[derive(Debug)]
pub struct Frame<H> {
    /// Whose.
    pub session: u64,
    /// What.
    pub head: H,
    /// With what.
    pub body: Buffer,
}

/// Everything of a frame but its body, which is to follow.
pub fn before<H: Serialize>(session: u64, head: &H, body_bytes: usize) -> io::Result<Vec<u8>> {
    let head = serde_json::to_vec(head)?;
    let padding = (BEFORE_HEAD + head.len()).wrapping_neg() % ALIGNMENT;
    let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "a frame of more than 4 GiB");
    let length = u32::try_from(BEFORE_HEAD + head.len() + padding + body_bytes).map_err(too_long)?;
    let mut out = Vec::with_capacity(LENGTH + BEFORE_HEAD + head.len() + padding);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&session.to_le_bytes());
    out.extend_from_slice(&u32::try_from(head.len()).map_err(too_long)?.to_le_bytes());
    out.extend_from_slice(&head);
    out.resize(out.len() + padding, 0);
    Ok(out)
}

/// Writes a frame, with one call of the system where it takes that much: whoever reads wakes up once.
pub fn write<H: Serialize>(to: &mut impl Write, session: u64, head: &H, body: &[u8]) -> io::Result<()> {
    let before = before(session, head, body.len())?;
    let mut slices = [IoSlice::new(&before), IoSlice::new(body)];
    let mut rest = slices.as_mut_slice();
    while rest.iter().any(|slice| !slice.is_empty()) {
        match to.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Reads a frame of at most `bytes_max`, its length not counted; `None` where the other end is closed between two frames.
pub fn read(from: &mut impl Read, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; LENGTH];
    let mut seen = 0;
    while let Some(rest) = length.get_mut(seen..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) if seen == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => seen += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > bytes_max {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a frame of {length} bytes, more than {bytes_max}")));
    }
    let mut bytes = Vec::with_capacity(length.min(TRUSTED_BYTES + BEFORE_HEAD));
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

/// Whose a frame is.
pub fn session(bytes: &[u8]) -> io::Result<u64> {
    bytes.first_chunk().map(|session| u64::from_le_bytes(*session)).ok_or_else(|| broken("no session"))
}

/// Takes a frame apart.
pub fn decode<H: DeserializeOwned>(bytes: Vec<u8>) -> io::Result<Frame<H>> {
    let session = session(&bytes)?;
    let length = bytes.get(SESSION..).and_then(|rest| rest.first_chunk()).ok_or_else(|| broken("no head"))?;
    let end = usize::try_from(u32::from_le_bytes(*length)).ok().and_then(|length| length.checked_add(BEFORE_HEAD));
    let end = end.filter(|end| *end <= bytes.len()).ok_or_else(|| broken("a head that is longer than its frame"))?;
    let head = serde_json::from_slice(bytes.get(BEFORE_HEAD..end).unwrap_or_default())?;
    let start = end.next_multiple_of(ALIGNMENT).min(bytes.len());
    Ok(Frame { session, head, body: Buffer::from_vec(bytes).slice(start) })
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, 7, &("head", 1_u8), &[1, 2, 3]).unwrap();
        out
    }

    #[test]
    fn a_frame_comes_back_as_it_was() {
        let mut from = sample();
        from.extend(sample());
        let mut from = from.as_slice();
        for _ in 0..2 {
            let bytes = read(&mut from, 1_000).unwrap().unwrap();
            assert_eq!(session(&bytes).unwrap(), 7);
            let frame: Frame<(String, u8)> = decode(bytes).unwrap();
            assert_eq!((frame.session, frame.head, frame.body.as_slice()), (7, ("head".to_owned(), 1), &[1_u8, 2, 3][..]));
        }
        assert!(read(&mut from, 1_000).unwrap().is_none());
    }

    #[test]
    fn a_frame_of_any_other_form_is_an_error() {
        let whole = sample();
        for end in 1..whole.len() {
            assert!(read(&mut whole.get(..end).unwrap(), 1_000).is_err(), "cut at {end}");
        }
        assert!(read(&mut whole.as_slice(), whole.len() - LENGTH - 1).is_err());
        // A length that nothing comes for takes no memory for it.
        assert!(read(&mut [255, 255, 255, 255, 1].as_slice(), usize::MAX).is_err());
        for at in LENGTH..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                *bytes.get_mut(at).unwrap() ^= 1 << bit;
                // An error or another frame; never a panic.
                let _ = decode::<(String, u8)>(bytes.split_off(LENGTH));
            }
        }
        for end in 0..BEFORE_HEAD {
            assert!(decode::<(String, u8)>(whole.get(LENGTH..LENGTH + end).unwrap().to_vec()).is_err());
        }
    }
}
