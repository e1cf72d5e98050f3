//! A session with a library in a process of its own, on the server's side: what it asks of the process, and how it is stopped.
//!
//! Invariant: an answer is taken for what was asked, or it ends the process. A stop names its statement, and the process is ended where
//! it does not hear one within [`HEARING`].

use super::messages::{Answer, Done, Request, Rows, read_answer, request};
use super::process::{Gone, Process};
use crate::engine::catalog::CatalogAsk;
use crate::engine::files::cannot_open;
use crate::engine::notices::{asks_to_roll_back, rolled_back};
use crate::engine::{Bound, CancelHandle, EngineError, Fate, Fetched, Finished, Param, Session, Started};
use arrow_array::RecordBatch;
use async_trait::async_trait;
use serde::Serialize;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::connection::EngineKind;
use shared::wire::run::{Notice, TransactionState};
use std::sync::{Arc, Once, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long a statement may take to end once it was told to, and a session.
const HEARING: Duration = Duration::from_secs(2);
/// Why a process was ended that did not hear it.
const UNHEARD: &str = "since it did not stop the statement";
/// What is left to say where the process ended over a statement.
const UNKNOWN: &str = "whether the statement took effect is not known";

/// What there is to say of a library.
pub struct Library {
    /// Its engine.
    pub kind: EngineKind,
    /// In a person's words.
    pub name: &'static str,
    /// What is gone with the process, and how it goes on.
    pub after: &'static str,
    /// Where the process has one session only: what its end in the midst of a statement of this text is sure to have undone, if
    /// anything; the flag is whether a transaction was open before.
    pub undone: Option<fn(&str, bool) -> Undone>,
}

/// What the end of a process has undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// There was nothing: the statement only reads.
    Nothing,
    /// The open transaction, and the statement with it.
    Transaction,
    /// Perhaps the statement.
    Unknown,
}

/// A session.
pub struct ProcessSession {
    process: Arc<Process>,
    library: &'static Library,
    id: u64,
    /// The statement, and whether the process works on it.
    work: watch::Sender<Work>,
    /// Fetched within this bound and not handed out.
    ready: Option<(Fetched, Bound)>,
    /// The statement has ended like this already.
    ended: Option<Finished>,
    columns: usize,
    server: String,
    transaction: TransactionState,
    /// It had failed before this statement, which asks for something else than to roll it back.
    ends_failed: bool,
    /// What the end of the process would undo now.
    undone: Undone,
    notices: Vec<Notice>,
    closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    /// Counts statements, so that a stop is for one of them.
    statement: u64,
    /// It has not ended.
    running: bool,
    /// An answer is waited for.
    asked: bool,
}

impl ProcessSession {
    /// Begins one; `file` is what is opened, for people.
    pub async fn connect(
        process: Arc<Process>,
        library: &'static Library,
        opening: &impl Serialize,
        file: &str,
    ) -> Result<Self, EngineError> {
        let id = process.next_session();
        let opening = serde_json::to_value(opening).map_err(|e| cannot_open(format!("{file} can't be asked for: {e}.")))?;
        let mut session = Self {
            process,
            library,
            id,
            work: watch::Sender::new(Work::default()),
            ready: None,
            ended: None,
            columns: 0,
            server: String::new(),
            transaction: TransactionState::None,
            ends_failed: false,
            undone: Undone::Unknown,
            notices: Vec::new(),
            closed: false,
        };
        match session.ask(&Request::Connect(opening)).await {
            Ok((Done::Connected { server, missing }, _)) => {
                tell_missing(&missing);
                session.server = server;
                Ok(session)
            }
            Ok(_) => Err(session.broken()),
            // Nothing was asked of a database yet.
            Err(e) => Err(match session.process.end() {
                Some(end) => cannot_open(format!("{} ended unexpectedly, {}, as it opened {file}.", library.name, end.0)),
                None => EngineError { fate: Fate::NotSent, ..e },
            }),
        }
    }

    async fn ask(&mut self, what: &Request) -> Result<(Done, Option<RecordBatch>), EngineError> {
        let frame = request(self.id, what).map_err(|e| EngineError::idle(Problem::new(ErrorCode::Internal, e.to_string())))?;
        self.work.send_modify(|work| work.asked = true);
        let answer = self.process.ask(self.id, frame).await;
        self.work.send_modify(|work| work.asked = false);
        let bytes = answer.map_err(|gone| self.gone(&gone, what))?;
        let (Answer { done, transaction }, batch) = read_answer(bytes).map_err(|e| {
            tracing::warn!(cause = %e, library = self.library.name, "a process of Sheaf's own sent what can't be read");
            self.broken()
        })?;
        self.transaction = transaction;
        let done = done.inspect_err(|e| {
            if e.fate != Fate::Idle && !self.server.is_empty() {
                self.process.kill("since it takes no statement any more");
            }
        });
        Ok((done?, batch))
    }

    /// The process said what was not asked: it is not trusted any more.
    fn broken(&self) -> EngineError {
        self.process.kill("because it answered what it was not asked");
        EngineError::unknown(format!("{}'s process answered what it was not asked, and was ended.", self.library.name))
    }

    /// What is told of a process that is gone, to who asked it for that.
    fn gone(&self, gone: &Gone, what: &Request) -> EngineError {
        let name = self.library.name;
        let unheard = gone.end.0 == UNHEARD && self.library.undone.is_some();
        let (fate, left) = match what {
            _ if unheard && self.undone == Undone::Nothing => (Fate::Unknown, "it had changed nothing"),
            _ if unheard && self.undone == Undone::Transaction => (Fate::Unknown, "the open transaction of this session was rolled back"),
            // The statement of these was sent before, and answered.
            Request::Fetch(_) => (Fate::Unknown, "the rest of its rows will not come, and whether the statement took effect is not known"),
            Request::Finish => (Fate::Unknown, UNKNOWN),
            _ if gone.asked => (Fate::Unknown, UNKNOWN),
            _ => (Fate::NotSent, "the statement was not sent"),
        };
        let message = if unheard {
            format!("The statement did not hear its cancel, so {name}'s process was ended; {left}.")
        } else {
            format!("{name} ended unexpectedly, {}; {left}.", gone.end.0)
        };
        let mut problem = Problem::new(ErrorCode::ConnectionLost, message);
        problem.hint = Some(self.library.after.to_owned());
        EngineError { problem, fate, cancelled: unheard && self.undone != Undone::Unknown }
    }

    fn begin(&self) -> u64 {
        self.work.send_modify(|work| *work = Work { statement: work.statement + 1, running: true, asked: false });
        self.work.borrow().statement
    }

    fn end(&mut self) {
        self.ready = None;
        self.work.send_modify(|work| work.running = false);
    }

    /// Rows as they may be: no more than were asked for, of the statement's columns, and some where more are to come.
    fn rows(&self, batch: Option<RecordBatch>, rows: Rows, bound: Bound) -> Result<Fetched, EngineError> {
        let batch = batch.ok_or_else(|| self.broken())?;
        let fits = batch.num_rows() <= bound.rows.max(1) && (batch.num_rows() > 0 || !rows.more);
        if fits { Ok(Fetched { batch, more: rows.more }) } else { Err(self.broken()) }
    }

    async fn start(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        let statement = self.begin();
        let execute = Request::Execute { statement, sql: sql.to_owned(), params: params.to_vec(), bound };
        let (Done::Started { rows, ended }, batch) = self.ask(&execute).await? else { return Err(self.broken()) };
        self.ended = ended;
        let Some(rows) = rows else { return Ok(Started { schema: None }) };
        let first = self.rows(batch, rows, bound)?;
        let schema = first.batch.schema();
        self.columns = first.batch.num_columns();
        self.ready = Some((first, bound));
        Ok(Started { schema: Some(schema) })
    }

    async fn next(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        if let Some((ready, within)) = self.ready.take() {
            let is_within = within.rows <= bound.rows && within.bytes <= bound.bytes;
            let rows = if is_within { ready.batch.num_rows() } else { bound.rows_of(&ready.batch) };
            if ready.batch.num_rows() == rows {
                return Ok(ready);
            }
            // Asked for less than `execute` was told: the rest waits.
            let rest = ready.batch.slice(rows, ready.batch.num_rows() - rows);
            self.ready = Some((Fetched { batch: rest, more: ready.more }, within));
            return Ok(Fetched { batch: ready.batch.slice(0, rows), more: true });
        }
        match self.ask(&Request::Fetch(bound)).await? {
            (Done::Fetched(rows), batch) => {
                let fetched = self.rows(batch, rows, bound)?;
                if fetched.batch.num_columns() == self.columns { Ok(fetched) } else { Err(self.broken()) }
            }
            _ => Err(self.broken()),
        }
    }
}

/// Once in the life of the server.
fn tell_missing(missing: &[String]) {
    static TOLD: Once = Once::new();
    if !missing.is_empty() {
        TOLD.call_once(|| tracing::warn!(missing = missing.join(", "), "processes of databases are less shut in on this system"));
    }
}

#[async_trait]
impl Session for ProcessSession {
    async fn execute(&mut self, sql: &str, bound: Bound) -> Result<Started, EngineError> {
        self.execute_with(sql, &[], bound).await
    }

    async fn execute_with(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        (self.ready, self.ended) = (None, None);
        self.ends_failed = self.transaction == TransactionState::Failed && !asks_to_roll_back(sql, self.library.kind);
        self.undone = self.library.undone.map_or(Undone::Unknown, |undone| undone(sql, self.transaction != TransactionState::None));
        let started = self.start(sql, params, bound).await;
        if started.is_err() {
            self.end();
        }
        started
    }

    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        let fetched = self.next(bound).await;
        if fetched.is_err() {
            self.end();
        }
        fetched
    }

    async fn finish(&mut self) -> Result<Finished, EngineError> {
        // Giving up the rest is quick and must succeed: a stop has nothing left to stop.
        self.end();
        let finished = match self.ended.take() {
            Some(finished) => finished,
            None => match self.ask(&Request::Finish).await? {
                (Done::Finished(finished), _) => finished,
                _ => return Err(self.broken()),
            },
        };
        if std::mem::take(&mut self.ends_failed) && !finished.in_transaction {
            self.notices.push(rolled_back());
        }
        Ok(finished)
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.transaction != TransactionState::None)
    }

    fn transaction_failed(&self) -> bool {
        self.transaction == TransactionState::Failed
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    fn cancel_handle(&self) -> Arc<dyn CancelHandle> {
        Arc::new(Stop { process: Arc::downgrade(&self.process), id: self.id, work: self.work.subscribe() })
    }

    async fn read_catalog(&mut self, ask: &CatalogAsk) -> Result<Catalog, EngineError> {
        let statement = self.begin();
        let catalog = self.ask(&Request::Catalog { statement, ask: ask.clone() }).await;
        self.end();
        match catalog? {
            (Done::Catalog(catalog), _) => Ok(catalog),
            _ => Err(self.broken()),
        }
    }

    async fn reset(&mut self) -> Result<(), EngineError> {
        match self.ask(&Request::Reset).await? {
            (Done::Reset, _) => Ok(()),
            _ => Err(self.broken()),
        }
    }

    fn server(&self) -> &str {
        &self.server
    }

    /// The last one waits until the process is no more, and the file with it free.
    async fn close(mut self: Box<Self>) {
        self.closed = true;
        if timeout(HEARING, self.ask(&Request::Close)).await.is_err() {
            self.process.kill("since it did not close a session");
        }
        let mut ended = self.process.watch();
        let others = Arc::downgrade(&self.process);
        drop(self);
        if others.strong_count() == 0 {
            let _ = ended.wait_for(Option::is_some).await;
        }
    }
}

impl Drop for ProcessSession {
    fn drop(&mut self) {
        if !self.closed
            && let Ok(frame) = request(self.id, &Request::Close)
        {
            self.process.tell_last(self.id, frame);
        }
    }
}

struct Stop {
    /// Does not keep the process.
    process: Weak<Process>,
    id: u64,
    work: watch::Receiver<Work>,
}

#[async_trait]
impl CancelHandle for Stop {
    /// Returns when the statement has ended, or is not worked on.
    async fn cancel(&self) -> Result<(), EngineError> {
        let mut work = self.work.clone();
        let meant = *work.borrow();
        let Some(process) = self.process.upgrade().filter(|_| meant.running) else { return Ok(()) };
        if let Ok(frame) = request(self.id, &Request::Stop { statement: meant.statement }) {
            process.tell(frame);
        }
        drop(process);
        let over = work.wait_for(|work| !work.running || !work.asked || work.statement != meant.statement);
        if timeout(HEARING, over).await.is_err()
            && let Some(process) = self.process.upgrade()
        {
            process.kill(UNHEARD);
        }
        Ok(())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::engine::worker::frames;
    use crate::engine::worker::process::Start;
    use arrow_array::Int64Array;
    use arrow_schema::{DataType, Field, Schema};
    use std::os::unix::fs::PermissionsExt as _;

    const LIBRARY: Library = Library { kind: EngineKind::Sqlite, name: "Lib", after: "", undone: None };
    const ONE: Bound = Bound { rows: 1, bytes: 1 };

    fn frame(done: Done, rows: i64) -> Vec<u8> {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
        let batch = RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from_iter_values(0..rows))]).unwrap();
        let mut out = Vec::new();
        let answer = Answer { done: Ok(done), transaction: TransactionState::None };
        frames::write(&mut out, 0, &answer, &shared::page::encode(&batch).unwrap()).unwrap();
        out
    }

    /// A process that answers the first question, whatever it is, with the first of these, and the second with the second.
    fn rogue(answers: [Vec<u8>; 2]) -> (Arc<Process>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let first = request(0, &Request::Connect(serde_json::Value::Null)).unwrap().len();
        let (one, two) = (at("1"), at("2"));
        let script = format!(
            "#!/bin/sh\nhead -c {first} >/dev/null\ncat {} >&0\nhead -c 1 >/dev/null\ncat {} >&0\nexec sleep 1000\n",
            one.display(),
            two.display()
        );
        let [first, second] = answers;
        std::fs::write(one, first).unwrap();
        std::fs::write(two, second).unwrap();
        std::fs::write(at("program"), script).unwrap();
        std::fs::set_permissions(at("program"), std::fs::Permissions::from_mode(0o700)).unwrap();
        let process = Process::start(Start {
            program: at("program"),
            command: "x",
            variables: &[("PATH", "/usr/bin:/bin")],
            inherited: &[],
            folder: "/".into(),
            name: "rogue",
            answer_bytes_max: 10_000,
            afterwards: Box::new(|| ()),
        });
        (Arc::new(process.unwrap()), folder)
    }

    fn connected() -> Vec<u8> {
        frame(Done::Connected { server: "Lib 1".to_owned(), missing: Vec::new() }, 0)
    }

    #[tokio::test]
    async fn an_answer_to_something_else_ends_the_process() {
        let rows = |more| Some(Rows { more });
        for (case, answer) in [
            ("another thing", frame(Done::Reset, 0)),
            ("rows of no statement", frame(Done::Fetched(Rows { more: false }), 1)),
            ("more rows than were asked for", frame(Done::Started { rows: rows(false), ended: None }, 2)),
            ("no rows, and more of them", frame(Done::Started { rows: rows(true), ended: None }, 0)),
            ("no head", frames::before(0, &"nothing", 0).unwrap()),
        ] {
            let (process, _folder) = rogue([connected(), answer]);
            let mut ended = process.watch();
            let mut session = ProcessSession::connect(Arc::clone(&process), &LIBRARY, &(), "a file").await.unwrap();
            assert_eq!(session.server(), "Lib 1");
            let error = session.execute("SELECT 1", ONE).await.unwrap_err();
            assert_eq!(error.problem.message, "Lib's process answered what it was not asked, and was ended.", "{case}");
            assert_eq!(error.fate, Fate::Unknown);
            ended.wait_for(Option::is_some).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_process_that_does_not_begin_as_it_should_is_no_session() {
        let (process, _folder) = rogue([frame(Done::Closed, 0), Vec::new()]);
        let mut ended = process.watch();
        assert!(ProcessSession::connect(process, &LIBRARY, &(), "a file").await.is_err());
        ended.wait_for(Option::is_some).await.unwrap();
    }
}
