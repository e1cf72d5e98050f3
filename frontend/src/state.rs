//! What the interface knows, in small owners.
//!
//! Invariant: no owner talks to the server or draws; pure logic needs no browser and is tested natively.
//! Start at [`Workbench`], which every view finds in its context.

pub mod closed;
pub mod connections;
pub mod consoles;
pub mod dialogs;
pub mod hints;
pub mod layout;
pub mod link;
pub mod messages;
pub mod parameters;
pub mod result;
pub mod results;
pub mod script;
pub mod theme;
pub mod words;

use crate::api::{names, storage};
use connections::Connections;
use consoles::Consoles;
use dialogs::Dialogs;
use layout::Layout;
use leptos::prelude::*;
use link::Link;
use parameters::Entered;
use result::OpenRuns;
use shared::ids::WindowId;
use std::collections::HashMap;
use theme::Theme;

/// Where a window keeps for itself that its scripts go on behind errors.
const PAST_ERRORS: &str = "sheaf.past-errors";

/// All owners together; cheap to copy.
#[derive(Clone, Copy)]
pub struct Workbench {
    /// Saved targets and their catalogs.
    pub connections: Connections,
    /// The texts and what their runs gave.
    pub consoles: Consoles,
    /// Sizes and what is folded away.
    pub layout: Layout,
    /// Light, dark, or as the system has it.
    pub theme: RwSignal<Theme>,
    /// What floats over the page.
    pub dialogs: Dialogs,
    /// Whether the server answers.
    pub link: RwSignal<Link>,
    /// Runs whose rows are shown, for the event stream.
    pub runs: OpenRuns,
    /// A script goes on behind a statement that failed.
    pub past_errors: RwSignal<bool>,
    /// The name of this window; new with each load of the page.
    pub window: StoredValue<WindowId>,
    /// What this window was before the page was loaded anew; in a copy of a page, what its original is.
    pub former: StoredValue<Option<WindowId>>,
    /// What was last entered for each parameter's name; gone with the page.
    pub entered: StoredValue<HashMap<String, Entered>>,
}

impl Workbench {
    /// Fresh owners; what was kept of them is read from the browser's storage.
    pub fn new() -> Self {
        Self {
            connections: Connections::new(),
            consoles: Consoles::new(),
            layout: Layout::kept(),
            theme: RwSignal::new(theme::kept()),
            dialogs: Dialogs::new(),
            link: RwSignal::new(Link::Up),
            runs: OpenRuns::new(),
            past_errors: RwSignal::new(storage::session(PAST_ERRORS).is_some()),
            window: StoredValue::new(WindowId(names::fresh())),
            former: StoredValue::new(None),
            entered: StoredValue::new(HashMap::new()),
        }
    }

    /// Scripts go on behind a statement that failed, or stop there; kept for this window alone.
    pub fn go_past_errors(self, on: bool) {
        self.past_errors.set(on);
        storage::keep_for_session(PAST_ERRORS, on.then_some("on"));
    }

    /// The one of this page.
    pub fn here() -> Self {
        expect_context()
    }
}

impl Default for Workbench {
    fn default() -> Self {
        Self::new()
    }
}
