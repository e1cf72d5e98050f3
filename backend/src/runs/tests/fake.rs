//! An engine whose statements are scripts: `rows n=2500 tag=a gate=fetch`, `change n=5`, `begin`, `temp`.
//!
//! | word | what |
//! |---|---|
//! | `rows n= tag= width= narrow=` | n rows: number, `tag:number` padded to width; at most `narrow` of them a fetch |
//! | `change n=`, `begin`, `commit`, `temp`, `look`, `BEGIN`, `ROLLBACK` | no rows; `look` fails unless a `temp` came before in this session |
//! | `gate=execute,fetch,finish` | that call waits for a permit of the world's gate, or an interrupt |
//! | `stubborn` | interrupts are ignored |
//! | `fail=execute,fetch,finish at= fate=idle,lost,notsent` | that call fails (a fetch: the one of that number) |
//! | `panic=execute,fetch,finish` | that call panics |
//! | `notices=` | so many notices |
//! | `\|` | what follows is the statement's next result; its own `gate=`, `fail=` and `panic=` know the call `next` |
//! | `query` | its rows may be shown before its end |
//! | `maybe` | that another result follows is not certain before this one's last row |

use crate::engine::catalog::CatalogAsk;
use crate::engine::{Bound, CancelHandle, Engine, EngineError, Fate, Fetched, Finished, Session, Started, Target};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::run::Notice;
use shared::wire::secrets::Secrets;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

static WORLDS: LazyLock<Mutex<HashMap<String, Arc<World>>>> = LazyLock::new(Mutex::default);
static NEXT_WORLD: AtomicU64 = AtomicU64::new(0);

/// What one test's databases saw and do.
pub struct World {
    pub name: String,
    pub connects: AtomicU64,
    pub open: AtomicU64,
    pub executes: AtomicU64,
    pub fetches: AtomicU64,
    pub rows_moved: AtomicU64,
    pub finishes: AtomicU64,
    pub resets: AtomicU64,
    pub cancels: AtomicU64,
    /// When each was asked for.
    pub cancelled_at: Mutex<Vec<Instant>>,
    /// Cancel requests that the database takes and forgets.
    pub forgets: AtomicU64,
    pub commits: AtomicU64,
    pub gate: Semaphore,
    /// Rings when a call begins to wait at the gate.
    pub at_gate: Notify,
    /// While it is set, cancel requests wait for `cancel_gate` before they are delivered.
    pub slow_cancels: AtomicBool,
    pub cancel_gate: Semaphore,
    pub refuse_connects: AtomicBool,
    pub panic_connects: AtomicBool,
    /// Statements sent before this number of theirs find their link dead (fate not sent).
    pub dead_sessions_below: AtomicU64,
    /// Tags of statements that an interrupt reached.
    pub interrupted: Mutex<Vec<String>>,
}

impl World {
    pub fn new() -> Arc<Self> {
        let name = format!("world-{}", NEXT_WORLD.fetch_add(1, SeqCst));
        let world = Arc::new(Self {
            name: name.clone(),
            connects: AtomicU64::new(0),
            open: AtomicU64::new(0),
            executes: AtomicU64::new(0),
            fetches: AtomicU64::new(0),
            rows_moved: AtomicU64::new(0),
            finishes: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            cancels: AtomicU64::new(0),
            cancelled_at: Mutex::default(),
            forgets: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            gate: Semaphore::new(0),
            at_gate: Notify::new(),
            slow_cancels: AtomicBool::new(false),
            cancel_gate: Semaphore::new(0),
            refuse_connects: AtomicBool::new(false),
            panic_connects: AtomicBool::new(false),
            dead_sessions_below: AtomicU64::new(0),
            interrupted: Mutex::default(),
        });
        WORLDS.lock().unwrap().insert(name, world.clone());
        world
    }

    pub fn target(&self) -> Target {
        let fields = ConnectionFields { database: Some(self.name.clone()), ..ConnectionFields::new("fake", EngineKind::Postgres) };
        Target::new(fields, Secrets::default())
    }

    pub fn get(&self, counter: impl Fn(&Self) -> &AtomicU64) -> u64 {
        counter(self).load(SeqCst)
    }

    /// Every session that is open now finds its link dead at its next statement.
    pub fn cut_links(&self) {
        self.dead_sessions_below.store(self.connects.load(SeqCst) + 1, SeqCst);
    }
}

pub struct FakeEngine;

pub fn engines(_: EngineKind) -> &'static dyn Engine {
    &FakeEngine
}

#[async_trait]
impl Engine for FakeEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Postgres
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError> {
        let world = WORLDS.lock().unwrap().get(target.fields.database.as_deref().unwrap_or("")).cloned().unwrap();
        tokio::task::yield_now().await;
        assert!(!world.panic_connects.load(SeqCst), "scripted panic");
        if world.refuse_connects.load(SeqCst) {
            return Err(EngineError::not_sent(ErrorCode::ConnectFailed, "connection refused"));
        }
        let number = world.connects.fetch_add(1, SeqCst) + 1;
        world.open.fetch_add(1, SeqCst);
        Ok(Box::new(FakeSession {
            world,
            number,
            wire: Arc::default(),
            script: None,
            later: VecDeque::new(),
            at: 0,
            fetch: 0,
            has_temp: false,
            in_transaction: false,
            notices: Vec::new(),
        }))
    }
}

/// What a cancel request reaches: the statement that runs when it is delivered.
#[derive(Default)]
struct Wire {
    running: Mutex<Option<String>>,
    bell: Notify,
}

#[derive(Clone)]
struct Script {
    words: HashMap<String, String>,
}

impl Script {
    fn parse(sql: &str) -> Self {
        let words = sql.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")));
        Self { words: words.map(|(key, value)| (key.to_owned(), value.to_owned())).collect() }
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    fn number(&self, word: &str, default: usize) -> usize {
        self.words.get(word).map_or(default, |value| value.parse().unwrap())
    }

    fn is(&self, word: &str, value: &str) -> bool {
        self.words.get(word).is_some_and(|found| found.split(',').any(|one| one == value))
    }

    fn tag(&self) -> String {
        self.words.get("tag").cloned().unwrap_or_default()
    }
}

struct FakeSession {
    world: Arc<World>,
    number: u64,
    wire: Arc<Wire>,
    script: Option<Script>,
    /// Results behind the one under way.
    later: VecDeque<Script>,
    at: usize,
    fetch: usize,
    has_temp: bool,
    in_transaction: bool,
    notices: Vec<Notice>,
}

impl Drop for FakeSession {
    fn drop(&mut self) {
        self.world.open.fetch_sub(1, SeqCst);
    }
}

struct FakeCancel {
    world: Arc<World>,
    wire: Arc<Wire>,
}

#[async_trait]
impl CancelHandle for FakeCancel {
    async fn cancel(&self) -> Result<(), EngineError> {
        self.world.cancels.fetch_add(1, SeqCst);
        self.world.cancelled_at.lock().unwrap().push(Instant::now());
        if self.world.slow_cancels.load(SeqCst) {
            self.world.cancel_gate.acquire().await.unwrap().forget();
        } else {
            tokio::task::yield_now().await;
        }
        if self.world.forgets.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            return Ok(());
        }
        if let Some(tag) = self.wire.running.lock().unwrap().clone() {
            self.world.interrupted.lock().unwrap().push(tag);
            self.wire.bell.notify_one();
        }
        Ok(())
    }
}

impl FakeSession {
    /// One call at the database: works, waits at the gate, fails or panics as the script says.
    async fn call(&mut self, name: &str) -> Result<(), EngineError> {
        let script = self.script.clone().unwrap_or(Script { words: HashMap::new() });
        *self.wire.running.lock().unwrap() = Some(script.tag());
        let result = self.scripted(&script, name).await;
        *self.wire.running.lock().unwrap() = None;
        // An interrupt that came too late for this call is over with it.
        let late = self.wire.bell.notified();
        tokio::pin!(late);
        late.as_mut().enable();
        if result.is_err() {
            self.script = None;
        }
        result
    }

    async fn scripted(&mut self, script: &Script, name: &str) -> Result<(), EngineError> {
        assert!(!script.is("panic", name), "scripted panic");
        if script.is("gate", name) {
            self.world.at_gate.notify_one();
            let interrupted = tokio::select! {
                permit = self.world.gate.acquire() => { permit.unwrap().forget(); false }
                () = self.wire.bell.notified(), if !script.has("stubborn") => true,
            };
            if interrupted {
                let problem = Problem {
                    sqlstate: Some("57014".to_owned()),
                    ..Problem::new(ErrorCode::Rejected, "canceling statement due to user request")
                };
                return Err(EngineError { problem, fate: Fate::Idle, cancelled: true });
            }
        } else {
            tokio::task::yield_now().await;
        }
        let is_due = name != "fetch" || script.number("at", 1) == self.fetch;
        if script.is("fail", name) && is_due {
            return Err(match script.words.get("fate").map(String::as_str) {
                Some("lost") => EngineError::unknown("server closed the connection unexpectedly"),
                Some("notsent") => EngineError::not_sent(ErrorCode::ConnectionLost, "the link was dead"),
                _ => EngineError::idle(Problem { position: Some(7), ..Problem::new(ErrorCode::Rejected, "division by zero") }),
            });
        }
        Ok(())
    }
}

fn pad(mut text: String, width: usize) -> String {
    let missing = width.saturating_sub(text.len());
    text.extend(std::iter::repeat_n('·', missing));
    text
}

fn schema() -> SchemaRef {
    let typed = |name: &str, kind: DataType, own: &str| {
        Field::new(name, kind, true).with_metadata(HashMap::from([("sheaf.type".to_owned(), own.to_owned())]))
    };
    Arc::new(Schema::new(vec![typed("n", DataType::Int64, "bigint"), typed("t", DataType::Utf8, "text")]))
}

#[async_trait]
impl Session for FakeSession {
    async fn execute(&mut self, sql: &str, _: Bound) -> Result<Started, EngineError> {
        assert!(self.script.is_none(), "a statement was sent while another was open");
        if self.number < self.world.dead_sessions_below.load(SeqCst) {
            return Err(EngineError::not_sent(ErrorCode::ConnectionLost, "the link was dead"));
        }
        self.world.executes.fetch_add(1, SeqCst);
        self.later = sql.split('|').map(Script::parse).collect();
        let script = self.later.pop_front().unwrap();
        (self.at, self.fetch) = (0, 0);
        self.script = Some(script.clone());
        self.call("execute").await?;
        for n in 0..script.number("notices", 0) {
            self.notices.push(Notice { severity: "NOTICE".to_owned(), message: format!("notice {n}") });
        }
        if script.has("begin") || script.has("BEGIN") {
            self.in_transaction = true;
        }
        if script.has("temp") {
            self.has_temp = true;
        }
        if script.has("look") && !self.has_temp {
            self.script = None;
            return Err(EngineError::idle(Problem::new(ErrorCode::Rejected, "no such table")));
        }
        if script.has("columns") {
            let fields: Vec<Field> = (0..script.number("columns", 0)).map(|n| Field::new(format!("c{n}"), DataType::Int64, true)).collect();
            return Ok(Started { schema: Some(Arc::new(Schema::new(fields))) });
        }
        Ok(Started { schema: script.has("rows").then(schema) })
    }

    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        let script = self.script.clone().expect("a fetch without a statement");
        self.world.fetches.fetch_add(1, SeqCst);
        self.fetch += 1;
        self.call("fetch").await?;
        let (rows, width) = (script.number("n", 0), script.number("width", 1));
        assert!(self.at < rows || rows == 0, "a fetch behind the last row");
        let by_bytes = (bound.bytes / width.max(1)).max(1);
        let count = (rows - self.at).min(bound.rows).min(by_bytes).min(script.number("narrow", usize::MAX));
        let tag = script.tag();
        let numbers = self.at..self.at + count;
        let n: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers.clone().map(|n| n as i64)));
        let t: ArrayRef = Arc::new(StringArray::from_iter_values(numbers.map(|n| pad(format!("{tag}:{n}"), width))));
        self.at += count;
        self.world.rows_moved.fetch_add(count as u64, SeqCst);
        Ok(Fetched { batch: RecordBatch::try_new(schema(), vec![n, t]).unwrap(), more: self.at < rows })
    }

    fn has_further(&self) -> bool {
        let Some(script) = &self.script else { return false };
        !self.later.is_empty() || (script.has("maybe") && self.at < script.number("n", 0))
    }

    async fn next_result(&mut self) -> Result<Option<Started>, EngineError> {
        let script = self.script.clone().expect("a next result without a statement");
        assert_eq!(self.at, script.number("n", 0), "rows are left of the result before");
        let Some(next) = self.later.pop_front() else { return Ok(None) };
        (self.at, self.fetch) = (0, 0);
        self.script = Some(next.clone());
        self.call("next").await?;
        Ok(next.has("rows").then(|| Started { schema: Some(schema()) }))
    }

    fn shows_before_its_end(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.has("query"))
    }

    async fn finish(&mut self) -> Result<Finished, EngineError> {
        self.world.finishes.fetch_add(1, SeqCst);
        self.call("finish").await?;
        let script = self.script.take().expect("a finish without a statement");
        if script.has("commit") && self.in_transaction {
            self.world.commits.fetch_add(1, SeqCst);
            self.in_transaction = false;
        }
        if script.has("ROLLBACK") {
            self.in_transaction = false;
        }
        let rows_affected = (script.has("change") || script.has("affects")).then(|| script.number("n", 0) as u64);
        Ok(Finished { rows_affected, in_transaction: self.in_transaction })
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.in_transaction)
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    fn cancel_handle(&self) -> Arc<dyn CancelHandle> {
        Arc::new(FakeCancel { world: self.world.clone(), wire: self.wire.clone() })
    }

    async fn read_catalog(&mut self, _: &CatalogAsk) -> Result<Catalog, EngineError> {
        if self.number < self.world.dead_sessions_below.load(SeqCst) {
            return Err(EngineError::not_sent(ErrorCode::ConnectionLost, "the link was dead"));
        }
        self.call("catalog").await?;
        Ok(Catalog { database: self.world.name.clone(), ..Catalog::default() })
    }

    async fn reset(&mut self) -> Result<(), EngineError> {
        assert!(self.script.is_none(), "a reset while a statement was open");
        self.world.resets.fetch_add(1, SeqCst);
        tokio::task::yield_now().await;
        (self.has_temp, self.in_transaction) = (false, false);
        Ok(())
    }

    fn server(&self) -> &str {
        "Fake 1.0"
    }

    async fn close(self: Box<Self>) {
        tokio::task::yield_now().await;
    }
}
