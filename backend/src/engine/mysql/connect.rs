//! From a target to a server that is ready for its first statement.
//! Source: MySQL documentation, "Connection Phase"; MariaDB documentation, "Connection".
//!
//! Invariant: the whole of it ends within `limits::CONNECT_SECONDS_MAX`; every failure leaves nothing open behind it; neither files of
//! this machine nor several statements in one text are ever agreed on with the server.

mod greeting;
mod sign_in;

use super::errors::Refusal;
use super::wire::{Wire, WireError};
use crate::engine::dial::policy::Protocol;
use crate::engine::dial::{Address, DialError, Link, Way, tls};
use crate::engine::{EngineError, Target};
use greeting::Greeting;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::problem::{ErrorCode, Problem};
use sign_in::{Privacy, SignIn};
use std::time::Duration;

const PORT: u16 = 3306;
/// What the kernel may take in ahead of what is read: a parked result moves no more than this beyond its pages.
pub const WINDOW_BYTES: u32 = 32 * 1024;

/// How to reach a server, for a session as for its cancel requests.
#[derive(Clone)]
pub struct Route {
    way: Way,
    terms: tls::Terms,
    target: Target,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route").field("way", &self.way).finish_non_exhaustive()
    }
}

/// A server that is ready.
pub struct Connected {
    /// The link.
    pub wire: Wire,
    /// What was agreed on.
    pub agreed: Agreed,
    /// The server's number of this session.
    pub id: u32,
    /// As the server writes it.
    pub version: String,
}

/// What this end and the server have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Rows end with an OK packet, not with an EOF packet.
    pub ends_with_ok: bool,
    /// MariaDB tells more of a column's type.
    pub extended_types: bool,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Unreached,
    Reached,
    Greeted,
}

impl Route {
    /// Of a target's fields.
    pub fn of(target: &Target) -> Self {
        let host = target.fields.host.as_deref().map(str::trim).filter(|host| !host.is_empty()).unwrap_or("localhost");
        let port = target.fields.port.unwrap_or(PORT);
        let address = match host.starts_with('/') {
            true => Address::Socket(host.into()),
            false => Address::Net { host: host.to_owned(), port },
        };
        Self { way: Way::of(target, address, Protocol::Mysql), terms: tls::Terms::of(target), target: target.clone() }
    }

    /// Opens, signs in, and waits until the server is ready.
    pub async fn connect(&self) -> Result<Connected, EngineError> {
        self.connect_over(self.way.open_narrow(WINDOW_BYTES)).await
    }

    /// The same beside a session, for a word to the server that is answered at once.
    pub async fn connect_beside(&self) -> Result<Connected, EngineError> {
        self.connect_over(self.way.open_beside()).await
    }

    async fn connect_over(&self, link: impl Future<Output = Result<Link, DialError>>) -> Result<Connected, EngineError> {
        let mut stage = Stage::Unreached;
        let connecting = async { self.sign_in_over(link.await?, &mut stage).await };
        let connected = tokio::time::timeout(Duration::from_secs(CONNECT_SECONDS_MAX), connecting).await;
        connected.unwrap_or_else(|_| Err(late(stage)))
    }

    async fn sign_in_over(&self, link: Link, stage: &mut Stage) -> Result<Connected, EngineError> {
        let mut wire = Wire::new(link);
        *stage = Stage::Reached;
        let hello = wire.next().await.map_err(failed)?;
        *stage = Stage::Greeted;
        if hello.first() == Some(&0xff) {
            return Err(rejected(Refusal::read(hello), true));
        }
        let greeting = Greeting::read(hello).map_err(failed)?;
        let database = self.target.fields.database.as_deref().filter(|database| !database.is_empty());
        let mut privacy = match self.way.address() {
            Address::Socket(_) => Privacy::Local,
            Address::Net { host, .. } if is_loopback(host) => Privacy::Loopback,
            Address::Net { .. } => Privacy::None,
        };
        if let Some(host) = self.way.host().filter(|_| self.terms.asks()) {
            if !greeting.offers_tls() {
                let message = format!("{host} does not offer TLS, and the connection asks for it");
                return Err(EngineError::not_sent(ErrorCode::ConnectFailed, message));
            }
            wire.write_reply(&greeting.tls_request(database.is_some()));
            wire.send().await.map_err(failed)?;
            let Some(link) = wire.into_link() else {
                return Err(failed(WireError::Protocol("the server speaks before TLS has begun".to_owned())));
            };
            let link = tls::client(link, host, &self.terms).await?;
            wire = Wire::new(link);
            wire.go_on_at(2);
            privacy = Privacy::Encrypted;
        }
        let user = self.target.fields.user.clone().filter(|user| !user.is_empty()).unwrap_or_else(system_user);
        if user.contains('\0') || database.is_some_and(|database| database.contains('\0')) {
            return Err(EngineError::not_sent(ErrorCode::InvalidRequest, "a zero byte can't be in a user's or a database's name"));
        }
        let mut sign_in = SignIn::new(self.target.secrets.password.as_ref(), privacy);
        let first = sign_in.start(&greeting.plugin, &greeting.nonce)?;
        wire.write_reply(&greeting.response(&user, database, &first, sign_in.plugin()));
        if let Err(broken) = wire.send().await {
            // A server that refuses our certificate says why before it closes.
            return Err(failed(wire.next().await.err().unwrap_or(broken)));
        }
        loop {
            let message = wire.next().await.map_err(failed)?;
            let answer = match message.first() {
                Some(0x00) => break,
                Some(0xff) => return Err(rejected(Refusal::read(message), self.target.secrets.password.is_some())),
                Some(0xfe) => sign_in.switch(message)?,
                Some(0x01) => sign_in.go_on(message)?,
                _ => return Err(failed(WireError::Protocol("an unknown message while signing in".to_owned()))),
            };
            if let Some(answer) = answer {
                wire.write_reply(&answer);
                wire.send().await.map_err(failed)?;
            }
        }
        Ok(Connected { wire, agreed: greeting.agreed(), id: greeting.id, version: greeting.version })
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: std::net::IpAddr| address.to_canonical().is_loopback())
}

/// Every server of MySQL speaks first. Those of most other kinds wait to be asked, and so both would wait for ever.
fn late(stage: Stage) -> EngineError {
    let message = match stage {
        Stage::Reached => format!(
            "no greeting came within {CONNECT_SECONDS_MAX} seconds, and servers of MySQL and MariaDB begin with one: this is perhaps a server of \
             another kind"
        ),
        Stage::Unreached | Stage::Greeted => format!("the server did not let Sheaf in within {CONNECT_SECONDS_MAX} seconds"),
    };
    EngineError::not_sent(ErrorCode::ConnectFailed, message)
}

fn failed(error: WireError) -> EngineError {
    if let WireError::Broken(cause) = &error
        && let Some(words) = tls::refusal(cause)
    {
        return DialError::Refusal(words).into();
    }
    EngineError::not_sent(ErrorCode::ConnectFailed, error.to_string())
}

/// Access denied is 1045 and 1698 (28000); without a password it is one that is missed.
fn rejected(refusal: Refusal, has_password: bool) -> EngineError {
    let code = match (refusal.state.starts_with("28") || refusal.number == 1698, has_password) {
        (true, true) => ErrorCode::AuthenticationFailed,
        (true, false) => ErrorCode::PasswordNeeded,
        (false, _) => ErrorCode::ConnectFailed,
    };
    let problem: Problem = refusal.problem(code, "");
    EngineError { problem, ..EngineError::not_sent(code, "") }
}

/// As the server's own client does.
fn system_user() -> String {
    std::env::var("USER").ok().filter(|user| !user.is_empty()).unwrap_or_else(|| "root".to_owned())
}
