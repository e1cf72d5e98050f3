//! Why there is no tunnel, in sentences; and what each is to a client of the API.

use super::known_hosts::Verdict;
use crate::engine::EngineError;
use crate::engine::dial::DialError;
use russh::ChannelOpenFailure;
use shared::problem::{ErrorCode, HostKey};
use shared::wire::secrets::SecretKind;

/// What went wrong on the way through SSH.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The first server is not reached at all.
    #[error("{0}")]
    Dial(Box<DialError>),
    /// A server whose key nobody has vouched for.
    #[error("The SSH server {}:{} is not known to Sheaf. Its {} key is {}.", .0.host, .0.port, .0.algorithm, .0.fingerprint)]
    Unknown(HostKey),
    /// A server whose key is another one than before.
    #[error("{}", changed(.0, .1))]
    Changed(HostKey, Verdict),
    /// A secret that this process does not hold.
    #[error("{}", missing(*.0))]
    Missing(SecretKind),
    /// The passphrase does not open the key.
    #[error("The passphrase does not open the SSH key.")]
    Passphrase,
    /// The key can't be read.
    #[error("The SSH key can't be read: {0}.")]
    Key(&'static str),
    /// There is no agent to ask, or it does not answer.
    #[error("The SSH agent can't be asked: {0}.")]
    Agent(String),
    /// The server does not let us in.
    #[error("The SSH server {host} does not let {user} in{why}.")]
    Refused {
        /// Which server.
        host: String,
        /// As whom.
        user: String,
        /// From a comma on.
        why: String,
        /// The field that it is about.
        field: &'static str,
    },
    /// The server does not reach the next one, or is not allowed to.
    #[error("{}", forward(.host, .place, .reason))]
    Forward {
        /// Which server was asked.
        host: String,
        /// Where it was to connect to.
        place: String,
        /// What it said.
        reason: ChannelOpenFailure,
    },
    /// An address that is not connected to, from there neither.
    #[error("{0} is not an address that Sheaf connects to")]
    FarEnd(String),
    /// The conversation broke off.
    #[error("The conversation with the SSH server broke off: {0}.")]
    Lost(#[from] russh::Error),
}

fn changed(key: &HostKey, verdict: &Verdict) -> String {
    let HostKey { host, port, fingerprint, .. } = key;
    let before = match verdict {
        Verdict::Revoked => "it was revoked in a known_hosts file".to_owned(),
        Verdict::Changed(Some((file, line))) => format!("line {line} of {} names another one", file.display()),
        _ => "the connection trusts another one".to_owned(),
    };
    format!(
        "The SSH server {host}:{port} shows a key that is not its own: {fingerprint}, but {before}. Somebody may be listening in between; \
         nothing was sent. If the server really has a new key, remove the old one there."
    )
}

fn missing(kind: SecretKind) -> &'static str {
    match kind {
        SecretKind::SshKey => "The SSH key is not known to this server process: it must be given.",
        SecretKind::SshPassphrase => "The SSH key is encrypted: its passphrase is needed.",
        _ => "The SSH password is not known to this server process: it must be given.",
    }
}

fn forward(host: &str, place: &str, reason: &ChannelOpenFailure) -> String {
    match reason {
        ChannelOpenFailure::AdministrativelyProhibited => format!("The SSH server {host} does not allow a tunnel to {place}."),
        ChannelOpenFailure::ConnectFailed => format!("The SSH server {host} can't connect to {place}."),
        _ => format!("The SSH server {host} does not open a tunnel to {place}."),
    }
}

impl From<Fault> for EngineError {
    fn from(fault: Fault) -> Self {
        let told = |code| Self::not_sent(code, fault.to_string());
        match &fault {
            Fault::Unknown(key) => told(ErrorCode::UnknownHostKey).about(place(key)).with_host_key(key.clone()),
            Fault::Changed(key, _) => told(ErrorCode::ChangedHostKey).about(place(key)),
            Fault::Missing(kind) => told(ErrorCode::PasswordNeeded).about(kind.name()),
            Fault::Passphrase => told(ErrorCode::AuthenticationFailed).about(SecretKind::SshPassphrase.name()),
            Fault::Key(_) => told(ErrorCode::AuthenticationFailed).about(SecretKind::SshKey.name()),
            Fault::Agent(_) => told(ErrorCode::ConnectFailed).about("ssh.method"),
            Fault::Refused { field, .. } => told(ErrorCode::AuthenticationFailed).about(field),
            Fault::Forward { .. } | Fault::FarEnd(_) => told(ErrorCode::ConnectFailed).about("host"),
            Fault::Dial(_) | Fault::Lost(_) => told(ErrorCode::ConnectFailed).about("ssh.host"),
        }
    }
}

fn place(key: &HostKey) -> &'static str {
    if key.jump { "ssh.jump.host" } else { "ssh.host" }
}
