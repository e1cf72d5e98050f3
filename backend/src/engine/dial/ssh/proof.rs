//! Who we are to an SSH server: a password, a key, or what the person's agent holds.
//!
//! Invariant: a server is only told who we are after its key was judged; a password answers one hidden question and no other; a
//! signature with SHA-1 is never made; no secret stands in any message of an error.

use super::fault::Fault;
use super::session::{Guard, Hop};
use crate::engine::dial::policy::Protocol;
use crate::engine::dial::{Address, Dialer};
use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse as Asked};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{Algorithm, HashAlg, PrivateKey, PrivateKeyWithHashAlg};
use russh::{MethodKind, MethodSet};
use shared::wire::connection::SshMethod;
use shared::wire::secrets::{Secret, SecretKind, Secrets};
use std::path::Path;
use std::sync::Arc;

/// Rounds of questions that are answered; servers ask one or two.
const ROUNDS_MAX: usize = 4;
/// Keys of an agent that are tried; servers close after six.
const IDENTITIES_MAX: usize = 5;

/// Signs in by that method.
pub async fn sign_in(
    handle: &mut Handle<Guard>,
    hop: &Hop,
    method: SshMethod,
    secrets: &Secrets,
    agent: Option<&Path>,
) -> Result<(), Fault> {
    match method {
        SshMethod::Password => by_password(handle, hop, known(secrets, SecretKind::SshPassword)?).await,
        SshMethod::Key => {
            let key = read_key(known(secrets, SecretKind::SshKey)?.clone(), secrets.ssh_passphrase.clone()).await?;
            by_key(handle, hop, key).await
        }
        SshMethod::Agent => by_agent(handle, hop, agent).await,
    }
}

fn known(secrets: &Secrets, kind: SecretKind) -> Result<&Secret, Fault> {
    secrets.get(kind).ok_or(Fault::Missing(kind))
}

async fn by_password(handle: &mut Handle<Guard>, hop: &Hop, password: &Secret) -> Result<(), Fault> {
    let field = SecretKind::SshPassword.name();
    match handle.authenticate_password(&hop.user, password.reveal()).await? {
        AuthResult::Success => Ok(()),
        AuthResult::Failure { remaining_methods, partial_success: false }
            if remaining_methods.contains(&MethodKind::KeyboardInteractive) =>
        {
            by_questions(handle, hop, password).await
        }
        AuthResult::Failure { remaining_methods, partial_success } => Err(refused(hop, field, &remaining_methods, partial_success)),
    }
}

/// Servers that ask by the keyboard: the password answers the one hidden question there is.
async fn by_questions(handle: &mut Handle<Guard>, hop: &Hop, password: &Secret) -> Result<(), Fault> {
    let field = SecretKind::SshPassword.name();
    let more = || {
        let why = ": it asks for more than a password".to_owned();
        Fault::Refused { host: hop.host.clone(), user: hop.user.clone(), why, field: "ssh.method" }
    };
    let mut given = false;
    let mut asked = handle.authenticate_keyboard_interactive_start(&hop.user, None).await?;
    for _ in 0..ROUNDS_MAX {
        let prompts = match asked {
            Asked::Success => return Ok(()),
            Asked::Failure { remaining_methods, partial_success } => return Err(refused(hop, field, &remaining_methods, partial_success)),
            Asked::InfoRequest { prompts, .. } => prompts,
        };
        let answers = match prompts.as_slice() {
            [] => Vec::new(),
            [one] if !one.echo && !given => {
                given = true;
                vec![password.reveal().to_owned()]
            }
            _ => return Err(more()),
        };
        asked = handle.authenticate_keyboard_interactive_respond(answers).await?;
    }
    Err(more())
}

async fn by_key(handle: &mut Handle<Guard>, hop: &Hop, key: PrivateKey) -> Result<(), Fault> {
    let field = SecretKind::SshKey.name();
    let hash = hash_for(handle, &key.algorithm(), hop, field).await?;
    let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
    match handle.authenticate_publickey(&hop.user, key).await? {
        AuthResult::Success => Ok(()),
        AuthResult::Failure { remaining_methods, partial_success } => Err(refused(hop, field, &remaining_methods, partial_success)),
    }
}

/// RSA signs with SHA-2; a server that only knows SHA-1 is not signed in to.
async fn hash_for(handle: &Handle<Guard>, algorithm: &Algorithm, hop: &Hop, field: &'static str) -> Result<Option<HashAlg>, Fault> {
    if !matches!(algorithm, Algorithm::Rsa { .. }) {
        return Ok(None);
    }
    match handle.best_supported_rsa_hash().await? {
        Some(Some(hash)) => Ok(Some(hash)),
        // The server does not say what it takes; all that are not very old take this.
        None => Ok(Some(HashAlg::Sha512)),
        Some(None) => {
            let why = ": it takes RSA only with SHA-1, which is not safe any more".to_owned();
            Err(Fault::Refused { host: hop.host.clone(), user: hop.user.clone(), why, field })
        }
    }
}

async fn by_agent(handle: &mut Handle<Guard>, hop: &Hop, agent: Option<&Path>) -> Result<(), Fault> {
    let field = "ssh.method";
    let socket = agent.ok_or_else(|| Fault::Agent("SSH_AUTH_SOCK was not set when Sheaf was started".to_owned()))?;
    let fault = |error: &dyn std::fmt::Display| Fault::Agent(error.to_string());
    // The person's own: where several people share the server, there is none.
    let address = Address::Socket(socket.to_owned());
    let link = Dialer::default().open(&address, Protocol::Ssh, 0).await.map_err(|error| fault(&error))?;
    let mut agent = AgentClient::connect(link);
    let identities = agent.request_identities().await.map_err(|error| fault(&error))?;
    if identities.is_empty() {
        return Err(Fault::Agent("it holds no key".to_owned()));
    }
    let mut last = MethodSet::empty();
    for identity in identities.into_iter().take(IDENTITIES_MAX) {
        let algorithm = identity.public_key().algorithm();
        let Ok(hash) = hash_for(handle, &algorithm, hop, field).await else { continue };
        let tried = match identity {
            AgentIdentity::PublicKey { key, .. } => handle.authenticate_publickey_with(&hop.user, key, hash, &mut agent).await,
            AgentIdentity::Certificate { certificate, .. } => {
                handle.authenticate_certificate_with(&hop.user, certificate, hash, &mut agent).await
            }
        };
        match tried {
            Ok(AuthResult::Success) => return Ok(()),
            Ok(AuthResult::Failure { remaining_methods, partial_success: true }) => {
                return Err(refused(hop, field, &remaining_methods, true));
            }
            Ok(AuthResult::Failure { remaining_methods, .. }) => last = remaining_methods,
            // A key that the person does not release is as good as none.
            Err(cause) => tracing::debug!(%cause, "the agent did not sign"),
        }
    }
    Err(refused(hop, field, &last, false))
}

fn refused(hop: &Hop, field: &'static str, remaining: &MethodSet, partial: bool) -> Fault {
    let names = || remaining.iter().map(<&str>::from).collect::<Vec<_>>().join(", ");
    let why = match (partial, remaining.is_empty()) {
        (true, _) => format!(" by that alone: it asks for {} besides", names()),
        (false, true) => String::new(),
        (false, false) => format!("; it takes {}", names()),
    };
    Fault::Refused { host: hop.host.clone(), user: hop.user.clone(), why, field }
}

/// Opening an encrypted key is made to be slow: on a thread of its own.
async fn read_key(key: Secret, passphrase: Option<Secret>) -> Result<PrivateKey, Fault> {
    let read = tokio::task::spawn_blocking(move || decode(&key, passphrase.as_ref())).await;
    read.unwrap_or(Err(Fault::Key("it made the reader fail")))
}

/// The causes are not shown: they may quote the text.
fn decode(key: &Secret, passphrase: Option<&Secret>) -> Result<PrivateKey, Fault> {
    let passphrase = passphrase.map(Secret::reveal);
    if let Ok(read) = PrivateKey::from_openssh(key.reveal()) {
        return match (read.is_encrypted(), passphrase) {
            (false, _) => Ok(read),
            (true, None) => Err(Fault::Missing(SecretKind::SshPassphrase)),
            (true, Some(passphrase)) => read.decrypt(passphrase).map_err(|_| Fault::Passphrase),
        };
    }
    let is_encrypted = key.reveal().contains("ENCRYPTED");
    match russh::keys::decode_secret_key(key.reveal(), passphrase) {
        Ok(read) => Ok(read),
        Err(_) if is_encrypted && passphrase.is_none() => Err(Fault::Missing(SecretKind::SshPassphrase)),
        Err(_) if is_encrypted => Err(Fault::Passphrase),
        Err(_) => Err(Fault::Key("its text holds no private key (as ssh-keygen writes it: ed25519, ecdsa or rsa)")),
    }
}
