//! One session to an SSH server, and the channels through it.
//!
//! Invariant: a session carries one channel of data at a time, because a channel that nobody reads holds up all the others of its
//! session; short ones (cancels) share another. It is closed a short rest after its last channel.

use super::fault::Fault;
use super::known_hosts::{KnownHosts, Verdict};
use super::{Route, Tunnels, check_far_end, proof};
use crate::engine::dial::policy::Protocol;
use crate::engine::dial::{Address, Dialer, Link};
use russh::client::{self, Handle, Msg};
use russh::keys::{HashAlg, PublicKey, PublicKeyOrCertificate};
use russh::{ChannelStream, SshId};
use shared::problem::HostKey;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How long a session without channels is kept for the next one.
const REST: Duration = Duration::from_secs(10);
/// Bytes of a message, at most: together with the messages that wait, they bound what is read ahead.
const PACKET_BYTES_MAX: u32 = 32 * 1024;
/// Messages that wait for a reader.
const MESSAGES_WAITING: usize = 4;
/// A server that does not answer for so long is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// A session that has served before may have died since: its server has so long to open the next channel.
const REOPEN: Duration = Duration::from_secs(3);

/// One SSH server on the way.
#[derive(Clone, Debug)]
pub struct Hop {
    /// Where.
    pub host: String,
    /// At which port.
    pub port: u16,
    /// As whom.
    pub user: String,
    /// The key that the person trusts, as a fingerprint.
    pub trusted: Option<String>,
    /// It only leads to the next one.
    pub jump: bool,
}

/// What the channels are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A database session: it may rest unread for long.
    Data,
    /// A cancel: short, and read to its end.
    Control,
}

/// Judges a server by its key, before anything is told to it.
pub struct Guard {
    hop: Hop,
    known: KnownHosts,
}

impl client::Handler for Guard {
    type Error = Fault;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Fault> {
        let key = shown.public_key();
        let Hop { host, port, trusted, .. } = &self.hop;
        let shown = |verdict| Err(Fault::Changed(self.host_key(&key), verdict));
        match (self.known.judge(host, *port, &key), trusted) {
            (Verdict::Known, _) => Ok(true),
            (Verdict::Unknown, Some(trusted)) if *trusted == fingerprint(&key) => {
                if let Err(cause) = self.known.learn(host, *port, &key) {
                    tracing::warn!(%cause, "the key of an SSH server could not be written down");
                }
                Ok(true)
            }
            (Verdict::Unknown, None) => Err(Fault::Unknown(self.host_key(&key))),
            (verdict, _) => shown(verdict),
        }
    }
}

impl Guard {
    fn host_key(&self, key: &PublicKey) -> HostKey {
        let Hop { host, port, jump, .. } = &self.hop;
        let algorithm = key.algorithm().as_str().to_owned();
        HostKey { host: host.clone(), port: *port, algorithm, fingerprint: fingerprint(key), jump: *jump }
    }
}

fn fingerprint(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}

/// An open session.
pub struct Session {
    route: Route,
    handle: Handle<Guard>,
    /// The session that this one goes through.
    _jump: Option<Handle<Guard>>,
    load: Mutex<Load>,
}

#[derive(Default)]
struct Load {
    data: bool,
    control: usize,
    /// Raised at each channel: a rest that was begun before it ends nothing.
    channels: u64,
}

impl Session {
    /// Connects and signs in, to the last server of the route.
    pub async fn open(route: &Route, tunnels: &Tunnels, dialer: &Dialer) -> Result<Self, Fault> {
        let (jump, last) = route.hops();
        if jump.is_some() {
            check_far_end(&route.policy, &last.host, last.port, Protocol::Ssh)?;
        }
        let Hop { host, port, .. } = jump.as_ref().unwrap_or(&last).clone();
        let opened = dialer.open(&Address::Net { host, port }, Protocol::Ssh, route.window).await;
        let link = opened.map_err(|error| Fault::Dial(Box::new(error)))?;
        let opened = |handle, jump| Self { route: route.clone(), handle, _jump: jump, load: Mutex::default() };
        let Some(jump) = jump else { return Ok(opened(shake(link, &last, route, tunnels).await?, None)) };
        let near = shake(link, &jump, route, tunnels).await?;
        let link = Box::new(channel(&near, &last.host, last.port, &jump.host).await?);
        Ok(opened(shake(link, &last, route, tunnels).await?, Some(near)))
    }

    /// It leads where `route` leads.
    pub fn is_to(&self, route: &Route) -> bool {
        self.route == *route
    }

    /// Its server is gone.
    pub fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    fn load(&self) -> MutexGuard<'_, Load> {
        self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place on it for a channel, where there is one.
    pub fn claim(self: &Arc<Self>, purpose: Purpose, tunnels: &Weak<Tunnels>) -> Option<Claim> {
        let mut load = self.load();
        match purpose {
            Purpose::Data if load.data || load.control > 0 => return None,
            Purpose::Control if load.data => return None,
            Purpose::Data => load.data = true,
            Purpose::Control => load.control += 1,
        }
        load.channels += 1;
        Some(Claim { session: self.clone(), purpose, tunnels: tunnels.clone() })
    }
}

async fn shake(link: Link, hop: &Hop, route: &Route, tunnels: &Tunnels) -> Result<Handle<Guard>, Fault> {
    let mut preferred = russh::Preferred::default();
    let kinds = tunnels.known.kinds(&hop.host, hop.port);
    let mut keys = preferred.key.to_vec();
    // A server shows the first of these that it has: one that it is known by, if there is any.
    keys.sort_by_key(|kind| !kinds.iter().any(|known| same_kind(known, kind)));
    preferred.key = keys.into();
    let config = client::Config {
        client_id: SshId::Standard("SSH-2.0-Sheaf".into()),
        window_size: route.window,
        maximum_packet_size: PACKET_BYTES_MAX.min(route.window / 2),
        channel_buffer_size: MESSAGES_WAITING,
        preferred,
        keepalive_interval: Some(KEEPALIVE),
        ..client::Config::default()
    };
    let guard = Guard { hop: hop.clone(), known: tunnels.known.clone() };
    let mut handle = client::connect_stream(Arc::new(config), link, guard).await?;
    proof::sign_in(&mut handle, hop, route.ssh.method, &route.secrets, tunnels.agent.as_deref()).await?;
    Ok(handle)
}

/// RSA keys are the same kind by whichever hash they sign.
fn same_kind(one: &russh::keys::Algorithm, other: &russh::keys::Algorithm) -> bool {
    use russh::keys::Algorithm::Rsa;
    one == other || matches!((one, other), (Rsa { .. }, Rsa { .. }))
}

async fn channel(handle: &Handle<Guard>, host: &str, port: u16, asked: &str) -> Result<ChannelStream<Msg>, Fault> {
    match handle.channel_open_direct_tcpip(host, u32::from(port), "127.0.0.1", 0).await {
        Ok(channel) => Ok(channel.into_stream()),
        Err(russh::Error::ChannelOpenFailure(reason)) => {
            Err(Fault::Forward { host: asked.to_owned(), place: format!("{host}:{port}"), reason })
        }
        Err(error) => Err(error.into()),
    }
}

/// A place on a session; given back when it is dropped.
pub struct Claim {
    session: Arc<Session>,
    purpose: Purpose,
    tunnels: Weak<Tunnels>,
}

impl Claim {
    /// Opens a channel to that place, which the server looks up; `reused` where the session has served before.
    pub async fn open(self, host: &str, port: u16, reused: bool) -> Result<Link, Fault> {
        let opening = channel(&self.session.handle, host, port, &self.session.route.ssh.host);
        let stream = match reused {
            false => opening.await?,
            true => tokio::time::timeout(REOPEN, opening).await.unwrap_or(Err(Fault::Lost(russh::Error::ConnectionTimeout)))?,
        };
        Ok(Box::new(Tube { stream, claim: self }))
    }

    /// The session that it is on.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut load = self.session.load();
        match self.purpose {
            Purpose::Data => load.data = false,
            Purpose::Control => load.control = load.control.saturating_sub(1),
        }
        let (Ok(runtime), false) = (tokio::runtime::Handle::try_current(), load.data || load.control > 0) else { return };
        let (session, tunnels, channels) = (self.session.clone(), self.tunnels.clone(), load.channels);
        // One timer for each session that rests, none where there is none.
        runtime.spawn(async move {
            tokio::time::sleep(REST).await;
            let Some(tunnels) = tunnels.upgrade() else { return };
            tunnels.forget(&session, || {
                let load = session.load();
                load.channels == channels && !load.data && load.control == 0
            });
        });
    }
}

/// A channel as a link.
struct Tube {
    stream: ChannelStream<Msg>,
    claim: Claim,
}

impl Tube {
    /// An end of the channel is that of the database's link, unless the session under it is gone.
    fn lost(&self) -> io::Result<()> {
        if self.claim.session.is_closed() {
            return Err(io::Error::new(io::ErrorKind::ConnectionReset, "the SSH tunnel was lost"));
        }
        Ok(())
    }
}

impl AsyncRead for Tube {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        Poll::Ready(if buffer.filled().len() == before && buffer.remaining() > 0 { self.lost() } else { Ok(()) })
    }
}

impl AsyncWrite for Tube {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // The stream takes an empty write for a fault.
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        match ready!(Pin::new(&mut self.stream).poll_write(context, bytes)) {
            Ok(written) => Poll::Ready(Ok(written)),
            Err(error) => Poll::Ready(self.lost().and(Err(error))),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
