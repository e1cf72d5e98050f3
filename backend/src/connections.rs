//! The connections of this server: saved ones from the store, temporary ones from the command line, the sample; and their secrets,
//! which live in memory only.
//!
//! Invariant: the only place that joins a connection's fields with its secrets, as a `Target`; every change is checked by [`validate`]
//! and written to the store before it is seen.

pub mod input;
pub mod source;
pub mod validate;

use crate::engine::Target;
use crate::engine::dial::ssh::{self, Tunnels};
use crate::engine::sqlite::own;
use crate::error;
use crate::store::Store;
use input::{Change, SecretChange};
use shared::ids::ConnectionId;
use shared::problem::{ErrorCode, Problem};
use shared::wire::connection::{Connection, ConnectionFields, ConnectionInput, EngineKind, Ssh, SshJump, SshMethod, Tls, TlsMode};
use shared::wire::secrets::{SecretKind, Secrets};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{RwLock, watch};

/// A connection that lasts as long as the process.
#[derive(Clone, Debug)]
pub struct Temporary {
    /// Stable for the same source, so that a browser finds its consoles again after a restart.
    pub id: ConnectionId,
    /// Everything but the secrets.
    pub fields: ConnectionFields,
    /// The secrets, if the command line had any.
    pub secrets: Secrets,
    /// Where what it names is still being made: becomes some when it is done or has failed.
    pub making: Option<watch::Receiver<Option<Result<(), String>>>>,
}

/// Keys of SSH servers that were trusted here, in the data folder.
const KNOWN_HOSTS: &str = "known_hosts";

#[derive(Clone, Debug)]
struct Entry {
    of: Temporary,
    saved: bool,
}

/// The registry.
#[derive(Debug)]
pub struct Connections {
    store: Store,
    tunnels: Arc<Tunnels>,
    entries: RwLock<Vec<Entry>>,
}

impl Connections {
    /// Those that were saved, after the temporary ones. The store of the data folder is never one of them, and from now on never attached.
    pub async fn load(store: Store, data: &Path, temporary: Vec<Temporary>) -> Result<Self, crate::store::StoreError> {
        own::note(&data.join(crate::store::FILE_NAME));
        let saved = store.connections().await?;
        let temporary = temporary.into_iter().map(|of| Entry { of, saved: false });
        let saved = saved
            .into_iter()
            .map(|(id, fields)| Entry { of: Temporary { id, fields, secrets: Secrets::default(), making: None }, saved: true });
        Ok(Self {
            store,
            tunnels: Arc::new(Tunnels::of_person(&data.join(KNOWN_HOSTS))),
            entries: RwLock::new(temporary.chain(saved).collect()),
        })
    }

    /// All of them, without secrets.
    pub async fn list(&self) -> Vec<Connection> {
        self.entries.read().await.iter().map(describe).collect()
    }

    /// Saves a new one.
    pub async fn create(&self, input: ConnectionInput, now: u64) -> Result<ConnectionId, Problem> {
        let target = self.unsaved(input)?;
        let id = ConnectionId(crate::access::secret::random_id().map_err(|e| error::fault("a new id", &e))?);
        let mut entries = self.entries.write().await;
        self.store.save_connection(&id, &target.fields, now).await?;
        let of = Temporary { id: id.clone(), fields: target.fields, secrets: target.secrets, making: None };
        entries.push(Entry { of, saved: true });
        Ok(id)
    }

    /// Changes one; true when runs and sessions of it must end because it now leads elsewhere.
    pub async fn change(&self, id: &ConnectionId, change: &Change, now: u64) -> Result<bool, Problem> {
        let mut entries = self.entries.write().await;
        let entry = entries.iter_mut().find(|entry| entry.of.id == *id).ok_or_else(no_such_connection)?;
        let target = self.changed(entry, change)?;
        if entry.saved {
            self.store.save_connection(id, &target.fields, now).await?;
        }
        let leads_elsewhere = moves(entry, &target);
        entry.of.fields = target.fields;
        entry.of.secrets = target.secrets;
        Ok(leads_elsewhere)
    }

    /// Deletes one.
    pub async fn delete(&self, id: &ConnectionId) -> Result<(), Problem> {
        let mut entries = self.entries.write().await;
        let at = entries.iter().position(|entry| entry.of.id == *id).ok_or_else(no_such_connection)?;
        if entries.get(at).is_some_and(|entry| entry.saved) {
            self.store.delete_connection(id).await?;
        }
        entries.remove(at);
        Ok(())
    }

    /// Where one leads, with its secrets. Waits where the file is still being made.
    pub async fn target(&self, id: &ConnectionId) -> Result<Target, Problem> {
        let entry = self.entry(id).await?;
        if let Some(mut making) = entry.of.making {
            let made = making.wait_for(Option::is_some).await.ok().and_then(|made| made.clone());
            if let Some(Err(cause)) = made {
                return Err(Problem::new(ErrorCode::CannotOpen, format!("{} could not be made: {cause}", entry.of.fields.name)));
            }
        }
        Self::check_not_own(&entry.of.fields)?;
        Ok(self.leading(entry.of.fields, entry.of.secrets))
    }

    /// Where one would lead after a change that is not made yet.
    pub async fn target_after(&self, id: &ConnectionId, change: &Change) -> Result<Target, Problem> {
        let entry = self.entry(id).await?;
        self.changed(&entry, change)
    }

    /// The same, where the change makes it lead elsewhere, or as somebody else; `None` where it does not.
    pub async fn target_moved(&self, id: &ConnectionId, change: &Change) -> Result<Option<Target>, Problem> {
        let entry = self.entry(id).await?;
        let target = self.changed(&entry, change)?;
        Ok(moves(&entry, &target).then_some(target))
    }

    /// Where fields that are not saved lead.
    pub fn unsaved(&self, input: ConnectionInput) -> Result<Target, Problem> {
        validate::check(&input.fields, &input.secrets)?;
        Self::check_not_own(&input.fields)?;
        Ok(self.leading(input.fields, input.secrets))
    }

    fn leading(&self, fields: ConnectionFields, secrets: Secrets) -> Target {
        Target { tunnels: self.tunnels.clone(), ..Target::new(fields, secrets) }
    }

    async fn entry(&self, id: &ConnectionId) -> Result<Entry, Problem> {
        self.entries.read().await.iter().find(|entry| entry.of.id == *id).cloned().ok_or_else(no_such_connection)
    }

    fn changed(&self, entry: &Entry, change: &Change) -> Result<Target, Problem> {
        let fields = change.apply_to(&entry.of.fields)?;
        // Otherwise whoever may edit a connection could send its secrets to a server of his own.
        let stays = !goes_another_way(&entry.of.fields, &fields);
        let mut secrets = Secrets::default();
        for kind in SecretKind::ALL {
            let kept = || entry.of.secrets.get(kind).filter(|_| stays && has_use_for(&fields, kind)).cloned();
            secrets.set(
                kind,
                match change.secret(kind) {
                    SecretChange::Set(secret) => Some(secret),
                    SecretChange::Drop => None,
                    SecretChange::Keep => kept(),
                },
            );
        }
        validate::check(&fields, &secrets)?;
        Self::check_not_own(&fields)?;
        Ok(self.leading(fields, secrets))
    }

    /// Sheaf's own files are never a database to work on.
    fn check_not_own(fields: &ConnectionFields) -> Result<(), Problem> {
        let Some(path) = fields.path.as_deref().filter(|_| matches!(fields.engine, EngineKind::Sqlite | EngineKind::Duckdb)) else {
            return Ok(());
        };
        if own::is_own(Path::new(path)) { Err(own::problem()) } else { Ok(()) }
    }
}

fn describe(entry: &Entry) -> Connection {
    Connection { id: entry.of.id.clone(), fields: entry.of.fields.clone(), temporary: !entry.saved, held: entry.of.secrets.held() }
}

fn no_such_connection() -> Problem {
    Problem::new(ErrorCode::NotFound, "There is no such connection.")
}

fn tls_mode(fields: &ConnectionFields) -> TlsMode {
    fields.tls.as_ref().map_or(TlsMode::Off, |tls| tls.mode)
}

/// Whoever answers at its end may be another one.
fn goes_another_way(before: &ConnectionFields, after: &ConnectionFields) -> bool {
    let ca = |fields: &ConnectionFields| fields.tls.as_ref().and_then(|tls| tls.ca.clone());
    before.engine != after.engine
        || before.host != after.host
        || before.port != after.port
        || tls_mode(before) != tls_mode(after)
        || ca(before) != ca(after)
        || servers(before) != servers(after)
}

/// The SSH servers on the way, and as whom; which keys they are trusted by changes nothing of it.
fn servers(fields: &ConnectionFields) -> Option<Ssh> {
    let ssh = fields.ssh.clone()?;
    let jump = ssh.jump.map(|jump| SshJump { host_key: None, ..jump });
    Some(Ssh { host_key: None, method: SshMethod::default(), jump, ..ssh })
}

/// A secret that nothing asks for is not kept.
fn has_use_for(fields: &ConnectionFields, kind: SecretKind) -> bool {
    match kind {
        SecretKind::Password => true,
        SecretKind::TlsKey => certificate(fields).is_some(),
        kind => fields.ssh.as_ref().is_some_and(|ssh| ssh::is_for(kind, ssh.method)),
    }
}

fn certificate(fields: &ConnectionFields) -> Option<&str> {
    fields.tls.as_ref().and_then(|tls: &Tls| tls.certificate.as_deref())
}

fn moves(entry: &Entry, target: &Target) -> bool {
    leads_elsewhere(&entry.of.fields, &target.fields) || entry.of.secrets != target.secrets
}

fn leads_elsewhere(before: &ConnectionFields, after: &ConnectionFields) -> bool {
    goes_another_way(before, after)
        || certificate(before) != certificate(after)
        || before.ssh != after.ssh
        || before.path != after.path
        || before.database != after.database
        || before.user != after.user
        || before.read_only != after.read_only
}
