//! What callers want of an actor. A mailbox holds each wish at most once, so that sending never waits and never fails.
//!
//! Invariant: a wish of a caller that vanished is gone with it ([`Want`]); cancel and close stay. Who asks for the statement's next result
//! is answered in any case: by the actor, or when that has ended ([`Mailbox::shut`]).

use super::run::Run;
use shared::ids::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The wishes, and the bell.
pub(super) struct Mailbox {
    wishes: Mutex<Wishes>,
    /// One for all results of a statement: their one actor listens to it.
    bell: Arc<Notify>,
}

/// What is known of the statement's next result.
#[derive(Default)]
enum Next {
    #[default]
    NotAsked,
    /// This run is to have it; the actor has not come so far.
    Asked(Arc<Run>),
    /// This run has it.
    Given(RunId),
    /// There is no actor any more.
    Over,
}

struct Wishes {
    cancel: bool,
    close: bool,
    give_up: Option<&'static str>,
    to_end: bool,
    /// Pages somebody waits for, and how many do.
    wanted: BTreeMap<u32, usize>,
    /// Pages to have ready for the reader, as a count from page 0.
    ahead: u32,
    next: Next,
    asked_at: Instant,
}

/// What the actor is to do next, between two pages.
pub(super) enum Order {
    /// The result is closed: end at once.
    Close,
    /// Stop; what was read stays.
    Cancel,
    /// Let go of the session, for this reason.
    GiveUp(&'static str),
    /// Read the next page.
    Read { to_end: bool },
    /// This run is to have the statement's next result.
    Next(Arc<Run>),
    /// Nothing, until the bell or long after this.
    Wait { asked_at: Instant },
}

/// Somebody waits for a page. Dropping it takes the wish back.
pub(super) struct Want<'a> {
    mailbox: &'a Mailbox,
    page: u32,
}

impl Drop for Want<'_> {
    fn drop(&mut self) {
        let mut wishes = self.mailbox.wishes();
        if let Some(count) = wishes.wanted.get_mut(&self.page) {
            *count -= 1;
            if *count == 0 {
                wishes.wanted.remove(&self.page);
            }
        }
    }
}

impl Mailbox {
    pub fn new(now: Instant) -> Self {
        Self::with(Arc::default(), now)
    }

    /// Of a run that is to have the next result of this one's statement.
    pub fn of_next(&self, now: Instant) -> Self {
        Self::with(self.bell.clone(), now)
    }

    fn with(bell: Arc<Notify>, now: Instant) -> Self {
        let (wanted, next) = (BTreeMap::new(), Next::default());
        let wishes = Wishes { cancel: false, close: false, give_up: None, to_end: false, wanted, ahead: 0, next, asked_at: now };
        Self { wishes: Mutex::new(wishes), bell }
    }

    fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Wishes)) {
        change(&mut self.wishes());
        self.bell.notify_one();
    }

    pub fn cancel(&self) {
        self.change(|wishes| wishes.cancel = true);
    }

    pub fn close(&self) {
        self.change(|wishes| wishes.close = true);
    }

    pub fn give_up(&self, reason: &'static str) {
        self.change(|wishes| {
            wishes.give_up.get_or_insert(reason);
        });
    }

    pub fn read_to_end(&self, now: Instant) {
        self.change(|wishes| {
            wishes.to_end = true;
            wishes.asked_at = now;
        });
    }

    /// The reader asks for `page`.
    pub fn want(&self, page: u32, now: Instant) -> Want<'_> {
        self.change(|wishes| {
            *wishes.wanted.entry(page).or_default() += 1;
            wishes.asked_at = now;
        });
        Want { mailbox: self, page }
    }

    /// The reader got `page`: have `pages` (a count from page 0) ready for what comes next.
    pub fn read_ahead(&self, pages: u32, now: Instant) {
        let mut wishes = self.wishes();
        wishes.asked_at = now;
        if pages > wishes.ahead {
            wishes.ahead = pages;
            drop(wishes);
            self.bell.notify_one();
        }
    }

    /// Asks for the statement's next result, for this run. False where nobody is left to give it.
    pub fn ask_next(&self, run: &Arc<Run>, now: Instant) -> bool {
        let mut wishes = self.wishes();
        if !matches!(wishes.next, Next::NotAsked) {
            return false;
        }
        wishes.next = Next::Asked(run.clone());
        wishes.asked_at = now;
        drop(wishes);
        self.bell.notify_one();
        true
    }

    /// The run that was asked to have the statement's next result.
    pub fn next_id(&self) -> Option<RunId> {
        match &self.wishes().next {
            Next::Asked(run) => Some(run.id.clone()),
            Next::Given(id) => Some(id.clone()),
            Next::NotAsked | Next::Over => None,
        }
    }

    /// Somebody waits for the statement's next result.
    pub fn is_next_asked(&self) -> bool {
        matches!(self.wishes().next, Next::Asked(_))
    }

    /// The actor has ended: nobody gives a next result any more, and this run waits for one in vain.
    pub fn shut(&self) -> Option<Arc<Run>> {
        let mut wishes = self.wishes();
        match std::mem::take(&mut wishes.next) {
            given @ Next::Given(_) => {
                wishes.next = given;
                None
            }
            Next::Asked(run) => {
                wishes.next = Next::Given(run.id.clone());
                Some(run)
            }
            Next::NotAsked | Next::Over => {
                wishes.next = Next::Over;
                None
            }
        }
    }

    pub fn asked_at(&self) -> Instant {
        self.wishes().asked_at
    }

    /// The statement is to stop (or is stopping).
    pub fn is_stopping(&self) -> bool {
        self.wishes().is_stopping()
    }

    /// The result is closed, or being closed.
    pub fn is_closed(&self) -> bool {
        self.wishes().close
    }

    /// Somebody asked for the rest.
    pub fn is_to_end(&self) -> bool {
        self.wishes().to_end
    }

    /// Waits for cancel or close. Only the actor waits here and in [`Mailbox::bell`].
    pub async fn stopping(&self) {
        while !self.is_stopping() {
            self.bell.notified().await;
        }
    }

    pub async fn bell(&self) {
        self.bell.notified().await;
    }

    /// What to do when `pages` are ready.
    pub fn order(&self, pages: u32) -> Order {
        let wishes = self.wishes();
        let wanted = wishes.wanted.last_key_value().map_or(0, |(page, _)| page.saturating_add(1));
        // The next result lies behind the rest of this one.
        let to_end = wishes.to_end || matches!(wishes.next, Next::Asked(_));
        match wishes.stop() {
            Some(stop) => stop,
            None if to_end || wanted.max(wishes.ahead) > pages => Order::Read { to_end },
            None => Order::Wait { asked_at: wishes.asked_at },
        }
    }

    /// What to do when every row is here and the statement has another result.
    pub fn order_behind(&self) -> Order {
        let mut wishes = self.wishes();
        if let Some(stop) = wishes.stop() {
            return stop;
        }
        match std::mem::take(&mut wishes.next) {
            Next::Asked(run) => {
                wishes.next = Next::Given(run.id.clone());
                Order::Next(run)
            }
            other => {
                wishes.next = other;
                Order::Wait { asked_at: wishes.asked_at }
            }
        }
    }
}

impl Wishes {
    /// To stop the run that waits for the next result is to stop the statement that would give it.
    fn is_stopping(&self) -> bool {
        self.cancel || self.close || matches!(&self.next, Next::Asked(run) if run.mailbox.is_stopping())
    }

    fn stop(&self) -> Option<Order> {
        match self.give_up {
            _ if self.close => Some(Order::Close),
            _ if self.is_stopping() => Some(Order::Cancel),
            reason => reason.map(Order::GiveUp),
        }
    }
}
