//! Which pages to ask for now, which requests no longer matter, and when to ask again.
//!
//! Invariant: pure, no `web_sys`; the same question has the same answer. What the window shows comes first, then what it will show
//! next; never more than [`IN_FLIGHT_MAX`] at once, so that a jump never waits behind pages nobody looks at.

use shared::problem::{ErrorCode, Problem};
use std::ops::Range;

/// Requests at once.
pub const IN_FLIGHT_MAX: usize = 3;
/// Shortest and longest time before a page is asked for again, in milliseconds, whatever the server says.
const AGAIN_MS: (u64, u64) = (50, 10_000);
/// Pages ahead of a window that moves.
const AHEAD_PAGES: u64 = 1;
/// Pages ahead at speed.
const AHEAD_PAGES_FAST: u64 = 3;
/// Rows a frame from which scrolling is fast.
const FAST_ROWS: f64 = 20.0;
/// Rows a frame from which pages beside the window are not worth asking: the thumb is being dragged.
const DRAGGED_ROWS: f64 = 2_000.0;

/// What the window shows and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Rows in the window.
    pub rows: Range<u64>,
    /// Rows moved in the last frame, negative upwards.
    pub speed_rows: f64,
    /// Rows of a page.
    pub page_rows: u32,
    /// Rows that may exist: known ones, and one page more while the database has some.
    pub extent_rows: u64,
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Pages to ask for, most urgent first.
    pub ask: Vec<u32>,
    /// Requests to give up.
    pub give_up: Vec<u32>,
}

/// Pages that are worth having, most urgent first.
pub fn wanted(look: &Look) -> Vec<u32> {
    let page_rows = u64::from(look.page_rows.max(1));
    let Some(last_row) = look.extent_rows.checked_sub(1) else { return Vec::new() };
    let last = last_row / page_rows;
    let first_seen = (look.rows.start / page_rows).min(last);
    let last_seen = (look.rows.end.saturating_sub(1).max(look.rows.start) / page_rows).min(last);
    let mut pages: Vec<u64> = (first_seen..=last_seen).collect();
    let speed = look.speed_rows.abs();
    let in_lower_half = look.rows.end.saturating_sub(1) % page_rows >= page_rows / 2;
    if speed >= DRAGGED_ROWS {
        // The window alone.
    } else if speed == 0.0 {
        // At rest only the nearer neighbour: a result that was just opened has cost the database its first page and no more.
        if in_lower_half {
            pages.extend(Some(last_seen + 1).filter(|n| *n <= last));
        } else {
            pages.extend(first_seen.checked_sub(1));
        }
    } else {
        let ahead = if speed >= FAST_ROWS { AHEAD_PAGES_FAST } else { AHEAD_PAGES };
        if look.speed_rows < 0.0 {
            pages.extend((first_seen.saturating_sub(ahead)..first_seen).rev());
        } else {
            pages.extend((last_seen + 1..=last_seen + ahead).filter(|n| *n <= last));
        }
    }
    pages.into_iter().filter_map(|n| u32::try_from(n).ok()).collect()
}

/// Compares what is worth having with what is there (`have`: cached, or failed and waiting for Retry) and what is on its way.
pub fn plan(look: &Look, have: impl Fn(u32) -> bool, in_flight: &[u32]) -> Plan {
    let wanted = wanted(look);
    let give_up: Vec<u32> = in_flight.iter().copied().filter(|n| !wanted.contains(n)).collect();
    let room = IN_FLIGHT_MAX.saturating_sub(in_flight.len() - give_up.len());
    let ask = wanted.into_iter().filter(|n| !have(*n) && !in_flight.contains(n)).take(room).collect();
    Plan { ask, give_up }
}

/// Milliseconds after which a request that was put off may be made again; none where the answer is final.
pub fn ask_again_after(problem: &Problem) -> Option<u32> {
    let told = problem.retry_after_ms.filter(|_| problem.code == ErrorCode::TooMany)?;
    u32::try_from(told.clamp(AGAIN_MS.0, AGAIN_MS.1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_put_off_is_asked_for_again() {
        let told = |code, retry_after_ms| ask_again_after(&Problem { retry_after_ms, ..Problem::new(code, "No") });
        assert_eq!(told(ErrorCode::TooMany, Some(1_200)), Some(1_200));
        assert_eq!(told(ErrorCode::TooMany, Some(0)), Some(50), "never in a tight loop");
        assert_eq!(told(ErrorCode::TooMany, Some(u64::MAX)), Some(10_000), "never for hours");
        assert_eq!(told(ErrorCode::TooMany, None), None);
        assert_eq!(told(ErrorCode::Gone, Some(1_200)), None);
    }

    fn look(rows: Range<u64>, speed_rows: f64) -> Look {
        Look { rows, speed_rows, page_rows: 1_000, extent_rows: 1_000_000 }
    }

    #[test]
    fn the_window_comes_first_then_what_follows() {
        assert_eq!(wanted(&look(5_990..6_030, 1.0)), [5, 6, 7]);
        assert_eq!(wanted(&look(5_600..5_640, 30.0)), [5, 6, 7, 8]);
        assert_eq!(wanted(&look(5_600..5_640, -30.0)), [5, 4, 3, 2]);
        assert_eq!(wanted(&look(5_100..5_140, 0.0)), [5, 4]);
        assert_eq!(wanted(&look(5_700..5_740, 0.0)), [5, 6]);
    }

    #[test]
    fn an_opened_result_asks_for_nothing_more() {
        assert_eq!(wanted(&look(0..36, 0.0)), [0]);
    }

    #[test]
    fn a_dragged_thumb_asks_for_the_window_alone() {
        assert_eq!(wanted(&look(500_100..500_140, 90_000.0)), [500]);
    }

    #[test]
    fn requests_that_no_longer_matter_are_given_up_and_their_room_used() {
        let plan = plan(&look(500_100..500_140, 90_000.0), |_| false, &[3, 4, 5]);
        assert_eq!(plan, Plan { ask: vec![500], give_up: vec![3, 4, 5] });
    }

    #[test]
    fn never_more_than_a_few_at_once() {
        let plan = plan(&look(5_600..5_640, 30.0), |n| n == 5, &[6]);
        assert_eq!(plan, Plan { ask: vec![7, 8], give_up: vec![] });
        let plan = super::plan(&look(5_600..5_640, 30.0), |_| false, &[6, 7, 8]);
        assert_eq!(plan, Plan { ask: vec![], give_up: vec![] });
    }

    #[test]
    fn nothing_behind_the_end_is_asked_for() {
        let end = Look { rows: 960..1_000, speed_rows: 40.0, page_rows: 1_000, extent_rows: 1_000 };
        assert_eq!(wanted(&end), [0]);
        let unread = Look { extent_rows: 2_000, ..end };
        assert_eq!(wanted(&unread), [0, 1]);
        assert_eq!(wanted(&Look { rows: 0..0, speed_rows: 0.0, page_rows: 1_000, extent_rows: 0 }), Vec::<u32>::new());
    }

    #[test]
    fn a_still_window_with_its_pages_asks_for_nothing() {
        assert_eq!(plan(&look(5_600..5_640, 0.0), |_| true, &[]), Plan::default());
    }
}
