//! Database engines: one trait, one table.
//!
//! Invariant: an engine knows no runs, no pages on disk, no users and no HTTP. It turns one statement into record batches of
//! the size it is asked for, and it reads no further than it is asked to.
//! Start at [`Session`]; a new engine is one file and one line in [`engine`].

pub mod catalog;
pub mod dial;
pub mod duckdb;
mod files;
pub mod mysql;
pub mod notices;
pub mod pool;
pub mod postgres;
mod refusals;
mod rows;
pub mod sqlite;
pub mod transaction;
pub mod worker;

use arrow_array::{Array as _, RecordBatch};
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use catalog::CatalogAsk;
use dial::Dialer;
use dial::ssh::Tunnels;
use notices::Notices;
use serde::{Deserialize, Serialize};
use shared::problem::{ErrorCode, HostKey, Problem};
use shared::wire::catalog::{Catalog, KnownSchemas};
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::run::Notice;
use shared::wire::secrets::Secrets;
use std::sync::Arc;

/// The table of engines.
pub fn engine(kind: EngineKind) -> &'static dyn Engine {
    match kind {
        EngineKind::Sqlite => &sqlite::Sqlite,
        EngineKind::Postgres => &postgres::Postgres,
        EngineKind::Mysql => &mysql::Mysql,
        EngineKind::Duckdb => &duckdb::Duckdb,
    }
}

/// A value for a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Param {
    /// NULL.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number. Written down by its bits, since JSON's digits may be read back as a neighbour.
    Real(#[serde(with = "by_bits")] f64),
    /// Text; the database takes it for what its place in the statement asks for, where it does such a thing.
    Text(String),
}

mod by_bits {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(number.to_bits())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}

/// Where to connect: a connection's fields and its secrets.
#[derive(Clone)]
pub struct Target {
    /// Everything but the secrets.
    pub fields: ConnectionFields,
    /// The secrets, never printed.
    pub secrets: Secrets,
    /// The SSH side of this server: whom it knows, and which sessions are open.
    pub tunnels: Arc<Tunnels>,
    /// Where this server connects to.
    pub dialer: Arc<Dialer>,
}

impl Target {
    /// Of fields and secrets; where they lead through SSH, to a server that nobody knows yet.
    pub fn new(fields: ConnectionFields, secrets: Secrets) -> Self {
        Self { fields, secrets, tunnels: Arc::default(), dialer: Arc::default() }
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields && self.secrets == other.secrets
    }
}

impl Eq for Target {}

/// One database system.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Which one.
    fn kind(&self) -> EngineKind;
    /// Opens a session: resolves, connects, signs in, within `limits::CONNECT_SECONDS_MAX`.
    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError>;
}

/// How much one [`Session::fetch`] may bring: whichever comes first, but one row at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Rows.
    pub rows: usize,
    /// Bytes of values as the database sent them.
    pub bytes: usize,
}

impl Bound {
    /// As many rows of the batch as it lets through: one at least, where there is one.
    pub fn rows_of(self, batch: &RecordBatch) -> usize {
        let bytes = |rows| -> usize {
            batch.slice(0, rows).columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
        };
        let mut rows = batch.num_rows().min(self.rows.max(1));
        while rows > 1 && bytes(rows) > self.bytes {
            rows = rows.div_ceil(2);
        }
        rows
    }
}

/// What the database answered to a statement, before any row was fetched.
#[derive(Clone, Debug)]
pub struct Started {
    /// The result's columns with `sheaf.type` and `sheaf.origin` in their field metadata; `None` for a statement without rows.
    /// Physical types are those of a page that fits them; a batch may differ where a value did not fit, and in the scale of numbers that
    /// have none of their own.
    pub schema: Option<SchemaRef>,
}

/// Rows that were fetched.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// At most the bound's rows; with 0 rows only where the result is empty.
    pub batch: RecordBatch,
    /// More rows wait: the engine has seen one (it holds it back for the next fetch).
    pub more: bool,
}

/// How a statement ended, once every row is fetched or the rest was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// Rows changed, where the statement changes rows.
    pub rows_affected: Option<u64>,
    /// The session has an open transaction.
    pub in_transaction: bool,
}

/// One live database session. Only one task drives it, and never drops a future of it half way.
///
/// Order of calls for a statement: `execute`, then `fetch` until `more` is false (only if `Started::schema` is some), then the same for
/// each result that `next_result` gives, then `finish`.
/// `finish` may come before the last row of the last result: the rest is given up and the session is idle again.
/// After an `Err` whose `fate` is [`Fate::Idle`] the session is ready for the next statement; after any other it must be dropped.
#[async_trait]
pub trait Session: Send {
    /// Sends one statement, its text untouched, and a demand for the first `bound` rows in the same flight where the protocol can.
    async fn execute(&mut self, sql: &str, bound: Bound) -> Result<Started, EngineError>;
    /// The same for a statement with parameters, one value for each. Nothing of a value becomes part of the text.
    async fn execute_with(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        if params.is_empty() {
            return self.execute(sql, bound).await;
        }
        Err(EngineError::idle(Problem::new(
            ErrorCode::Rejected,
            "This database takes no parameters through Sheaf yet; write the values into the statement",
        )))
    }
    /// The same in a transaction that is opened before it by a statement of its own: in the same flight where a server that refuses the
    /// first leaves out the second, else one after the other.
    async fn execute_in_transaction(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        let begun = match self.execute("BEGIN", bound).await {
            Ok(_) => self.finish().await.map(drop),
            Err(error) => Err(error),
        };
        // Whatever became of that one, the statement itself was not sent.
        begun.map_err(|error| if error.fate == Fate::Unknown { EngineError { fate: Fate::NotSent, ..error } } else { error })?;
        self.execute_with(sql, params, bound).await
    }
    /// The next rows.
    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError>;
    /// Whether the statement has another result behind this one, or may have: while rows are left of this one that need not be certain.
    /// Only an engine whose statements give several results ever answers true.
    fn has_further(&self) -> bool {
        false
    }
    /// The statement's next result, once every row of this one is fetched; `None` where there was none after all.
    async fn next_result(&mut self) -> Result<Option<Started>, EngineError> {
        Ok(None)
    }
    /// Whether the statement's rows may be shown before its end, once all of them are fetched: it is a query that changes nothing by its text,
    /// and its end takes a round trip of its own.
    fn shows_before_its_end(&self) -> bool {
        false
    }
    /// Ends the statement: afterwards the database's side holds no portal, cursor or lock of it beyond an open transaction of the user's.
    async fn finish(&mut self) -> Result<Finished, EngineError>;
    /// The same for a session that is nobody's: where reading the rest would move more than closing costs, the statement is stopped, nothing
    /// more is read and the answer is true; the session must be dropped then. Else nothing was done, and `finish` ends the statement.
    async fn drop_rest(&mut self) -> Result<bool, EngineError> {
        Ok(false)
    }
    /// Asks the server for nothing but an answer, when no statement is under way.
    async fn check(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
    /// Whether a transaction is open, also after an error; `None` where only [`Finished`] tells it.
    fn in_transaction(&self) -> Option<bool> {
        None
    }
    /// The open transaction has failed and takes nothing but its end. Only an engine that has such a state answers true.
    fn transaction_failed(&self) -> bool {
        false
    }
    /// Where the session puts what the database says while a call of it is under way; `None` where it tells nothing before the end.
    fn notices(&self) -> Option<Notices> {
        None
    }
    /// What the database said since the last call, in order.
    fn take_notices(&mut self) -> Vec<Notice>;
    /// Stops the running statement from outside, at any time, from any task.
    fn cancel_handle(&self) -> Arc<dyn CancelHandle>;
    /// Names, types and keys, as far as they are asked for.
    async fn read_catalog(&mut self, ask: &CatalogAsk) -> Result<Catalog, EngineError>;
    /// The first look at a database.
    async fn catalog(&mut self) -> Result<Catalog, EngineError> {
        self.read_catalog(&CatalogAsk::First).await
    }
    /// What has changed since these versions.
    async fn catalog_since(&mut self, known: &KnownSchemas) -> Result<Catalog, EngineError> {
        self.read_catalog(&CatalogAsk::Since(known.clone())).await
    }
    /// These schemas whole.
    async fn catalog_of(&mut self, schemas: &[&str]) -> Result<Catalog, EngineError> {
        self.read_catalog(&CatalogAsk::Of(schemas.iter().map(|name| (*name).to_owned()).collect())).await
    }
    /// Undoes what the last user left (open transaction, settings, temporary tables), for the pool.
    async fn reset(&mut self) -> Result<(), EngineError>;
    /// The server's own name and version, e.g. `PostgreSQL 15.18`.
    fn server(&self) -> &str;
    /// Says goodbye; dropping closes as well, only less politely.
    async fn close(self: Box<Self>);
}

/// Stops the statement that a session runs. Out of band; harmless when nothing runs.
#[async_trait]
pub trait CancelHandle: Send + Sync {
    /// Returns when the request is delivered and its transport is closed, not when the statement has ended.
    async fn cancel(&self) -> Result<(), EngineError>;
}

/// What state an error leaves the session in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    /// Nothing of the statement remains; the session takes the next one.
    Idle,
    /// The session is gone; the statement was not sent.
    NotSent,
    /// The session is gone; whether the statement took effect is unknown.
    Unknown,
}

/// A failure of the engine's side: what to tell, and what the session is worth now.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{problem}")]
pub struct EngineError {
    /// For the person.
    pub problem: Problem,
    /// For the caller.
    pub fate: Fate,
    /// The statement ended because it was cancelled (SQLSTATE 57014, SQLITE_INTERRUPT).
    pub cancelled: bool,
}

impl EngineError {
    /// The database refused; the session stands.
    pub fn idle(problem: Problem) -> Self {
        Self { problem, fate: Fate::Idle, cancelled: false }
    }

    /// The database sent a row that is longer than is taken; it was passed over, and the session stands.
    pub fn row_too_long(bytes: usize, bytes_max: usize) -> Self {
        let (has, takes) = (bytes >> 20, bytes_max >> 20);
        let over = if has == takes { "over " } else { "" };
        let message = format!("A row of this result has {over}{has} MiB; Sheaf takes {takes} MiB.");
        Self::idle(Problem::new(ErrorCode::TooLarge, message))
    }

    /// No session came to be, or it broke before the statement left.
    pub fn not_sent(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { problem: Problem::new(code, message), fate: Fate::NotSent, cancelled: false }
    }

    /// The same, about a field of the connection.
    #[must_use]
    pub fn about(mut self, field: &str) -> Self {
        self.problem = self.problem.about(field);
        self
    }

    /// The same, with the key that a server shows.
    #[must_use]
    pub fn with_host_key(mut self, key: HostKey) -> Self {
        self.problem.host_key = Some(Box::new(key));
        self
    }

    /// The link broke after the statement left.
    pub fn unknown(message: impl Into<String>) -> Self {
        Self { problem: Problem::new(ErrorCode::ConnectionLost, message), fate: Fate::Unknown, cancelled: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_too_long_is_told_in_mib() {
        for (bytes, words) in [(524_288_011, "has 500 MiB"), ((64 << 20) + 1, "has over 64 MiB"), (65 << 20, "has 65 MiB")] {
            let told = EngineError::row_too_long(bytes, 64 << 20);
            assert_eq!((told.problem.code, told.fate), (ErrorCode::TooLarge, Fate::Idle));
            assert_eq!(told.problem.message, format!("A row of this result {words}; Sheaf takes 64 MiB."));
        }
    }
}
