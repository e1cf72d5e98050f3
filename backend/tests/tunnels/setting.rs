//! What every test starts from.

use arrow_array::RecordBatch;
use backend::engine::dial::ssh::Tunnels;
use backend::engine::dial::ssh::known_hosts::KnownHosts;
use backend::engine::{Bound, EngineError, Session, Target, engine};
use shared::wire::connection::{ConnectionFields, EngineKind, Ssh, SshMethod};
use shared::wire::secrets::{Secret, Secrets};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use testing::mariadb::mariadb;
use testing::postgres::{Cluster, clusters};
use testing::sshd::Sshd;

pub const PAGE: Bound = Bound { rows: 1_000, bytes: 1024 * 1024 };

/// The SSH server of this test binary.
pub fn sshd() -> &'static Sshd {
    static SERVER: OnceLock<Sshd> = OnceLock::new();
    SERVER.get_or_init(Sshd::start)
}

/// The newest PostgreSQL here.
pub fn cluster() -> &'static Cluster {
    clusters().last().unwrap()
}

/// By a key that is let in, and with the server's key trusted.
pub fn ssh(sshd: &Sshd) -> Ssh {
    at(sshd, sshd.port)
}

/// The same server at another port.
pub fn at(sshd: &Sshd, port: u16) -> Ssh {
    Ssh {
        host: "127.0.0.1".to_owned(),
        port: Some(port),
        user: sshd.user.clone(),
        method: SshMethod::Key,
        jump: None,
        host_key: Some(sshd.fingerprint()),
    }
}

pub fn key(sshd: &Sshd, name: &str) -> Secrets {
    Secrets { ssh_key: Some(Secret::new(sshd.key(name))), ..Secrets::default() }
}

/// Nobody is known yet; what is learnt stays in that folder.
pub fn tunnels(folder: &Path) -> Arc<Tunnels> {
    Arc::new(Tunnels::new(KnownHosts::new(folder.join("known_hosts"), vec![folder.join("the_persons")]), None))
}

/// PostgreSQL as that SSH server sees it.
pub fn postgres(ssh: Ssh, secrets: Secrets) -> Target {
    let fields = ConnectionFields {
        host: Some("127.0.0.1".to_owned()),
        port: Some(cluster().port),
        database: Some("postgres".to_owned()),
        user: Some("postgres".to_owned()),
        ssh: Some(ssh),
        ..ConnectionFields::new("test", EngineKind::Postgres)
    };
    Target::new(fields, secrets)
}

/// MariaDB likewise.
pub fn maria(ssh: Ssh, secrets: Secrets) -> Target {
    let fields = ConnectionFields {
        host: Some("127.0.0.1".to_owned()),
        port: Some(mariadb().port),
        database: Some("shop".to_owned()),
        user: Some("root".to_owned()),
        ssh: Some(ssh),
        ..ConnectionFields::new("test", EngineKind::Mysql)
    };
    Target::new(fields, secrets)
}

pub async fn connect(target: &Target) -> Result<Box<dyn Session>, EngineError> {
    engine(target.fields.engine).connect(target).await
}

/// The one value of a statement, as text.
pub async fn value(session: &mut dyn Session, sql: &str) -> String {
    session.execute(sql, PAGE).await.unwrap();
    let batch = session.fetch(PAGE).await.unwrap().batch;
    session.finish().await.unwrap();
    cell(&batch)
}

fn cell(batch: &RecordBatch) -> String {
    let field = batch.schema_ref().field(0).clone();
    shared::format::format_cell(batch.column(0).as_ref(), &field, 0).text().unwrap_or_default().into_owned()
}

/// Why there is no session.
pub async fn refusal(target: &Target) -> EngineError {
    let error = connect(target).await.err().expect("let in");
    for secret in [&target.secrets.password, &target.secrets.ssh_password, &target.secrets.ssh_key, &target.secrets.ssh_passphrase] {
        let shown = |secret: &Secret| !secret.reveal().is_empty() && format!("{error:?}").contains(secret.reveal());
        assert!(!secret.as_ref().is_some_and(shown), "a secret is in {error:?}");
    }
    error
}
