//! What the registry has written down: runs and consoles by their names.
//!
//! Invariant: a name leads to one run; who was in here and is no more is remembered as gone.

use super::console::{Console, ConsoleKey};
use super::run::{Run, abort};
use crate::access::Principal;
use shared::ids::RunId;
use shared::limits::{RUNS_KEPT_MAX, RUNS_REMEMBERED};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Cancels that came before their start, remembered.
pub(super) const EARLY_CANCELS: usize = 256;

#[derive(Default)]
pub(super) struct Table {
    pub is_closing: bool,
    pub runs: HashMap<RunId, Arc<Run>>,
    /// Those that have something at the database, also when they are in `runs` no more.
    pub active: HashMap<RunId, Arc<Run>>,
    /// A token names the statement: where that has several results, the one it is at.
    pub tokens: HashMap<(Principal, String), RunId>,
    pub early_cancels: VecDeque<(Principal, String)>,
    gone: VecDeque<(Principal, RunId)>,
    gone_set: HashSet<(Principal, RunId)>,
    pub consoles: HashMap<ConsoleKey, Console>,
}

impl Table {
    /// Writes a run down; the oldest of its principal makes room for it.
    pub fn enter(&mut self, run: &Arc<Run>) {
        if let Some(token) = &run.token {
            self.tokens.insert((run.principal.clone(), token.clone()), run.id.clone());
        }
        self.make_room(run);
        self.active.insert(run.id.clone(), run.clone());
        self.runs.insert(run.id.clone(), run.clone());
    }

    /// The oldest finished run of a principal makes room for the newest.
    fn make_room(&mut self, run: &Run) {
        let own = |other: &&Arc<Run>| other.principal == run.principal;
        if self.runs.values().filter(own).count() < RUNS_KEPT_MAX {
            return;
        }
        // Those without rows first: a long script of changes does not push out results that are being looked at.
        let order = |other: &&Arc<Run>| (other.standing().pages_ready > 0, other.used_at());
        let oldest = self.runs.values().filter(own).filter(|other| other.has_ended()).min_by_key(order).cloned();
        if let Some(oldest) = oldest {
            self.forget(&oldest);
            abort(&oldest.expiry);
            oldest.shelf.clear();
        }
    }

    /// Strikes a run out.
    pub fn forget(&mut self, run: &Run) {
        if self.runs.remove(&run.id).is_some() {
            self.remember_gone(run);
        }
        if let Some(token) = &run.token {
            let key = (run.principal.clone(), token.clone());
            if self.tokens.get(&key) == Some(&run.id) {
                self.tokens.remove(&key);
            }
        }
    }

    fn remember_gone(&mut self, run: &Run) {
        let key = (run.principal.clone(), run.id.clone());
        if self.gone_set.insert(key.clone()) {
            self.gone.push_back(key);
        }
        while self.gone.len() > RUNS_REMEMBERED {
            if let Some(oldest) = self.gone.pop_front() {
                self.gone_set.remove(&oldest);
            }
        }
    }

    /// Whether a run of that name was here.
    pub fn is_gone(&self, principal: &Principal, id: &RunId) -> bool {
        self.gone_set.contains(&(principal.clone(), id.clone()))
    }
}
