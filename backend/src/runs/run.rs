//! One run, as its actor and its callers share it.
//!
//! Invariant: only the actor changes the standing; callers read it and leave wishes in the mailbox.

use super::console::ConsoleKey;
use super::lease::{WindowKey, Windows};
use super::mailbox::Mailbox;
use super::shelf::Shelf;
use super::state::{Ending, Standing};
use crate::access::Principal;
use crate::spool::Segment;
use shared::ids::{ConnectionId, RunId};
use shared::problem::Problem;
use shared::wire::run::{RunStatus, TransactionState};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

pub(super) struct Run {
    pub id: RunId,
    pub principal: Principal,
    pub connection: ConnectionId,
    /// The window it lives by; another, once that has taken its console over.
    window: Mutex<Option<WindowKey>>,
    pub token: Option<String>,
    pub console: Option<ConsoleKey>,
    /// Which result of its statement it has, from 1.
    pub nth: u32,
    /// Rows of a page, as they were asked for.
    pub page_rows: u32,
    pub mailbox: Mailbox,
    pub shelf: Shelf,
    standing: watch::Sender<Standing>,
    windows: Arc<Windows>,
    used_at: Mutex<Instant>,
    /// Tasks to end with the run: its expiry, and at shutdown its actor.
    pub expiry: Mutex<Option<AbortHandle>>,
    pub actor: Mutex<Option<AbortHandle>>,
}

/// What a run is made of.
pub(super) struct NewRun {
    pub id: RunId,
    pub principal: Principal,
    pub connection: ConnectionId,
    pub window: Option<WindowKey>,
    pub token: Option<String>,
    pub console: Option<ConsoleKey>,
    pub page_rows: u32,
}

impl Run {
    pub fn new(new: NewRun, segment: Segment, windows: Arc<Windows>) -> Arc<Self> {
        Self::with(new, 1, Mailbox::new(Instant::now()), segment, windows)
    }

    /// A run for the next result of this one's statement: of the same caller, in the same place.
    pub fn next(&self, id: RunId, segment: Segment) -> Arc<Self> {
        let new = NewRun {
            id,
            principal: self.principal.clone(),
            connection: self.connection.clone(),
            window: self.window(),
            token: self.token.clone(),
            console: self.console.clone(),
            page_rows: self.page_rows,
        };
        Self::with(new, self.nth.saturating_add(1), self.mailbox.of_next(Instant::now()), segment, self.windows.clone())
    }

    fn with(new: NewRun, nth: u32, mailbox: Mailbox, segment: Segment, windows: Arc<Windows>) -> Arc<Self> {
        let now = Instant::now();
        let NewRun { id, principal, connection, window, token, console, page_rows } = new;
        Arc::new(Self {
            id,
            principal,
            connection,
            window: Mutex::new(window),
            token,
            console,
            nth,
            page_rows,
            mailbox,
            shelf: Shelf::new(segment),
            standing: watch::Sender::new(Standing::new(page_rows, now)),
            windows,
            used_at: Mutex::new(now),
            expiry: Mutex::default(),
            actor: Mutex::default(),
        })
    }

    /// The window it lives by.
    pub fn window(&self) -> Option<WindowKey> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It lives by another window from now on, which is told of it. A run without a window stays without.
    pub fn pass_on(self: &Arc<Self>, to: &WindowKey) {
        if let Some(window) = self.window.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            window.clone_from(to);
        }
        self.windows.changed(self);
    }

    /// Changes the standing and tells everybody. Only the actor (and its guard) calls it.
    pub fn update(self: &Arc<Self>, change: impl FnOnce(&mut Standing)) {
        self.standing.send_modify(change);
        self.windows.changed(self);
    }

    /// There was no result for this run: only who asked for it is told, as it was of no use to anybody.
    pub fn refuse(&self, problem: Problem, transaction: TransactionState) {
        self.standing.send_modify(|standing| {
            standing.transaction = transaction;
            standing.end(Ending::rejected(problem), Instant::now());
            standing.ended = true;
        });
    }

    /// The session is given back: those who wait for it go on.
    pub fn set_ended(&self) {
        self.standing.send_modify(|standing| standing.ended = true);
    }

    pub fn standing(&self) -> watch::Ref<'_, Standing> {
        self.standing.borrow()
    }

    pub fn changes(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// Waits until nothing of the run is left at the database.
    pub async fn ended(&self) {
        // The sender lives in `self`, so this ends by the condition only.
        let _ = self.changes().wait_for(|standing| standing.ended).await;
    }

    pub fn has_ended(&self) -> bool {
        self.standing.borrow().ended
    }

    pub fn status(&self) -> RunStatus {
        RunStatus { token: self.token.clone(), ..self.standing.borrow().status(&self.id, Instant::now()) }
    }

    /// Somebody uses the run.
    pub fn touch(&self) {
        *self.used_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub fn used_at(&self) -> Instant {
        *self.used_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the task a slot names.
pub(super) fn abort(slot: &Mutex<Option<AbortHandle>>) {
    if let Some(handle) = slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
        handle.abort();
    }
}

/// Remembers a task in its slot.
pub(super) fn remember(slot: &Mutex<Option<AbortHandle>>, handle: AbortHandle) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
}
