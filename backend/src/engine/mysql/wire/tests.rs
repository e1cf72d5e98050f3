use super::*;
use tokio::io::AsyncWriteExt;

fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let [low, middle, high, ..] = body.len().to_le_bytes();
    [&[low, middle, high, number], body].concat()
}

#[tokio::test]
async fn messages_come_whole_whatever_the_pieces_and_none_is_read_twice() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 16);
    let mut wire = Wire::new(Box::new(ours));
    tokio::spawn(async move {
        for byte in [packet(1, b"hello"), packet(2, b""), packet(3, b"x")].concat() {
            theirs.write_all(&[byte]).await.unwrap();
        }
    });
    assert_eq!(wire.next().await.unwrap(), b"hello");
    assert_eq!(wire.next().await.unwrap(), b"");
    assert_eq!(wire.next().await.unwrap(), b"x");
    assert!(matches!(wire.next().await, Err(WireError::Closed)));
}

#[tokio::test]
async fn a_long_message_is_put_together_or_skipped_over_its_cap() {
    for (bytes, whole) in [(PACKET_BYTES_MAX, true), (MESSAGE_BYTES_MAX, true), (MESSAGE_BYTES_MAX + 1, false)] {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let mut wire = Wire::new(Box::new(ours));
        let mut sender = Wire::new(Box::new(tokio::io::duplex(1).0));
        sender.write_reply(&vec![7; bytes]);
        let sent = sender.output.split();
        let send = async move {
            theirs.write_all(&sent).await.unwrap();
            theirs.write_all(&packet(9, b"next")).await.unwrap();
        };
        let read = async {
            match wire.next().await {
                Ok(message) => assert!(whole && message.len() == bytes),
                Err(WireError::TooLong(told)) => assert!(!whole && told == bytes),
                Err(other) => panic!("{other}"),
            }
            assert_eq!(wire.next().await.unwrap(), b"next");
        };
        tokio::join!(send, read);
    }
}

#[tokio::test]
async fn what_the_server_says_before_tls_counts_for_nothing() {
    for (extra, usable) in [(b"".as_slice(), true), (b"x", false)] {
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        theirs.write_all(&[packet(0, b"hello").as_slice(), extra].concat()).await.unwrap();
        let mut wire = Wire::new(Box::new(ours));
        wire.next().await.unwrap();
        assert_eq!(wire.into_link().is_some(), usable);
    }
}

#[test]
fn a_reader_never_reads_past_the_end() {
    assert_eq!(Reader::new(&[0xfa]).number().unwrap(), 250);
    assert_eq!(Reader::new(&[0xfc, 1, 2]).number().unwrap(), 0x0201);
    assert_eq!(Reader::new(&[0xfd, 1, 2, 3]).number().unwrap(), 0x03_0201);
    assert_eq!(Reader::new(&[0xfe, 1, 0, 0, 0, 0, 0, 0, 0x80]).number().unwrap(), 0x8000_0000_0000_0001);
    for body in [
        [].as_slice(),
        &[0xfb],
        &[0xff],
        &[0xfc, 1],
        &[0xfd, 1, 2],
        &[0xfe, 1],
        &[3, 1, 2],
        &[0xfe, 255, 255, 255, 255, 255, 255, 255, 255],
    ] {
        assert!(Reader::new(body).counted().is_err(), "{body:?}");
    }
    let mut reader = Reader::new(&[0xfb, 1, b'a', 0]);
    assert_eq!(
        (reader.value().unwrap(), reader.value().unwrap(), reader.value().unwrap()),
        (None, Some(b"a".as_slice()), Some(b"".as_slice()))
    );
    assert!(reader.value().is_err());
}
