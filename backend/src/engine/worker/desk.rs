//! Where a session's thread is asked, in a library's process, and where it answers.
//!
//! Invariant: each command has one answer, and an answer is written whole by the thread that has it.

use super::child::Answers;
use super::messages::{ANSWER_BYTES_MAX, Answer, Done};
use crate::engine::catalog::CatalogAsk;
use crate::engine::{Bound, EngineError, Param};
use arrow_array::RecordBatch;
use shared::page;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::TransactionState;
use std::sync::{Arc, mpsc};

/// What the session's thread is asked.
pub enum Command {
    /// A statement, its values, and how much to bring.
    Execute(String, Vec<Param>, Bound),
    /// More rows.
    Fetch(Bound),
    /// The statement's end.
    Finish,
    /// Names, types and keys.
    Catalog(CatalogAsk),
    /// The session as new.
    Reset,
}

/// What was done, and the rows that go with it.
pub type Outcome = Result<(Done, Option<RecordBatch>), EngineError>;

/// Gives an answer away; false where its rows can't be sent, and a refusal went in their place.
type Give = Box<dyn Fn(Outcome, TransactionState) -> bool + Send>;

/// A session's place to be asked.
pub struct Desk {
    commands: mpsc::Receiver<Command>,
    give: Give,
    missing: Vec<String>,
}

impl Desk {
    /// One whose answers go to `give`; `missing` are the layers of the jail that this system does not have.
    pub fn new(commands: mpsc::Receiver<Command>, give: Give, missing: Vec<String>) -> Self {
        Self { commands, give, missing }
    }

    /// One whose answers go to the server.
    pub fn of(session: u64, commands: mpsc::Receiver<Command>, answers: Arc<Answers>, missing: Vec<String>) -> Self {
        Self::new(commands, Box::new(move |outcome, transaction| send(&answers, session, outcome, transaction)), missing)
    }

    /// Says that the session is there; `server` is the library's name and version.
    pub fn begin(&mut self, server: String) {
        let missing = std::mem::take(&mut self.missing);
        self.answer(Ok((Done::Connected { server, missing }, None)), TransactionState::None);
    }

    /// Waits for the next command; `None` when the session is closed.
    pub fn wait(&self) -> Option<Command> {
        self.commands.recv().ok()
    }

    /// Answers the last command; false where the rows can't be sent: a refusal went in their place, and no more of them are asked for.
    pub fn answer(&self, outcome: Outcome, transaction: TransactionState) -> bool {
        (self.give)(outcome, transaction)
    }
}

/// Where the link is broken the server is gone, and the listener hears that.
pub fn send(answers: &Answers, session: u64, outcome: Outcome, transaction: TransactionState) -> bool {
    let (done, body) = match outcome.and_then(|(done, batch)| Ok((done, batch.as_ref().map(encoded).transpose()?.unwrap_or_default()))) {
        Ok((done, body)) => (Ok(done), body),
        Err(e) => (Err(e), Vec::new()),
    };
    let is_done = done.is_ok();
    let _ = answers.write(session, &Answer { done, transaction }, &body);
    is_done
}

fn encoded(batch: &RecordBatch) -> Result<Vec<u8>, EngineError> {
    let unmade = |e| EngineError::idle(Problem::new(ErrorCode::Internal, format!("The page could not be made: {e}")));
    let body = page::encode(batch).map_err(unmade)?;
    if body.len() > ANSWER_BYTES_MAX / 2 {
        return Err(EngineError::row_too_long(body.len(), ANSWER_BYTES_MAX / 2));
    }
    Ok(body)
}
