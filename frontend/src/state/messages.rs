//! What was said about a console's runs, in order.

use super::result::ErrorMark;
use leptos::prelude::*;

/// Entries that are kept; older ones leave.
const ENTRIES_MAX: usize = 500;

/// What an entry is; what matters more comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A statement ended well.
    Done,
    /// The database said what it does.
    Debug,
    /// The database said something beside the result.
    Notice,
    /// It was stopped on request, or is not whole; or the database warned.
    Warning,
    /// It failed.
    Error,
}

/// How databases call what they say; whatever else they call it is a notice.
const SEVERITIES: &[(&str, Kind)] = &[
    ("PANIC", Kind::Error),
    ("FATAL", Kind::Error),
    ("ERROR", Kind::Error),
    ("WARNING", Kind::Warning),
    ("NOTICE", Kind::Notice),
    ("NOTE", Kind::Notice),
    ("INFO", Kind::Notice),
    ("NOTIFICATION", Kind::Notice),
    ("LOG", Kind::Debug),
    ("DEBUG", Kind::Debug),
];

impl Kind {
    /// What a notice is, by the database's own word. PostgreSQL has five degrees of `DEBUG`.
    pub fn of_severity(word: &str) -> Self {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        SEVERITIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map_or(Self::Notice, |(_, kind)| *kind)
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Which one: counts up.
    pub number: u64,
    /// Wall time, `14:03:09`.
    pub at: String,
    /// What it is.
    pub kind: Kind,
    /// The sentence.
    pub text: String,
    /// Further words, one a line: detail, hint, the database's code.
    pub more: Vec<String>,
    /// The beginning of the statement.
    pub statement: Option<String>,
    /// The place it speaks of.
    pub mark: Option<ErrorMark>,
}

/// The log of one console.
#[derive(Clone, Copy)]
pub struct Messages {
    /// Oldest first.
    pub entries: RwSignal<Vec<Message>>,
    /// The log is shown beside the result.
    pub shown: RwSignal<bool>,
    next: StoredValue<u64>,
    /// How often Run was pressed in the console.
    runs: StoredValue<u64>,
    /// The newest run of which something was said, and the first entry of it.
    newest: StoredValue<(u64, u64)>,
}

impl Messages {
    /// An empty log, of a console where Run is pressed so often.
    pub fn new(runs: StoredValue<u64>) -> Self {
        Self {
            entries: RwSignal::new(Vec::new()),
            shown: RwSignal::new(false),
            next: StoredValue::new(0),
            runs,
            newest: StoredValue::new((0, 0)),
        }
    }

    /// Adds an entry; one that is no plain success opens the log.
    pub fn push(self, mut message: Message) {
        message.number = self.next.get_value();
        self.next.set_value(message.number + 1);
        let run = self.runs.get_value();
        if self.newest.get_value().0 != run {
            self.newest.set_value((run, message.number));
        }
        if message.kind != Kind::Done {
            self.shown.set(true);
        }
        self.entries.update(|entries| append(entries, message));
    }

    /// What matters most of what was said since Run was pressed last; followed.
    pub fn gravest(self) -> Option<Kind> {
        let (_, first) = self.newest.get_value();
        self.entries.with(|entries| gravest(entries, first))
    }
}

fn gravest(entries: &[Message], first: u64) -> Option<Kind> {
    entries.iter().rev().take_while(|entry| entry.number >= first).map(|entry| entry.kind).max()
}

fn append(entries: &mut Vec<Message>, message: Message) {
    if entries.len() >= ENTRIES_MAX {
        entries.drain(..entries.len() + 1 - ENTRIES_MAX);
    }
    entries.push(message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_what_the_database_calls_it() {
        let kinds = ["DEBUG5", "LOG", "INFO", "Note", "NOTICE", "", "WARNING", "Error", "FATAL"].map(Kind::of_severity);
        let expected =
            [Kind::Debug, Kind::Debug, Kind::Notice, Kind::Notice, Kind::Notice, Kind::Notice, Kind::Warning, Kind::Error, Kind::Error];
        assert_eq!(kinds, expected);
    }

    fn entry(number: u64, kind: Kind) -> Message {
        Message { number, at: String::new(), kind, text: String::new(), more: Vec::new(), statement: None, mark: None }
    }

    #[test]
    fn a_warning_among_notices_and_an_error_among_warnings_are_not_passed_over() {
        let kinds = [Kind::Error, Kind::Notice, Kind::Warning, Kind::Notice, Kind::Done, Kind::Debug];
        let mut entries: Vec<Message> = (0..).zip(kinds).map(|(number, kind)| entry(number, kind)).collect();
        // Of the run before it is told no more.
        assert_eq!(gravest(&entries, 1), Some(Kind::Warning));
        assert_eq!(gravest(&entries, 3), Some(Kind::Notice));
        assert_eq!(gravest(&entries, 6), None);
        entries.extend([entry(6, Kind::Error), entry(7, Kind::Warning)]);
        assert_eq!(gravest(&entries, 1), Some(Kind::Error));
    }

    #[test]
    fn the_log_keeps_its_newest_entries() {
        let mut entries = Vec::new();
        for number in 0..600 {
            append(&mut entries, entry(number, Kind::Done));
        }
        assert_eq!(entries.len(), ENTRIES_MAX);
        assert_eq!(entries.last().map(|m| m.number), Some(599));
    }
}
