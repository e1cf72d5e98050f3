use super::*;
use tokio::io::AsyncWriteExt;

async fn wire_with(bytes: &[u8]) -> Wire {
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    theirs.write_all(bytes).await.unwrap();
    Wire::new(Box::new(ours))
}

#[tokio::test]
async fn messages_come_whole_whatever_the_pieces() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 16);
    let mut wire = Wire::new(Box::new(ours));
    tokio::spawn(async move {
        for byte in b"Z\0\0\0\x05IC\0\0\0\x0bBEGIN!\0" {
            theirs.write_all(&[*byte]).await.unwrap();
        }
    });
    let first = wire.next().await.unwrap();
    assert_eq!((first.tag, first.body), (b'Z', b"I".as_slice()));
    let second = wire.next().await.unwrap();
    assert_eq!((second.tag, second.body), (b'C', b"BEGIN!\0".as_slice()));
    assert!(matches!(wire.next().await, Err(WireError::Closed)));
}

#[tokio::test]
async fn a_length_that_can_not_be_is_a_fault_of_the_protocol() {
    for length in [0_u32, 3, 0x4000_0001, u32::MAX] {
        let mut bytes = vec![b'D'];
        bytes.extend(length.to_be_bytes());
        assert!(matches!(wire_with(&bytes).await.next().await, Err(WireError::Protocol(_))), "{length}");
    }
}

#[tokio::test]
async fn the_cap_holds_at_its_edge_and_what_is_over_is_skipped() {
    for (body, whole) in [(MESSAGE_BYTES_MAX, true), (MESSAGE_BYTES_MAX + 1, false)] {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let mut wire = Wire::new(Box::new(ours));
        let send = async move {
            theirs.write_all(b"D").await.unwrap();
            theirs.write_all(&u32::try_from(body + 4).unwrap().to_be_bytes()).await.unwrap();
            theirs.write_all(&vec![7; body]).await.unwrap();
            theirs.write_all(b"Z\0\0\0\x05I").await.unwrap();
        };
        let read = async {
            match wire.next().await {
                Ok(message) => assert!(whole && message.body.len() == body),
                Err(WireError::TooLong { tag, bytes }) => assert!(!whole && (tag, bytes) == (ROW, body)),
                Err(other) => panic!("{other}"),
            }
            assert_eq!(wire.next().await.unwrap().tag, b'Z');
            assert!(whole || wire.input.capacity() < 1 << 20, "what is skipped is not kept");
        };
        tokio::join!(send, read);
    }
}

#[test]
fn a_reader_never_reads_past_the_end() {
    let mut reader = Reader::new(b"ab\0\x01");
    assert_eq!(reader.c_bytes().unwrap(), b"ab");
    assert!(reader.u16().is_err());
    assert_eq!(reader.u8().unwrap(), 1);
    assert!(reader.u8().is_err());
    assert!(Reader::new(b"no end").c_bytes().is_err());
    assert_eq!(Reader::new(b"\xff\0").c_text().unwrap(), r"\xff");
}
