//! Sessions to each target: idle ones to lend, open ones counted.
//!
//! Invariant: a session is lent to one borrower at a time, and lent again only after [`Lease::give_back`] has reset it; a lease
//! that is dropped closes its session. A slot is counted from before the connect until the session is closed.
//! Start at [`Pool::lease`].

use super::{Engine, EngineError, Session, Target};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Whose sessions to where: opaque names. Sessions of different keys never mix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PoolKey {
    /// Whose.
    pub owner: String,
    /// To where.
    pub target: String,
}

/// What a session is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A statement, which may hold it for long.
    Statement,
    /// A catalog: short, and never shut out by statements (one slot of each target is kept for it).
    Catalog,
}

/// Which session will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// An idle one, else a new one.
    Any,
    /// A new one.
    Fresh,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// So many are open already.
    #[error("all {0} sessions are in use")]
    Full(usize),
    /// The engine could not connect.
    #[error(transparent)]
    Connect(Box<EngineError>),
}

/// All sessions of this process. Cheap to clone.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    per_target: usize,
    idle_time: Duration,
    places: Mutex<HashMap<PoolKey, Place>>,
    /// Of all places: a timer that comes too late finds no other session under its number.
    next_idle: AtomicU64,
}

#[derive(Default)]
struct Place {
    /// Slots that are taken, those of idle sessions too.
    open: usize,
    idle: Vec<Idle>,
    /// Raised when the target is forgotten: a session lent before is closed when it comes back.
    generation: u64,
}

struct Idle {
    id: u64,
    session: Box<dyn Session>,
    target: Target,
    slot: Slot,
    since: Instant,
    expiry: AbortHandle,
}

/// One of the sessions a target may have.
struct Slot {
    /// Weak: idle sessions lie in what it points to.
    shared: Weak<Shared>,
    key: PoolKey,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut places = shared.places();
        if let Some(place) = places.get_mut(&self.key) {
            place.open = place.open.saturating_sub(1);
            // Nothing is lent or idle any more: nobody is left to compare a generation with.
            if place.open == 0 {
                places.remove(&self.key);
            }
        }
    }
}

/// A borrowed session. Dropping it closes the session.
pub struct Lease {
    /// The session.
    pub session: Box<dyn Session>,
    /// It has served before: its link may have died since.
    pub reused: bool,
    /// How long it lay idle before this.
    pub idle: Duration,
    target: Target,
    generation: u64,
    slot: Slot,
}

impl Shared {
    fn places(&self) -> MutexGuard<'_, HashMap<PoolKey, Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// An empty pool.
    pub fn new(per_target: usize, idle_time: Duration) -> Self {
        Self { shared: Arc::new(Shared { per_target, idle_time, places: Mutex::default(), next_idle: AtomicU64::new(0) }) }
    }

    /// A session to `target`. The caller may vanish: a session that is being opened then goes to the idle ones.
    pub async fn lease(
        &self,
        key: &PoolKey,
        engine: &'static dyn Engine,
        target: &Target,
        purpose: Purpose,
        choice: Choice,
    ) -> Result<Lease, PoolError> {
        // Outlives the lock: a slot that is dropped takes it.
        let mut unfit = Vec::new();
        let (slot, generation) = {
            let mut places = self.shared.places();
            let place = places.entry(key.clone()).or_default();
            while let Some(idle) = place.idle.pop() {
                idle.expiry.abort();
                if choice == Choice::Any && idle.target == *target {
                    let generation = place.generation;
                    drop(places);
                    close_all(unfit);
                    let Idle { session, target, slot, since, .. } = idle;
                    return Ok(Lease { session, reused: true, idle: since.elapsed(), target, generation, slot });
                }
                unfit.push(idle);
            }
            let most = match purpose {
                Purpose::Statement => self.shared.per_target.saturating_sub(1).max(1),
                Purpose::Catalog => self.shared.per_target,
            };
            // Those that are being closed make room: they are no longer anybody's.
            if place.open.saturating_sub(unfit.len()) >= most {
                drop(places);
                close_all(unfit);
                return Err(PoolError::Full(most));
            }
            place.open += 1;
            (Slot { shared: Arc::downgrade(&self.shared), key: key.clone() }, place.generation)
        };
        close_all(unfit);
        let (sender, receiver) = oneshot::channel();
        let target = target.clone();
        tokio::spawn(async move {
            let connected = engine.connect(&target).await;
            let lease = connected.map(|session| Lease { session, reused: false, idle: Duration::ZERO, target, generation, slot });
            // Nobody waits any more: it has served nobody, so it needs no reset.
            if let Err(Ok(lease)) = sender.send(lease) {
                lease.keep_idle();
            }
        });
        match receiver.await {
            Ok(Ok(lease)) => Ok(lease),
            Ok(Err(error)) => Err(PoolError::Connect(Box::new(error))),
            Err(_) => {
                let error = EngineError::not_sent(shared::problem::ErrorCode::Internal, "The engine failed while it connected");
                Err(PoolError::Connect(Box::new(error)))
            }
        }
    }

    /// Closes the idle sessions to `target`, whosever they are, and those that are lent when they come back.
    pub async fn forget(&self, target: &str) {
        self.forget_where(|key| key.target == target).await;
    }

    /// Closes every idle session, and those that are lent when they come back.
    pub async fn close(&self) {
        self.forget_where(|_| true).await;
    }

    async fn forget_where(&self, is_meant: impl Fn(&PoolKey) -> bool) {
        let mut idle = Vec::new();
        for (_, place) in self.shared.places().iter_mut().filter(|(key, _)| is_meant(key)) {
            place.generation += 1;
            idle.append(&mut place.idle);
        }
        for idle in idle {
            idle.close().await;
        }
    }

    /// Targets that something is kept of.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.shared.places().len()
    }

    /// Sessions that are open or being opened, of all targets.
    pub fn open(&self) -> usize {
        self.shared.places().values().map(|place| place.open).sum()
    }
}

impl Idle {
    async fn close(self) {
        self.expiry.abort();
        self.session.close().await;
        drop(self.slot);
    }
}

fn close_all(unfit: Vec<Idle>) {
    for idle in unfit {
        tokio::spawn(idle.close());
    }
}

impl Lease {
    /// The target it was opened to is still `target`.
    pub fn is_to(&self, target: &Target) -> bool {
        self.target == *target
    }

    /// Its target was not forgotten meanwhile.
    pub fn is_current(&self) -> bool {
        let Some(shared) = self.slot.shared.upgrade() else { return false };
        shared.places().get(&self.slot.key).is_some_and(|place| place.generation == self.generation)
    }

    /// Resets the session and lends it to the next; closes it where that fails.
    pub async fn give_back(mut self) {
        if self.is_current() && self.session.reset().await.is_ok() {
            self.keep_idle();
        } else {
            self.close().await;
        }
    }

    /// Says goodbye; the slot is free afterwards.
    pub async fn close(self) {
        self.session.close().await;
        drop(self.slot);
    }

    fn keep_idle(self) {
        let Self { session, target, generation, slot, .. } = self;
        let Some(shared) = slot.shared.upgrade() else { return };
        let key = slot.key.clone();
        let mut places = shared.places();
        let Some(place) = places.get_mut(&key).filter(|place| place.generation == generation) else {
            drop(places);
            tokio::spawn(async move {
                session.close().await;
                drop(slot);
            });
            return;
        };
        let id = shared.next_idle.fetch_add(1, Ordering::Relaxed);
        // One timer for each idle session, none when there is none.
        let weak = Arc::downgrade(&shared);
        let (after, expiring) = (shared.idle_time, key.clone());
        let expiry = tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let Some(shared) = weak.upgrade() else { return };
            let expired = shared.places().get_mut(&expiring).and_then(|place| {
                let at = place.idle.iter().position(|idle| idle.id == id)?;
                Some(place.idle.remove(at))
            });
            if let Some(Idle { session, slot, .. }) = expired {
                session.close().await;
                drop(slot);
            }
        })
        .abort_handle();
        place.idle.push(Idle { id, session, target, slot, since: Instant::now(), expiry });
    }
}
