//! Opens sockets outward: names are resolved once, every address is judged, and the judged address is the one connected to.
//!
//! Invariant: no other module of the engines opens a socket, so that the policy can't be passed by. It knows no database's protocol.
//! Start at [`Way::open`]; TLS is put on an open link by [`tls::client`].

pub mod own;
pub mod policy;
pub mod ssh;
pub mod tls;

use crate::engine::{EngineError, Target};
use async_trait::async_trait;
use policy::{Policy, Protocol, Refusal};
use shared::problem::ErrorCode;
use shared::wire::connection::Ssh;
use ssh::{Purpose, Tunnel};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
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
    /// Where this very process listens.
    #[error("port {port} of this machine is Sheaf's own, and no database answers there")]
    Own {
        /// As it was asked for.
        port: u16,
    },
    /// A port at which no server of that kind is reached from here.
    #[error("port {port} is none at which this server of Sheaf reaches {protocol}; its administrator can allow it")]
    Port {
        /// As it was asked for.
        port: u16,
        /// What would be spoken there.
        protocol: &'static str,
    },
    /// A Unix socket, where several people share the server.
    #[error("a socket of the machine is reached only where Sheaf runs for one person")]
    Socket,
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

impl From<Refusal> for DialError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Address(address) => Self::Refused { address },
            Refusal::Port(port, protocol) => Self::Port { port, protocol: protocol.name() },
        }
    }
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
            DialError::NoAddress { .. } | DialError::Refused { .. } | DialError::Socket => told(ErrorCode::ConnectFailed).about("host"),
            DialError::Own { .. } | DialError::Port { .. } => told(ErrorCode::ConnectFailed).about("port"),
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

/// Who tells the addresses of a name.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All of them, at that port.
    async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>>;
}

/// This machine's own resolver.
struct System;

#[async_trait]
impl Resolver for System {
    async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        Ok(lookup_host((host, port)).await?.collect())
    }
}

/// How one server of Sheaf reaches others: by its policy, and by whom it asks for names.
#[derive(Clone)]
pub struct Dialer {
    policy: Policy,
    resolver: Arc<dyn Resolver>,
}

impl Default for Dialer {
    fn default() -> Self {
        Self::new(Policy::default())
    }
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialer").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Dialer {
    /// Under this policy, by the machine's own resolver.
    pub fn new(policy: Policy) -> Self {
        Self::asking(policy, Arc::new(System))
    }

    /// Under this policy, with names told by that resolver.
    pub fn asking(policy: Policy, resolver: Arc<dyn Resolver>) -> Self {
        Self { policy, resolver }
    }

    /// Where it connects to.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Connects, without TLS. The receive window is set before the system doubles it: a narrow one is for protocols in which the server
    /// sends on until nobody takes it. A Unix socket has none; the sender's buffer bounds it.
    pub async fn open(&self, address: &Address, protocol: Protocol, window: u32) -> Result<Link, DialError> {
        match address {
            Address::Socket(_) if !self.policy.allows_sockets() => Err(DialError::Socket),
            Address::Socket(path) => {
                let no_answer = |source| DialError::NoAnswer { place: path.display().to_string(), source };
                Ok(Box::new(UnixStream::connect(path).await.map_err(no_answer)?))
            }
            Address::Net { host, port } => Ok(Box::new(self.open_tcp(host, *port, protocol, window).await?)),
        }
    }

    /// Every address is judged before the first is connected to.
    async fn open_tcp(&self, host: &str, port: u16, protocol: Protocol, window: u32) -> Result<TcpStream, DialError> {
        let no_address = |reason: String| DialError::NoAddress { host: host.to_owned(), reason };
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        let addresses = match policy::literal(bare) {
            Some(address) => vec![(address, port).into()],
            None => self.resolver.resolve(bare, port).await.map_err(|error| no_address(error.to_string()))?,
        };
        for address in &addresses {
            if own::is_own(address) {
                return Err(DialError::Own { port });
            }
            self.policy.judge(bare, address.ip(), address.port(), protocol)?;
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
}

impl Address {
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
    protocol: Protocol,
    dialer: Arc<Dialer>,
    tunnel: Option<Tunnel>,
}

impl Way {
    /// To that address, where that is spoken, as the target says.
    pub fn of(target: &Target, address: Address, protocol: Protocol) -> Self {
        let ssh = target.fields.ssh.clone().filter(|_| matches!(address, Address::Net { .. }));
        let tunnel = ssh.map(|ssh| Tunnel::new(target.tunnels.clone(), target.dialer.clone(), ssh, &target.secrets));
        Self { address, protocol, dialer: target.dialer.clone(), tunnel }
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

    /// The same with a receive window of its own; see [`Dialer::open`].
    pub async fn open_narrow(&self, window: u32) -> Result<Link, DialError> {
        self.open_for(Purpose::Data, window).await
    }

    /// The same for a request beside a session: short, and read to its end.
    pub async fn open_beside(&self) -> Result<Link, DialError> {
        self.open_for(Purpose::Control, CONTROL_WINDOW_BYTES).await
    }

    async fn open_for(&self, purpose: Purpose, window: u32) -> Result<Link, DialError> {
        match (&self.tunnel, &self.address) {
            (Some(tunnel), Address::Net { host, port }) => Ok(tunnel.open((host, *port, self.protocol), window, purpose).await?),
            (_, address) => self.dialer.open(address, self.protocol, window).await,
        }
    }

    /// The name a certificate must bear; none for a Unix socket.
    pub fn host(&self) -> Option<&str> {
        self.address.host()
    }
}

/// What a cancel is answered with is a few bytes.
const CONTROL_WINDOW_BYTES: u32 = 32 * 1024;

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
