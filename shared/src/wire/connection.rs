//! Connections: saved targets. No secret is ever in an answer.

use crate::ids::ConnectionId;
use crate::wire::secrets::{SecretKind, Secrets};
use serde::{Deserialize, Serialize};

/// The database systems. Later ones are added, none renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// SQLite, embedded.
    Sqlite,
    /// PostgreSQL over the network.
    Postgres,
    /// MySQL and MariaDB over the network.
    Mysql,
    /// DuckDB, embedded: a database file, or a file of rows (Parquet, CSV, JSON, Arrow) to read.
    Duckdb,
}

/// How much of TLS is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// Encrypted, the authority and the host's name verified.
    VerifyName,
    /// Encrypted, the authority verified.
    VerifyAuthority,
    /// Encrypted, nothing verified.
    Encrypt,
    /// In the clear.
    #[default]
    Off,
}

/// TLS of a network connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// What is asked for.
    pub mode: TlsMode,
    /// PEM text of the authority's certificate; the public authorities without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// PEM text of the client's own certificate, with those above it; its private key is the secret `tls_key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

impl Tls {
    /// A mode, nothing else told.
    pub fn new(mode: TlsMode) -> Self {
        Self { mode, ca: None, certificate: None }
    }
}

/// How to sign in to an SSH server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SshMethod {
    /// By the secret `ssh_password`, directly or as the answer to the server's one question.
    Password,
    /// By the secret `ssh_key`, opened by `ssh_passphrase` where it is encrypted.
    #[default]
    Key,
    /// By the agent of the machine that the server of Sheaf runs on (local mode only).
    Agent,
}

/// The way through an SSH server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Ssh {
    /// Host name or address; the database's host and port are as this server sees them.
    pub host: String,
    /// TCP port; 22 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// User on the server.
    pub user: String,
    /// How to sign in.
    pub method: SshMethod,
    /// Another server to go through before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump: Option<SshJump>,
    /// The fingerprint of the server's key (`SHA256:…`) that a person trusts, where no known_hosts file names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_key: Option<String>,
}

/// The server before the SSH server; signed in to in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SshJump {
    /// Host name or address.
    pub host: String,
    /// TCP port; 22 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// User on the server.
    pub user: String,
    /// As of [`Ssh`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_key: Option<String>,
}

/// What a connection is, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConnectionFields {
    /// What the person calls it.
    pub name: String,
    /// Which database system.
    pub engine: EngineKind,
    /// The file of an embedded engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Host name, address, or (local mode) a folder of a Unix socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// TCP port; the engine's own without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Database on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// User on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// TLS; off without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// SSH; a direct link without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<Ssh>,
    /// Only reading, enforced by the database.
    #[serde(default)]
    pub read_only: bool,
    /// One of eight colours, 0 to 7; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<u8>,
}

impl ConnectionFields {
    /// A name and an engine, nothing else told.
    pub fn new(name: impl Into<String>, engine: EngineKind) -> Self {
        Self {
            name: name.into(),
            engine,
            path: None,
            host: None,
            port: None,
            database: None,
            user: None,
            tls: None,
            ssh: None,
            read_only: false,
            color: None,
        }
    }
}

/// `POST /api/v1/connections`, and `POST /api/v1/connections/test` for one that is not saved.
/// Not `deny_unknown_fields` itself (serde can't with `flatten`): the server checks the names against the schema.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConnectionInput {
    /// Everything but the secrets.
    #[serde(flatten)]
    pub fields: ConnectionFields,
    /// The secrets that are given.
    #[serde(flatten)]
    pub secrets: Secrets,
}

/// One row of `GET /api/v1/connections`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// Everything but the secret.
    #[serde(flatten)]
    pub fields: ConnectionFields,
    /// Made by the command line for this process only; not in the store.
    pub temporary: bool,
    /// Which secrets the server process holds for it.
    #[serde(default)]
    pub held: Vec<SecretKind>,
}

/// Answer to a creation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Created {
    /// The new id.
    pub id: ConnectionId,
}

/// Answer of a connection test that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TestResult {
    /// Always true; a failure is a Problem.
    pub ok: bool,
    /// The server's own name and version, e.g. `PostgreSQL 15.18`.
    pub server: String,
    /// Milliseconds for the whole test.
    pub latency_ms: f64,
}
