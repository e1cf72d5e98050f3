//! What a database says beside its results.

use shared::sql::lex;
use shared::wire::connection::EngineKind;
use shared::wire::run::Notice;

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

/// What the server said beside results, in order, until it is taken. A server that never stops is cut short.
#[derive(Debug, Default)]
pub struct Notices {
    list: Vec<Notice>,
    bytes: usize,
    cut: bool,
}

/// Messages kept for one statement.
const NOTICES_MAX: usize = 1_000;
/// Bytes of them.
const NOTICE_BYTES_MAX: usize = 1024 * 1024;

impl Notices {
    /// One more, or a word that some are left out.
    pub fn push(&mut self, notice: Notice) {
        if self.cut {
            return;
        }
        self.bytes = self.bytes.saturating_add(notice.severity.len() + notice.message.len());
        self.cut = self.list.len() >= NOTICES_MAX || self.bytes > NOTICE_BYTES_MAX;
        self.list.push(match self.cut {
            false => notice,
            true => Notice { severity: "WARNING".to_owned(), message: "Sheaf leaves out the server's further messages".to_owned() },
        });
    }

    /// All of them, from the first.
    pub fn take(&mut self) -> Vec<Notice> {
        std::mem::take(self).list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_stops_talking_is_cut_short() {
        let mut notices = Notices::default();
        let notice = |bytes: usize| Notice { severity: "NOTICE".to_owned(), message: "x".repeat(bytes) };
        (0..NOTICES_MAX).for_each(|_| notices.push(notice(1)));
        assert_eq!(notices.list.len(), NOTICES_MAX);
        (0..5_000).for_each(|_| notices.push(notice(1)));
        let taken = notices.take();
        assert_eq!(taken.len(), NOTICES_MAX + 1);
        assert!(taken[NOTICES_MAX].message.contains("leaves out"));
        (0..3).for_each(|_| notices.push(notice(NOTICE_BYTES_MAX / 2)));
        assert_eq!(notices.take().len(), 2);
    }
}
