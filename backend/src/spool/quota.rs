//! Budgets of the spool: who may still keep how many bytes, and where.
//!
//! Invariant: a byte is counted before it is kept and given back once; sums never pass their budget.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that may be kept.
#[derive(Clone, Copy, Debug)]
pub struct Budgets {
    /// In memory, by one run.
    pub memory_per_run: u64,
    /// In memory, by all.
    pub memory_all: u64,
    /// In memory and on disk, by one run.
    pub bytes_per_run: u64,
    /// On disk, by all.
    pub disk_all: u64,
    /// Left free on the disk.
    pub disk_free_min: u64,
}

/// What is used of the budgets.
pub struct Quota {
    pub(super) budgets: Budgets,
    memory: AtomicU64,
    disk: AtomicU64,
}

impl Quota {
    pub(super) fn new(budgets: Budgets) -> Self {
        Self { budgets, memory: AtomicU64::new(0), disk: AtomicU64::new(0) }
    }

    /// Counts `bytes` of memory for a run that has `of_run` of it already; false where it does not fit.
    pub(super) fn take_memory(&self, of_run: u64, bytes: u64) -> bool {
        of_run.saturating_add(bytes) <= self.budgets.memory_per_run && take(&self.memory, bytes, self.budgets.memory_all)
    }

    /// Counts `bytes` of disk; false where they do not fit.
    pub(super) fn take_disk(&self, bytes: u64) -> bool {
        take(&self.disk, bytes, self.budgets.disk_all)
    }

    pub(super) fn give_back(&self, memory: u64, disk: u64) {
        self.memory.fetch_sub(memory, Ordering::AcqRel);
        self.disk.fetch_sub(disk, Ordering::AcqRel);
    }

    pub(super) fn used(&self) -> (u64, u64) {
        (self.memory.load(Ordering::Acquire), self.disk.load(Ordering::Acquire))
    }
}

fn take(counter: &AtomicU64, bytes: u64, budget: u64) -> bool {
    let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= budget);
    counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
}
