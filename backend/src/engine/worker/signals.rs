//! Stopping a statement from outside its thread, in a library's process.
//!
//! Invariant: a stop only ever meets the statement that it names. The interrupt of a library can't promise that: it may be forgotten
//! when it comes before the statement has begun to run, and one that comes late meets the next. So what is said here, under one lock, is
//! the truth, and the interrupt only hurries it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Between two interrupts of a statement that did not hear the first.
const AGAIN: Duration = Duration::from_millis(5);

/// Interrupts whatever the connection is inside of.
pub type Interrupt = Box<dyn Fn() + Send>;

/// Shared by the thread that hears requests and the session's thread.
#[derive(Default)]
pub struct Signals {
    /// The statement is to end. Changed under the lock only, and asked without it.
    stop: AtomicBool,
    /// The session is to end.
    gone: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Which statement; the server counts them.
    statement: u64,
    running: bool,
    /// The session has ended.
    over: bool,
    interrupt: Option<Interrupt>,
}

impl Inner {
    fn interrupt(&self) {
        // Where it does nothing, the server's patience ends this process.
        if let Some(interrupt) = &self.interrupt {
            interrupt();
        }
    }
}

impl Signals {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that interrupts go to, from now on.
    pub fn attach(&self, interrupt: Interrupt) {
        self.lock().interrupt = Some(interrupt);
    }

    /// A statement begins: what was asked before does not concern it.
    pub fn begin(&self, statement: u64) {
        let mut inner = self.lock();
        inner.statement = statement;
        inner.running = true;
        self.stop.store(false, Ordering::Relaxed);
    }

    /// The statement has ended: what is asked from now on concerns nothing.
    pub fn end(&self) {
        let mut inner = self.lock();
        inner.running = false;
        self.stop.store(false, Ordering::Relaxed);
    }

    /// Stops that statement if it runs. An interrupt may be forgotten that comes before its statement has begun to run: a thread asks
    /// until the statement has ended.
    pub fn stop(self: &Arc<Self>, statement: u64) {
        {
            let inner = self.lock();
            if !inner.running || inner.statement != statement || self.stop.swap(true, Ordering::Relaxed) {
                return;
            }
            inner.interrupt();
        }
        self.hurry(move |inner| inner.running && inner.statement == statement);
    }

    /// The session is to end: whatever its thread is inside of ends now.
    pub fn leave(self: &Arc<Self>) {
        {
            let inner = self.lock();
            self.gone.store(true, Ordering::Relaxed);
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
        self.stop.load(Ordering::Relaxed) || self.gone.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_stop_meets_its_own_statement_only() {
        let count = Arc::new(AtomicUsize::new(0));
        let signals = Arc::new(Signals::default());
        let counter = Arc::clone(&count);
        signals.attach(Box::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        }));
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
