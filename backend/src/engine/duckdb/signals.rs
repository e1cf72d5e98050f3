//! Stopping a statement from outside its thread.
//!
//! Invariant: a stop only ever meets the statement that was running when it was asked for. DuckDB's interrupt alone can't promise
//! that: it is forgotten when a statement begins, and one that comes late stays for the next fetch. So what is said here, under one
//! lock, is the truth, and the interrupt only hurries it.

use adbc_core::CancelHandle;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by the session, its cancel handles and its thread.
#[derive(Default)]
pub struct Signals(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Counts statements, so that a stop is for one of them.
    statement: u64,
    running: bool,
    stop: bool,
    gone: bool,
    interrupt: Option<Box<dyn CancelHandle + Send>>,
}

impl Inner {
    fn interrupt(&self) {
        if let Some(handle) = &self.interrupt
            && let Err(error) = handle.try_cancel()
        {
            tracing::warn!(%error, "DuckDB refused an interrupt");
        }
    }
}

impl Signals {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that interrupts go to, from now on.
    pub fn attach(&self, interrupt: Box<dyn CancelHandle + Send>) {
        self.lock().interrupt = Some(interrupt);
    }

    /// A statement begins: what was asked before does not concern it.
    pub fn begin(&self) {
        let mut inner = self.lock();
        inner.statement += 1;
        inner.running = true;
        inner.stop = false;
    }

    /// The statement has ended: what is asked from now on concerns nothing.
    pub fn end(&self) {
        let mut inner = self.lock();
        inner.running = false;
        inner.stop = false;
    }

    /// Stops the statement that runs and says which; nothing when none does.
    pub fn stop(&self) -> Option<u64> {
        let mut inner = self.lock();
        if !inner.running {
            return None;
        }
        inner.stop = true;
        inner.interrupt();
        Some(inner.statement)
    }

    /// Interrupts that statement once more; false when it has ended.
    pub fn stop_again(&self, statement: u64) -> bool {
        let inner = self.lock();
        let runs = inner.running && inner.statement == statement;
        if runs {
            inner.interrupt();
        }
        runs
    }

    /// The session is dropped: whatever the thread is inside of ends now.
    pub fn leave(&self) {
        let mut inner = self.lock();
        inner.gone = true;
        inner.interrupt();
    }

    /// The thread is to give up what it is doing.
    pub fn stopped(&self) -> bool {
        let inner = self.lock();
        inner.stop || inner.gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counter(Arc<AtomicUsize>);

    impl CancelHandle for Counter {
        fn try_cancel(&self) -> adbc_core::error::Result<()> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    #[test]
    fn a_stop_meets_its_own_statement_only() {
        let count = Arc::new(AtomicUsize::new(0));
        let signals = Signals::default();
        signals.attach(Box::new(Counter(Arc::clone(&count))));
        assert_eq!(signals.stop(), None);
        signals.begin();
        let first = signals.stop().unwrap();
        assert!(signals.stopped() && signals.stop_again(first));
        assert_eq!(count.load(Ordering::SeqCst), 2);
        signals.end();
        signals.begin();
        assert!(!signals.stopped() && !signals.stop_again(first));
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }
}
