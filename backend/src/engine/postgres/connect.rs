//! From a target to a server that is ready for its first statement.
//! Source: PostgreSQL documentation, "Message Flow", "Start-up" and "SASL Authentication".
//!
//! Invariant: the whole of it ends within `limits::CONNECT_SECONDS_MAX`, and every failure leaves nothing open behind it.

mod sign_in;
mod stranger;

use super::errors::{Fields, Notices};
use super::origins::Whose;
use super::wire::{Message, Reader, Wire, WireError};
use crate::engine::dial::policy::Protocol;
use crate::engine::dial::{Address, DialError, Link, Way, tls};
use crate::engine::{EngineError, Target};
use postgres_protocol::message::frontend;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::problem::{ErrorCode, Problem};
use sign_in::SignIn;
use std::collections::HashMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PORT: u16 = 5432;
/// Settings that a server reports; real ones report some fifteen.
pub const SETTINGS_MAX: usize = 100;

/// How to reach a server, for a session as for its cancel requests.
#[derive(Clone, Debug)]
pub struct Route {
    way: Way,
    terms: tls::Terms,
}

/// What the server gives out for cancel requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendKey {
    /// Process number and secret, as a CancelRequest carries them.
    pub bytes: Vec<u8>,
}

/// A server that is ready.
pub struct Connected {
    /// The link.
    pub wire: Wire,
    /// How it was reached.
    pub route: Route,
    /// For cancel requests; some poolers give none.
    pub key: Option<BackendKey>,
    /// What the server reports of its settings, by name.
    pub settings: HashMap<String, String>,
    /// What it said while signing in.
    pub notices: Notices,
    /// Whose catalog it sees.
    pub whose: Whose,
    /// Every statement runs in a transaction that refuses writes.
    pub read_only: bool,
    /// It refused settings in the way that poolers do.
    pub pooled: bool,
}

impl Route {
    /// Of a target's fields.
    pub fn of(target: &Target) -> Self {
        let host = target.fields.host.as_deref().map(str::trim).filter(|host| !host.is_empty()).unwrap_or("localhost");
        let port = target.fields.port.unwrap_or(PORT);
        let address = match host.starts_with('/') {
            true => Address::Socket(format!("{host}/.s.PGSQL.{port}").into()),
            false => Address::Net { host: host.to_owned(), port },
        };
        Self { way: Way::of(target, address, Protocol::Postgres), terms: tls::Terms::of(target) }
    }

    /// A link beside a session's, with TLS where it is asked for (a Unix socket never has it, as in libpq).
    pub async fn open_beside(&self) -> Result<Link, EngineError> {
        let link = self.way.open_beside().await?;
        self.secure(link).await.map(|(link, _)| link)
    }

    /// A link for a session, and what a sign-in over it can be bound to.
    async fn open_bound(&self) -> Result<(Link, Option<Vec<u8>>), EngineError> {
        let link = self.way.open().await?;
        self.secure(link).await
    }

    async fn secure(&self, mut link: Link) -> Result<(Link, Option<Vec<u8>>), EngineError> {
        let Some(host) = self.way.host().filter(|_| self.terms.asks()) else { return Ok((link, None)) };
        let mut request = bytes::BytesMut::new();
        frontend::ssl_request(&mut request);
        let broke = |error: std::io::Error| failed(WireError::Broken(error));
        link.write_all(&request).await.map_err(broke)?;
        link.flush().await.map_err(broke)?;
        // One byte and no more: what else lies there unencrypted must not be taken for the server's word (CVE-2021-23222).
        match link.read_u8().await.map_err(broke)? {
            b'S' => return Ok(tls::client_bound(link, host, &self.terms).await?),
            b'N' => {}
            // No answer of PostgreSQL's: what follows it tells whose it is.
            said if stranger::goes_on_as_mysql(said, &mut link).await => return Err(stranger::is_mysql()),
            _ => {}
        }
        Err(EngineError::not_sent(ErrorCode::ConnectFailed, format!("{host} does not offer TLS, and the connection asks for it")))
    }
}

/// Opens, signs in, and waits until the server is ready.
pub async fn connect(target: &Target) -> Result<Connected, EngineError> {
    let limit = Duration::from_secs(CONNECT_SECONDS_MAX);
    match tokio::time::timeout(limit, connect_unbounded(target)).await {
        Ok(connected) => connected,
        Err(_) => Err(EngineError::not_sent(
            ErrorCode::ConnectFailed,
            format!("the server did not let Sheaf in within {CONNECT_SECONDS_MAX} seconds"),
        )),
    }
}

async fn connect_unbounded(target: &Target) -> Result<Connected, EngineError> {
    let (extras, connected) = match attempt(target, Extras::Asked, "UTF8").await {
        Err(error) if refuses_extras(&error.problem) => {
            let connected = attempt(target, Extras::None, "UTF8").await?;
            (Extras::None, Connected { pooled: error.problem.sqlstate.as_deref() == Some(POOLERS_REFUSAL), ..connected })
        }
        other => (Extras::Asked, other?),
    };
    // Such a database promises nothing of its bytes, and refuses rows that are not what the client asks for: it is asked for none.
    if connected.settings.get("server_encoding").is_some_and(|encoding| encoding == NO_ENCODING) {
        return Ok(Connected { pooled: connected.pooled, ..attempt(target, extras, NO_ENCODING).await? });
    }
    Ok(connected)
}

/// What PostgreSQL calls bytes of no known encoding.
const NO_ENCODING: &str = "SQL_ASCII";

/// What the server ends by itself when nobody does: defaults of the session, which its user may set otherwise. Every version that is
/// served knows these: one that a server does not know costs a second sign-in. A later version's setting waits for the session
/// ([`super::session`]).
const SAFETY_NET: [(&str, &str); 2] = [
    // A wait for a lock is an error that names it, not a run without end.
    ("lock_timeout", "10s"),
    // A transaction that was left open lets go of its locks, with time enough to think between two statements.
    ("idle_in_transaction_session_timeout", "10min"),
];

/// `sheaf/` and what the person calls the connection, as far as a server keeps it.
fn application_name(connection: &str) -> String {
    let plain = connection.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' });
    "sheaf/".chars().chain(plain).take(APPLICATION_NAME_MAX).collect()
}

/// NAMEDATALEN - 1.
const APPLICATION_NAME_MAX: usize = 63;

/// Settings that are wished for, not needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extras {
    Asked,
    None,
}

/// What PgBouncer says of a setting that it does not pass on; a server says so only of what is no start-up message.
const POOLERS_REFUSAL: &str = "08P01";

/// Poolers, and servers that speak as PostgreSQL does, refuse settings they don't know, before anything else.
fn refuses_extras(problem: &Problem) -> bool {
    matches!(problem.sqlstate.as_deref(), Some("42704" | "22023" | POOLERS_REFUSAL | "0A000"))
}

async fn attempt(target: &Target, extras: Extras, encoding: &str) -> Result<Connected, EngineError> {
    let route = Route::of(target);
    let (link, bound_to) = route.open_bound().await?;
    let mut wire = Wire::new(link);
    let user = target.fields.user.clone().filter(|user| !user.is_empty()).unwrap_or_else(system_user);
    let database = target.fields.database.clone().filter(|database| !database.is_empty()).unwrap_or_else(|| user.clone());
    let application = application_name(&target.fields.name);
    let mut parameters =
        vec![("user", user.as_str()), ("database", database.as_str()), ("client_encoding", encoding), ("application_name", &application)];
    if extras == Extras::Asked {
        parameters.extend(SAFETY_NET);
        // Floats in digits that name them exactly, also where a role's setting says otherwise.
        parameters.push(("extra_float_digits", "3"));
    }
    frontend::startup_message(parameters, &mut wire.output)
        .map_err(|_| EngineError::not_sent(ErrorCode::InvalidRequest, "a zero byte can't be in a user's or a database's name"))?;
    if let Err(broken) = wire.send().await {
        // A server that refuses our certificate says why before it closes.
        let why = wire.next().await.err().unwrap_or(broken);
        return Err(if stranger::begins_as_mysql(wire.arrived()) { stranger::is_mysql() } else { failed(why) });
    }
    let mut sign_in = SignIn::new(&user, target.secrets.password.as_ref(), bound_to);
    let mut connected = Connected {
        wire,
        whose: Whose { address: route.way.address().clone(), through: route.way.ssh().cloned(), database, user: user.clone() },
        route,
        key: None,
        settings: HashMap::new(),
        notices: Notices::default(),
        read_only: target.fields.read_only,
        pooled: false,
    };
    let mut is_ready = greet(&mut connected, &mut sign_in).await;
    // Its first word still lies there, whatever was made of it.
    if stranger::begins_as_mysql(connected.wire.arrived()) {
        return Err(stranger::is_mysql());
    }
    while !is_ready? {
        is_ready = greet(&mut connected, &mut sign_in).await;
    }
    Ok(connected)
}

/// Takes one message; true once the server is ready.
async fn greet(connected: &mut Connected, sign_in: &mut SignIn<'_>) -> Result<bool, EngineError> {
    let Message { tag, body } = connected.wire.next().await.map_err(failed)?;
    match tag {
        b'R' => {
            if let Some(answer) = sign_in.answer(body)? {
                connected.wire.output.extend_from_slice(&answer);
                connected.wire.send().await.map_err(failed)?;
            }
        }
        b'K' => connected.key = Some(BackendKey { bytes: body.to_vec() }),
        b'S' => {
            let mut reader = Reader::new(body);
            let (name, value) = (reader.c_text().map_err(failed)?, reader.c_text().map_err(failed)?);
            if connected.settings.len() < SETTINGS_MAX {
                connected.settings.insert(name, value);
            }
        }
        b'N' => connected.notices.push(Fields::read(body).notice()),
        // NegotiateProtocolVersion: 3.0 is what was asked for, and what every server has.
        b'v' => {}
        b'E' => return Err(rejected(Fields::read(body))),
        b'Z' if sign_in.is_done() => return Ok(true),
        _ => return Err(failed(WireError::Protocol(format!("a message {:?} while signing in", char::from(tag))))),
    }
    Ok(false)
}

fn failed(error: WireError) -> EngineError {
    if let WireError::Broken(cause) = &error
        && let Some(words) = tls::refusal(cause)
    {
        return DialError::Refusal(words).into();
    }
    EngineError::not_sent(ErrorCode::ConnectFailed, error.to_string())
}

fn rejected(fields: Fields) -> EngineError {
    let code = if fields.code.starts_with("28") { ErrorCode::AuthenticationFailed } else { ErrorCode::ConnectFailed };
    EngineError { problem: fields.problem(code, ""), ..EngineError::not_sent(code, "") }
}

/// As libpq does.
fn system_user() -> String {
    std::env::var("USER").ok().filter(|user| !user.is_empty()).unwrap_or_else(|| "postgres".to_owned())
}

#[cfg(test)]
mod tests;
