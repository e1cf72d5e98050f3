//! Drives one call of a session to its end, and stops it from outside when that is asked.
//!
//! Invariant: the call's future is polled until it is ready, or its session is given up for good; and no cancel request is under
//! way when this returns with a fit session, so that none can hit the next statement. There is one such request at a time: the next
//! one leaves once the former's transport is closed and the call has not ended, soon at first, since a database may forget a
//! request that comes as a statement begins (MariaDB does), and then in longer and longer steps until the grace is over.

use super::RunsConfig;
use super::run::Run;
use crate::engine::notices::{Heard, Notices};
use crate::engine::{CancelHandle, EngineError, Session};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

/// When a call is to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// When somebody cancels or closes the run.
    UntilStopped,
    /// It is a goodbye: when it takes longer than a cancel may.
    GivingUp,
}

/// How a call came out.
#[derive(Debug)]
pub(super) struct Driven<T> {
    /// `None`: it did not stop within the grace.
    pub result: Option<Result<T, EngineError>>,
    /// The session may take another call (if the result says so too).
    pub fit: bool,
}

/// What stands outside a session's calls.
pub(super) struct Reach {
    /// Stops what runs.
    pub handle: Arc<dyn CancelHandle>,
    /// Hears what the database says meanwhile.
    pub notices: Option<Notices>,
}

impl Reach {
    pub fn of(session: &dyn Session) -> Self {
        Self { handle: session.cancel_handle(), notices: session.notices() }
    }

    async fn heard(&self) -> Heard {
        match &self.notices {
            Some(notices) => notices.next().await,
            None => std::future::pending().await,
        }
    }
}

pub(super) async fn drive<T>(
    call: impl Future<Output = Result<T, EngineError>>,
    reach: &Reach,
    run: &Arc<Run>,
    config: &RunsConfig,
    patience: Patience,
) -> Driven<T> {
    let mailbox = &run.mailbox;
    tokio::pin!(call);
    let mut cancels = JoinSet::new();
    let mut step = config.cancel_again;
    let (mut next_cancel, mut give_up_at) = match patience {
        Patience::UntilStopped => (None, None),
        Patience::GivingUp => (Some(Instant::now() + config.goodbye), Some(Instant::now() + config.cancel_grace)),
    };
    let result = loop {
        tokio::select! {
            biased;
            result = &mut call => break result,
            () = mailbox.stopping(), if give_up_at.is_none() => {
                next_cancel = Some(Instant::now());
                give_up_at = Some(Instant::now() + config.cancel_grace);
            }
            () = until(next_cancel), if next_cancel.is_some() => {
                let handle = reach.handle.clone();
                cancels.spawn(async move {
                    if let Err(error) = handle.cancel().await {
                        tracing::warn!(%error, "a cancel request failed");
                    }
                });
                next_cancel = None;
            }
            Some(_) = cancels.join_next() => {
                next_cancel = Some(Instant::now() + step);
                step *= 2;
            }
            () = until(give_up_at), if give_up_at.is_some() => {
                tracing::warn!("a statement did not stop within the grace; its session is closed");
                return Driven { result: None, fit: false };
            }
            heard = reach.heard() => run.update(|standing| standing.hear(heard)),
        }
    };
    Driven { result: Some(result), fit: settle(cancels, config.cancel_grace).await }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Waits for the cancel requests' transports to close; false where one stays open.
async fn settle(mut cancels: JoinSet<()>, grace: Duration) -> bool {
    if cancels.is_empty() {
        return true;
    }
    timeout(grace, async { while cancels.join_next().await.is_some() {} }).await.is_ok()
}
