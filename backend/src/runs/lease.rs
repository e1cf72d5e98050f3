//! Windows: who is told of which run, and what ends when nobody listens any more.
//!
//! Invariant: a watcher is told the last state of every run of its window, each state no more than once, and between two reports
//! of one run's progress the pace is kept; nothing ticks while nothing changes.

use super::run::Run;
use crate::access::Principal;
use shared::ids::{RunId, WindowId};
use shared::limits::RUNS_KEPT_MAX;
use shared::wire::run::{RunState, RunStatus};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

/// Whose window.
pub(super) type WindowKey = (Principal, WindowId);

#[derive(Default)]
pub(super) struct Windows {
    table: Mutex<HashMap<WindowKey, Window>>,
    /// An event stream has ended.
    parted: Notify,
}

#[derive(Default)]
struct Window {
    watchers: Vec<Arc<Watcher>>,
    /// Somebody has watched it: a window that is only opening is not taken for one that was left.
    was_watched: bool,
    /// Ends the window; runs while nobody watches.
    lease: Option<AbortHandle>,
}

/// One event stream's inbox: runs that changed since they were told of.
#[derive(Default)]
pub(super) struct Watcher {
    changed: Mutex<VecDeque<Arc<Run>>>,
    bell: Notify,
}

impl Watcher {
    pub fn tell(&self, run: &Arc<Run>) {
        let mut changed = self.changed();
        if !changed.iter().any(|known| known.id == run.id) {
            changed.push_back(run.clone());
        }
        drop(changed);
        self.bell.notify_one();
    }

    fn changed(&self) -> MutexGuard<'_, VecDeque<Arc<Run>>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Windows {
    fn table(&self) -> MutexGuard<'_, HashMap<WindowKey, Window>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run has a new standing.
    pub fn changed(&self, run: &Arc<Run>) {
        let Some(key) = run.window() else { return };
        if let Some(window) = self.table().get(&key) {
            window.watchers.iter().for_each(|watcher| watcher.tell(run));
        }
    }

    /// A new event stream: the window lives.
    pub fn join(&self, key: &WindowKey) -> Arc<Watcher> {
        let watcher = Arc::new(Watcher::default());
        let mut table = self.table();
        let window = table.entry(key.clone()).or_default();
        window.watchers.push(watcher.clone());
        window.was_watched = true;
        if let Some(lease) = window.lease.take() {
            lease.abort();
        }
        watcher
    }

    /// An event stream ended. True if it was the last.
    pub fn part(&self, key: &WindowKey, watcher: &Arc<Watcher>) -> bool {
        let mut table = self.table();
        let Some(window) = table.get_mut(key) else { return false };
        window.watchers.retain(|known| !Arc::ptr_eq(known, watcher));
        let is_left = window.watchers.is_empty();
        drop(table);
        self.parted.notify_waiters();
        is_left
    }

    /// Until no event stream of it is open.
    pub async fn until_left(&self, key: &WindowKey) {
        loop {
            // Before the look: what ends in between is heard as well.
            let parted = self.parted.notified();
            if !self.is_watched(key) {
                return;
            }
            parted.await;
        }
    }

    /// An event stream of it is open.
    pub fn is_watched(&self, key: &WindowKey) -> bool {
        self.table().get(key).is_some_and(|window| !window.watchers.is_empty())
    }

    /// It was watched, and is not now: one that is only opening is not left.
    pub fn is_left(&self, key: &WindowKey) -> bool {
        self.table().get(key).is_none_or(|window| window.was_watched && window.watchers.is_empty())
    }

    /// Starts (or starts anew) the time after which the window ends, unless somebody watches.
    pub fn arm(&self, key: &WindowKey, timer: impl FnOnce() -> AbortHandle) {
        let mut table = self.table();
        let window = table.entry(key.clone()).or_default();
        if window.watchers.is_empty()
            && let Some(old) = window.lease.replace(timer())
        {
            old.abort();
        }
    }

    /// The principal's windows that were watched and are not now: left, but still within their lease.
    pub fn left_by(&self, principal: &Principal) -> Vec<WindowKey> {
        let table = self.table();
        let left = table.iter().filter(|(key, window)| key.0 == *principal && window.was_watched && window.watchers.is_empty());
        left.map(|(key, _)| key.clone()).collect()
    }

    /// The time is over. True if the window is gone now.
    pub fn expire(&self, key: &WindowKey) -> bool {
        let mut table = self.table();
        let is_over = table.get(key).is_some_and(|window| window.watchers.is_empty());
        if is_over {
            table.remove(key);
        }
        is_over
    }

    /// Ends all timers.
    pub fn clear(&self) {
        for (_, window) in self.table().drain() {
            if let Some(lease) = window.lease {
                lease.abort();
            }
        }
    }
}

/// What a stream has told of a run.
struct Told {
    at: Instant,
    status: RunStatus,
}

/// The pace of one event stream.
pub(super) struct Reports {
    watcher: Arc<Watcher>,
    pace: Duration,
    told: HashMap<RunId, Told>,
}

impl Reports {
    pub fn new(watcher: Arc<Watcher>, pace: Duration) -> Self {
        Self { watcher, pace, told: HashMap::new() }
    }

    /// The next report; waits until there is one.
    pub async fn next(&mut self) -> RunStatus {
        loop {
            let (due, later) = self.pick(Instant::now());
            if let Some(run) = due {
                if let Some(status) = self.news(&run) {
                    return status;
                }
                continue;
            }
            let bell = self.watcher.bell.notified();
            match later {
                Some(at) => tokio::select! { () = bell => {}, () = sleep_until(at) => {} },
                None => bell.await,
            }
        }
    }

    /// A run whose change may be told now, else when the first one may be.
    fn pick(&self, now: Instant) -> (Option<Arc<Run>>, Option<Instant>) {
        let mut changed = self.watcher.changed();
        let due_at = |run: &Arc<Run>| match self.told.get(&run.id) {
            Some(told) if !run.standing().state.is_final() => told.at + self.pace,
            _ => now,
        };
        let due = changed.iter().position(|run| due_at(run) <= now).and_then(|at| changed.remove(at));
        let later = changed.iter().map(due_at).min();
        (due, later)
    }

    fn news(&mut self, run: &Arc<Run>) -> Option<RunStatus> {
        let status = run.status();
        let is_news = self.told.get(&run.id).is_none_or(|told| {
            let known = RunStatus { elapsed_ms: status.elapsed_ms, ..told.status.clone() };
            known != status
        });
        if !is_news {
            return None;
        }
        if self.told.len() > 2 * RUNS_KEPT_MAX {
            self.told.retain(|_, told| matches!(told.status.state, RunState::Running | RunState::Paused));
        }
        // Columns and notices are told with every report: a line stands for itself.
        self.told.insert(run.id.clone(), Told { at: Instant::now(), status: status.clone() });
        Some(status)
    }
}
