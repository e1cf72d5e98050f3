//! What a database says beside its results.
//!
//! Invariant: whoever listens hears in order, while the call is still under way, and never more than the bounds at once.

use shared::limits::{NOTICE_BYTES_MAX, NOTICES_MAX};
use shared::sql::lex;
use shared::wire::connection::EngineKind;
use shared::wire::run::Notice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A transaction that had failed ended by another word than ROLLBACK: that reads like success.
pub fn rolled_back() -> Notice {
    let message = "The transaction had failed before: it was rolled back, and nothing of it is kept".to_owned();
    Notice { severity: "WARNING".to_owned(), message }
}

/// The text asks for just that.
pub fn asks_to_roll_back(sql: &str, kind: EngineKind) -> bool {
    let first = lex(sql, kind).find(|token| token.is_significant(sql));
    first.is_some_and(|token| token.is_word(sql, "ROLLBACK") || token.is_word(sql, "ABORT"))
}

/// What the server said beside results, in order, until it is taken. A server that never stops is cut short. Clones share it: the
/// session puts in, and whoever waits for the session's call takes out meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    heard: Mutex<Heard>,
    bell: Notify,
}

/// What was taken.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// In order.
    pub notices: Vec<Notice>,
    /// So many came behind them, and were too many.
    pub left_off: u64,
    bytes: usize,
}

impl Heard {
    /// Nothing was said.
    pub fn is_empty(&self) -> bool {
        self.notices.is_empty() && self.left_off == 0
    }
}

impl From<Vec<Notice>> for Heard {
    fn from(notices: Vec<Notice>) -> Self {
        Self { notices, ..Self::default() }
    }
}

impl Notices {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more, or a count of those that are left off.
    pub fn push(&self, notice: Notice) {
        let mut heard = self.heard();
        heard.bytes = heard.bytes.saturating_add(notice.severity.len() + notice.message.len());
        if heard.left_off > 0 || heard.notices.len() >= NOTICES_MAX || heard.bytes > NOTICE_BYTES_MAX {
            heard.left_off += 1;
        } else {
            heard.notices.push(notice);
        }
        drop(heard);
        self.shared.bell.notify_one();
    }

    /// All of them, from the first.
    pub fn take(&self) -> Heard {
        std::mem::take(&mut self.heard())
    }

    /// Waits until something is said, and takes it. One listens at a time.
    pub async fn next(&self) -> Heard {
        loop {
            let heard = self.take();
            if !heard.is_empty() {
                return heard;
            }
            self.shared.bell.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(bytes: usize) -> Notice {
        Notice { severity: "NOTICE".to_owned(), message: "x".repeat(bytes) }
    }

    #[test]
    fn a_server_that_never_stops_talking_is_cut_short() {
        let notices = Notices::default();
        (0..NOTICES_MAX).for_each(|_| notices.push(notice(1)));
        let taken = notices.take();
        assert_eq!((taken.notices.len(), taken.left_off), (NOTICES_MAX, 0));
        (0..NOTICES_MAX + 5_000).for_each(|_| notices.push(notice(1)));
        let taken = notices.take();
        assert_eq!((taken.notices.len(), taken.left_off), (NOTICES_MAX, 5_000));
        (0..3).for_each(|_| notices.push(notice(NOTICE_BYTES_MAX / 2)));
        notices.push(notice(1));
        let taken = notices.take();
        assert_eq!((taken.notices.len(), taken.left_off), (1, 3), "nothing comes behind a gap");
    }

    #[tokio::test]
    async fn who_listens_hears_what_was_said_before_and_what_is_said_meanwhile() {
        let notices = Notices::default();
        notices.push(notice(1));
        assert_eq!(notices.next().await.notices.len(), 1);
        let (heard, ()) = tokio::join!(notices.next(), async {
            tokio::task::yield_now().await;
            notices.push(notice(2));
        });
        assert_eq!(heard.notices, [notice(2)]);
    }
}
