//! DuckDB's process: what it does from its first to its last moment.
//!
//! Invariant: the jail is shut before the library is loaded, and the database is locked down before a session is there. This thread
//! only listens: a stop or the end of the link is heard whatever the sessions do. Start at [`run`].

use super::database::Shared;
use super::messages::{ANSWER_BYTES_MAX, Answer, Done, Fault, Opening, REQUEST_BYTES_MAX, Request};
use super::signals::Signals;
use super::thread::{Command, Connected};
use crate::engine::EngineError;
use crate::engine::worker::child::{Answers, end_now, take_link};
use crate::engine::worker::{frames, jail};
use arrow_array::RecordBatch;
use shared::page;
use shared::problem::{ErrorCode, Problem};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long sessions may take to end once the server wants nothing more.
const END_WAIT: Duration = Duration::from_secs(2);
/// Between two looks at whether they have.
const END_STEP: Duration = Duration::from_millis(2);

/// Serves the link on standard input to its end; the `Err` is one sentence.
pub fn run() -> Result<(), String> {
    let link = take_link().map_err(|e| format!("This command is for Sheaf itself: {e}."))?;
    Listener { answers: Arc::new(link.answers), sessions: HashMap::new(), open: None, missing: Vec::new() }
        .listen(link.requests)
        .map_err(|e| format!("The link to the server is of no use: {e}."))
}

struct Open {
    shared: Arc<Shared>,
    name: String,
}

struct Session {
    commands: mpsc::Sender<Command>,
    signals: Arc<Signals>,
    thread: JoinHandle<()>,
}

struct Listener {
    answers: Arc<Answers>,
    sessions: HashMap<u64, Session>,
    open: Option<Open>,
    missing: Vec<String>,
}

impl Listener {
    fn listen(mut self, mut requests: std::fs::File) -> io::Result<()> {
        while let Some(bytes) = frames::read(&mut requests, REQUEST_BYTES_MAX)? {
            let frames::Frame { session, head, .. } = frames::decode::<Request>(bytes)?;
            self.hear(session, head)?;
        }
        self.end();
        Ok(())
    }

    fn hear(&mut self, session: u64, request: Request) -> io::Result<()> {
        let command = match request {
            Request::Connect(opening) => {
                if let Err(e) = self.connect(session, &opening) {
                    refuse(&self.answers, session, e);
                }
                return Ok(());
            }
            Request::Stop { statement } => {
                if let Some(session) = self.sessions.get(&session) {
                    session.signals.stop(statement);
                }
                return Ok(());
            }
            Request::Close => {
                match self.sessions.remove(&session) {
                    // Its thread answers when it is through: nobody sends to it any more.
                    Some(session) => session.signals.leave(),
                    None => send(&self.answers, session, &Answer { done: Ok(Done::Closed), transaction_failed: false }, None),
                }
                return Ok(());
            }
            Request::Execute { statement, sql, params, bound } => {
                self.begin(session, statement);
                Command::Execute(sql, params, bound.into())
            }
            Request::Catalog { statement, ask } => {
                self.begin(session, statement);
                Command::Catalog(ask)
            }
            Request::Fetch(bound) => Command::Fetch(bound.into()),
            Request::Finish => {
                // Giving up the rest is quick and must succeed: a stop has nothing left to stop.
                if let Some(session) = self.sessions.get(&session) {
                    session.signals.end();
                }
                Command::Finish
            }
            Request::Reset => Command::Reset,
        };
        let gone = || io::Error::new(io::ErrorKind::InvalidData, "no such session");
        self.sessions.get(&session).ok_or_else(gone)?.commands.send(command).map_err(|_| gone())
    }

    fn begin(&self, session: u64, statement: u64) {
        if let Some(session) = self.sessions.get(&session) {
            session.signals.begin(statement);
        }
    }

    /// The first one shuts the jail and opens the file; each gets a thread.
    fn connect(&mut self, id: u64, opening: &Opening) -> Result<(), EngineError> {
        let (shared, name) = match &self.open {
            Some(open) => (Arc::clone(&open.shared), open.name.clone()),
            None => {
                let needs = opening.needs();
                if let Err(e) = jail::limit(&needs) {
                    self.missing.push(format!("limits of the system ({e})"));
                }
                self.missing.extend(jail::shut(&needs));
                let open = self.open.insert(Open { shared: Arc::new(Shared::open(opening)?), name: opening.name() });
                (Arc::clone(&open.shared), open.name.clone())
            }
        };
        let (commands, inbox) = mpsc::channel();
        let signals = Arc::new(Signals::default());
        let (answers, of_thread, missing) = (Arc::clone(&self.answers), Arc::clone(&signals), self.missing.clone());
        let thread = std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            match Connected::new(shared, name, Arc::clone(&of_thread)) {
                Ok(connected) => serve(id, connected, &answers, &inbox, missing),
                Err(e) => refuse(&answers, id, e),
            }
            // Also where there never was a connection: the server closes what it began.
            while inbox.recv().is_ok() {}
            of_thread.over();
            send(&answers, id, &Answer { done: Ok(Done::Closed), transaction_failed: false }, None);
        });
        let thread = thread
            .map_err(|e| EngineError::not_sent(ErrorCode::CannotOpen, format!("No thread for the session could be started: {e}.")))?;
        self.sessions.insert(id, Session { commands, signals, thread });
        Ok(())
    }

    /// The server wants nothing more: sessions end, then the database, which writes down what is in its memory.
    fn end(self) {
        for session in self.sessions.values() {
            session.signals.leave();
        }
        let threads: Vec<JoinHandle<()>> = self.sessions.into_values().map(|session| session.thread).collect();
        let begun = Instant::now();
        while !threads.iter().all(JoinHandle::is_finished) {
            if begun.elapsed() > END_WAIT {
                end_now();
            }
            std::thread::sleep(END_STEP);
        }
        drop(self.open);
    }
}

/// Answers commands until the session is closed.
fn serve(id: u64, mut connected: Connected, answers: &Answers, inbox: &mpsc::Receiver<Command>, missing: Vec<String>) {
    let server = connected.server();
    send(answers, id, &Answer { done: Ok(Done::Connected { server, missing }), transaction_failed: false }, None);
    while let Ok(command) = inbox.recv() {
        let (answer, batch) = connected.answer(command);
        send(answers, id, &answer, batch.as_ref());
    }
}

fn refuse(answers: &Answers, id: u64, error: EngineError) {
    send(answers, id, &Answer { done: Err(Fault::from(error)), transaction_failed: false }, None);
}

/// Where the link is broken the server is gone, and the listener hears that.
fn send(answers: &Answers, id: u64, answer: &Answer, batch: Option<&RecordBatch>) {
    let body = match batch.map(page::encode).transpose() {
        Ok(body) => body.unwrap_or_default(),
        Err(e) => {
            return refuse(answers, id, EngineError::idle(Problem::new(ErrorCode::Internal, format!("The page could not be made: {e}"))));
        }
    };
    if body.len() > ANSWER_BYTES_MAX / 2 {
        return refuse(answers, id, EngineError::row_too_long(body.len(), ANSWER_BYTES_MAX / 2));
    }
    let _ = answers.write(id, answer, &body);
}
