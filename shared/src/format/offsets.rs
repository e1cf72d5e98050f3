//! How far a clock is ahead of UTC, by the instant: what the text of an instant needs beside it.
//!
//! Invariant: within one page the offset follows from the instant. As text it is a list of runs, `first:ahead` with commas between: from
//! `first` on (microseconds since 1970-01-01 00:00 UTC) the clock is `ahead` seconds ahead, until the next run begins. A clock that shows
//! UTC throughout needs no list.

use crate::limits::OFFSET_RUNS_MAX;
use crate::page::OFFSETS_KEY;
use arrow_schema::Field;
use std::fmt::Write as _;

/// The runs of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets(Vec<(i64, i32)>);

impl Offsets {
    /// Of instants with the offset of each, in any order. `None` where one instant has two, or there are too many runs.
    pub fn of(mut instants: Vec<(i64, i32)>) -> Option<Self> {
        let Some((_, first)) = instants.first().copied() else { return Some(Self(Vec::new())) };
        if instants.iter().all(|(_, ahead)| *ahead == first) {
            let begin = instants.iter().map(|(micros, _)| *micros).min();
            return Some(Self(begin.map(|begin| (begin, first)).into_iter().collect()));
        }
        instants.sort_unstable();
        let mut runs: Vec<(i64, i32)> = Vec::new();
        let mut before = None;
        for (micros, ahead) in instants {
            let changed = runs.last().is_none_or(|(_, last)| *last != ahead);
            if changed && (before == Some(micros) || runs.len() == OFFSET_RUNS_MAX) {
                return None;
            }
            if changed {
                runs.push((micros, ahead));
            }
            before = Some(micros);
        }
        Some(Self(runs))
    }

    /// How far the clock of a column of a page is ahead at an instant; `None` where the page's list can't be read.
    pub fn ahead(field: &Field, micros: i64) -> Option<i32> {
        field.metadata().get(OFFSETS_KEY).map_or(Some(0), |list| at(list, micros))
    }

    /// The list as a page has it; `None` where it needs none.
    pub fn metadata(&self) -> Option<String> {
        if self.0.iter().all(|(_, ahead)| *ahead == 0) {
            return None;
        }
        let mut text = String::new();
        for (first, ahead) in &self.0 {
            let _ = write!(text, "{}{first}:{ahead}", if text.is_empty() { "" } else { "," });
        }
        Some(text)
    }
}

/// The offset that a page's list has for an instant; `None` where there is no such list.
fn at(list: &str, micros: i64) -> Option<i32> {
    let mut found = None;
    for run in list.split(',') {
        let (first, ahead) = run.split_once(':')?;
        if found.is_some() && first.parse::<i64>().ok()? > micros {
            break;
        }
        found = Some(ahead.parse().ok()?);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_finds_the_run_it_is_in() {
        let offsets = Offsets::of(vec![(50, 7_200), (10, 3_600), (30, 7_200), (20, 3_600), (90, 3_600), (-5, -52)]).unwrap();
        let list = offsets.metadata().unwrap();
        assert_eq!(list, "-5:-52,10:3600,30:7200,90:3600");
        for (micros, ahead) in [(-5, -52), (9, -52), (10, 3_600), (29, 3_600), (30, 7_200), (89, 7_200), (90, 3_600), (i64::MAX, 3_600)] {
            assert_eq!(at(&list, micros), Some(ahead), "{micros}");
        }
        assert_eq!(at(&list, i64::MIN), Some(-52), "before the first run there is nothing in the page");
    }

    #[test]
    fn one_offset_throughout_is_one_run_and_utc_is_none() {
        assert_eq!(Offsets::of(vec![(9, 20_700), (-3, 20_700)]).unwrap().metadata().unwrap(), "-3:20700");
        assert_eq!(Offsets::of(vec![(9, 0), (-3, 0)]).unwrap().metadata(), None);
        assert_eq!(Offsets::of(Vec::new()).unwrap().metadata(), None);
    }

    #[test]
    fn what_is_no_list_of_runs_is_none() {
        assert_eq!(Offsets::of(vec![(5, 0), (5, 3_600)]), None, "one instant, two offsets");
        let runs = |count: i64| (0..count).map(|at| (at, i32::from(at % 2 == 0))).collect();
        assert!(Offsets::of(runs(64)).is_some());
        assert_eq!(Offsets::of(runs(65)), None);
        for list in ["", "1", "1:x", "x:1,2:3,x:4", "1:99999999999"] {
            assert_eq!(at(list, 5), None, "{list}");
        }
    }
}
