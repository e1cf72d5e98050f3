//! What runs in a console, and the result it shows.

use super::consoles::Console;
use super::results::{self, Tab};
use arrow_array::RecordBatch;
use leptos::prelude::*;
use shared::ids::{ConnectionId, RunId};
use shared::problem::Problem;
pub use shared::wire::run::TransactionState as Transaction;
use shared::wire::run::{ColumnInfo, Notice, RunState, RunStatus};
use std::collections::HashMap;
use std::sync::Arc;

/// A run whose rows are shown. A new run makes a new grid; this never changes but through `status`.
#[derive(Clone)]
pub struct ActiveRun {
    /// The run.
    pub id: RunId,
    /// Rows of each page but the last: row `r` is in page `r / page_rows`.
    pub page_rows: u32,
    /// Page 0, which came with the answer to the run request.
    pub first_page: Arc<RecordBatch>,
    /// Where the run stands: follows the event stream. Lives as long as the view that was given this.
    pub status: RwSignal<RunStatus>,
}

/// A place in a console's text and what is wrong there; offsets in UTF-8 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMark {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// The database's sentence.
    pub message: String,
}

/// A statement that has not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// The name it can be cancelled by.
    pub token: String,
    /// Its place in the text, in bytes.
    pub range: (usize, usize),
    /// When it was sent, or the first of the script it is part of, in the page's clock.
    pub started_ms: f64,
    /// Cancel was asked.
    pub cancelling: bool,
    /// Which statement of how many, where there are several.
    pub part: Option<(usize, usize)>,
}

/// A result as the console holds it.
#[derive(Clone)]
pub struct Shown {
    /// The run.
    pub id: RunId,
    /// Where it ran.
    pub connection: ConnectionId,
    /// Rows of each page but the last.
    pub page_rows: u32,
    /// Page 0.
    pub first_page: Arc<RecordBatch>,
    /// Where it stands.
    pub status: ArcRwSignal<RunStatus>,
    /// The statement.
    pub sql: Arc<str>,
}

/// What the last statement of a console came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The rows that are shown.
    Rows,
    /// No rows: what it changed, in words.
    NoRows(String),
    /// It was stopped on request.
    Cancelled,
    /// It failed, for this reason. Rows that are shown are those of a statement before it.
    Failed(String),
    /// Several statements ran, or one gave several results: how far they came, in words, and the last reason where one failed.
    Script(String, Option<String>),
}

impl Outcome {
    /// In a few words; nothing for rows, which speak for themselves. Why something failed stands at the text and among the messages.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Rows => None,
            Self::NoRows(words) => Some(words.clone()),
            Self::Cancelled => Some("Cancelled".to_owned()),
            Self::Failed(_) => Some("Failed".to_owned()),
            Self::Script(words, _) => Some(words.clone()),
        }
    }

    /// Why it failed, in the database's words.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed(reason) => Some(reason),
            Self::Script(_, reason) => reason.as_deref(),
            _ => None,
        }
    }

    /// Something did not succeed.
    pub fn is_failure(&self) -> bool {
        self.reason().is_some()
    }
}

/// One console's run and result.
#[derive(Clone, Copy)]
pub struct RunSlot {
    /// What was sent and has not answered.
    pub in_hand: StoredValue<Option<Running>>,
    /// The same as the interface shows it: a statement that answers at once is not worth two changes of the screen.
    pub running: RwSignal<Option<Running>>,
    /// What the last run gave that is to be looked at; it stays until the next has something.
    pub tabs: RwSignal<Vec<Tab>>,
    /// Which of them is shown.
    pub tab: RwSignal<Option<u64>>,
    /// A person chose it: later results do not come before it.
    pub chosen: StoredValue<bool>,
    /// The rows of the shown tab.
    pub result: RwSignal<Option<Shown>>,
    /// The place of the last error.
    pub mark: RwSignal<Option<ErrorMark>>,
    /// What the session has open.
    pub transaction: RwSignal<Transaction>,
    /// What it had open is gone with the server, and nothing was run since.
    pub is_lost: RwSignal<bool>,
    /// It defined something that the catalog which is shown does not have.
    pub defined: StoredValue<bool>,
    /// How often Run was pressed.
    pub runs: StoredValue<u64>,
    /// The run that speaks for the session: the newest. An older one knows only what was open when it ended.
    pub newest: StoredValue<Option<RunId>>,
    /// How long the last statement took.
    pub elapsed_ms: RwSignal<Option<f64>>,
    /// What the last statement came to.
    pub outcome: RwSignal<Option<Outcome>>,
}

impl RunSlot {
    /// Nothing ran yet.
    pub fn new() -> Self {
        Self {
            in_hand: StoredValue::new(None),
            running: RwSignal::new(None),
            tabs: RwSignal::new(Vec::new()),
            tab: RwSignal::new(None),
            chosen: StoredValue::new(false),
            runs: StoredValue::new(0),
            result: RwSignal::new(None),
            mark: RwSignal::new(None),
            transaction: RwSignal::new(Transaction::None),
            is_lost: RwSignal::new(false),
            defined: StoredValue::new(false),
            newest: StoredValue::new(None),
            elapsed_ms: RwSignal::new(None),
            outcome: RwSignal::new(None),
        }
    }

    /// Run is pressed: the number of that.
    pub fn begin_run(self) -> u64 {
        self.chosen.set_value(false);
        self.is_lost.set(false);
        self.runs.update_value(|runs| *runs += 1);
        self.runs.get_value()
    }

    /// Shows a tab; without one, nothing.
    pub fn show_tab(self, key: Option<u64>) {
        let shown = self.tabs.with_untracked(|tabs| tabs.iter().find(|tab| Some(tab.key) == key).and_then(|tab| tab.rows().cloned()));
        let same = self.result.with_untracked(|old| old.as_ref().map(|old| old.id.clone())) == shown.as_ref().map(|shown| shown.id.clone());
        if !same {
            self.result.set(shown);
        }
        if self.tab.get_untracked() != key {
            self.tab.set(key);
        }
    }

    /// Adds what a statement gave, and shows it unless a person looks at another. Gives the results that are to be closed.
    pub fn add_tab(self, tab: Tab) -> Vec<Shown> {
        let (key, comes_first) = (tab.key, tab.rows().is_some());
        let Some(ended) = self.tabs.try_update(|tabs| results::add(tabs, tab)) else { return Vec::new() };
        let shown = self.tab.get_untracked();
        let still_there = self.tabs.with_untracked(|tabs| tabs.iter().any(|tab| Some(tab.key) == shown));
        let moves = !still_there || (comes_first && !self.chosen.get_value());
        self.show_tab(if moves { Some(key) } else { shown });
        ended
    }

    /// Takes a tab away, and shows the last that is left; gives its rows, which are to be closed.
    pub fn drop_tab(self, key: u64) -> Option<Shown> {
        let gone = self.tabs.try_update(|tabs| tabs.extract_if(.., |tab| tab.key == key).next())?;
        if self.tab.get_untracked() == Some(key) {
            let last = self.tabs.with_untracked(|tabs| tabs.last().map(|tab| tab.key));
            self.show_tab(last);
        }
        gone.and_then(|tab| tab.rows().cloned())
    }

    /// There are results of several statements, or several of one, so that each needs its name; followed.
    pub fn has_strip(self) -> bool {
        self.tabs.with(|tabs| tabs.iter().any(|tab| tab.part.is_one_of_several()))
    }

    /// A statement was sent and has not answered.
    pub fn is_working(self) -> bool {
        self.in_hand.with_value(Option::is_some)
    }

    /// Shows what is in hand, now.
    pub fn show_work(self) {
        self.running.set(self.in_hand.get_value());
    }

    /// The state of the shown result, followed.
    pub fn status(self) -> Option<RunStatus> {
        self.result.with(|shown| shown.as_ref().map(|shown| shown.status.clone())).map(|status| status.get())
    }

    /// The rows that are shown are the last statement's, not those of one before it; followed.
    pub fn shows_last(self) -> bool {
        self.outcome.with(|outcome| matches!(outcome, None | Some(Outcome::Rows | Outcome::Script(..))))
    }

    /// The rows that are shown are of a run before: a later one gave none, is under way, or would go to another connection than
    /// `connection`, where theirs is; followed.
    pub fn shows_before(self, connection: Option<&ConnectionId>) -> bool {
        let elsewhere = self.result.with(|shown| shown.as_ref().is_some_and(|shown| Some(&shown.connection) != connection));
        elsewhere || !self.shows_last() || (self.running.with(Option::is_some) && !self.is_of_newest())
    }

    /// The tab that is shown is of the newest run.
    fn is_of_newest(self) -> bool {
        let shown = self.tab.get();
        self.tabs.with(|tabs| tabs.iter().any(|tab| Some(tab.key) == shown && tab.part.run == self.runs.get_value()))
    }

    /// A statement runs, or the rest of a result is being read; followed.
    pub fn busy(self) -> bool {
        self.running.with(Option::is_some) || self.reading()
    }

    /// The database holds more rows of the shown result, and nobody reads them; followed.
    pub fn has_rest(self) -> bool {
        self.status().is_some_and(|status| status.state == RunState::Paused && !status.reading_to_end && status.total_rows.is_none())
    }

    /// The rest of the result is being read; followed.
    pub fn reading(self) -> bool {
        let status = self.result.with(|shown| shown.as_ref().map(|shown| shown.status.clone()));
        status.is_some_and(|status| status.with(|status| status.reading_to_end && !status.state.is_final()))
    }
}

impl Default for RunSlot {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs of which the event stream has something to tell: those whose rows are shown, and those just started.
#[derive(Clone, Copy)]
pub struct OpenRuns {
    all: StoredValue<HashMap<RunId, (ArcRwSignal<RunStatus>, Console)>>,
    started: StoredValue<HashMap<String, Started>>,
}

/// A run by the name it was started with.
#[derive(Clone)]
struct Started {
    console: Console,
    /// Its rows are shown.
    shown: Option<RunId>,
    /// How many notices are told, of each of its results.
    told: HashMap<RunId, usize>,
}

impl OpenRuns {
    /// None.
    pub fn new() -> Self {
        Self { all: StoredValue::new(HashMap::new()), started: StoredValue::new(HashMap::new()) }
    }

    /// A run is being started in a console. News of the one before may still come until now.
    pub fn expect(self, token: String, console: Console) {
        self.started.update_value(|started| {
            started.retain(|_, one| one.shown.is_some() || one.console.name() != console.name());
            started.insert(token, Started { console, shown: None, told: HashMap::new() });
        });
    }

    /// What a run's status says that was not told yet.
    pub fn unheard(self, news: &RunStatus) -> Option<(Console, Vec<Notice>)> {
        let token = news.token.as_ref()?;
        let unheard = self.started.try_update_value(|started| {
            let one = started.get_mut(token)?;
            let told = one.told.entry(news.id.clone()).or_default();
            let unheard = news.notices.get(*told..).unwrap_or_default().to_vec();
            *told = news.notices.len().max(*told);
            Some((one.console, unheard))
        });
        unheard.flatten().filter(|(_, notices)| !notices.is_empty())
    }

    /// From now on, news of `id` go to `status`.
    pub fn add(self, id: RunId, token: &str, status: ArcRwSignal<RunStatus>, console: Console) {
        self.started.update_value(|started| {
            if let Some(one) = started.get_mut(token) {
                one.shown = Some(id.clone());
            }
        });
        self.all.update_value(|all| {
            all.insert(id, (status, console));
        });
    }

    /// Its rows are no longer shown.
    pub fn remove(self, id: &RunId) {
        self.started.update_value(|started| started.retain(|_, one| one.shown.as_ref() != Some(id)));
        self.all.update_value(|all| {
            all.remove(id);
        });
    }

    /// All of them.
    pub fn ids(self) -> Vec<RunId> {
        self.all.with_value(|all| all.keys().cloned().collect())
    }

    /// The server has closed a run: what was read of it stays, and nothing offers the rest any more.
    pub fn closed(self, id: &RunId, problem: &Problem) -> Option<(Console, RunState, RunStatus)> {
        let status = self.all.with_value(|all| all.get(id).map(|(status, _)| status.clone()))?;
        self.apply(status.with_untracked(|status| closed(status, problem))?)
    }

    /// Takes news in. Gives the console and the state before, when there was a change of state.
    pub fn apply(self, news: RunStatus) -> Option<(Console, RunState, RunStatus)> {
        let (status, console) = self.all.with_value(|all| all.get(&news.id).cloned())?;
        let before = status.with_untracked(|old| newer(old, &news).then_some(old.state))?;
        status.set(news.clone());
        (before != news.state).then_some((console, before, news))
    }
}

impl Default for OpenRuns {
    fn default() -> Self {
        Self::new()
    }
}

/// News may overtake each other: a final state stays, and rows only grow.
pub fn newer(old: &RunStatus, news: &RunStatus) -> bool {
    old != news && (news.state.is_final() || !old.state.is_final()) && news.rows_ready >= old.rows_ready
}

/// What becomes of a run that is closed before its last row was read; nothing of one that had ended.
pub fn closed(status: &RunStatus, problem: &Problem) -> Option<RunStatus> {
    let ended = RunStatus { state: RunState::Partial, problem: Some(problem.clone()), reading_to_end: false, ..status.clone() };
    (!status.state.is_final()).then_some(ended)
}

/// The status that a first page tells of, until the server's own is here.
pub fn first_status(id: RunId, state: RunState, page_rows: u32, total_rows: Option<u64>, batch: &RecordBatch) -> RunStatus {
    let schema = batch.schema();
    let columns = schema.fields().iter().map(|field| ColumnInfo {
        name: field.name().clone(),
        type_name: field.metadata().get(shared::page::TYPE_KEY).cloned().unwrap_or_default(),
        origin: field.metadata().get(shared::page::ORIGIN_KEY).cloned(),
    });
    RunStatus {
        columns: columns.collect(),
        id,
        state,
        page_rows,
        rows_ready: batch.num_rows() as u64,
        total_rows,
        rows_affected: None,
        notices: Vec::new(),
        elapsed_ms: 0.0,
        problem: None,
        reading_to_end: false,
        further: false,
        transaction: Transaction::None,
        token: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::problem::ErrorCode;

    fn status(state: RunState, rows_ready: u64) -> RunStatus {
        RunStatus {
            id: RunId("r".to_owned()),
            state,
            columns: Vec::new(),
            page_rows: 1000,
            rows_ready,
            total_rows: None,
            rows_affected: None,
            notices: Vec::new(),
            elapsed_ms: 0.0,
            problem: None,
            reading_to_end: false,
            further: false,
            transaction: Transaction::None,
            token: None,
        }
    }

    #[test]
    fn a_closed_run_offers_no_rest_and_keeps_its_rows() {
        let gone = Problem::new(ErrorCode::Gone, "closed");
        let ended = closed(&RunStatus { reading_to_end: true, ..status(RunState::Paused, 1000) }, &gone);
        let seen = ended.as_ref().map(|status| (status.state, status.rows_ready, status.reading_to_end, status.problem.clone()));
        assert_eq!(seen, Some((RunState::Partial, 1000, false, Some(gone.clone()))));
        assert!(ended.is_some_and(|ended| newer(&status(RunState::Paused, 1000), &ended)));
        assert_eq!(closed(&status(RunState::Done, 1000), &gone), None);
    }

    #[test]
    fn late_news_never_take_back_what_is_known() {
        assert!(newer(&status(RunState::Paused, 1000), &status(RunState::Running, 2000)));
        assert!(!newer(&status(RunState::Done, 2000), &status(RunState::Running, 2000)));
        assert!(!newer(&status(RunState::Paused, 2000), &status(RunState::Paused, 1000)));
        assert!(newer(&status(RunState::Paused, 2000), &status(RunState::Done, 2000)));
    }
}
