//! What callers want of an actor. A mailbox holds each wish at most once, so that sending never waits and never fails.
//!
//! Invariant: a wish of a caller that vanished is gone with it ([`Want`]); cancel and close stay.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The wishes, and the bell.
pub(super) struct Mailbox {
    wishes: Mutex<Wishes>,
    bell: Notify,
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
    asked_at: Instant,
}

/// What the actor is to do next, between two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The result is closed: end at once.
    Close,
    /// Stop; what was read stays.
    Cancel,
    /// Let go of the session, for this reason.
    GiveUp(&'static str),
    /// Read the next page.
    Read { to_end: bool },
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
        let wishes = Wishes { cancel: false, close: false, give_up: None, to_end: false, wanted: BTreeMap::new(), ahead: 0, asked_at: now };
        Self { wishes: Mutex::new(wishes), bell: Notify::new() }
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

    pub fn asked_at(&self) -> Instant {
        self.wishes().asked_at
    }

    /// The statement is to stop (or is stopping).
    pub fn is_stopping(&self) -> bool {
        let wishes = self.wishes();
        wishes.cancel || wishes.close
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
        if wishes.close {
            Order::Close
        } else if wishes.cancel {
            Order::Cancel
        } else if let Some(reason) = wishes.give_up {
            Order::GiveUp(reason)
        } else if wishes.to_end || wanted.max(wishes.ahead) > pages {
            Order::Read { to_end: wishes.to_end }
        } else {
            Order::Wait { asked_at: wishes.asked_at }
        }
    }
}
