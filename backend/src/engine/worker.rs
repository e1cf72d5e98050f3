//! A thread of its own for a database library that blocks, and the way to ask it things; a whole process of its own, for one that may
//! also crash, is [`process`].
//!
//! Invariant: whatever the thread owns (a connection, a statement half read) never leaves it; only commands go in and owned
//! answers come out. The thread ends when its [`Worker`] is dropped; interrupting a call it is inside of is the engine's part.

pub mod child;
pub mod frames;
pub mod jail;
pub mod process;

use tokio::sync::{mpsc, oneshot};

/// The asking end. Dropping it closes the inbox, and with it ends the thread.
pub struct Worker<C> {
    commands: mpsc::Sender<C>,
    ended: oneshot::Receiver<()>,
}

/// The thread is no longer there: it ended, or it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread of the database session has ended")]
pub struct Gone;

/// The answering end, on the thread.
pub struct Inbox<C>(mpsc::Receiver<C>);

impl<C> Inbox<C> {
    /// Waits for the next command; `None` when the asking end is gone.
    pub fn wait(&mut self) -> Option<C> {
        self.0.blocking_recv()
    }
}

impl<C: Send + 'static> Worker<C> {
    /// Starts the thread. `body` runs on it until it returns, which it does when its inbox gives `None`.
    pub fn spawn(name: &str, body: impl FnOnce(Inbox<C>) + Send + 'static) -> std::io::Result<Self> {
        // One place is enough: a session asks for one thing at a time.
        let (commands, inbox) = mpsc::channel(1);
        let (alive, ended) = oneshot::channel();
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Dropped when the body is through, also by a panic.
            let _alive: oneshot::Sender<()> = alive;
            body(Inbox(inbox));
        })?;
        Ok(Self { commands, ended })
    }

    /// Sends one command with a place for its answer, and waits for that answer.
    pub async fn ask<R>(&self, command: impl FnOnce(oneshot::Sender<R>) -> C) -> Result<R, Gone> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| Gone)?;
        answer.await.map_err(|_| Gone)
    }

    /// Closes the inbox and waits until the thread is through, so that what it owned is closed.
    pub async fn end(self) {
        drop(self.commands);
        let _ = self.ended.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Add = (u32, oneshot::Sender<u32>);

    fn adder() -> Worker<Add> {
        let body = |mut inbox: Inbox<Add>| {
            let mut sum = 0;
            while let Some((n, reply)) = inbox.wait() {
                assert_ne!(n, 13, "a planned panic of a test");
                sum += n;
                let _ = reply.send(sum);
            }
        };
        Worker::spawn("adder", body).unwrap()
    }

    #[tokio::test]
    async fn commands_are_answered_in_order() {
        let worker = adder();
        assert_eq!(worker.ask(|reply| (2, reply)).await, Ok(2));
        assert_eq!(worker.ask(|reply| (3, reply)).await, Ok(5));
        worker.end().await;
    }

    #[tokio::test]
    async fn a_panic_of_the_thread_is_an_answer_not_a_hang() {
        let worker = adder();
        assert_eq!(worker.ask(|reply| (13, reply)).await, Err(Gone));
        assert_eq!(worker.ask(|reply| (1, reply)).await, Err(Gone));
        worker.end().await;
    }
}
