//! Consoles: the texts, the connection of each, what its last run gave.
//!
//! Each console is kept under a key of its own, so that two windows that write different ones never meet; see [`merge`] for
//! what happens when they write the same one.

use super::closed::Closed;
use super::messages::Messages;
use super::result::RunSlot;
use crate::api::names;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use shared::ids::{ConnectionId, SessionId};
use shared::wire::run::TransactionMode;
use std::sync::Arc;

/// Begins the key of every kept console.
pub const KEY_PREFIX: &str = "sheaf.console.";

/// One console; cheap to copy.
#[derive(Clone, Copy)]
pub struct Console {
    /// Its name for storage and for views.
    pub id: StoredValue<Arc<str>>,
    /// What its tab says.
    pub title: RwSignal<String>,
    /// Its text.
    pub text: RwSignal<String>,
    /// Where it runs.
    pub connection: RwSignal<Option<ConnectionId>>,
    /// When what its statements change is kept.
    pub mode: RwSignal<TransactionMode>,
    /// Its database session in this window: of the console's own name, or of another one where another window has that.
    pub session: RwSignal<SessionId>,
    /// This window has run something in it, or taken it over: where it runs, and when that is kept, is no other window's to change.
    pub is_used: StoredValue<bool>,
    /// What runs and what is shown.
    pub slot: RunSlot,
    /// What was said.
    pub messages: Messages,
    /// What storage holds of it, as last read or written here.
    pub kept: StoredValue<Option<String>>,
    /// What its editor is to select when it is drawn first, in bytes.
    pub selected: StoredValue<Option<(usize, usize)>>,
    /// The focus is to go to the rows that come, unless it is moved elsewhere until then.
    pub rows_wanted: StoredValue<bool>,
    /// Its editor, while it is drawn.
    pub editor: RwSignal<Option<EditorReach>>,
    /// Its grid, while it is drawn.
    pub grid: RwSignal<Option<GridReach>>,
}

/// What commands may do with a console's editor.
#[derive(Clone, Copy)]
pub struct EditorReach {
    /// Puts the cursor into it.
    pub focus: Callback<()>,
    /// Runs the selection or the statement under the cursor.
    pub run_statement: Callback<()>,
    /// Runs the whole text.
    pub run_script: Callback<()>,
    /// Writes text in place of the selection.
    pub insert: Callback<String>,
    /// Selects bytes of the text and shows them.
    pub reveal: Callback<(usize, usize)>,
    /// What is selected, in bytes.
    pub selection: Callback<(), (usize, usize)>,
    /// Brings the text signal up to what was typed last.
    pub flush: Callback<()>,
}

/// What commands may do with a console's grid.
#[derive(Clone, Copy)]
pub struct GridReach {
    /// Puts the focus into it.
    pub focus: Callback<()>,
    /// What is selected, in words.
    pub selection: Signal<String>,
    /// Asks again for rows that did not come: the server answers once more.
    pub recover: Callback<()>,
}

impl Console {
    fn new(id: Arc<str>, kept: Kept) -> Self {
        let slot = RunSlot::new();
        Self {
            session: RwSignal::new(SessionId(id.to_string())),
            is_used: StoredValue::new(false),
            id: StoredValue::new(id),
            title: RwSignal::new(kept.title),
            text: RwSignal::new(kept.text),
            connection: RwSignal::new(kept.connection),
            mode: RwSignal::new(kept.mode),
            slot,
            messages: Messages::new(slot.runs),
            kept: StoredValue::new(None),
            selected: StoredValue::new(None),
            rows_wanted: StoredValue::new(false),
            editor: RwSignal::new(None),
            grid: RwSignal::new(None),
        }
    }

    /// Its name.
    pub fn name(self) -> Arc<str> {
        self.id.get_value()
    }

    /// The id of what it is drawn in.
    pub fn panel(self) -> String {
        format!("console-{}", self.name())
    }

    /// The database session that it has where no other window has it.
    pub fn first_session(self) -> SessionId {
        SessionId(self.name().to_string())
    }

    /// Another window has that one, and this window one of its own; followed.
    pub fn is_apart(self) -> bool {
        self.session.get() != self.first_session()
    }

    /// What this window keeps for itself of a console that it has used.
    pub fn own(self) -> Option<Own> {
        let connection = self.connection.get_untracked().filter(|_| self.is_used.get_value())?;
        Some(Own { connection, session: self.session.get_untracked(), mode: self.mode.get_untracked() })
    }

    /// It is as this window kept it for itself.
    pub fn take_own(self, own: Own) {
        self.is_used.set_value(true);
        self.connection.set(Some(own.connection));
        self.session.set(own.session);
        self.mode.set(own.mode);
    }

    /// What storage should hold.
    pub fn to_keep(self, made: u64) -> Kept {
        Kept {
            title: self.title.get_untracked(),
            text: self.text.get_untracked(),
            connection: self.connection.get_untracked(),
            mode: self.mode.get_untracked(),
            made,
        }
    }
}

/// A console in storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What its tab says.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Where it runs.
    pub connection: Option<ConnectionId>,
    /// When what its statements change is kept.
    #[serde(default)]
    pub mode: TransactionMode,
    /// Its place among the tabs.
    #[serde(default)]
    pub made: u64,
}

/// What is a window's own of a console, for what that window is after the page was loaded anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// Where it runs.
    pub connection: ConnectionId,
    /// The database session there.
    pub session: SessionId,
    /// When what its statements change is kept.
    pub mode: TransactionMode,
}

/// The owner.
#[derive(Clone, Copy)]
pub struct Consoles {
    /// In the order of their tabs.
    pub list: RwSignal<Vec<Console>>,
    /// Which one is shown.
    pub active: RwSignal<Option<Arc<str>>>,
    /// Those that were closed, the newest last, as this window knows them.
    pub closed: RwSignal<Vec<Closed>>,
    /// Signals of consoles live as long as the page, whoever opens one.
    owner: StoredValue<Owner>,
}

impl Consoles {
    /// None open.
    pub fn new() -> Self {
        let owner = Owner::current().unwrap_or_default();
        Self {
            list: RwSignal::new(Vec::new()),
            active: RwSignal::new(None),
            closed: RwSignal::new(Vec::new()),
            owner: StoredValue::new(owner),
        }
    }

    /// The one that is shown, followed.
    pub fn shown(self) -> Option<Console> {
        let active = self.active.get()?;
        self.list.with(|all| all.iter().copied().find(|one| one.name() == active))
    }

    /// The one that is shown.
    pub fn shown_untracked(self) -> Option<Console> {
        untrack(|| self.shown())
    }

    /// Adds one at the end and shows it.
    pub fn open(self, title: String, text: String, connection: Option<ConnectionId>) -> Console {
        let console = self.add(names::fresh().into(), Kept { title, text, connection, ..Kept::default() });
        self.active.set(Some(console.name()));
        console
    }

    /// Adds one that storage holds.
    pub fn add(self, id: Arc<str>, kept: Kept) -> Console {
        let console = self.owner.get_value().with(|| Console::new(id, kept));
        self.list.update(|all| all.push(console));
        console
    }

    /// A title nobody has: `Console 1`, `Console 2`, …
    pub fn free_title(self) -> String {
        let taken: Vec<String> = self.list.with_untracked(|all| all.iter().map(|one| one.title.get_untracked()).collect());
        free_title(&taken)
    }

    /// Takes one away; its neighbour is shown if it was.
    pub fn remove(self, id: &str) -> Option<Console> {
        let at = self.list.with_untracked(|all| all.iter().position(|one| &*one.name() == id))?;
        let gone = self.list.try_update(|all| all.remove(at))?;
        if self.active.get_untracked().as_deref() == Some(id) {
            let next = self.list.with_untracked(|all| all.get(at).or_else(|| all.last()).map(|one| one.name()));
            self.active.set(next);
        }
        Some(gone)
    }
}

impl Default for Consoles {
    fn default() -> Self {
        Self::new()
    }
}

fn free_title(taken: &[String]) -> String {
    let mut number = 1u32;
    loop {
        let title = format!("Console {number}");
        if !taken.contains(&title) {
            return title;
        }
        number += 1;
    }
}

/// What to do when another window has written a console that is open here.
#[derive(Debug, PartialEq, Eq)]
pub enum Merge {
    /// Nothing new: it is the same, or as it was before something was changed here.
    Same,
    /// Nothing was changed here since it was last kept: the other text comes in.
    Take,
    /// Both changed: ours stays, theirs opens beside it.
    Fork,
}

/// Decides by three texts: as last kept here, as it is here, as the other window wrote it.
pub fn merge(base: Option<&str>, ours: &str, theirs: &str) -> Merge {
    if ours == theirs || base == Some(theirs) {
        Merge::Same
    } else if base == Some(ours) {
        Merge::Take
    } else {
        Merge::Fork
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_windows_text_never_overwrites_what_was_changed_here() {
        assert_eq!(merge(Some("a"), "a", "b"), Merge::Take);
        assert_eq!(merge(Some("a"), "c", "b"), Merge::Fork);
        assert_eq!(merge(Some("a"), "b", "b"), Merge::Same);
        assert_eq!(merge(Some("a"), "b", "a"), Merge::Same);
        assert_eq!(merge(None, "a", "b"), Merge::Fork);
    }

    #[test]
    fn a_new_console_takes_the_first_free_number() {
        let taken = ["Console 1".to_owned(), "orders".to_owned(), "Console 3".to_owned()];
        assert_eq!(free_title(&taken), "Console 2");
        assert_eq!(free_title(&[]), "Console 1");
    }
}
