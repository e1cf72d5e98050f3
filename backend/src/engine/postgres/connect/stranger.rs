//! Servers of another kind, told by how they begin.
//! Source: MySQL documentation, "Protocol::Packet", "Protocol::HandshakeV10", "ERR_Packet".
//!
//! Invariant: nothing that PostgreSQL says first is taken for another server's word.

use crate::engine::EngineError;
use crate::engine::dial::Link;
use shared::problem::ErrorCode;
use tokio::io::AsyncReadExt;

/// Bytes behind the first one that are enough to tell.
const MORE_BYTES: usize = 6;

/// Whether this is how MySQL and MariaDB begin, before they are asked anything: three bytes of length, the packet's number 0, then protocol
/// 10 with a version, or a refusal with a number from 1,000 on. To PostgreSQL this would be a message of ten bytes that begins with a
/// digit, or one of 255 bytes whose second is none of a text; neither is ever its first.
pub fn begins_as_mysql(start: &[u8]) -> bool {
    matches!(start, [_, _, 0, 0, 10, b'0'..=b'9', ..] | [_, _, 0, 0, 0xff, _, 3..=7, ..])
}

/// The same where one byte was read of a link that will not be used.
pub async fn goes_on_as_mysql(first: u8, link: &mut Link) -> bool {
    let mut more = [0; MORE_BYTES];
    link.read_exact(&mut more).await.is_ok() && begins_as_mysql(&[&[first], more.as_slice()].concat())
}

/// What is told then.
pub fn is_mysql() -> EngineError {
    EngineError::not_sent(
        ErrorCode::ConnectFailed,
        "this is a server of MySQL or MariaDB, not of PostgreSQL; choose MySQL to connect to it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_of_mysql_is_told_from_every_first_word_of_postgresql() {
        for mysql in
            [b"J\0\0\0\n8.0.36\0".as_slice(), b"R\0\0\0\n5.5.5-10.11.6-MariaDB\0", b"\x04\x01\0\0\n9.1.0\0", b"E\0\0\0\xff\x69\x04Host"]
        {
            assert!(begins_as_mysql(mysql), "{mysql:?}");
        }
        let long = [b"E\0\0\0\xffSFATAL\0".as_slice(), &[b'x'; 244]].concat();
        for postgres in [
            b"R\0\0\0\x08\0\0\0\0".as_slice(),
            b"R\0\0\0\x0c\0\0\0\x05salt",
            b"R\0\0\0\n\0\0\0\x0a\0\0",
            b"N\0\0\0\nSNOT",
            b"",
            b"J\0\0\0\n",
            &long,
        ] {
            assert!(!begins_as_mysql(postgres), "{postgres:?}");
        }
    }
}
