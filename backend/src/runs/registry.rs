//! All runs and consoles, by name; what starts, finds and ends them.
//!
//! Invariant: nobody finds another principal's run; no lock is held over an await; an active run is counted until nothing of it is
//! left at the database.
//! Start at [`Registry::begin`].

use super::actor::Actor;
use super::console::{Console, ConsoleKey, Gone};
use super::lease::{WindowKey, Windows};
use super::request::{check, new_id, params, too_many};
use super::run::{NewRun, Run, abort, remember};
use super::seat::Seats;
use super::shelf::gone;
use super::state::{Ending, GIVEN_UP_CLOSED, GIVEN_UP_CONNECTION, GIVEN_UP_FOR_NEXT, count, internal};
use super::table::{EARLY_CANCELS, Table};
use super::{Engines, RunsConfig};
use crate::access::{Grant, Principal};
use crate::engine::Target;
use crate::engine::pool::{Pool, PoolKey};
use crate::engine::transaction::needs_one;
use crate::spool::Spool;
use crate::spool::quota::Budgets;
use futures_util::FutureExt;
use shared::ids::{ConnectionId, RunId};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{StartRun, TransactionMode};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::time::{Instant, sleep, sleep_until, timeout};

pub(super) struct Registry {
    pub config: Arc<RunsConfig>,
    pub engines: Engines,
    pub pool: Pool,
    pub spool: Spool,
    pub windows: Arc<Windows>,
    table: Mutex<Table>,
}

impl Registry {
    pub fn new(config: RunsConfig, engines: Engines) -> Self {
        let budgets = Budgets {
            memory_per_run: config.memory_per_run,
            memory_all: config.memory_all,
            bytes_per_run: config.bytes_per_run,
            disk_all: config.disk_all,
            disk_free_min: config.disk_free_min,
        };
        let spool = Spool::new(config.spool_directory.clone(), budgets);
        Self::on(config, engines, spool)
    }

    pub fn on(config: RunsConfig, engines: Engines, spool: Spool) -> Self {
        let pool = Pool::new(config.sessions_per_target, config.session_idle);
        Self { config: Arc::new(config), engines, pool, spool, windows: Arc::default(), table: Mutex::default() }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run's actor.
    pub fn begin(self: &Arc<Self>, grant: &Grant, target: Target, request: StartRun) -> Result<Arc<Run>, Problem> {
        let page_rows = check(&request)?;
        let params = params(&request)?;
        let principal = grant.principal().clone();
        let StartRun { connection, session, sql, window, token, transaction, .. } = request;
        let fields = &target.fields;
        let opens = transaction == TransactionMode::Manual && !fields.read_only && needs_one(fields.engine, &sql);
        let window = window.map(|window| (principal.clone(), window));
        let console = session.map(|session| ConsoleKey { principal: principal.clone(), connection: connection.clone(), session });
        let new = NewRun { id: new_id()?, principal: principal.clone(), connection: connection.clone(), window, token, console, page_rows };
        let run = Run::new(new, self.spool.segment(), self.windows.clone());
        let desk = {
            let mut table = self.table();
            self.admit(&mut table, &run, &sql)?
        };
        let seats = Seats { desk, ..self.seats(principal, &connection, target) };
        let actor = Actor { run: run.clone(), config: self.config.clone(), seats, sql, params, opens };
        self.watch_over(&run);
        self.spawn(&run, actor.work());
        Ok(run)
    }

    /// The run that has the next result of a run's statement, and whether it is new: it counts as the same statement, and its actor is
    /// the one that is at work already.
    pub fn begin_next(self: &Arc<Self>, grant: &Grant, id: &RunId) -> Result<(Arc<Run>, bool), Problem> {
        let before = self.find(grant, id)?;
        let (new, segment) = (new_id()?, self.spool.segment());
        let next = {
            let mut table = self.table();
            if let Some(known) = before.mailbox.next_id() {
                drop(table);
                return Ok((self.find(grant, &known)?, false));
            }
            let next = before.next(new, segment);
            if table.is_closing || !before.mailbox.ask_next(&next, Instant::now()) {
                return Err(before.standing().no_further());
            }
            let console = next.console.as_ref().and_then(|key| table.consoles.get_mut(key));
            if let Some(console) = console.filter(|console| std::ptr::eq(console.current.as_ptr(), Arc::as_ptr(&before))) {
                console.current = Arc::downgrade(&next);
            }
            table.enter(&next);
            next
        };
        self.watch_over(&next);
        Ok((next, true))
    }

    /// Where sessions of a principal to a target come from.
    pub fn seats(self: &Arc<Self>, principal: Principal, connection: &ConnectionId, target: Target) -> Seats {
        let (pool, engine) = (self.pool.clone(), (self.engines)(target.fields.engine));
        let key = pool_key(&principal, connection);
        let connection = connection.clone();
        Seats { registry: Arc::downgrade(self), principal, connection, pool, key, engine, target, desk: None }
    }

    /// Writes the run into the table, if there is room and its console is free.
    fn admit(
        &self,
        table: &mut Table,
        run: &Arc<Run>,
        sql: &str,
    ) -> Result<Option<Arc<tokio::sync::Mutex<super::console::Desk>>>, Problem> {
        if table.is_closing {
            return Err(too_many("Sheaf is shutting down".to_owned()));
        }
        if let Some(console) = run.console.as_ref().and_then(|key| table.consoles.get(key)) {
            console.is_free_for(run.window().as_ref())?;
        }
        let active = table.active.values().filter(|other| other.principal == run.principal).count();
        if active >= self.config.active_max {
            let mut problem = too_many(format!("{} are active already", count(active as u64, "statement", "statements")));
            problem.hint = Some("Cancel one, or close a result that is not read to its end".to_owned());
            return Err(problem);
        }
        if let Some(current) = run.console.as_ref().and_then(|key| table.consoles.get(key)).and_then(|console| console.current.upgrade()) {
            make_way(&current)?;
        }
        let desk = run.console.as_ref().map(|key| {
            let console = table.consoles.entry(key.clone()).or_insert_with(Console::new);
            console.current = Arc::downgrade(run);
            console.sql = sql.into();
            console.window = run.window();
            if let Some(expiry) = console.expiry.take() {
                expiry.abort();
            }
            console.desk.clone()
        });
        if let Some(token) = &run.token {
            let key = (run.principal.clone(), token.clone());
            if let Some(at) = table.early_cancels.iter().position(|early| *early == key) {
                table.early_cancels.remove(at);
                run.mailbox.cancel();
            }
        }
        table.enter(run);
        Ok(desk)
    }

    /// Sees to it that the run does not outlive its window, or its last use.
    fn watch_over(self: &Arc<Self>, run: &Arc<Run>) {
        match run.window() {
            Some(key) => self.arm(&key),
            None => {
                let (registry, weak, idle) = (Arc::downgrade(self), Arc::downgrade(run), self.config.run_idle);
                let task = tokio::spawn(async move {
                    while let Some(used_at) = weak.upgrade().map(|run| run.used_at()) {
                        if used_at + idle <= Instant::now() {
                            if let (Some(registry), Some(run)) = (registry.upgrade(), weak.upgrade()) {
                                registry.drop_run(&run);
                            }
                            return;
                        }
                        sleep_until(used_at + idle).await;
                    }
                });
                remember(&run.expiry, task.abort_handle());
            }
        }
    }

    /// The task of a run.
    pub fn spawn(self: &Arc<Self>, run: &Arc<Run>, work: impl Future<Output = ()> + Send + 'static) {
        let (registry, guarded) = (Arc::downgrade(self), run.clone());
        let task = tokio::spawn(async move {
            let run = guarded;
            // A panic in an engine, or here, ends this run only; unwinding has closed its session.
            if AssertUnwindSafe(work).catch_unwind().await.is_err() {
                tracing::error!(run = %run.id, "a run failed");
                run.update(|standing| {
                    let ending = if standing.pages_ready > 0 { Ending::partial(internal()) } else { Ending::unknown(internal()) };
                    standing.end(ending, Instant::now());
                });
            }
            run.set_ended();
            let in_vain = run.mailbox.shut();
            if let Some(next) = &in_vain {
                let standing = run.standing().clone();
                let (problem, transaction) = (standing.no_further(), standing.transaction);
                next.refuse(problem, transaction);
            }
            if let Some(registry) = registry.upgrade() {
                registry.has_ended(&run);
                in_vain.iter().for_each(|next| registry.has_ended(next));
            }
        });
        remember(&run.actor, task.abort_handle());
    }

    /// Nothing of the run is left at the database.
    fn has_ended(self: &Arc<Self>, run: &Arc<Run>) {
        let failed_at_start = run.standing().failed_at_start;
        let mut table = self.table();
        table.active.remove(&run.id);
        let is_kept = table.runs.contains_key(&run.id);
        self.expire_console(&mut table, run);
        drop(table);
        if !is_kept {
            run.shelf.clear();
        } else if failed_at_start {
            // Its whole answer was the Problem; who waits for its first page is told that, too.
            self.table().forget(run);
            run.shelf.clear();
            // Last: this may be that very task.
            abort(&run.expiry);
        }
    }

    /// A console without a window ends when it is not used for as long as a run is kept.
    fn expire_console(self: &Arc<Self>, table: &mut Table, run: &Arc<Run>) {
        let Some(key) = run.console.as_ref().filter(|_| run.window().is_none()) else { return };
        let Some(console) = table.consoles.get_mut(key) else { return };
        if !std::ptr::eq(console.current.as_ptr(), Arc::as_ptr(run)) {
            return;
        }
        let (registry, key, idle) = (Arc::downgrade(self), key.clone(), self.config.run_idle);
        let task = tokio::spawn(async move {
            sleep(idle).await;
            if let Some(registry) = registry.upgrade() {
                registry.forget_consoles(|known, _| *known == key, GIVEN_UP_CLOSED).await;
            }
        });
        if let Some(old) = console.expiry.replace(task.abort_handle()) {
            old.abort();
        }
    }

    /// The run of that name, if it is this principal's.
    pub fn find(&self, grant: &Grant, id: &RunId) -> Result<Arc<Run>, Problem> {
        let table = self.table();
        if let Some(run) = table.runs.get(id).filter(|run| run.principal == *grant.principal()) {
            run.touch();
            return Ok(run.clone());
        }
        if table.is_gone(grant.principal(), id) {
            return Err(gone());
        }
        Err(Problem::new(ErrorCode::NotFound, "There is no run of this id"))
    }

    /// Cancels the run whose start carried the token; one that has not come yet is cancelled when it does.
    pub fn cancel_by_token(&self, grant: &Grant, token: &str) {
        let mut table = self.table();
        let key = (grant.principal().clone(), token.to_owned());
        if let Some(run) = table.tokens.get(&key).and_then(|id| table.runs.get(id)) {
            run.mailbox.cancel();
            return;
        }
        if !table.early_cancels.contains(&key) {
            table.early_cancels.push_back(key);
            if table.early_cancels.len() > EARLY_CANCELS {
                table.early_cancels.pop_front();
            }
        }
    }

    /// Takes the run out of the table and tells its actor to end.
    pub fn drop_run(&self, run: &Arc<Run>) {
        {
            let mut table = self.table();
            table.forget(run);
        }
        run.mailbox.close();
        if run.has_ended() {
            run.shelf.clear();
        }
        // Last: this may be that very task.
        abort(&run.expiry);
    }

    /// All runs of a window, for a watcher that is new.
    pub fn of_window(&self, key: &WindowKey) -> Vec<Arc<Run>> {
        self.table().runs.values().filter(|run| run.window().as_ref() == Some(key)).cloned().collect()
    }

    /// Nobody watches the window: it ends when nobody does for the time of the lease.
    pub fn arm(self: &Arc<Self>, key: &WindowKey) {
        let (weak, after, ending) = (Arc::downgrade(self), self.config.lease, key.clone());
        self.windows.arm(key, move || tokio::spawn(end_window(weak, ending, after)).abort_handle());
    }

    /// Ends a window that nobody watches: its runs are gone, its sessions free.
    async fn end_window(&self, key: &WindowKey) {
        if !self.windows.expire(key) {
            return;
        }
        let runs = self.of_window(key);
        for run in &runs {
            self.drop_run(run);
        }
        self.forget_consoles(|_, console| console.window.as_ref() == Some(key), GIVEN_UP_CLOSED).await;
        for run in runs {
            run.ended().await;
        }
    }

    /// Sessions are short: windows that were left give theirs back before their lease is over; where there is none, the console
    /// that has rested longest does, unless a transaction or a result is open in it. True if a session is free now.
    pub async fn take_back(self: Arc<Self>, principal: Principal, connection: ConnectionId) -> bool {
        let left = self.windows.left_by(&principal);
        for key in &left {
            self.end_window(key).await;
        }
        !left.is_empty() || self.take_resting(&principal, &connection).await
    }

    /// Closes the session of the console that has rested longest; its next statement is told that it runs in a new one.
    async fn take_resting(&self, principal: &Principal, connection: &ConnectionId) -> bool {
        let desks: Vec<_> = {
            let table = self.table();
            let own = table.consoles.iter().filter(|(key, _)| key.principal == *principal && key.connection == *connection);
            own.map(|(_, console)| console.desk.clone()).collect()
        };
        // A desk that is taken is one whose run is not over.
        let resting = desks.into_iter().filter_map(|desk| desk.try_lock_owned().ok());
        let resting = resting.filter(|desk| desk.lease.is_some() && !desk.in_transaction);
        let Some(mut desk) = resting.min_by_key(|desk| desk.left_at) else { return false };
        let Some(lease) = desk.lease.take() else { return false };
        desk.gone = Some(Gone::GivenUp);
        lease.close().await;
        true
    }

    /// Closes the consoles that are meant; their runs stay readable as far as they were read.
    pub async fn forget_consoles(&self, is_meant: impl Fn(&ConsoleKey, &Console) -> bool, reason: &'static str) {
        let consoles: Vec<Console> = {
            let mut table = self.table();
            table.consoles.extract_if(|key, console| is_meant(key, console)).map(|(_, console)| console).collect()
        };
        for console in &consoles {
            if let Some(run) = console.current.upgrade() {
                let_go(&run, reason);
            }
        }
        for console in consoles {
            // The run that has the desk leaves it within the grace of a cancel.
            console.desk.lock().await.close().await;
            if let Some(expiry) = console.expiry {
                expiry.abort();
            }
        }
    }

    pub async fn forget_connection(self: &Arc<Self>, connection: &ConnectionId) {
        let (registry, connection) = (self.clone(), connection.clone());
        let task = tokio::spawn(async move {
            let runs: Vec<Arc<Run>> = registry.table().active.values().filter(|run| run.connection == connection).cloned().collect();
            runs.iter().for_each(|run| let_go(run, GIVEN_UP_CONNECTION));
            registry.forget_consoles(|key, _| key.connection == connection, GIVEN_UP_CONNECTION).await;
            registry.pool.forget(connection.as_str()).await;
            for run in runs {
                run.ended().await;
            }
        });
        let _ = task.await;
    }

    /// Ends everything, within the time for it.
    pub async fn shut_down(&self) {
        let (runs, consoles) = {
            let mut table = self.table();
            table.is_closing = true;
            let mut runs: Vec<Arc<Run>> = table.active.values().cloned().collect();
            runs.extend(table.runs.drain().map(|(_, run)| run));
            table.tokens.clear();
            (runs, table.consoles.drain().map(|(_, console)| console).collect::<Vec<_>>())
        };
        for run in &runs {
            run.mailbox.close();
            abort(&run.expiry);
        }
        let ended = timeout(self.config.shut_down, async {
            for run in &runs {
                run.ended().await;
            }
            for console in &consoles {
                console.desk.lock().await.close().await;
            }
            self.pool.close().await;
        });
        if ended.await.is_err() {
            tracing::warn!("some sessions did not end in time; they are cut off");
        }
        // Only now: watchers have been told how their runs ended.
        self.windows.clear();
        for run in runs {
            abort(&run.actor);
            run.shelf.clear();
        }
        for console in consoles {
            if let Some(expiry) = console.expiry {
                expiry.abort();
            }
        }
    }

    /// Runs that have something at the database, and runs that can be read: for tests and the log.
    pub fn counts(&self) -> (usize, usize) {
        let table = self.table();
        (table.active.len(), table.runs.len())
    }
}

async fn end_window(registry: Weak<Registry>, key: WindowKey, after: std::time::Duration) {
    sleep(after).await;
    if let Some(registry) = registry.upgrade() {
        registry.end_window(&key).await;
    }
}

/// The console's earlier run ends for the next, unless its statement still works.
fn make_way(current: &Arc<Run>) -> Result<(), Problem> {
    if is_under_way(current) {
        let mut problem = too_many("This console is still running a statement".to_owned());
        problem.hint = Some("Cancel it first, or use another console".to_owned());
        return Err(problem);
    }
    if !current.standing().state.is_final() && !current.mailbox.is_stopping() {
        current.mailbox.give_up(GIVEN_UP_FOR_NEXT);
    }
    Ok(())
}

/// Its statement still works, or all its rows are being read, and nobody has stopped it.
pub(super) fn is_under_way(run: &Run) -> bool {
    let standing = run.standing().clone();
    let works = standing.is_working() || (run.mailbox.is_to_end() && !standing.all_here);
    works && !standing.state.is_final() && !run.mailbox.is_stopping()
}

/// The run's session is wanted back: its statement is stopped, what was read stays.
fn let_go(run: &Arc<Run>, reason: &'static str) {
    let is_working = {
        let standing = run.standing();
        standing.is_working() || (standing.reading_to_end && !standing.state.is_final())
    };
    if is_working {
        run.mailbox.cancel();
    } else {
        run.mailbox.give_up(reason);
    }
}

fn pool_key(principal: &Principal, connection: &ConnectionId) -> PoolKey {
    PoolKey { owner: format!("{principal:?}"), target: connection.as_str().to_owned() }
}
