//! Consoles: each keeps one database session between its statements.
//!
//! Invariant: a desk is one run's at a time; its session never goes to the pool, so what a console left in it (temporary tables,
//! settings, an open transaction) is never another's.

use super::lease::WindowKey;
use super::run::Run;
use crate::access::Principal;
use crate::engine::pool::Lease;
use shared::ids::{ConnectionId, SessionId};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{Notice, TransactionState};
use std::sync::{Arc, Weak};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Whose console, on which connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConsoleKey {
    pub principal: Principal,
    pub connection: ConnectionId,
    pub session: SessionId,
}

/// What the registry knows of a console.
pub(super) struct Console {
    pub desk: Arc<Mutex<Desk>>,
    /// The run that has the desk, or has it next.
    pub current: Weak<Run>,
    /// The statement of that run.
    pub sql: Box<str>,
    /// The window that has it, and that it lives by.
    pub window: Option<WindowKey>,
    /// Ends a console without a window.
    pub expiry: Option<AbortHandle>,
}

/// Why a console's session is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// It broke, or was closed with what was in it.
    Lost,
    /// It rested outside of a transaction while other consoles had none.
    GivenUp,
}

/// Where a console's session lies between two runs.
#[derive(Default)]
pub(super) struct Desk {
    pub lease: Option<Lease>,
    /// When the session was left here.
    pub left_at: Option<Instant>,
    pub in_transaction: bool,
    /// A session was here and is gone, and the person has not been told.
    pub gone: Option<Gone>,
    /// The console is closed: nothing is to be left here.
    pub closed: bool,
}

impl Console {
    pub fn new() -> Self {
        Self { desk: Arc::default(), current: Weak::new(), sql: Box::default(), window: None, expiry: None }
    }

    /// Whether a statement of `window`, or of nobody's, may run in it: what a window has, runs statements of that window alone.
    pub fn is_free_for(&self, window: Option<&WindowKey>) -> Result<(), Problem> {
        if self.window.is_none() || self.window.as_ref() == window {
            return Ok(());
        }
        let mut problem = Problem::new(ErrorCode::Elsewhere, "Another window has this console's session; the statement was not sent");
        problem.hint = Some("Use a session of another name, or take this one over once that window is closed".to_owned());
        Err(problem)
    }

    /// What its session has open; `None` where it has no session.
    pub fn transaction(&self) -> Option<TransactionState> {
        match self.desk.try_lock() {
            Ok(desk) => {
                let lease = desk.lease.as_ref()?;
                Some(TransactionState::of(desk.in_transaction, lease.session.transaction_failed()))
            }
            // A run has it, and knows.
            Err(_) => Some(self.current.upgrade()?.standing().transaction),
        }
    }
}

impl Gone {
    /// What the next statement, which runs in a new session, is told.
    pub fn notice(self) -> Notice {
        let message = match self {
            Self::Lost => {
                "This console's database session was lost, with its temporary tables, settings and open transaction; \
                 the statement ran in a new one"
            }
            Self::GivenUp => {
                "This console's database session was given up for other consoles, with its temporary tables and settings; \
                 the statement ran in a new one"
            }
        };
        Notice { severity: "WARNING".to_owned(), message: message.to_owned() }
    }
}

impl Desk {
    /// Closes the session that lies here, and lets no other be left.
    pub async fn close(&mut self) {
        self.closed = true;
        if let Some(lease) = self.lease.take() {
            lease.close().await;
        }
    }
}
