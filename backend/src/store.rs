//! Sheaf's own store: saved connections and sign-ins, in one SQLite file in the data folder.
//!
//! Invariant: the only place with Sheaf's own SQL; never reachable as a connection; what is acknowledged is on the disk
//! (WAL with `synchronous = FULL`). No secret is ever written here, only hashes of bearers.

mod connections;
mod sign_ins;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use std::path::Path;
use std::time::Duration;

/// The store's file in the data folder.
pub const FILE_NAME: &str = "sheaf.sqlite";
/// Rows that `PRAGMA optimize` looks at for each index, at close: enough for a plan, never long.
const ANALYSIS_LIMIT: u32 = 400;

/// Why the store did not do as told.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A statement failed: disk full, file damaged, locked.
    #[error("{0}")]
    Database(#[from] sqlx::Error),
    /// The file is of a newer Sheaf, or damaged.
    #[error("{0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The file could not be made.
    #[error("{0}")]
    File(#[from] std::io::Error),
}

/// An open store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pool: SqlitePool,
}

impl Store {
    /// Opens the store of a data folder, makes it where it is missing, and brings its tables up to this version.
    pub async fn open(data: &Path) -> Result<Self, StoreError> {
        let file = data.join(FILE_NAME);
        if !file.exists() {
            // Readable by its owner alone from the first moment; SQLite gives its side files the same mode.
            crate::access::launch::write_private_file(&file, b"")?;
        }
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5))
            .pragma("trusted_schema", "OFF")
            .optimize_on_close(true, Some(ANALYSIS_LIMIT));
        // No times of life: a pool that never has to look after its connections costs nothing while idle.
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None).connect_with(options).await?;
        sqlx::migrate!("./migrations").run(&pool).await?;
        Ok(Self { pool })
    }

    /// Closes the store: the side files are folded in, statistics are brought up to date.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
