//! An SSH server that asks for a password, which a real one only does with root's rights.

use russh::keys::{Algorithm, HashAlg, PrivateKey};
use russh::server::{self, Auth, ChannelOpenHandle, Config, Msg, Session};
use russh::{Channel, MethodKind, MethodSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};

pub const PASSWORD: &str = "pä55 word";

/// How it lets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// By a password.
    Password,
    /// By one question, which is the password's.
    Keyboard,
    /// By that, and another hidden question after it.
    KeyboardTwice,
    /// By a question that may be read by all.
    KeyboardAloud,
    /// By a password and a key.
    PasswordAndMore,
}

/// A running server.
pub struct Scripted {
    pub port: u16,
    pub fingerprint: String,
    heard: Arc<AtomicUsize>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Scripted {
    /// One whose tunnels all lead to that port.
    pub async fn start(ways: Ways, leads_to: u16) -> Self {
        let key = PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519).unwrap();
        let fingerprint = key.public_key().fingerprint(HashAlg::Sha256).to_string();
        let methods = match ways {
            Ways::Password | Ways::PasswordAndMore => MethodKind::Password,
            _ => MethodKind::KeyboardInteractive,
        };
        let config = Arc::new(Config {
            methods: MethodSet::from([methods].as_slice()),
            keys: vec![key],
            auth_rejection_time: std::time::Duration::ZERO,
            ..Config::default()
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(AtomicUsize::new(0));
        let counter = heard.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let handler = Handler { ways, leads_to, heard: counter.clone(), asked: 0 };
                let config = config.clone();
                tokio::spawn(async move {
                    if let Ok(session) = server::run_stream(config, stream, handler).await {
                        let _ = session.await;
                    }
                });
            }
        });
        Self { port, fingerprint, heard, accepting }
    }

    /// The password was the answer to one question at most.
    pub fn heard_no_password_twice(&self) -> bool {
        self.heard.load(Ordering::SeqCst) <= 1
    }
}

struct Handler {
    ways: Ways,
    leads_to: u16,
    heard: Arc<AtomicUsize>,
    asked: usize,
}

impl Handler {
    fn hear(&self, answer: &str) -> bool {
        if answer == PASSWORD {
            self.heard.fetch_add(1, Ordering::SeqCst);
        }
        answer == PASSWORD
    }
}

impl server::Handler for Handler {
    type Error = russh::Error;

    async fn auth_password(&mut self, _user: &str, password: &str) -> Result<Auth, Self::Error> {
        match (self.ways, password == PASSWORD) {
            (Ways::Password, true) => Ok(Auth::Accept),
            (Ways::PasswordAndMore, true) => {
                let next = Some(MethodSet::from([MethodKind::PublicKey].as_slice()));
                Ok(Auth::Reject { proceed_with_methods: next, partial_success: true })
            }
            _ => Ok(Auth::reject()),
        }
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        _user: &str,
        _submethods: &str,
        response: Option<server::Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        let question = |echo| Auth::Partial { name: "".into(), instructions: "".into(), prompts: vec![("Password: ".into(), echo)].into() };
        let Some(mut answers) = response else { return Ok(question(self.ways == Ways::KeyboardAloud)) };
        let answer = answers.next().map(|answer| String::from_utf8_lossy(&answer).into_owned()).unwrap_or_default();
        self.asked += 1;
        match (self.hear(&answer), self.ways, self.asked) {
            (true, Ways::KeyboardTwice, 1) => Ok(question(false)),
            (true, ..) => Ok(Auth::Accept),
            (false, ..) => Ok(Auth::reject()),
        }
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        _host: &str,
        _port: u32,
        _originator: &str,
        _originator_port: u32,
        handle: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        handle.accept().await;
        let leads_to = self.leads_to;
        tokio::spawn(async move {
            let mut far = TcpStream::connect(("127.0.0.1", leads_to)).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut far).await;
        });
        Ok(())
    }
}
