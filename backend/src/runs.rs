//! Runs: one execution of one statement each, from the start to its last page.
//!
//! Invariant: no HTTP, no users, no store here; whoever calls shows a [`Grant`]. Nothing outside an actor polls a session's
//! futures, so a caller may vanish at any await.
//! Start at [`Runs::start`]; then `actor` (the one task that drives a session), `state` (what a run may become), `paginate`
//! (rows to pages), `lease` (windows and what lives by them).

mod actor;
mod console;
mod drive;
mod further;
mod holder;
mod lease;
mod mailbox;
mod paginate;
mod registry;
mod request;
mod run;
mod seat;
mod shelf;
mod state;
mod table;
mod tools;

#[cfg(test)]
mod tests;

use crate::access::Grant;
pub use crate::engine::catalog::CatalogAsk;
use crate::engine::{Engine, Target};
use bytes::Bytes;
use console::ConsoleKey;
use futures_util::Stream;
use lease::{Reports, Watcher, WindowKey};
use registry::Registry;
use run::Run;
use shared::format::Cell;
use shared::ids::{ConnectionId, RunId, SessionId, WindowId};
use shared::limits;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::connection::{EngineKind, TestResult};
use shared::wire::run::{AdoptSession, RunState, RunStatus, SessionStatus, StartRun};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

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
    /// How long the answer with a result waits to know whether the statement has another.
    pub further: Duration,
    /// How long the answer with a whole result waits for the end of a query that only gives rows.
    pub ending: Duration,
    /// How long the end of the event stream is waited for that a page had before it was loaded anew.
    pub former: Duration,
    /// How long a run outlives the last event stream of its window.
    pub lease: Duration,
    /// How long a run without a window outlives its last use.
    pub run_idle: Duration,
    /// How long an idle session stays in the pool.
    pub session_idle: Duration,
    /// When a cancel that did not stop the statement is sent again; each further time it takes twice as long.
    pub cancel_again: Duration,
    /// How long the end of a statement that nobody wants any more may take before it is cancelled.
    pub goodbye: Duration,
    /// When a session that is still busy after a cancel is closed.
    pub cancel_grace: Duration,
    /// How long a shutdown may take.
    pub shut_down: Duration,
    /// Between two progress reports of one run at least.
    pub progress: Duration,
    /// Results of one statement that are given.
    pub results_max: u32,
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
            further: Duration::from_millis(limits::FURTHER_WAIT_MILLIS),
            ending: Duration::from_millis(limits::END_WAIT_MILLIS),
            former: Duration::from_secs(limits::FORMER_WINDOW_SECONDS_MAX),
            lease: Duration::from_secs(limits::LEASE_SECONDS),
            run_idle: Duration::from_secs(limits::RUN_IDLE_SECONDS),
            session_idle: Duration::from_secs(limits::SESSION_IDLE_SECONDS),
            cancel_again: Duration::from_millis(50),
            goodbye: Duration::from_secs(1),
            cancel_grace: Duration::from_secs(limits::CANCEL_GRACE_SECONDS),
            shut_down: Duration::from_secs(10),
            progress: Duration::from_millis(100),
            results_max: limits::RESULTS_PER_STATEMENT_MAX,
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
    /// CRC-32 (IEEE) of the bytes, for the reader to check them by.
    pub crc32: u32,
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
    registry: Arc<Registry>,
}

/// Nobody could ever find this run again if its start is dropped: then it is closed.
struct Orphan<'a> {
    registry: &'a Registry,
    run: Option<Arc<Run>>,
}

impl Drop for Orphan<'_> {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            self.registry.drop_run(&run);
        }
    }
}

/// The life of an event stream: the lease of its window's runs.
struct Watching {
    registry: Arc<Registry>,
    key: WindowKey,
    watcher: Arc<Watcher>,
    runtime: tokio::runtime::Handle,
}

impl Drop for Watching {
    fn drop(&mut self) {
        if self.registry.windows.part(&self.key, &self.watcher) {
            let _inside = self.runtime.enter();
            self.registry.arm(&self.key);
        }
    }
}

impl Runs {
    /// An empty registry; needs no runtime yet. Deletes what an earlier process left in the spool.
    pub fn new(config: RunsConfig, engines: Engines) -> Self {
        Self { registry: Arc::new(Registry::new(config, engines)) }
    }

    /// Runs one statement. Returns when page 0 is ready or the statement has ended without rows; a refusal is the `Err`.
    /// The caller may vanish: the run goes on if it has a window, else it is closed.
    pub async fn start(&self, grant: &Grant, target: Target, request: StartRun) -> Result<Begun, Problem> {
        let run = self.registry.begin(grant, target, request)?;
        self.begun(run, true).await
    }

    /// The next result of a run's statement, as [`Runs::start`] gives the first: what is left of the one before is read first. Asked
    /// again, it is the same. [`ErrorCode::PastTheEnd`] where the statement has no further one.
    pub async fn next(&self, grant: &Grant, id: &RunId) -> Result<Begun, Problem> {
        let (run, is_new) = self.registry.begin_next(grant, id)?;
        self.begun(run, is_new).await
    }

    /// Waits for what a run begins with. Where its caller is the only one who could know of it, it lives by him until then.
    async fn begun(&self, run: Arc<Run>, is_new: bool) -> Result<Begun, Problem> {
        let lives_alone = is_new && run.window().is_none();
        let mut orphan = Orphan { registry: &self.registry, run: lives_alone.then(|| run.clone()) };
        // Page 0 with more to come, or the end: a small result is told as done.
        let standing = run.changes().wait_for(|standing| !standing.executing).await.map(|standing| standing.clone());
        let standing = standing.map_err(|_| state::internal())?;
        orphan.run = None;
        if let Some(problem) = standing.failure() {
            // Nobody can ask for the status of such a run any more.
            return Err(Problem { notices: standing.notices.to_vec(), ..problem });
        }
        let page0 = if standing.pages_ready > 0 { Some(run.shelf.page(&run.id, 0).await?) } else { None };
        Ok(Begun { status: run.status(), page0 })
    }

    /// Page `n`, waiting until it is read if it is still to come.
    pub async fn page(&self, grant: &Grant, id: &RunId, n: u32) -> Result<StoredPage, Problem> {
        let run = self.registry.find(grant, id)?;
        self.page_of(&run, n).await
    }

    async fn page_of(&self, run: &Arc<Run>, n: u32) -> Result<StoredPage, Problem> {
        let want = run.mailbox.want(n, Instant::now());
        // A result of one page is there when its statement has ended well, as for the one who started it.
        let comes = |standing: &state::Standing| (standing.pages_ready > n && !standing.executing) || standing.refusal(n).is_some();
        let standing = run.changes().wait_for(comes).await.map(|s| s.clone());
        let standing = standing.map_err(|_| state::internal())?;
        if let Some(problem) = standing.failure().or_else(|| standing.refusal(n)) {
            return Err(if run.mailbox.is_closed() { shelf::gone() } else { problem });
        }
        let page = run.shelf.page(&run.id, n).await?;
        if n > 0 {
            run.mailbox.read_ahead(n.saturating_add(1).saturating_add(limits::READ_AHEAD_PAGES), Instant::now());
        }
        drop(want);
        Ok(page)
    }

    /// One whole value. A row that is still to come is waited for, as with [`Runs::page`].
    pub async fn cell(&self, grant: &Grant, id: &RunId, row: u64, column: u32) -> Result<WholeCell, Problem> {
        let run = self.registry.find(grant, id)?;
        if let Some(cell) = run.shelf.cell(row, column).await? {
            return Ok(cell);
        }
        // Before page 0 the rows of a page are not settled.
        self.page_of(&run, 0).await?;
        let page_rows = u64::from(run.standing().page_rows.max(1));
        let n = u32::try_from(row / page_rows).map_err(|_| state::past_the_end(row))?;
        let page = self.page_of(&run, n).await?;
        if let Some(cell) = run.shelf.cell(row, column).await? {
            return Ok(cell);
        }
        whole_cell(&page.bytes, usize::try_from(row % page_rows).unwrap_or(usize::MAX), column).ok_or_else(|| state::past_the_end(row))
    }

    /// Where a run stands.
    pub fn status(&self, grant: &Grant, id: &RunId) -> Result<RunStatus, Problem> {
        Ok(self.registry.find(grant, id)?.status())
    }

    /// The same once its statement does not work any more: it has ended, or what is left waits to be asked for.
    pub async fn settled(&self, grant: &Grant, id: &RunId) -> Result<RunStatus, Problem> {
        let run = self.registry.find(grant, id)?;
        let settled = run.changes().wait_for(|standing| standing.state != RunState::Running).await.map(drop);
        settled.map_err(|_| state::internal())?;
        Ok(run.status())
    }

    /// Stops the statement; what was read stays. Harmless when nothing runs; returns at once.
    pub fn cancel(&self, grant: &Grant, id: &RunId) -> Result<(), Problem> {
        self.registry.find(grant, id)?.mailbox.cancel();
        Ok(())
    }

    /// Stops the statement whose start carried `token`, also when that start is still on its way.
    pub fn cancel_by_token(&self, grant: &Grant, token: &str) -> Result<(), Problem> {
        self.registry.cancel_by_token(grant, token);
        Ok(())
    }

    /// Reads all the rest into the spool; returns at once, the status tells the progress, cancel stops it.
    pub fn read_to_end(&self, grant: &Grant, id: &RunId) -> Result<(), Problem> {
        self.registry.find(grant, id)?.mailbox.read_to_end(Instant::now());
        Ok(())
    }

    /// Forgets a run; returns when the database's side is closed and the space is free.
    pub async fn close(&self, grant: &Grant, id: &RunId) -> Result<(), Problem> {
        let run = self.registry.find(grant, id)?;
        self.registry.drop_run(&run);
        run.ended().await;
        run.shelf.clear();
        Ok(())
    }

    /// The statuses of a window's runs as they change, those that are there first. Its life is the lease of those runs.
    pub fn watch(&self, grant: &Grant, window: WindowId) -> impl Stream<Item = RunStatus> + Send + use<> {
        let key = (grant.principal().clone(), window);
        let watcher = self.registry.windows.join(&key);
        for run in self.registry.of_window(&key) {
            watcher.tell(&run);
        }
        let reports = Reports::new(watcher.clone(), self.registry.config.progress);
        let watching = Watching { registry: self.registry.clone(), key, watcher, runtime: tokio::runtime::Handle::current() };
        futures_util::stream::unfold((reports, watching), |(mut reports, watching)| async move {
            let status = reports.next().await;
            Some((status, (reports, watching)))
        })
    }

    /// Names, types and keys, as far as they are asked for, by a session from the pool: a console's work is not waited for.
    pub async fn catalog(&self, grant: &Grant, target: Target, connection: ConnectionId, ask: CatalogAsk) -> Result<Catalog, Problem> {
        let seats = self.registry.seats(grant.principal().clone(), &connection, target);
        // On its own: the caller may vanish.
        tokio::spawn(tools::catalog(seats, ask)).await.unwrap_or_else(|_| Err(state::internal()))
    }

    /// Opens a session to `target` and closes it.
    pub async fn test(&self, grant: &Grant, target: Target) -> Result<TestResult, Problem> {
        let _ = grant;
        let engine = (self.registry.engines)(target.fields.engine);
        tokio::spawn(tools::test(engine, target)).await.unwrap_or_else(|_| Err(state::internal()))
    }

    /// Whether a connection may be saved so: a read-only one whose server answers must have a user who can't get around it. Where none
    /// answers in time nothing is known, and the first session asks again.
    pub async fn check_read_only(&self, grant: &Grant, target: Target) -> Result<(), Problem> {
        let _ = grant;
        if !target.fields.read_only || target.fields.host.is_none() {
            return Ok(());
        }
        let engine = (self.registry.engines)(target.fields.engine);
        let tested =
            tokio::time::timeout(Duration::from_secs(limits::SAVE_CHECK_SECONDS_MAX), tokio::spawn(tools::test(engine, target))).await;
        match tested {
            Ok(Ok(Err(problem))) if problem.code == ErrorCode::ReadOnlyRefused => Err(problem),
            _ => Ok(()),
        }
    }

    /// A window that was loaded anew takes a console over, unless another window has it that was not left: its session lives by that
    /// window from now on, and so does the run that is under way in it. Where the session stands; `None` where the console has none.
    pub async fn adopt_session(
        &self,
        grant: &Grant,
        connection: ConnectionId,
        session: SessionId,
        AdoptSession { window, former }: AdoptSession,
    ) -> Option<SessionStatus> {
        let principal = grant.principal().clone();
        let (window, former) = ((principal.clone(), window), former.map(|former| (principal.clone(), former)));
        let console = ConsoleKey { principal, connection, session };
        if let Some(former) = former.as_ref().filter(|former| self.registry.lives_by(&console, former)) {
            // Past the time it is open, perhaps in a copy of the page: then it keeps what it has.
            let _ = tokio::time::timeout(self.registry.config.former, self.registry.windows.until_left(former)).await;
        }
        self.registry.adopt(&console, &window, former.as_ref())
    }

    /// A console was closed: its run is ended and its session closed. Harmless where there is none; with a `window`, also where another
    /// window has it.
    pub async fn forget_session(&self, grant: &Grant, connection: ConnectionId, session: SessionId, window: Option<WindowId>) {
        let principal = grant.principal().clone();
        let window = window.map(|window| (principal.clone(), window));
        self.registry.forget_session(ConsoleKey { principal, connection, session }, window).await;
    }

    /// A connection was changed or deleted: its runs are ended (what was read stays) and its sessions closed.
    pub async fn forget_connection(&self, connection: &ConnectionId) {
        self.registry.forget_connection(connection).await;
    }

    /// Cancels all, closes all, deletes the spool's files; within [`RunsConfig::shut_down`].
    pub async fn shut_down(&self) {
        self.registry.shut_down().await;
    }

    /// Sessions that are open, runs that have something at a database, runs that can be read: what a leak would show in.
    pub fn census(&self) -> Census {
        let (active, kept) = self.registry.counts();
        let (memory_bytes, disk_bytes) = self.registry.spool.used();
        Census { sessions: self.registry.pool.open(), active, kept, memory_bytes, disk_bytes }
    }
}

/// What is in use, as [`Runs::census`] counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    /// Sessions open to databases.
    pub sessions: usize,
    /// Runs that have something at a database.
    pub active: usize,
    /// Runs that can be read.
    pub kept: usize,
    /// Bytes of pages in memory.
    pub memory_bytes: u64,
    /// Bytes of pages on disk.
    pub disk_bytes: u64,
}

/// A value that stands whole in its page; `None` where the page has no such row or column.
fn whole_cell(page: &Bytes, row: usize, column: u32) -> Option<WholeCell> {
    let batch = shared::page::decode(page.to_vec()).ok()?;
    let column = column as usize;
    let (array, schema) = (batch.columns().get(column)?, batch.schema());
    let field = schema.fields().get(column)?;
    Some(match shared::format::format_cell(array.as_ref(), field, row) {
        Cell::Null => WholeCell::Null,
        Cell::Text(text) => WholeCell::Text(Bytes::from(text.into_owned())),
        Cell::Bytes(bytes) => WholeCell::Binary(Bytes::copy_from_slice(bytes)),
        Cell::Unreadable => return None,
    })
}
