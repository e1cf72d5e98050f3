//! How fast one principal may ask: so many requests at once, then a steady pace. Who is a little ahead waits, who is far ahead is refused.
//!
//! Invariant: pure but for its lock; the caller brings the time and does the waiting. A refusal takes nothing of what is allowed.

use super::Principal;
use shared::limits::{PACE_WAIT_MILLIS_MAX, PAGES_BURST, PAGES_PER_SECOND, REQUESTS_BURST, REQUESTS_PER_SECOND};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What is asked for; each kind has its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A statement, a page or a cell: asked for in flocks while a script runs or somebody scrolls.
    Page,
    /// Anything else.
    Other,
}

/// So many at once, then one every so often.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// How many at once.
    pub burst: u32,
    /// How often after that.
    pub every: Duration,
}

/// The paces of all principals.
#[derive(Debug)]
pub struct Pace {
    pages: Rate,
    others: Rate,
    wait_max: Duration,
    /// When each will have made up for all that it asked.
    even_at: Mutex<HashMap<(Principal, Kind), Instant>>,
}

impl Default for Pace {
    fn default() -> Self {
        let rate = |burst, per_second| Rate { burst, every: Duration::from_secs(1) / per_second };
        let wait_max = Duration::from_millis(PACE_WAIT_MILLIS_MAX);
        Self::new(rate(PAGES_BURST, PAGES_PER_SECOND), rate(REQUESTS_BURST, REQUESTS_PER_SECOND), wait_max)
    }
}

impl Pace {
    /// With rates of one's own.
    pub fn new(pages: Rate, others: Rate, wait_max: Duration) -> Self {
        Self { pages, others, wait_max, even_at: Mutex::default() }
    }

    /// A request comes: how long it has to wait for its turn. The `Err` is when to come again.
    pub fn take(&self, principal: &Principal, kind: Kind, now: Instant) -> Result<Duration, Duration> {
        let Rate { burst, every } = match kind {
            Kind::Page => self.pages,
            Kind::Other => self.others,
        };
        let mut even_at = self.even_at.lock().unwrap_or_else(PoisonError::into_inner);
        let even_at = even_at.entry((principal.clone(), kind)).or_insert(now);
        let even = (*even_at).max(now);
        let wait = even.duration_since(now).saturating_sub(every * burst.saturating_sub(1));
        if wait > self.wait_max {
            return Err(wait - self.wait_max);
        }
        *even_at = even + every;
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Principal = Principal::LocalOwner;

    /// How many of so many requests at one moment go at once, wait, are refused.
    fn at_once(kind: Kind, requests: u32) -> (u32, u32, u32) {
        let (pace, now) = (Pace::default(), Instant::now());
        let (mut free, mut waiting, mut refused) = (0, 0, 0);
        for _ in 0..requests {
            match pace.take(&ME, kind, now) {
                Ok(Duration::ZERO) => free += 1,
                Ok(_) => waiting += 1,
                Err(_) => refused += 1,
            }
        }
        (free, waiting, refused)
    }

    #[test]
    fn a_burst_is_free_a_second_more_waits_and_the_rest_is_refused() {
        assert_eq!(at_once(Kind::Other, 130), (REQUESTS_BURST, REQUESTS_PER_SECOND, 10));
        assert_eq!(at_once(Kind::Page, 500), (PAGES_BURST, PAGES_PER_SECOND, 100));
    }

    #[test]
    fn a_refusal_tells_when_and_costs_nothing() {
        let (pace, now) = (Pace::default(), Instant::now());
        for _ in 0..REQUESTS_BURST + REQUESTS_PER_SECOND {
            pace.take(&ME, Kind::Other, now).unwrap();
        }
        let again = pace.take(&ME, Kind::Other, now).unwrap_err();
        assert_eq!(again, Duration::from_millis(50));
        assert_eq!(pace.take(&ME, Kind::Other, now), Err(again));
        assert_eq!(pace.take(&ME, Kind::Other, now + again), Ok(Duration::from_secs(1)));
        assert_eq!(pace.take(&ME, Kind::Page, now), Ok(Duration::ZERO), "pages have their own pace");
        assert_eq!(pace.take(&ME, Kind::Other, now + Duration::from_secs(3600)), Ok(Duration::ZERO));
    }

    /// A screen at 60 frames a second that asks for one page a frame never waits; one that asks for four is slowed, and never refused,
    /// because a browser has no more than a few requests on their way.
    #[test]
    fn scrolling_is_never_refused() {
        let (pace, begin) = (Pace::default(), Instant::now());
        for frame in 0..3_600 {
            assert_eq!(pace.take(&ME, Kind::Page, begin + Duration::from_secs(1) / 60 * frame), Ok(Duration::ZERO));
        }
        let pace = Pace::default();
        let mut ready_at = [begin; 6];
        for request in 0..3_000_u32 {
            let way = request as usize % ready_at.len();
            let now = ready_at[way].max(begin + Duration::from_secs(1) / 240 * request);
            let wait = pace.take(&ME, Kind::Page, now).unwrap();
            assert!(wait <= Duration::from_millis(100), "{wait:?}");
            ready_at[way] = now + wait;
        }
    }
}
