//! Runs: one execution of one statement each, from the start to its last page.
//!
//! Invariant: no HTTP, no users, no store here; whoever calls shows a [`Grant`]. Nothing outside an actor polls a session's
//! futures, so a caller may vanish at any await.
//! Start at [`Runs::start`]; then `actor` (the one task that drives a session), `state` (what a run may become), `paginate`
//! (rows to pages), `lease` (windows and what lives by them).

use crate::access::Grant;
use crate::engine::{Engine, Target};
use bytes::Bytes;
use futures_util::Stream;
use shared::ids::{ConnectionId, RunId, SessionId, WindowId};
use shared::limits;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::connection::{EngineKind, TestResult};
use shared::wire::run::{RunStatus, StartRun};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where an engine is found.
pub type Engines = fn(EngineKind) -> &'static dyn Engine;

/// Budgets and times. [`RunsConfig::new`] takes them from [`limits`]; a test may shorten them.
#[derive(Clone, Debug)]
pub struct RunsConfig {
    /// The folder for pages that do not fit in memory; made on first need, 0700.
    pub spool_directory: PathBuf,
    /// Bytes of pages in memory for one run.
    pub memory_per_run: u64,
    /// Bytes of pages in memory for all runs.
    pub memory_all: u64,
    /// Bytes of pages one run may keep at all.
    pub bytes_per_run: u64,
    /// Bytes of pages of all runs on disk.
    pub disk_all: u64,
    /// Bytes that stay free on the disk.
    pub disk_free_min: u64,
    /// How long a result waits for its reader before its session is taken back.
    pub parked: Duration,
    /// How long a run outlives the last event stream of its window.
    pub lease: Duration,
    /// How long a run without a window outlives its last use.
    pub run_idle: Duration,
    /// How long an idle session stays in the pool.
    pub session_idle: Duration,
    /// When a cancel that did not stop the statement is sent again.
    pub cancel_again: Duration,
    /// When a session that is still busy after a cancel is closed.
    pub cancel_grace: Duration,
    /// How long a shutdown may take.
    pub shut_down: Duration,
    /// Between two progress reports of one run at least.
    pub progress: Duration,
    /// Runs of one principal that are active at once.
    pub active_max: usize,
    /// Sessions open to one target.
    pub sessions_per_target: usize,
}

impl RunsConfig {
    /// The limits as they are, with pages spooled under `spool_directory`.
    pub fn new(spool_directory: PathBuf) -> Self {
        Self {
            spool_directory,
            memory_per_run: limits::SPOOL_MEMORY_PER_RUN as u64,
            memory_all: limits::SPOOL_MEMORY_ALL as u64,
            bytes_per_run: limits::SPOOL_BYTES_PER_RUN,
            disk_all: limits::SPOOL_BYTES_ALL,
            disk_free_min: limits::DISK_FREE_MIN,
            parked: Duration::from_secs(limits::PARKED_SECONDS_MAX),
            lease: Duration::from_secs(limits::LEASE_SECONDS),
            run_idle: Duration::from_secs(limits::RUN_IDLE_SECONDS),
            session_idle: Duration::from_secs(limits::SESSION_IDLE_SECONDS),
            cancel_again: Duration::from_secs(1),
            cancel_grace: Duration::from_secs(limits::CANCEL_GRACE_SECONDS),
            shut_down: Duration::from_secs(10),
            progress: Duration::from_millis(100),
            active_max: limits::RUNS_ACTIVE_MAX,
            sessions_per_target: limits::SESSIONS_PER_TARGET,
        }
    }
}

/// A page as it lies in the spool: encoded once, served as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPage {
    /// One Arrow IPC stream.
    pub bytes: Bytes,
    /// A strong entity tag, quotes and all.
    pub etag: String,
}

/// What [`Runs::start`] came to.
#[derive(Clone, Debug)]
pub struct Begun {
    /// Where the run stands after page 0, or at its end.
    pub status: RunStatus,
    /// Page 0; none for a statement without rows.
    pub page0: Option<StoredPage>,
}

/// One whole value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WholeCell {
    /// NULL.
    Null,
    /// Text, as the database has it (or the text of a number, date, …).
    Text(Bytes),
    /// Bytes.
    Binary(Bytes),
}

/// All runs of this process. Cheap to clone.
#[derive(Clone)]
pub struct Runs {
    #[allow(dead_code)] // Read by the bodies to come.
    inner: Arc<RunsConfig>,
}

fn coming() -> Problem {
    Problem::new(ErrorCode::Internal, "Runs are being built")
}

impl Runs {
    /// An empty registry; needs no runtime yet.
    pub fn new(config: RunsConfig, engines: Engines) -> Self {
        let _ = engines;
        Self { inner: Arc::new(config) }
    }

    /// Runs one statement. Returns when page 0 is ready or the statement has ended without rows; a refusal is the `Err`.
    /// The caller may vanish: the run goes on if it has a window, else it is closed.
    pub async fn start(&self, grant: &Grant, target: Target, request: StartRun) -> Result<Begun, Problem> {
        let _ = (grant, target, request);
        Err(coming())
    }

    /// Page `n`, waiting until it is read if it is still to come.
    pub async fn page(&self, grant: &Grant, id: &RunId, n: u32) -> Result<StoredPage, Problem> {
        let _ = (grant, id, n);
        Err(coming())
    }

    /// One whole value of a row that has been read.
    pub async fn cell(&self, grant: &Grant, id: &RunId, row: u64, column: u32) -> Result<WholeCell, Problem> {
        let _ = (grant, id, row, column);
        Err(coming())
    }

    /// Where a run stands.
    pub fn status(&self, grant: &Grant, id: &RunId) -> Result<RunStatus, Problem> {
        let _ = (grant, id);
        Err(coming())
    }

    /// Stops the statement; what was read stays. Harmless when nothing runs; returns at once.
    pub fn cancel(&self, grant: &Grant, id: &RunId) -> Result<(), Problem> {
        let _ = (grant, id);
        Err(coming())
    }

    /// Stops the statement whose start carried `token`.
    pub fn cancel_by_token(&self, grant: &Grant, token: &str) -> Result<(), Problem> {
        let _ = (grant, token);
        Err(coming())
    }

    /// Reads all the rest into the spool; returns at once, the status tells the progress, cancel stops it.
    pub fn read_to_end(&self, grant: &Grant, id: &RunId) -> Result<(), Problem> {
        let _ = (grant, id);
        Err(coming())
    }

    /// Forgets a run; returns when the database's side is closed and the space is free.
    pub async fn close(&self, grant: &Grant, id: &RunId) -> Result<(), Problem> {
        let _ = (grant, id);
        Err(coming())
    }

    /// The statuses of a window's runs as they change. Its life is the lease of those runs.
    pub fn watch(&self, grant: &Grant, window: WindowId) -> impl Stream<Item = RunStatus> + Send + use<> {
        let _ = (grant, window);
        futures_util::stream::pending()
    }

    /// Names, types and keys, by a session of its own.
    pub async fn catalog(&self, grant: &Grant, target: Target, connection: ConnectionId) -> Result<Catalog, Problem> {
        let _ = (grant, target, connection);
        Err(coming())
    }

    /// Opens a session to `target` and closes it.
    pub async fn test(&self, grant: &Grant, target: Target) -> Result<TestResult, Problem> {
        let _ = (grant, target);
        Err(coming())
    }

    /// A console was closed: its run is ended and its session closed. Harmless where there is none.
    pub async fn forget_session(&self, grant: &Grant, connection: &ConnectionId, session: &SessionId) -> Result<(), Problem> {
        let _ = (grant, connection, session);
        Err(coming())
    }

    /// A connection was changed or deleted: its runs are ended (what was read stays) and its sessions closed.
    pub async fn forget_connection(&self, connection: &ConnectionId) {
        let _ = connection;
    }

    /// Cancels all, closes all, deletes the spool's files; within [`RunsConfig::shut_down`].
    pub async fn shut_down(&self) {}
}
