//! Stops a running statement by KILL QUERY, over a session of its own that is opened when first needed and kept.
//!
//! Invariant: KILL QUERY names the session, not the statement. So it is sent only while a statement is under way, its answer is waited
//! for, and no next statement begins before that: a late one can hit nothing else.

use super::connect::Route;
use super::errors::Refusal;
use super::wire::{Wire, WireError};
use crate::engine::{CancelHandle, EngineError};
use async_trait::async_trait;
use shared::limits::CONNECT_SECONDS_MAX;
use shared::problem::ErrorCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;

const COM_QUERY: u8 = 3;
/// The session is gone already (ER_NO_SUCH_THREAD).
const NO_SUCH_SESSION: u16 = 1094;

/// The way to one session's cancel.
#[derive(Debug)]
pub struct Canceller {
    route: Route,
    id: u32,
    asked: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// A statement is under way.
    running: bool,
    /// KILL QUERY was sent meanwhile.
    killed: bool,
    control: Option<Wire>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("running", &self.running).finish_non_exhaustive()
    }
}

impl Canceller {
    /// For the session with that number at the end of `route`.
    pub fn new(route: Route, id: u32) -> Self {
        Self { route, id, asked: AtomicBool::new(false), state: Mutex::default() }
    }

    /// A statement begins: what was asked before is not about it.
    pub async fn begin(&self) {
        let mut state = self.state.lock().await;
        self.asked.store(false, Ordering::Release);
        state.running = true;
        state.killed = false;
    }

    /// The statement has ended; whether it was killed, so that something of it may still hang over the session.
    pub async fn end(&self) -> bool {
        let mut state = self.state.lock().await;
        state.running = false;
        std::mem::take(&mut state.killed)
    }

    /// Somebody asked for a cancel since the statement began.
    pub fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Stops the statement that is under way, if there is one.
    pub async fn kill(&self) -> Result<(), EngineError> {
        let mut state = self.state.lock().await;
        if !state.running {
            return Ok(());
        }
        state.killed = true;
        let failed = |error: &WireError| EngineError::not_sent(ErrorCode::ConnectFailed, format!("cancel could not be sent: {error}"));
        let slow = || EngineError::not_sent(ErrorCode::ConnectFailed, "the server did not take the cancel request in time");
        // One that was kept may have been closed by the server meanwhile.
        let kept = state.control.take();
        let limit = Duration::from_secs(CONNECT_SECONDS_MAX);
        if let Some(mut wire) = kept
            && let Ok(Ok(())) = tokio::time::timeout(limit, self.deliver(&mut wire)).await
        {
            state.control = Some(wire);
            return Ok(());
        }
        let mut wire = self.route.connect_beside().await?.wire;
        tokio::time::timeout(limit, self.deliver(&mut wire)).await.map_err(|_| slow())?.map_err(|error| failed(&error))?;
        state.control = Some(wire);
        Ok(())
    }

    async fn deliver(&self, wire: &mut Wire) -> Result<(), WireError> {
        wire.write_command(COM_QUERY, format!("KILL QUERY {}", self.id).as_bytes());
        wire.send().await?;
        let answer = wire.next().await?;
        match answer.first() {
            Some(0x00) => Ok(()),
            Some(0xff) if Refusal::read(answer).number == NO_SUCH_SESSION => Ok(()),
            Some(0xff) => Err(WireError::Protocol(Refusal::read(answer).message)),
            _ => Err(WireError::Protocol("an answer to nothing".to_owned())),
        }
    }
}

#[async_trait]
impl CancelHandle for Canceller {
    async fn cancel(&self) -> Result<(), EngineError> {
        self.asked.store(true, Ordering::Release);
        self.kill().await
    }
}
