//! Opens sockets outward: names are resolved once, every address is judged, and the judged address is the one connected to.
//!
//! Invariant: no other module of the engines opens a socket, so that the policy can't be passed by. It knows no database's protocol.
//! Start at [`Way::open`]; TLS is put on an open link by [`tls::client`].

pub mod own;
pub mod policy;
pub mod ssh;
pub mod tls;

use crate::engine::{EngineError, Target};
use policy::Mode;
use shared::problem::ErrorCode;
use shared::wire::connection::Ssh;
use ssh::{Purpose, Tunnel};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream, UnixStream, lookup_host};

/// Whatever bytes go through.
pub trait Transport: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Transport for T {}

/// An open link.
pub type Link = Box<dyn Transport>;

/// Why there is no link. Each text is for a person and names the place.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The name has no address.
    #[error("there is no address for the host {host}: {reason}")]
    NoAddress {
        /// As it was asked for.
        host: String,
        /// The resolver's words.
        reason: String,
    },
    /// An address no database is reached at.
    #[error("{address} is not an address that Sheaf connects to")]
    Refused {
        /// The address the name led to.
        address: IpAddr,
    },
    /// Nobody answered there.
    #[error("cannot connect to {place}: {source}")]
    NoAnswer {
        /// Where.
        place: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// TLS could not be agreed on.
    #[error("TLS with {host} failed: {reason}")]
    Tls {
        /// The name that was asked for.
        host: String,
        /// What was wrong.
        reason: String,
    },
    /// Our own certificate or its key is not usable.
    #[error("{0}")]
    Identity(tls::identity::Fault),
    /// The server does not take our certificate.
    #[error("{0}")]
    Refusal(&'static str),
    /// There is no tunnel.
    #[error("{0}")]
    Ssh(#[from] ssh::Fault),
}

impl From<DialError> for EngineError {
    fn from(error: DialError) -> Self {
        let error = match error {
            DialError::Ssh(fault) => return fault.into(),
            other => other,
        };
        let told = |code| Self::not_sent(code, error.to_string());
        match &error {
            DialError::Identity(fault) => {
                let code = if *fault == tls::identity::Fault::NoKey { ErrorCode::PasswordNeeded } else { ErrorCode::ConnectFailed };
                told(code).about(fault.field())
            }
            DialError::Refusal(_) => told(ErrorCode::ConnectFailed).about("tls.certificate"),
            DialError::NoAddress { .. } | DialError::Refused { .. } => told(ErrorCode::ConnectFailed).about("host"),
            DialError::NoAnswer { .. } | DialError::Tls { .. } | DialError::Ssh(_) => told(ErrorCode::ConnectFailed),
        }
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Socket(PathBuf),
    /// Host name or address, and port.
    Net {
        /// Host name or address.
        host: String,
        /// TCP port.
        port: u16,
    },
}

impl Address {
    /// Connects, without TLS.
    pub async fn open(&self) -> Result<Link, DialError> {
        self.open_in(Mode::Local, RECEIVE_WINDOW_BYTES).await
    }

    /// The same with a receive window of its own, before the system doubles it: for protocols in which the server sends on until
    /// nobody takes it. A Unix socket has none; the sender's buffer bounds it.
    pub async fn open_narrow(&self, window: u32) -> Result<Link, DialError> {
        self.open_in(Mode::Local, window).await
    }

    /// The same as a server of that mode does it.
    pub async fn open_in(&self, mode: Mode, window: u32) -> Result<Link, DialError> {
        match self {
            Self::Socket(path) => {
                let no_answer = |source| DialError::NoAnswer { place: path.display().to_string(), source };
                Ok(Box::new(UnixStream::connect(path).await.map_err(no_answer)?))
            }
            Self::Net { host, port } => Ok(Box::new(open_tcp(host, *port, mode, window).await?)),
        }
    }

    /// The name a certificate must bear; none for a Unix socket.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Socket(_) => None,
            Self::Net { host, .. } => Some(host),
        }
    }
}

/// How a server is reached: where it listens, and through what.
#[derive(Clone, Debug)]
pub struct Way {
    address: Address,
    tunnel: Option<Tunnel>,
}

impl Way {
    /// To that address, as the target says.
    pub fn of(target: &Target, address: Address) -> Self {
        let ssh = target.fields.ssh.clone().filter(|_| matches!(address, Address::Net { .. }));
        let tunnel = ssh.map(|ssh| Tunnel::new(target.tunnels.clone(), ssh, &target.secrets));
        Self { address, tunnel }
    }

    /// Where the server listens; through a tunnel, as its last server sees it.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The servers that it goes through.
    pub fn ssh(&self) -> Option<&Ssh> {
        self.tunnel.as_ref().map(Tunnel::ssh)
    }

    /// Connects, without TLS.
    pub async fn open(&self) -> Result<Link, DialError> {
        self.open_for(Purpose::Data, RECEIVE_WINDOW_BYTES).await
    }

    /// The same with a receive window of its own; see [`Address::open_narrow`].
    pub async fn open_narrow(&self, window: u32) -> Result<Link, DialError> {
        self.open_for(Purpose::Data, window).await
    }

    /// The same for a request beside a session: short, and read to its end.
    pub async fn open_beside(&self) -> Result<Link, DialError> {
        self.open_for(Purpose::Control, CONTROL_WINDOW_BYTES).await
    }

    async fn open_for(&self, purpose: Purpose, window: u32) -> Result<Link, DialError> {
        match (&self.tunnel, &self.address) {
            (Some(tunnel), Address::Net { host, port }) => Ok(tunnel.open(host, *port, window, purpose).await?),
            (_, address) => address.open_in(Mode::Local, window).await,
        }
    }

    /// The name a certificate must bear; none for a Unix socket.
    pub fn host(&self) -> Option<&str> {
        self.address.host()
    }
}

/// What a cancel is answered with is a few bytes.
const CONTROL_WINDOW_BYTES: u32 = 32 * 1024;

async fn open_tcp(host: &str, port: u16, mode: Mode, window: u32) -> Result<TcpStream, DialError> {
    let no_address = |reason: String| DialError::NoAddress { host: host.to_owned(), reason };
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let addresses: Vec<SocketAddr> = match policy::literal(bare) {
        Some(address) => vec![(address, port).into()],
        None => lookup_host((bare, port)).await.map_err(|error| no_address(error.to_string()))?.collect(),
    };
    if let Some(refused) = addresses.iter().find(|address| policy::refuses(address.ip(), mode) || own::is_own(address)) {
        return Err(DialError::Refused { address: refused.ip() });
    }
    let mut last = no_address("the name is empty".to_owned());
    for address in addresses {
        match connect(address, window).await {
            Ok(stream) => {
                settle(&stream);
                return Ok(stream);
            }
            Err(source) => last = DialError::NoAnswer { place: format!("{host}:{port}"), source },
        }
    }
    Err(last)
}

/// What a server may send ahead of the reader, before the system doubles it: a usual page fits, and so takes one round trip.
pub const RECEIVE_WINDOW_BYTES: u32 = 128 * 1024;

/// A server that confirms nothing of what was sent is gone after so long.
#[cfg(target_os = "linux")]
const PEER_SILENT_SECONDS_MAX: u64 = 30;

/// The window is set before the handshake, which is where its scale is agreed on.
async fn connect(address: SocketAddr, window: u32) -> std::io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_recv_buffer_size(window)?;
    socket.connect(address).await
}

/// Small messages leave at once; a vanished peer is noticed within half a minute, whether or not something was sent to it (the system
/// itself would try for a quarter of an hour). Neither is worth failing for.
fn settle(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let keepalive = socket2::TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5)).with_retries(3);
    let socket = socket2::SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&keepalive);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(Duration::from_secs(PEER_SILENT_SECONDS_MAX)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn e14_what_is_sent_into_a_dead_path_fails_within_half_a_minute() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = connect(listener.local_addr().unwrap(), RECEIVE_WINDOW_BYTES).await.unwrap();
        settle(&stream);
        let socket = socket2::SockRef::from(&stream);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(Duration::from_secs(30)));
        assert!(socket.keepalive().unwrap());
    }
}
