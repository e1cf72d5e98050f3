//! Signed-in browsers and scripts, as the hashes of their bearers.
//!
//! Invariant: pure but for its lock; the caller brings the time and keeps what [`SignIns::resolve`] asks to be kept.

use super::Principal;
use super::secret::{Secret, SecretHash};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Seconds after its last use for which a sign-in is good: 30 days.
pub const IDLE_SECONDS_MAX: u64 = 30 * 24 * 3_600;
/// Sign-ins at once; the one that was not used for longest makes room.
pub const SIGN_INS_MAX: usize = 64;
/// A use is written down only this often: one write an hour, not one a request.
const WRITE_DOWN_SECONDS: u64 = 3_600;

/// One sign-in as it is kept.
#[derive(Clone, Copy, Debug)]
pub struct SignIn {
    /// SHA-256 of the bearer.
    pub hash: SecretHash,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Seconds since 1970, as it was last written down.
    pub used_at: u64,
}

/// A bearer that was found good.
#[derive(Debug)]
pub struct Resolved {
    /// Who it is.
    pub principal: Principal,
    /// The sign-in with its new time of use, when that is to be written down.
    pub write_down: Option<SignIn>,
}

/// All sign-ins of this server.
#[derive(Debug)]
pub struct SignIns {
    list: Mutex<Vec<SignIn>>,
}

impl SignIns {
    /// As they were kept.
    pub fn new(kept: Vec<SignIn>) -> Self {
        Self { list: Mutex::new(kept) }
    }

    /// Signs in anew: the bearer to hand out, what to keep of it, and what to forget for it.
    pub fn add(&self, now: u64) -> io::Result<(Secret, SignIn, Vec<SignIn>)> {
        let bearer = Secret::random()?;
        let sign_in = SignIn { hash: bearer.hash(), created_at: now, used_at: now };
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.sort_by_key(|old| std::cmp::Reverse(old.used_at));
        let kept = list.len().min(SIGN_INS_MAX - 1);
        let forgotten = list.split_off(kept);
        list.push(sign_in);
        Ok((bearer, sign_in, forgotten))
    }

    /// Who presents this bearer, if it is good. Looks at every sign-in, so the time taken tells nothing.
    pub fn resolve(&self, bearer: &str, now: u64) -> Option<Resolved> {
        let presented = SecretHash::of(bearer);
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        for sign_in in list.iter_mut() {
            if sign_in.hash.matches(&presented) {
                found = Some(sign_in);
            }
        }
        let sign_in = found.filter(|sign_in| now.saturating_sub(sign_in.used_at) < IDLE_SECONDS_MAX)?;
        let stale = now.saturating_sub(sign_in.used_at) >= WRITE_DOWN_SECONDS;
        if stale {
            sign_in.used_at = now;
        }
        Some(Resolved { principal: Principal::LocalOwner, write_down: stale.then_some(*sign_in) })
    }

    /// Ends the sign-in of this bearer; the one to forget, if there was one.
    pub fn end(&self, bearer: &str) -> Option<SignIn> {
        let presented = SecretHash::of(bearer);
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let at = list.iter().position(|sign_in| sign_in.hash.matches(&presented))?;
        Some(list.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_is_good_until_thirty_days_unused() {
        let sign_ins = SignIns::new(Vec::new());
        let (bearer, ..) = sign_ins.add(100).unwrap();
        assert!(sign_ins.resolve("no such bearer", 100).is_none());
        assert!(sign_ins.resolve(bearer.reveal(), 100 + IDLE_SECONDS_MAX - 1).is_some());
        // The use just now counts from then.
        assert!(sign_ins.resolve(bearer.reveal(), 100 + 2 * IDLE_SECONDS_MAX - 2).is_some());
        assert!(sign_ins.resolve(bearer.reveal(), 100 + 3 * IDLE_SECONDS_MAX).is_none());
    }

    #[test]
    fn a_use_is_written_down_once_an_hour() {
        let sign_ins = SignIns::new(Vec::new());
        let (bearer, ..) = sign_ins.add(0).unwrap();
        assert!(sign_ins.resolve(bearer.reveal(), 3_599).unwrap().write_down.is_none());
        assert_eq!(sign_ins.resolve(bearer.reveal(), 3_600).unwrap().write_down.unwrap().used_at, 3_600);
        assert!(sign_ins.resolve(bearer.reveal(), 3_601).unwrap().write_down.is_none());
    }

    #[test]
    fn kept_sign_ins_are_good_after_a_restart() {
        let (bearer, kept, _) = SignIns::new(Vec::new()).add(5).unwrap();
        assert!(SignIns::new(vec![kept]).resolve(bearer.reveal(), 6).is_some());
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let sign_ins = SignIns::new(Vec::new());
        let (first, ..) = sign_ins.add(1).unwrap();
        for now in 2..=SIGN_INS_MAX as u64 {
            assert!(sign_ins.add(now).unwrap().2.is_empty());
        }
        assert_eq!(sign_ins.add(1_000).unwrap().2.len(), 1);
        assert!(sign_ins.resolve(first.reveal(), 1_001).is_none());
    }

    #[test]
    fn an_ended_sign_in_is_no_longer_good() {
        let sign_ins = SignIns::new(Vec::new());
        let (bearer, ..) = sign_ins.add(1).unwrap();
        assert!(sign_ins.end(bearer.reveal()).is_some());
        assert!(sign_ins.resolve(bearer.reveal(), 1).is_none());
        assert!(sign_ins.end(bearer.reveal()).is_none());
    }
}
