//! The results of one press of Run, a tab each, also where one statement gives several: rows, what failed, and what was closed to make room.
//!
//! Invariant: results of different runs are never together, and no more than [`RESULTS_PER_CONSOLE_MAX`] of them hold rows. Whoever adds
//! one is given those whose rows are to be closed at the server. Pure.

use super::result::{ErrorMark, Shown};
use shared::limits::RESULTS_PER_CONSOLE_MAX;
use std::sync::Arc;

/// Tabs without rows (failed, or closed for room) that are kept beside those with rows.
const EMPTY_TABS_MAX: usize = 50;

/// Which statement of which run, and which result of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which press of Run in this console.
    pub run: u64,
    /// Which statement of it, from 1.
    pub number: usize,
    /// How many statements it has.
    pub of: usize,
    /// Which result of the statement, from 1.
    pub result: usize,
}

impl Part {
    /// One of several.
    pub fn is_of_script(&self) -> bool {
        self.of > 1
    }

    /// Not the only thing that the run gave: its tab needs a name.
    pub fn is_one_of_several(&self) -> bool {
        self.is_of_script() || self.result > 1
    }

    /// The name of its tab in this console. What has the same one by chance was closed long before.
    pub fn key(&self) -> u64 {
        self.run << 40 | (self.number as u64 & 0xff_ffff) << 16 | (self.result as u64 & 0xffff)
    }

    /// `Statement 3 of 4`, `Statement 3 of 4, result 2`; of a statement that ran alone `Result 2`.
    pub fn words(&self) -> String {
        match (self.is_of_script(), self.result) {
            (true, 1) => format!("Statement {} of {}", self.number, self.of),
            (true, result) => format!("Statement {} of {}, result {result}", self.number, self.of),
            (false, result) => format!("Result {result}"),
        }
    }

    /// The same in as few characters as there are: `3`, `3.2`, `2`.
    pub fn mark(&self) -> String {
        match (self.is_of_script(), self.result) {
            (true, 1) => self.number.to_string(),
            (true, result) => format!("{}.{result}", self.number),
            (false, result) => result.to_string(),
        }
    }

    /// That it was closed.
    pub fn closed(&self) -> String {
        match (self.is_of_script(), self.result) {
            (true, 1) => format!("The result of statement {} was closed", self.number),
            (true, result) => format!("Result {result} of statement {} was closed", self.number),
            (false, result) => format!("Result {result} was closed"),
        }
    }
}

/// What one statement gave.
#[derive(Clone)]
pub struct Tab {
    /// Its name in this console.
    pub key: u64,
    /// Which statement it was.
    pub part: Part,
    /// In a few words: the table it is about, or how it begins.
    pub label: String,
    /// The statement.
    pub sql: Arc<str>,
    /// What is shown below.
    pub body: Body,
}

/// What a tab shows.
#[derive(Clone)]
pub enum Body {
    /// Rows.
    Rows(Shown),
    /// It had rows, and was closed to make room for later ones.
    Closed,
    /// The database's reason, its further words, and where.
    Failed(Arc<Failure>),
}

/// Why a statement of a script gave nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The database's sentence.
    pub message: String,
    /// Further words, one a line.
    pub more: Vec<String>,
    /// The place in the text.
    pub mark: Option<ErrorMark>,
}

impl Tab {
    /// Its rows, if it has some.
    pub fn rows(&self) -> Option<&Shown> {
        if let Body::Rows(shown) = &self.body { Some(shown) } else { None }
    }

    /// It failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.body, Body::Failed(_))
    }
}

/// Adds a tab; gives the results that end with that: those of an earlier run, and the oldest where there are too many.
pub fn add(tabs: &mut Vec<Tab>, tab: Tab) -> Vec<Shown> {
    let earlier: Vec<Tab> = tabs.extract_if(.., |old| old.part.run != tab.part.run).collect();
    let mut ended: Vec<Shown> =
        earlier.into_iter().filter_map(|old| if let Body::Rows(shown) = old.body { Some(shown) } else { None }).collect();
    tabs.push(tab);
    while tabs.iter().filter(|tab| tab.rows().is_some()).count() > RESULTS_PER_CONSOLE_MAX {
        let Some(oldest) = tabs.iter_mut().find(|tab| tab.rows().is_some()) else { break };
        if let Body::Rows(shown) = std::mem::replace(&mut oldest.body, Body::Closed) {
            ended.push(shown);
        }
    }
    while tabs.iter().filter(|tab| tab.rows().is_none()).count() > EMPTY_TABS_MAX {
        let closed = tabs.iter().position(|tab| matches!(tab.body, Body::Closed));
        let Some(at) = closed.or_else(|| tabs.iter().position(Tab::has_failed)) else { break };
        tabs.remove(at);
    }
    ended
}

/// The tab `by` places further, around the end.
pub fn step(tabs: &[Tab], selected: Option<u64>, by: isize) -> Option<u64> {
    let at = tabs.iter().position(|tab| Some(tab.key) == selected)?;
    let next = (at as isize + by).rem_euclid(tabs.len() as isize) as usize;
    tabs.get(next).map(|tab| tab.key)
}

#[cfg(test)]
mod tests {
    use super::super::result::first_status;
    use super::*;
    use arrow_array::RecordBatch;
    use arrow_schema::Schema;
    use leptos::prelude::ArcRwSignal;
    use shared::ids::{ConnectionId, RunId};
    use shared::wire::run::RunState;

    fn rows(run: u64, number: usize) -> Tab {
        let batch = RecordBatch::new_empty(Arc::new(Schema::empty()));
        let id = RunId(format!("{run}.{number}"));
        let status = ArcRwSignal::new(first_status(id.clone(), RunState::Done, 1_000, Some(0), &batch));
        let connection = ConnectionId("c".to_owned());
        let shown = Shown { id, connection, page_rows: 1_000, first_page: Arc::new(batch), status, sql: "SELECT 1".into() };
        tab(run, number, Body::Rows(shown))
    }

    fn tab(run: u64, number: usize, body: Body) -> Tab {
        Tab { key: run * 1_000 + number as u64, part: Part { run, number, of: 99, result: 1 }, label: String::new(), sql: "".into(), body }
    }

    fn failed(run: u64, number: usize) -> Tab {
        tab(run, number, Body::Failed(Arc::new(Failure { message: "no".to_owned(), more: Vec::new(), mark: None })))
    }

    fn names(ended: &[Shown]) -> Vec<&str> {
        ended.iter().map(|shown| shown.id.as_str()).collect()
    }

    #[test]
    fn results_of_one_run_are_closed_together_by_the_next() {
        let mut tabs = Vec::new();
        assert!(add(&mut tabs, rows(1, 1)).is_empty());
        assert!(add(&mut tabs, failed(1, 2)).is_empty());
        assert!(add(&mut tabs, rows(1, 3)).is_empty());
        assert_eq!(tabs.iter().map(|tab| tab.part.number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(names(&add(&mut tabs, failed(2, 1))), ["1.1", "1.3"]);
        assert_eq!(tabs.len(), 1);
    }

    #[test]
    fn the_oldest_result_makes_room_and_its_tab_says_so() {
        let mut tabs = Vec::new();
        for number in 1..=RESULTS_PER_CONSOLE_MAX {
            assert!(add(&mut tabs, rows(1, number)).is_empty());
        }
        assert_eq!(names(&add(&mut tabs, rows(1, RESULTS_PER_CONSOLE_MAX + 1))), ["1.1"]);
        assert!(matches!(tabs.first().map(|tab| &tab.body), Some(Body::Closed)));
        for number in 2..=300 {
            add(&mut tabs, rows(1, RESULTS_PER_CONSOLE_MAX + number));
        }
        assert_eq!(tabs.len(), RESULTS_PER_CONSOLE_MAX + EMPTY_TABS_MAX);
        assert_eq!(tabs.iter().filter(|tab| tab.rows().is_some()).count(), RESULTS_PER_CONSOLE_MAX);
    }

    #[test]
    fn a_result_is_named_by_its_statement_and_its_place_there() {
        let part = |number, of, result| Part { run: 7, number, of, result };
        let names = [part(1, 1, 1), part(1, 1, 2), part(3, 4, 1), part(3, 4, 2)].map(|part| (part.mark(), part.words()));
        let names: Vec<(&str, &str)> = names.iter().map(|(mark, words)| (mark.as_str(), words.as_str())).collect();
        let expected = [("1", "Result 1"), ("2", "Result 2"), ("3", "Statement 3 of 4"), ("3.2", "Statement 3 of 4, result 2")];
        assert_eq!(names, expected);
        let closed = [part(3, 4, 1), part(3, 4, 2), part(1, 1, 2)].map(|part| part.closed());
        assert_eq!(closed, ["The result of statement 3 was closed", "Result 2 of statement 3 was closed", "Result 2 was closed"]);
        assert!(!part(1, 1, 1).is_one_of_several() && part(1, 1, 2).is_one_of_several() && part(1, 4, 1).is_one_of_several());
        let keys: std::collections::HashSet<u64> =
            [part(1, 1, 1), part(1, 1, 2), part(2, 1, 1), part(1, 1, 65_535), Part { run: 8, ..part(1, 1, 1) }]
                .iter()
                .map(Part::key)
                .collect();
        assert_eq!(keys.len(), 5);
    }

    #[test]
    fn stepping_goes_around_the_end() {
        let tabs = [rows(1, 1), failed(1, 2), rows(1, 3)];
        assert_eq!(step(&tabs, Some(1_003), 1), Some(1_001));
        assert_eq!(step(&tabs, Some(1_001), -1), Some(1_003));
        assert_eq!(step(&tabs, None, 1), None);
    }
}
