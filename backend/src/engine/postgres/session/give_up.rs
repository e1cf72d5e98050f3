//! A statement whose rest nobody wants, while its server sends on.
//!
//! Invariant: in a transaction of the user's nothing is stopped, since that would end it.

use super::flow::Event;
use super::{Portal, PostgresSession, Reach};
use crate::engine::CancelHandle;
use futures_util::FutureExt;

/// Bytes of rows that are read before a session is closed for the rest.
const HERE_BYTES: usize = 16 * 1024;

impl PostgresSession {
    /// Stops the statement and reads nothing more of it: the session is of no further use. False where its end is near, or it waits anyway.
    pub(super) async fn stop_and_leave(&mut self) -> bool {
        if !self.sends_on() || self.ends_with_what_is_here() || !self.stop_sending().await {
            return false;
        }
        self.broken = true;
        self.statement = None;
        true
    }

    /// The server has no row limit to stop at, and has not come to the end.
    fn sends_on(&self) -> bool {
        self.statement.as_ref().is_some_and(|statement| statement.reach != Reach::Page && statement.portal == Portal::Running)
    }

    /// Reads what has come already, a little of it: a result whose end is among that is not worth a session.
    fn ends_with_what_is_here(&mut self) -> bool {
        while self.statement.as_ref().is_some_and(|statement| statement.portal == Portal::Running && statement.rows.byte_len() < HERE_BYTES)
        {
            match self.next_event().now_or_never() {
                Some(Ok(Event::Complete(tag))) => self.completed(tag),
                Some(Ok(Event::Row | Event::Other)) => {}
                // Whatever else there is to say, nobody is left to hear it.
                _ => return false,
            }
        }
        self.statement.as_ref().is_some_and(|statement| statement.portal != Portal::Running)
    }

    /// Stops a server that sends more than is wanted. In a transaction of the user's that would end it: there the rest is read.
    pub(super) async fn stop_sending(&mut self) -> bool {
        let stops = self.sends_on() && !self.in_transaction();
        if stops {
            // The request's link is closed before the next message leaves, so it can hit nothing else.
            let _ = self.canceller.cancel().await;
        }
        stops
    }
}
