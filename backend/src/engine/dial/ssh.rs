//! Links through SSH: to a server that only another one reaches.
//!
//! The first server is dialled like any other, under the same policy; from there on names are looked up by the server before, so only
//! addresses that are written out can be judged here. TLS inside a tunnel keeps the database's own name.
//!
//! Invariant: nothing is told to a server before its key was judged ([`known_hosts`]). What one channel may send ahead is bounded by
//! its window, and an unread one holds up no other: see [`session`]. Start at [`Tunnel::open`].

mod fault;
pub mod known_hosts;
mod proof;
mod session;

pub use fault::Fault;
pub use session::Purpose;

use super::policy::{Policy, Protocol, Refusal};
use super::{Dialer, Link};
use known_hosts::KnownHosts;
use session::{Claim, Hop, Session};
use shared::wire::connection::{Ssh, SshMethod};
use shared::wire::secrets::{Secret, SecretKind, Secrets};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// SSH's own port.
const PORT: u16 = 22;

/// The SSH side of one server of Sheaf: whom it knows, and which sessions are open.
#[derive(Default)]
pub struct Tunnels {
    known: KnownHosts,
    /// The socket of the person's agent; none where several people share the server.
    agent: Option<PathBuf>,
    sessions: Mutex<Vec<Arc<Session>>>,
}

impl std::fmt::Debug for Tunnels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tunnels").field("known", &self.known).finish_non_exhaustive()
    }
}

impl Tunnels {
    /// With what is known of servers, and the agent's socket.
    pub fn new(known: KnownHosts, agent: Option<PathBuf>) -> Self {
        Self { known, agent, sessions: Mutex::default() }
    }

    /// As the person who started this server reaches others: by his own known_hosts besides `own`, and by his agent.
    pub fn of_person(own: &Path) -> Self {
        let persons = std::env::home_dir().map(|home| home.join(".ssh").join("known_hosts"));
        let agent = std::env::var_os("SSH_AUTH_SOCK").filter(|socket| !socket.is_empty()).map(PathBuf::from);
        Self::new(KnownHosts::new(own.to_owned(), persons.into_iter().collect()), agent)
    }

    /// Sessions that are open.
    pub fn open(&self) -> usize {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|session| !session.is_closed()).count()
    }

    fn claim(self: &Arc<Self>, route: &Route, purpose: Purpose) -> Option<Claim> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| !session.is_closed());
        sessions.iter().filter(|session| session.is_to(route)).find_map(|session| session.claim(purpose, &Arc::downgrade(self)))
    }

    /// Takes a session away, if it is so.
    fn forget(&self, session: &Arc<Session>, is_so: impl FnOnce() -> bool) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if is_so() {
            sessions.retain(|one| !Arc::ptr_eq(one, session));
        }
    }
}

/// By which servers, as whom, with how much ahead of the reader.
#[derive(Clone, PartialEq, Eq)]
struct Route {
    ssh: Ssh,
    secrets: Secrets,
    window: u32,
    policy: Policy,
}

impl Route {
    /// The server before the last, if there is one, and the last.
    fn hops(&self) -> (Option<Hop>, Hop) {
        let Ssh { host, port, user, jump, host_key, .. } = &self.ssh;
        let hop = |host: &str, port: Option<u16>, user: &str, trusted: &Option<String>, jump| Hop {
            host: host.to_owned(),
            port: port.unwrap_or(PORT),
            user: user.to_owned(),
            trusted: trusted.clone(),
            jump,
        };
        let before = jump.as_ref().map(|jump| hop(&jump.host, jump.port, &jump.user, &jump.host_key, true));
        (before, hop(host, *port, user, host_key, false))
    }
}

/// The way through SSH of one connection.
#[derive(Clone)]
pub struct Tunnel {
    tunnels: Arc<Tunnels>,
    dialer: Arc<Dialer>,
    ssh: Ssh,
    secrets: Secrets,
}

impl std::fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tunnel").field("ssh", &self.ssh).finish_non_exhaustive()
    }
}

impl Tunnel {
    /// By these servers, with the secrets that are for them.
    pub fn new(tunnels: Arc<Tunnels>, dialer: Arc<Dialer>, ssh: Ssh, secrets: &Secrets) -> Self {
        let mut of_ssh = Secrets::default();
        for kind in SecretKind::ALL.into_iter().filter(|kind| is_for(*kind, ssh.method)) {
            of_ssh.set(kind, secrets.get(kind).cloned());
        }
        Self { tunnels, dialer, ssh, secrets: of_ssh }
    }

    /// The servers.
    pub fn ssh(&self) -> &Ssh {
        &self.ssh
    }

    /// A link to that place, where that is spoken; at most `window` bytes of it come ahead of the reader at a time.
    pub async fn open(&self, (host, port, protocol): (&str, u16, Protocol), window: u32, purpose: Purpose) -> Result<Link, Fault> {
        check_far_end(self.dialer.policy(), host, port, protocol)?;
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        let policy = self.dialer.policy().clone();
        let route = Route { ssh: self.ssh.clone(), secrets: self.secrets.clone(), window, policy };
        while let Some(claim) = self.tunnels.claim(&route, purpose) {
            let session = claim.session().clone();
            match claim.open(bare, port, true).await {
                // It was lost while it rested: a new one takes its place.
                Err(Fault::Lost(cause)) => {
                    tracing::debug!(%cause, "an SSH session was lost");
                    self.tunnels.forget(&session, || true);
                }
                other => return other,
            }
        }
        let session = Arc::new(Session::open(&route, &self.tunnels, &self.dialer).await?);
        let Some(claim) = session.claim(purpose, &Arc::downgrade(&self.tunnels)) else {
            return Err(Fault::Lost(russh::Error::Disconnect));
        };
        self.tunnels.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        claim.open(bare, port, false).await
    }
}

/// Whether that method of signing in uses that secret.
pub fn is_for(kind: SecretKind, method: SshMethod) -> bool {
    match kind {
        SecretKind::SshPassword => method == SshMethod::Password,
        SecretKind::SshKey | SecretKind::SshPassphrase => method == SshMethod::Key,
        SecretKind::Password | SecretKind::TlsKey => false,
    }
}

/// What is refused wherever it is connected to from.
fn check_far_end(policy: &Policy, host: &str, port: u16, protocol: Protocol) -> Result<(), Fault> {
    policy.judge_far(host, port, protocol).map_err(|refusal| match refusal {
        Refusal::Address(address) => Fault::FarEnd(address.to_string()),
        port => Fault::Dial(Box::new(port.into())),
    })
}

/// Whether that text looks like a private key at all; whether it can be opened is seen when it is used.
pub fn is_key(key: &Secret) -> bool {
    key.reveal().contains("PRIVATE KEY-----") || key.reveal().starts_with("PuTTY-User-Key-File-")
}
