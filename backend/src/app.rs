//! What the handlers of one server share.
//!
//! Invariant: knows no HTTP. Time comes from [`Clock`] only, so that a test can move it.

pub mod instance;

use crate::access::Principal;
use crate::access::launch::LaunchCodes;
use crate::access::pace::Pace;
use crate::access::secret::Secret;
use crate::access::sign_ins::SignIns;
use crate::access::throttle::Throttle;
use crate::connections::Connections;
use crate::error;
use crate::runs::Runs;
use crate::store::Store;
use shared::problem::Problem;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

/// Seconds since 1970.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// The machine's.
    pub fn system() -> Self {
        Self::of(|| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }

    /// One of the caller's own.
    pub fn of(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time.
    pub fn now(&self) -> u64 {
        (self.0)()
    }
}

/// The parts of a server.
pub struct Parts {
    /// The port it answers on.
    pub port: u16,
    /// Its own store.
    pub store: Store,
    /// What can be connected to.
    pub connections: Connections,
    /// Codes that sign a browser in.
    pub launch_codes: LaunchCodes,
    /// Who is signed in.
    pub sign_ins: SignIns,
    /// Slows down guessing.
    pub throttle: Throttle,
    /// How fast each principal may ask.
    pub pace: Pace,
    /// What runs.
    pub runs: Runs,
    /// The time.
    pub clock: Clock,
    /// Cancelled when the server is to end: streams end then.
    pub stopping: CancellationToken,
    /// The second in which the last report of a browser was noted.
    pub last_report: AtomicU64,
}

/// All of a server that its handlers share. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Of these parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Who presents this bearer, if it is good; a bad one waits when there were many.
    pub async fn resolve(&self, bearer: &str) -> Option<Principal> {
        let now = self.clock.now();
        let Some(resolved) = self.sign_ins.resolve(bearer, now) else {
            tokio::time::sleep(self.throttle.note_failure(now)).await;
            return None;
        };
        if let Some(sign_in) = resolved.write_down
            && let Err(cause) = self.store.keep_sign_in(&sign_in).await
        {
            // The sign-in is good all the same; it only ends sooner.
            tracing::warn!(%cause, "a sign-in's time of use could not be written down");
        }
        Some(resolved.principal)
    }

    /// A bearer for a launch code, if that is good; a bad one waits when there were many.
    pub async fn redeem(&self, code: &str) -> Result<Option<Secret>, Problem> {
        let now = self.clock.now();
        if !self.launch_codes.redeem(code, now) {
            tokio::time::sleep(self.throttle.note_failure(now)).await;
            return Ok(None);
        }
        let (bearer, sign_in, forgotten) = self.sign_ins.add(now).map_err(|e| error::fault("signing in", &e))?;
        self.store.keep_sign_in(&sign_in).await?;
        for old in forgotten {
            self.store.forget_sign_in(&old).await?;
        }
        Ok(Some(bearer))
    }

    /// Ends the sign-in of this bearer.
    pub async fn sign_out(&self, bearer: &str) -> Result<(), Problem> {
        if let Some(sign_in) = self.sign_ins.end(bearer) {
            self.store.forget_sign_in(&sign_in).await?;
        }
        Ok(())
    }
}
