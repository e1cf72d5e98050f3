//! Stopping a statement from outside its thread.
//!
//! Invariant: a stop only ever meets the statement that was running when it was asked for. `sqlite3_interrupt` alone can't promise
//! that: it does nothing to a statement whose first step is still to come, and one that comes late meets the next statement.
//! So the flag here, changed under one lock, is the truth, and the interrupt only hurries it.

use rusqlite::InterruptHandle;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by the session, its cancel handles and its thread.
#[derive(Default)]
pub struct Signals {
    /// The current statement is to end.
    stop: AtomicBool,
    /// The session was dropped: everything is to end.
    gone: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    running: bool,
    interrupt: Option<InterruptHandle>,
}

impl Signals {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that interrupts go to, from now on.
    pub fn attach(&self, interrupt: InterruptHandle) {
        self.lock().interrupt = Some(interrupt);
    }

    /// A statement begins: what was asked before does not concern it.
    pub fn begin(&self) {
        let mut inner = self.lock();
        inner.running = true;
        self.stop.store(false, Ordering::Relaxed);
    }

    /// The statement has ended: what is asked from now on concerns nothing.
    pub fn end(&self) {
        let mut inner = self.lock();
        inner.running = false;
        self.stop.store(false, Ordering::Relaxed);
    }

    /// Stops the statement that runs; nothing when none does.
    pub fn stop(&self) {
        let inner = self.lock();
        if inner.running {
            self.stop.store(true, Ordering::Relaxed);
            if let Some(interrupt) = &inner.interrupt {
                interrupt.interrupt();
            }
        }
    }

    /// The session is dropped: whatever the thread is inside of ends now.
    pub fn leave(&self) {
        let inner = self.lock();
        self.gone.store(true, Ordering::Relaxed);
        if let Some(interrupt) = &inner.interrupt {
            interrupt.interrupt();
        }
    }

    /// The thread is to give up what it is doing.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.gone.load(Ordering::Relaxed)
    }
}
