//! The session a run works with: a console's own, or any from the pool.
//!
//! Invariant: a seat that is dropped without [`Seat::leave`] closes its session, and its console knows that it lost one.

use super::console::{Desk, Gone};
use super::registry::Registry;
use super::state::{Ending, count};
use crate::access::Principal;
use crate::engine::pool::{Choice, Lease, Pool, PoolError, PoolKey, Purpose};
use crate::engine::{Engine, EngineError, Fate, Session, Target};
use shared::ids::ConnectionId;
use shared::limits::{SESSION_ANSWER_SECONDS_MAX, SESSION_CHECK_SECONDS};
use shared::problem::{ErrorCode, Problem};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout};

/// Where seats come from, for one run.
pub(super) struct Seats {
    pub registry: Weak<Registry>,
    pub principal: Principal,
    pub connection: ConnectionId,
    pub pool: Pool,
    pub key: PoolKey,
    pub engine: &'static dyn Engine,
    pub target: Target,
    pub desk: Option<Arc<Mutex<Desk>>>,
}

pub(super) struct Seat {
    pub lease: Lease,
    desk: Option<OwnedMutexGuard<Desk>>,
    /// The console has used this very session before.
    pub has_state: bool,
    /// The console had a session before this one, and it is gone.
    pub replaced: Option<Gone>,
    /// This run opens a transaction in it.
    pub opens: bool,
    /// How long the session had rested.
    pub rested: Duration,
}

/// Whether the session may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// Idle, nothing of the statement in it.
    Fit,
    /// To be closed.
    Broken,
}

impl Seats {
    /// Waits for the console's turn, and takes its session or a new one. The `Err` is how a run without a seat ends.
    pub async fn take(&self) -> Result<Seat, Ending> {
        let Some(desk) = &self.desk else {
            let lease = self.lease(Choice::Any).await.map_err(Ending::rejected)?;
            let rested = lease.idle;
            return Ok(Seat { lease, desk: None, has_state: false, replaced: None, opens: false, rested });
        };
        let mut desk = desk.clone().lock_owned().await;
        if desk.closed {
            return Err(Ending::cancelled());
        }
        if let Some(lease) = desk.lease.take() {
            // Until the seat is left in order, the session counts as lost.
            desk.gone = Some(Gone::Lost);
            if lease.is_current() && lease.is_to(&self.target) {
                let rested = desk.left_at.map(|left_at| left_at.elapsed()).unwrap_or_default();
                return Ok(Seat { lease, desk: Some(desk), has_state: true, replaced: None, opens: false, rested });
            }
            desk.in_transaction = false;
            lease.close().await;
        }
        let lease = self.lease(Choice::Any).await.map_err(Ending::rejected)?;
        let replaced = desk.gone.replace(Gone::Lost);
        let rested = lease.idle;
        Ok(Seat { lease, desk: Some(desk), has_state: false, replaced, opens: false, rested })
    }

    /// A new session in the place of one that had died before anything was sent.
    pub async fn replace(&self, seat: Seat) -> Result<Seat, Problem> {
        let Seat { lease, mut desk, has_state, replaced, .. } = seat;
        drop(lease);
        if let Some(desk) = &mut desk {
            let open = std::mem::take(&mut desk.in_transaction);
            if has_state && open {
                desk.gone = None;
                let mut problem = Problem::new(
                    ErrorCode::ConnectionLost,
                    "The link to the database was lost, and the open transaction of this console with it; the statement was not sent",
                );
                problem.hint = Some("Run the transaction again from its beginning".to_owned());
                return Err(problem);
            }
        }
        let lease = self.lease(Choice::Fresh).await?;
        Ok(Seat {
            lease,
            desk,
            has_state: false,
            replaced: replaced.or(has_state.then_some(Gone::Lost)),
            opens: false,
            rested: Duration::ZERO,
        })
    }

    async fn lease(&self, choice: Choice) -> Result<Lease, Problem> {
        self.lease_for(Purpose::Statement, choice).await
    }

    /// A session from the pool; where all are in use, one that nobody works with is taken back first.
    pub async fn lease_for(&self, purpose: Purpose, choice: Choice) -> Result<Lease, Problem> {
        let ask = || self.pool.lease(&self.key, self.engine, &self.target, purpose, choice);
        let mut lease = ask().await;
        if matches!(lease, Err(PoolError::Full(_)))
            && let Some(registry) = self.registry.upgrade()
            // On its own: the caller may vanish.
            && tokio::spawn(registry.take_back(self.principal.clone(), self.connection.clone())).await.unwrap_or(false)
        {
            lease = ask().await;
        }
        lease.map_err(|error| pool_problem(&error))
    }
}

impl Seat {
    /// The statement runs in a transaction: one the console had open before, or one opened for it.
    pub fn is_in_transaction(&self) -> bool {
        self.opens || self.desk.as_ref().is_some_and(|desk| desk.in_transaction)
    }

    /// No console's: nothing is kept in it.
    pub fn is_nobodys(&self) -> bool {
        self.desk.is_none()
    }

    /// The statement has given something: a transaction that was opened for it is the console's own from now on.
    pub fn keep_transaction(&mut self) {
        self.opens = false;
    }

    /// Gives the session back to where it came from, or closes it.
    pub async fn leave(self, health: Health, in_transaction: bool) {
        let Self { lease, desk, .. } = self;
        match (desk, health) {
            (Some(mut desk), Health::Fit) if !desk.closed && lease.is_current() => {
                desk.in_transaction = in_transaction;
                desk.gone = None;
                desk.lease = Some(lease);
                desk.left_at = Some(Instant::now());
            }
            (Some(mut desk), Health::Fit) => {
                desk.in_transaction = false;
                lease.close().await;
            }
            (None, Health::Fit) => lease.give_back().await,
            (desk, Health::Broken) => {
                if let Some(mut desk) = desk {
                    desk.in_transaction = false;
                }
                drop(lease);
            }
        }
    }
}

/// A session that has rested is there still; one that does not answer is gone, and nothing was sent to it.
pub(super) async fn alive(session: &mut dyn Session, rested: Duration) -> Result<(), EngineError> {
    if rested < Duration::from_secs(SESSION_CHECK_SECONDS) {
        return Ok(());
    }
    let within = Duration::from_secs(SESSION_ANSWER_SECONDS_MAX);
    match timeout(within, session.check()).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(EngineError { fate: Fate::NotSent, ..error }),
        Err(_) => {
            let sentence = format!("The database has not answered within {} seconds; the statement was not sent", within.as_secs());
            Err(EngineError::not_sent(ErrorCode::ConnectionLost, sentence))
        }
    }
}

fn pool_problem(error: &PoolError) -> Problem {
    match error {
        PoolError::Full(most) => {
            let sessions = count(*most as u64, "session", "sessions");
            let mut problem = Problem::new(ErrorCode::TooMany, format!("All {sessions} to this connection are in use"));
            problem.hint = Some("Close a console, or a result that is not read to its end".to_owned());
            problem.retry_after_ms = Some(1_000);
            problem
        }
        PoolError::Connect(error) => error.problem.clone(),
    }
}
