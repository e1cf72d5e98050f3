//! A server that says what a script tells it to: messages of MySQL 8 and 9, of which no server is at hand. Written from the public
//! documentation of the protocol ("Connection Phase", "Command Phase", "Text Resultset"), not seen on a real server.

use std::collections::HashMap;
use std::future::Future;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// Bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// One conversation, seen from the server.
pub struct Talk {
    pub stream: Box<dyn Stream>,
    /// Of the next packet.
    pub number: u8,
}

/// Twenty bytes that no password is proved without.
pub const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
pub const SSL: u32 = 1 << 11;
pub const DEPRECATE_EOF: u32 = 1 << 24;
/// Of MySQL 8.0 without TLS.
pub const OFFERED: u32 = 0xdfff_f7ff;
/// The answer to anything that is not known.
pub const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

impl Talk {
    pub async fn say(&mut self, body: &[u8]) {
        let [low, middle, high, ..] = body.len().to_le_bytes();
        self.stream.write_all(&[&[low, middle, high, self.number], body].concat()).await.unwrap();
        self.number = self.number.wrapping_add(1);
    }

    /// The next packet; `None` once the client is gone.
    pub async fn hear(&mut self) -> Option<Vec<u8>> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).await.ok()?;
        self.number = head[3].wrapping_add(1);
        let mut body = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
        self.stream.read_exact(&mut body).await.ok()?;
        Some(body)
    }

    /// Protocol 10, with a plugin to sign in by.
    pub async fn greet(&mut self, version: &str, offered: u32, plugin: &str) {
        let [l0, l1, h0, h1] = offered.to_le_bytes();
        let body = [
            &[10],
            version.as_bytes(),
            &[0, 8, 0, 0, 0],
            &NONCE[..8],
            // 255 is utf8mb4_0900_ai_ci.
            &[0, l0, l1, 255, 2, 0, h0, h1, 21],
            &[0; 10],
            &NONCE[8..],
            &[0],
            plugin.as_bytes(),
            &[0],
        ];
        self.say(&body.concat()).await;
    }

    /// Answers statements by their texts until the client leaves; what has no answer is done without rows.
    pub async fn serve(&mut self, answers: &HashMap<&str, Vec<Vec<u8>>>) {
        while let Some(command) = self.hear().await {
            let (kind, text) = (command[0], String::from_utf8_lossy(&command[1..]).into_owned());
            let key = match kind {
                3 => text,
                22 => format!("prepare {text}"),
                14 => "ping".to_owned(),
                23 => "execute".to_owned(),
                25 => continue,
                _ => return,
            };
            match answers.get(key.as_str()) {
                None => self.say(OK).await,
                Some(messages) => {
                    for message in messages {
                        self.say(message).await;
                    }
                }
            }
        }
    }
}

/// What a client answered to a greeting.
#[derive(Debug)]
pub struct Response {
    pub flags: u32,
    pub user: String,
    pub proof: Vec<u8>,
    pub plugin: String,
}

impl Response {
    pub fn read(body: &[u8]) -> Self {
        let flags = u32::from_le_bytes(body[..4].try_into().unwrap());
        let mut rest = &body[32..];
        let mut text = |counted: bool| {
            let (start, end) = if counted { (1, 1 + usize::from(rest[0])) } else { (0, rest.iter().position(|byte| *byte == 0).unwrap()) };
            let found = rest[start..end].to_vec();
            rest = &rest[end + usize::from(!counted)..];
            found
        };
        let user = String::from_utf8(text(false)).unwrap();
        let proof = text(true);
        if flags & (1 << 3) != 0 {
            text(false);
        }
        let plugin = String::from_utf8(text(false)).unwrap();
        Self { flags, user, proof, plugin }
    }
}

/// Listens; each connection is played by `play`. The port.
pub async fn server<F: Future<Output = ()> + Send + 'static>(play: impl Fn(Talk) -> F + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(play(Talk { stream: Box::new(stream), number: 0 }));
        }
    });
    port
}

/// A column's description, in schema `shop`, table `t`.
pub fn column(name: &str, kind: u8, charset: u16, length: u32, flags: u16, decimals: u8) -> Vec<u8> {
    let mut body = Vec::new();
    for word in ["def", "shop", "t", "t", name, name] {
        body.push(u8::try_from(word.len()).unwrap());
        body.extend_from_slice(word.as_bytes());
    }
    body.push(12);
    body.extend_from_slice(&charset.to_le_bytes());
    body.extend_from_slice(&length.to_le_bytes());
    body.push(kind);
    body.extend_from_slice(&flags.to_le_bytes());
    body.extend_from_slice(&[decimals, 0, 0]);
    body
}

/// A row of the text protocol.
pub fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = Vec::new();
    for value in values {
        match value {
            None => body.push(0xfb),
            Some(value) => {
                body.push(u8::try_from(value.len()).unwrap());
                body.extend_from_slice(value);
            }
        }
    }
    body
}

pub fn refusal(number: u16, state: &str, message: &str) -> Vec<u8> {
    [&[0xff], number.to_le_bytes().as_slice(), b"#", state.as_bytes(), message.as_bytes()].concat()
}
