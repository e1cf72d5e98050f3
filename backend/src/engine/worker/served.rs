//! A library's process: what it does from its first to its last moment.
//!
//! Invariant: the jail is shut before anything foreign is opened. This thread only listens: a stop or the end of the link is heard
//! whatever the sessions do. Start at [`run`].

use super::child::{Answers, end_now, take_link};
use super::desk::{Command, Desk, send};
use super::jail::Needs;
use super::messages::{Done, REQUEST_BYTES_MAX, Request};
use super::signals::Signals;
use super::{frames, jail};
use crate::engine::EngineError;
use serde::de::DeserializeOwned;
use shared::problem::ErrorCode;
use shared::wire::run::TransactionState;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How long sessions may take to end once the server wants nothing more.
const END_WAIT: Duration = Duration::from_secs(2);

/// What a process serves: something that is open, by a library, for the sessions that work on it.
pub trait Opened: Send + Sync + Sized + 'static {
    /// What is to be opened, and how.
    type Opening: DeserializeOwned;
    /// What the process needs of the system for that.
    fn needs(opening: &Self::Opening) -> Needs;
    /// Opens it; the jail is shut.
    fn open(opening: Self::Opening) -> Result<Self, EngineError>;
    /// A session with it, on a thread of its own: begins, then answers until it is closed. The `Err` is why it did not begin.
    fn serve(self: Arc<Self>, signals: &Arc<Signals>, desk: &mut Desk) -> Result<(), EngineError>;
}

/// Serves the link on standard input to its end; the `Err` is one sentence.
pub fn run<O: Opened>() -> Result<(), String> {
    let link = take_link().map_err(|e| format!("This command is for Sheaf itself: {e}."))?;
    let (alive, ended) = mpsc::channel();
    Listener::<O> { answers: Arc::new(link.answers), sessions: HashMap::new(), open: None, missing: Vec::new(), alive, ended }
        .listen(BufReader::new(link.requests))
        .map_err(|e| format!("The link to the server is of no use: {e}."))
}

struct Session {
    commands: mpsc::Sender<Command>,
    signals: Arc<Signals>,
}

struct Listener<O> {
    answers: Arc<Answers>,
    sessions: HashMap<u64, Session>,
    open: Option<Arc<O>>,
    missing: Vec<String>,
    /// Each session's thread has one of these as long as it lives.
    alive: mpsc::Sender<Infallible>,
    ended: mpsc::Receiver<Infallible>,
}

impl<O: Opened> Listener<O> {
    fn listen(mut self, mut requests: impl Read) -> io::Result<()> {
        while let Some(bytes) = frames::read(&mut requests, REQUEST_BYTES_MAX)? {
            let frames::Frame { session, head, .. } = frames::decode::<Request>(bytes)?;
            self.hear(session, head)?;
        }
        self.end();
        Ok(())
    }

    fn hear(&mut self, id: u64, request: Request) -> io::Result<()> {
        let session = self.sessions.get(&id);
        let begin = |statement| session.into_iter().for_each(|session| session.signals.begin(statement));
        let command = match request {
            Request::Connect(opening) => {
                if let Err(e) = self.connect(id, opening) {
                    send(&self.answers, id, Err(e), TransactionState::None);
                }
                return Ok(());
            }
            Request::Stop { statement } => {
                session.into_iter().for_each(|session| session.signals.stop(statement));
                return Ok(());
            }
            Request::Close => {
                match self.sessions.remove(&id) {
                    // Its thread answers when it is through: nobody sends to it any more.
                    Some(session) => session.signals.leave(),
                    None => drop(send(&self.answers, id, Ok((Done::Closed, None)), TransactionState::None)),
                }
                return Ok(());
            }
            Request::Execute { statement, sql, params, bound } => {
                begin(statement);
                Command::Execute(sql, params, bound)
            }
            Request::Catalog { statement, ask } => {
                begin(statement);
                Command::Catalog(ask)
            }
            Request::Fetch(bound) => Command::Fetch(bound),
            Request::Finish => {
                // Giving up the rest is quick and must succeed: a stop has nothing left to stop.
                session.into_iter().for_each(|session| session.signals.end());
                Command::Finish
            }
            Request::Reset => Command::Reset,
        };
        let gone = || io::Error::new(io::ErrorKind::InvalidData, "no such session");
        session.ok_or_else(gone)?.commands.send(command).map_err(|_| gone())
    }

    /// The first one shuts the jail and opens what is served; each gets a thread.
    fn connect(&mut self, id: u64, opening: serde_json::Value) -> Result<(), EngineError> {
        let unfit = |why: String| EngineError::not_sent(ErrorCode::CannotOpen, why);
        let opened = match &self.open {
            Some(opened) => Arc::clone(opened),
            None => {
                let opening = serde_json::from_value(opening).map_err(|e| unfit(format!("What is to be opened can't be read: {e}.")))?;
                let needs = O::needs(&opening);
                if let Err(e) = jail::limit(&needs) {
                    self.missing.push(format!("limits of the system ({e})"));
                }
                self.missing.extend(jail::shut(&needs));
                Arc::clone(self.open.insert(Arc::new(O::open(opening)?)))
            }
        };
        let (commands, inbox) = mpsc::channel();
        let signals = Arc::new(Signals::default());
        let mut desk = Desk::of(id, inbox, Arc::clone(&self.answers), self.missing.clone());
        let (of_thread, alive) = (Arc::clone(&signals), self.alive.clone());
        let work = move || {
            let _alive = alive;
            if let Err(e) = opened.serve(&of_thread, &mut desk) {
                desk.answer(Err(e), TransactionState::None);
            }
            // Also where there never was a connection: the server closes what it began.
            while desk.wait().is_some() {}
            of_thread.over();
            desk.answer(Ok((Done::Closed, None)), TransactionState::None);
        };
        let spawned = std::thread::Builder::new().name("session".to_owned()).spawn(work);
        spawned.map_err(|e| unfit(format!("No thread for the session could be started: {e}.")))?;
        self.sessions.insert(id, Session { commands, signals });
        Ok(())
    }

    /// The server wants nothing more: sessions end, then what they worked on, which may write down what is in its memory.
    fn end(self) {
        for session in self.sessions.values() {
            session.signals.leave();
        }
        drop((self.sessions, self.alive));
        if self.ended.recv_timeout(END_WAIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            end_now();
        }
        drop(self.open);
    }
}
