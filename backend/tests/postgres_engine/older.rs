//! PostgreSQL 13, of which no server is at hand, by messages made for it: it refuses a sign-in that asks for a setting it does not know.
//! Source: PostgreSQL documentation, "Message Flow" and "Message Formats".

use crate::setting::{connect, run, target, value};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::postgres::clusters;
use testing::relay::Relay;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const WATCH: &str = "client_connection_check_interval";
const PROCESS: u32 = 4711;

/// What it was asked.
#[derive(Default)]
struct Asked {
    /// The names of settings, a sign-in each.
    sign_ins: Vec<Vec<String>>,
    /// Texts of simple queries.
    queries: Vec<String>,
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[tag], &length[..], body].concat()
}

fn row(values: &[&str]) -> Vec<u8> {
    let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        body.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        body.extend(value.as_bytes());
    }
    message(b'D', &body)
}

/// One column of type text.
fn description() -> Vec<u8> {
    message(b'T', &[&[0, 1], &b"v\0"[..], &[0; 6], &25_u32.to_be_bytes(), &[0xff; 6], &[0; 2]].concat())
}

fn unknown(severity: &str) -> Vec<u8> {
    message(b'E', format!("S{severity}\0V{severity}\0C42704\0Munrecognized configuration parameter \"{WATCH}\"\0\0").as_bytes())
}

/// One connection, to its end; `Err` once the client is gone.
async fn talk(mut link: TcpStream, version: &str, asked: &Mutex<Asked>) -> std::io::Result<()> {
    let length = link.read_u32().await?;
    let mut body = vec![0; length as usize - 4];
    link.read_exact(&mut body).await?;
    let words: Vec<String> = body[4..].split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let names: Vec<String> = words.chunks(2).map(|pair| pair[0].clone()).filter(|name| !name.is_empty()).collect();
    let refused = names.iter().any(|name| name == WATCH);
    asked.lock().unwrap().sign_ins.push(names);
    if refused {
        return link.write_all(&unknown("FATAL")).await;
    }
    let key = [PROCESS.to_be_bytes(), [7; 4]].concat();
    let said = format!("server_version\0{version}\0");
    link.write_all(&[message(b'R', &[0; 4]), message(b'S', said.as_bytes()), message(b'K', &key), message(b'Z', b"I")].concat()).await?;
    loop {
        let tag = link.read_u8().await?;
        let length = link.read_u32().await?;
        let mut body = vec![0; length as usize - 4];
        link.read_exact(&mut body).await?;
        let answer = match tag {
            b'Q' => {
                let text = String::from_utf8_lossy(&body).trim_end_matches('\0').to_owned();
                let mut answer = Vec::new();
                if text.contains("pg_backend_pid") {
                    answer.extend(row(&["2024-05-06 07:08:09+00", &PROCESS.to_string()]));
                    answer.extend(message(b'C', b"SELECT 1\0"));
                }
                answer.extend(if text.contains(WATCH) { unknown("ERROR") } else { message(b'C', b"DISCARD ALL\0") });
                answer.extend(message(b'Z', b"I"));
                asked.lock().unwrap().queries.push(text);
                answer
            }
            b'P' => message(b'1', b""),
            b'B' => message(b'2', b""),
            b'D' => description(),
            b'E' => [row(&["one"]), message(b'C', b"SELECT 1\0")].concat(),
            b'C' => message(b'3', b""),
            b'S' => message(b'Z', b"I"),
            b'X' => return Ok(()),
            _ => Vec::new(),
        };
        link.write_all(&answer).await?;
    }
}

/// A server of this version: its port, and what it is asked.
async fn server(version: &'static str) -> (u16, Arc<Mutex<Asked>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::<Mutex<Asked>>::default();
    let told = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((link, _)) = listener.accept().await {
            let _ = talk(link, version, &told).await;
        }
    });
    (port, asked)
}

#[tokio::test]
async fn a_server_that_cannot_watch_the_link_is_signed_in_to_once_and_keeps_all_other_settings() {
    for version in ["13.14 (Debian 13.14-1.pgdg120+2)", "12.22", "14.3"] {
        let (port, asked) = server(version).await;
        let mut session = connect(&target(port, "ann")).await.unwrap();
        assert_eq!(session.server(), format!("PostgreSQL {}", version.split(' ').next().unwrap()));
        for _ in 0..2 {
            assert_eq!(value(session.as_mut(), "select 'one' as v").await, "one");
            session.reset().await.unwrap();
        }
        let expected = [
            "user",
            "database",
            "client_encoding",
            "application_name",
            "lock_timeout",
            "idle_in_transaction_session_timeout",
            "extra_float_digits",
        ];
        let asked = asked.lock().unwrap();
        assert_eq!(asked.sign_ins, [expected], "{version}");
        // The last of them is on a system that can't tell, and refuses: it is asked once, in the flight that asks who it is.
        let watches = asked.queries.iter().filter(|text| text.contains(WATCH)).count();
        assert_eq!((asked.queries.len(), watches), (3, usize::from(version.starts_with("14"))), "{version}: {:?}", asked.queries);
    }
}

#[tokio::test]
async fn a_server_that_can_watches_from_the_first_statement_on_in_the_same_number_of_trips() {
    for cluster in clusters().iter().filter(|cluster| cluster.is_since(14)) {
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = connect(&target(relay.port, "postgres")).await.unwrap();
        let session = session.as_mut();
        relay.passed();
        assert_eq!(value(session, &format!("show {WATCH}")).await, "2s");
        assert_eq!(relay.passed().flights, 1, "the page, and with it the end");
        run(session, &format!("set {WATCH} = 0")).await.unwrap();
        relay.passed();
        session.reset().await.unwrap();
        assert_eq!(relay.passed().flights, 1);
        assert_eq!(value(session, &format!("show {WATCH}")).await, "2s");
    }
}
