//! Stopping a statement from outside its thread, in DuckDB's process.
//!
//! Invariant: a stop only ever meets the statement that it names. DuckDB's interrupt alone can't promise that: it is forgotten when a
//! statement begins, and one that comes late stays for the next fetch. So what is said here, under one lock, is the truth, and the
//! interrupt only hurries it.

use adbc_core::CancelHandle;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Between two interrupts of a statement that did not hear the first.
const AGAIN: Duration = Duration::from_millis(5);

/// Shared by the thread that hears requests and the session's thread.
#[derive(Default)]
pub struct Signals(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Which statement; the server counts them.
    statement: u64,
    running: bool,
    stop: bool,
    /// The session is to end.
    gone: bool,
    /// It has ended.
    over: bool,
    interrupt: Option<Box<dyn CancelHandle + Send>>,
}

impl Inner {
    fn interrupt(&self) {
        // Where it is refused, the server's patience ends this process.
        let _ = self.interrupt.as_ref().map(|handle| handle.try_cancel());
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
    pub fn begin(&self, statement: u64) {
        let mut inner = self.lock();
        inner.statement = statement;
        inner.running = true;
        inner.stop = false;
    }

    /// The statement has ended: what is asked from now on concerns nothing.
    pub fn end(&self) {
        let mut inner = self.lock();
        inner.running = false;
        inner.stop = false;
    }

    /// Stops that statement if it runs. DuckDB forgets an interrupt that comes before its statement has begun to run: a thread asks
    /// until the statement has ended.
    pub fn stop(self: &Arc<Self>, statement: u64) {
        {
            let mut inner = self.lock();
            if !inner.running || inner.statement != statement || inner.stop {
                return;
            }
            inner.stop = true;
            inner.interrupt();
        }
        self.hurry(move |inner| inner.running && inner.statement == statement);
    }

    /// The session is to end: whatever its thread is inside of ends now.
    pub fn leave(self: &Arc<Self>) {
        {
            let mut inner = self.lock();
            inner.gone = true;
            inner.interrupt();
        }
        self.hurry(|inner| !inner.over);
    }

    /// The session has ended.
    pub fn over(&self) {
        let mut inner = self.lock();
        inner.over = true;
        inner.running = false;
    }

    fn hurry(self: &Arc<Self>, is_wanted: impl Fn(&Inner) -> bool + Send + 'static) {
        let signals = Arc::clone(self);
        let again = move || {
            loop {
                std::thread::sleep(AGAIN);
                let inner = signals.lock();
                if !is_wanted(&inner) {
                    break;
                }
                inner.interrupt();
            }
        };
        // Without a thread the first interrupt has to do, and the server's patience.
        let _ = std::thread::Builder::new().name("interrupts".to_owned()).spawn(again);
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
        let signals = Arc::new(Signals::default());
        signals.attach(Box::new(Counter(Arc::clone(&count))));
        signals.stop(1);
        assert!(!signals.stopped());
        signals.begin(1);
        signals.stop(2);
        assert!(!signals.stopped());
        assert_eq!(count.load(Ordering::SeqCst), 0);
        signals.stop(1);
        assert!(signals.stopped());
        assert!(count.load(Ordering::SeqCst) >= 1);
        signals.end();
        signals.begin(2);
        signals.stop(1);
        assert!(!signals.stopped());
    }
}
