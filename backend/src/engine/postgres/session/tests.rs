//! A session against a server that is made of bytes.

use super::super::connect::Route;
use super::*;
use crate::engine::dial::Address;
use crate::engine::{Fate, Target};
use futures_util::FutureExt;
use shared::wire::connection::{ConnectionFields, EngineKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const BOUND: Bound = Bound { rows: 2, bytes: 1 << 20 };

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    bytes.extend(body);
    bytes
}

/// `int4` and `text`, both of table 0.
fn description() -> Vec<u8> {
    let mut body = vec![0, 2];
    for (name, oid) in [("n", 23_u32), ("t", 25)] {
        body.extend(name.as_bytes());
        body.extend([0; 7]);
        body.extend(oid.to_be_bytes());
        body.extend([0, 4, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    }
    message(b'T', &body)
}

fn row(number: &str, text: &str) -> Vec<u8> {
    let mut body = vec![0, 2];
    for value in [number, text] {
        body.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        body.extend(value.as_bytes());
    }
    message(b'D', &body)
}

/// What a server answers to: execute, the next page, finish.
fn answers() -> Vec<Vec<u8>> {
    let first =
        [message(b'1', b""), message(b'2', b""), description(), row("1", "eins"), row("2", "zwei"), row("3", "drei"), message(b's', b"")];
    let next = [message(b'N', b"SNOTICE\0Mhello\0\0"), row("4", "vier"), message(b'C', b"SELECT 4\0")];
    let last = [message(b'3', b""), message(b'S', b"TimeZone\0UTC\0"), message(b'Z', b"I")];
    vec![first.concat(), next.concat(), last.concat()]
}

/// Each answer after a flight of the client, then the end.
async fn serve(mut link: DuplexStream, answers: Vec<Vec<u8>>) {
    let mut flight = vec![0; 1 << 16];
    for answer in answers {
        if link.read(&mut flight).await.unwrap_or(0) == 0 || link.write_all(&answer).await.is_err() {
            return;
        }
    }
}

fn session_with(answers: Vec<Vec<u8>>) -> PostgresSession {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(serve(theirs, answers));
    let fields = ConnectionFields { host: Some("/nowhere".to_owned()), ..ConnectionFields::new("", EngineKind::Postgres) };
    let whose = Whose { address: Address::Socket("/nowhere".into()), through: None, database: String::new(), user: String::new() };
    let mut session = PostgresSession::new(Connected {
        wire: Wire::new(Box::new(ours)),
        route: Route::of(&Target::new(fields, shared::wire::secrets::Secrets::default())),
        whose,
        key: None,
        settings: HashMap::new(),
        notices: Notices::default(),
        read_only: false,
        pooled: false,
    });
    // It has met its server: only the statement's own messages are looked at here.
    session.whose = None;
    session
}

#[tokio::test]
async fn pages_of_a_scripted_server_are_read_in_order() {
    let mut session = session_with(answers());
    let started = session.execute("table t", BOUND).await.unwrap();
    assert_eq!(started.schema.unwrap().fields().len(), 2);
    let first = session.fetch(BOUND).await.unwrap();
    assert_eq!((first.batch.num_rows(), first.more), (2, true));
    let second = session.fetch(BOUND).await.unwrap();
    assert_eq!((second.batch.num_rows(), second.more), (2, false));
    let finished = session.finish().await.unwrap();
    assert_eq!(finished, Finished { rows_affected: None, in_transaction: false });
    assert_eq!(session.take_notices()[0].message, "hello");
    assert_eq!(session.settings["TimeZone"], "UTC");
}

#[tokio::test]
async fn a_link_that_ends_anywhere_leaves_the_fate_unknown() {
    let all = answers();
    for (at, answer) in all.iter().enumerate() {
        for cut in 0..answer.len() {
            let mut cut_off = all[..at].to_vec();
            cut_off.push(answer[..cut].to_vec());
            let mut session = session_with(cut_off);
            let error = whole(&mut session).await.expect_err("the end was missing");
            assert_eq!(error.fate, Fate::Unknown);
            assert_eq!(session.execute("table t", BOUND).await.unwrap_err().fate, Fate::NotSent);
        }
    }
}

async fn whole(session: &mut PostgresSession) -> Result<(), EngineError> {
    if session.execute("table t", BOUND).await?.schema.is_some() {
        while session.fetch(BOUND).await?.more {}
    }
    session.finish().await.map(|_| ())
}

#[tokio::test]
async fn mutated_answers_are_a_result_or_an_error_never_a_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..1_000 {
        let mut mutated = answers();
        for _ in 0..=random(4) {
            let answer = random(mutated.len());
            let at = random(mutated[answer].len());
            mutated[answer][at] = if random(2) == 0 { u8::try_from(random(256)).unwrap() } else { b"TDCEZsSN123GHnI"[random(15)] };
        }
        let mut session = session_with(mutated);
        // A length that was made longer waits for ever, as it must: all is in memory here, so nothing comes after this many turns.
        let stuck = async {
            for _ in 0..60 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = whole(&mut session) => {}
            () = stuck => {}
        }
        let _ = session.take_notices();
    }
}

#[tokio::test]
async fn an_answer_to_nothing_ends_the_session_before_a_statement_leaves() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 16);
    let mut session = session_with(Vec::new());
    session.wire = Wire::new(Box::new(ours));
    theirs.write_all(&message(b'E', b"SFATAL\0C57P01\0Mgoing down\0\0")).await.unwrap();
    let error = session.execute("table t", BOUND).await.unwrap_err();
    assert_eq!((error.fate, error.problem.message.as_str()), (Fate::NotSent, "going down"));
    assert!(theirs.read_u8().now_or_never().is_none(), "nothing was sent");
}

#[test]
fn a_tag_tells_the_rows_a_statement_changed() {
    for (tag, columns, rows) in [
        ("INSERT 0 5", false, Some(5)),
        ("UPDATE 3", true, Some(3)),
        ("DELETE 0", false, Some(0)),
        ("MERGE 2", false, Some(2)),
        ("SELECT 7", true, None),
        ("SELECT 7", false, Some(7)),
        ("CREATE TABLE", false, None),
        ("FETCH 3", true, None),
        ("", false, None),
        ("INSERT 0 many", false, None),
    ] {
        assert_eq!(rows_affected(tag, columns), rows, "{tag}");
    }
}

#[test]
fn more_rows_are_asked_for_than_are_wanted_but_no_more_than_fit() {
    let mut rows = Rows::default();
    let bound = Bound { rows: 1_000, bytes: 10_000 };
    assert_eq!(wanted_rows(&rows, bound), 1_001);
    rows.push(&[0; 5]);
    assert_eq!(wanted_rows(&rows, bound), 1_000);
    rows.discard(1);
    rows.push(&[0; 1_000]);
    assert_eq!(wanted_rows(&rows, bound), 10);
    rows.push(&[0; 50_000]);
    assert_eq!(wanted_rows(&rows, bound), 1);
}
