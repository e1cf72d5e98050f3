//! What floats over the page: one dialog at a time, one menu at a time.

use super::parameters::Asked;
use leptos::prelude::*;
use shared::ids::ConnectionId;
use shared::problem::Problem;
use std::sync::Arc;

/// A dialog that may be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// All commands.
    Palette,
    /// Tables, views, consoles and connections by name.
    Open,
    /// All keys.
    Keys,
    /// A connection's fields: a new one, or the one that is named.
    Connection(Option<ConnectionId>),
    /// A connection's fields, for what kept a statement from its database.
    Mend(ConnectionId, Box<Problem>),
    /// Asks before a connection is deleted.
    DeleteConnection(ConnectionId),
    /// Asks for the values that statements wait for.
    Parameters(Asked),
    /// Asks what becomes of the open transaction of a console that is to be closed.
    CloseConsole(Arc<str>),
}

/// One line of a menu.
#[derive(Clone)]
pub struct MenuItem {
    /// A verb.
    pub title: String,
    /// Its key, as shown.
    pub keys: Option<String>,
    /// What it does.
    pub run: Callback<()>,
    /// A thin line stands above it.
    pub apart: bool,
    /// It turns something on and off, and is on or off now.
    pub checked: Option<bool>,
}

/// A menu at a place of the window.
#[derive(Clone)]
pub struct Menu {
    /// What it is about.
    pub label: String,
    /// Pixels from the left.
    pub x: f64,
    /// Pixels from the top.
    pub y: f64,
    /// Its lines.
    pub items: Vec<MenuItem>,
}

/// The owner.
#[derive(Clone, Copy)]
pub struct Dialogs {
    /// The open dialog.
    pub open: RwSignal<Option<Dialog>>,
    /// The open menu.
    pub menu: RwSignal<Option<Menu>>,
}

impl Dialogs {
    /// Nothing floats.
    pub fn new() -> Self {
        Self { open: RwSignal::new(None), menu: RwSignal::new(None) }
    }

    /// Opens a dialog in place of any other.
    pub fn show(self, dialog: Dialog) {
        self.menu.set(None);
        self.open.set(Some(dialog));
    }

    /// Closes what is open.
    pub fn close(self) {
        self.open.set(None);
    }
}

impl Default for Dialogs {
    fn default() -> Self {
        Self::new()
    }
}
