//! Connections in the store: every field but the secret.

use super::{Store, StoreError};
use shared::ids::ConnectionId;
use shared::wire::connection::{ConnectionFields, EngineKind, Tls, TlsMode};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

/// How an engine is written down: the name it has on the wire.
fn engine_name(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Sqlite => "sqlite",
        EngineKind::Postgres => "postgres",
        EngineKind::Mysql => "mysql",
        EngineKind::Duckdb => "duckdb",
    }
}

fn read_engine(name: &str) -> Option<EngineKind> {
    [EngineKind::Sqlite, EngineKind::Postgres, EngineKind::Mysql, EngineKind::Duckdb]
        .into_iter()
        .find(|engine| engine_name(*engine) == name)
}

fn tls_name(mode: TlsMode) -> &'static str {
    match mode {
        TlsMode::VerifyName => "verify-name",
        TlsMode::VerifyAuthority => "verify-authority",
        TlsMode::Encrypt => "encrypt",
        TlsMode::Off => "off",
    }
}

fn read_tls(name: &str) -> Option<TlsMode> {
    [TlsMode::VerifyName, TlsMode::VerifyAuthority, TlsMode::Encrypt, TlsMode::Off].into_iter().find(|mode| tls_name(*mode) == name)
}

impl Store {
    /// Every saved connection, oldest first.
    pub async fn connections(&self) -> Result<Vec<(ConnectionId, ConnectionFields)>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, name, engine, path, host, port, database, user, tls_mode, tls_ca, tls_certificate, ssh, read_only, color
             FROM connection ORDER BY created_at, rowid",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Saves a connection under its id, new or changed; a changed one keeps its time of creation.
    pub async fn save_connection(&self, id: &ConnectionId, fields: &ConnectionFields, now: u64) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO connection (id, name, engine, path, host, port, database, user, tls_mode, tls_ca, tls_certificate, ssh, read_only, color,
                 created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, engine = excluded.engine, path = excluded.path, host = excluded.host,
                 port = excluded.port, database = excluded.database, user = excluded.user, tls_mode = excluded.tls_mode,
                 tls_ca = excluded.tls_ca, tls_certificate = excluded.tls_certificate, ssh = excluded.ssh, read_only = excluded.read_only, color = excluded.color",
        )
        .bind(id.as_str())
        .bind(&fields.name)
        .bind(engine_name(fields.engine))
        .bind(&fields.path)
        .bind(&fields.host)
        .bind(fields.port)
        .bind(&fields.database)
        .bind(&fields.user)
        .bind(fields.tls.as_ref().map(|tls| tls_name(tls.mode)))
        .bind(fields.tls.as_ref().and_then(|tls| tls.ca.clone()))
        .bind(fields.tls.as_ref().and_then(|tls| tls.certificate.clone()))
        .bind(fields.ssh.as_ref().map(serde_json::to_string).transpose().map_err(|error| sqlx::Error::Encode(error.into()))?)
        .bind(fields.read_only)
        .bind(fields.color)
        .bind(now.cast_signed())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Deletes a saved connection; whether there was one.
    pub async fn delete_connection(&self, id: &ConnectionId) -> Result<bool, StoreError> {
        let done = sqlx::query("DELETE FROM connection WHERE id = ?1").bind(id.as_str()).execute(&self.pool).await?;
        Ok(done.rows_affected() > 0)
    }
}

fn read(row: &SqliteRow) -> Result<(ConnectionId, ConnectionFields), StoreError> {
    let unknown = |what: &str| sqlx::Error::Decode(format!("unknown {what}").into());
    let engine: String = row.try_get("engine")?;
    let tls_mode: Option<String> = row.try_get("tls_mode")?;
    let tls = match tls_mode {
        Some(mode) => Some(Tls {
            mode: read_tls(&mode).ok_or_else(|| unknown("TLS mode"))?,
            ca: row.try_get("tls_ca")?,
            certificate: row.try_get("tls_certificate")?,
        }),
        None => None,
    };
    let ssh = row.try_get::<Option<String>, _>("ssh")?.map(|ssh| serde_json::from_str(&ssh)).transpose().map_err(|_| unknown("SSH"))?;
    let fields = ConnectionFields {
        name: row.try_get("name")?,
        engine: read_engine(&engine).ok_or_else(|| unknown("engine"))?,
        path: row.try_get("path")?,
        host: row.try_get("host")?,
        port: row.try_get("port")?,
        database: row.try_get("database")?,
        user: row.try_get("user")?,
        tls,
        ssh,
        read_only: row.try_get("read_only")?,
        color: row.try_get("color")?,
    };
    Ok((ConnectionId(row.try_get("id")?), fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::wire::connection::{Ssh, SshJump, SshMethod};

    fn fields() -> ConnectionFields {
        ConnectionFields {
            name: "Bücher \u{1F4DA}".to_owned(),
            engine: EngineKind::Postgres,
            path: None,
            host: Some("db.example".to_owned()),
            port: Some(5_433),
            database: Some("shop".to_owned()),
            user: Some("reader".to_owned()),
            tls: Some(Tls { mode: TlsMode::VerifyName, ca: Some("authority".to_owned()), certificate: Some("client".to_owned()) }),
            ssh: Some(Ssh {
                host: "bastion.example".to_owned(),
                port: Some(2222),
                user: "ann".to_owned(),
                method: SshMethod::Agent,
                jump: Some(SshJump { host: "jump.example".to_owned(), port: None, user: "bob".to_owned(), host_key: None }),
                host_key: Some("SHA256:abc".to_owned()),
            }),
            read_only: true,
            color: Some(7),
        }
    }

    #[tokio::test]
    async fn what_is_saved_is_there_after_a_restart() {
        let data = tempfile::tempdir().unwrap();
        let id = ConnectionId("a".to_owned());
        let store = Store::open(data.path()).await.unwrap();
        store.save_connection(&id, &fields(), 10).await.unwrap();
        store.close().await;
        let store = Store::open(data.path()).await.unwrap();
        assert_eq!(store.connections().await.unwrap(), vec![(id, fields())]);
    }

    #[tokio::test]
    async fn a_change_replaces_and_a_deletion_removes() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path()).await.unwrap();
        let (one, other) = (ConnectionId("one".to_owned()), ConnectionId("other".to_owned()));
        store.save_connection(&one, &fields(), 1).await.unwrap();
        store.save_connection(&other, &fields(), 2).await.unwrap();
        let sqlite =
            ConnectionFields { engine: EngineKind::Sqlite, host: None, tls: None, ssh: None, path: Some("/a".to_owned()), ..fields() };
        store.save_connection(&one, &sqlite, 3).await.unwrap();
        assert_eq!(store.connections().await.unwrap(), vec![(one.clone(), sqlite), (other.clone(), fields())]);
        assert!(store.delete_connection(&one).await.unwrap());
        assert!(!store.delete_connection(&one).await.unwrap());
        assert_eq!(store.connections().await.unwrap().len(), 1);
    }

    #[test]
    fn names_in_the_store_are_those_on_the_wire() {
        for engine in [EngineKind::Sqlite, EngineKind::Postgres, EngineKind::Mysql, EngineKind::Duckdb] {
            assert_eq!(serde_json::to_value(engine).unwrap(), engine_name(engine));
        }
        for mode in [TlsMode::VerifyName, TlsMode::VerifyAuthority, TlsMode::Encrypt, TlsMode::Off] {
            assert_eq!(serde_json::to_value(mode).unwrap(), tls_name(mode));
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_file_is_its_owner_s_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path()).await.unwrap();
        store.save_connection(&ConnectionId("a".to_owned()), &fields(), 1).await.unwrap();
        for entry in std::fs::read_dir(data.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.file_name());
        }
    }
}
