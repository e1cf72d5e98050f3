//! Slows down guessing: after ten failures within a minute each further one waits a second.
//!
//! Invariant: pure but for its lock; the caller brings the time and does the waiting.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Failures in a minute that cost nothing: a person mistypes, an old tab knocks.
pub const FREE_FAILURES: usize = 10;
const WINDOW_SECONDS: u64 = 60;
const DELAY: Duration = Duration::from_secs(1);

/// The failures of the last minute.
#[derive(Debug, Default)]
pub struct Throttle {
    failures: Mutex<VecDeque<u64>>,
}

impl Throttle {
    /// Notes a failure; how long to wait before it is answered.
    pub fn note_failure(&self, now: u64) -> Duration {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|at| now.saturating_sub(*at) < WINDOW_SECONDS);
        if failures.len() < FREE_FAILURES {
            failures.push_back(now);
            return Duration::ZERO;
        }
        failures.pop_front();
        failures.push_back(now);
        DELAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_failure_in_a_minute_waits() {
        let throttle = Throttle::default();
        for _ in 0..FREE_FAILURES {
            assert_eq!(throttle.note_failure(100), Duration::ZERO);
        }
        assert_eq!(throttle.note_failure(101), DELAY);
        assert_eq!(throttle.note_failure(159), DELAY);
    }

    #[test]
    fn a_minute_later_nothing_is_held_against_anyone() {
        let throttle = Throttle::default();
        for _ in 0..=FREE_FAILURES {
            throttle.note_failure(100);
        }
        assert_eq!(throttle.note_failure(160), Duration::ZERO);
    }
}
