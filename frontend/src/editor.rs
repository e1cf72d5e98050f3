//! The SQL editor: CodeMirror in the page, and here its text as statements, its completion and its runs.
//!
//! Invariant: knows no grid, explorer, panel or server; what should run is told to `on_run`. The text lives in CodeMirror and, edit by
//! edit, in a [`Script`] here; the `text` signal follows when nobody types. Start at [`SqlEditor`]; [`bridge`] is the JavaScript side.

mod bridge;
mod session;

use leptos::html::Div;
use leptos::prelude::*;
use session::Session;
use shared::complete::CatalogIndex;
use shared::wire::connection::EngineKind;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// A place that the database found fault with, in UTF-8 bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMark {
    /// First byte.
    pub from: usize,
    /// Byte after the last; `from` when only a position is known.
    pub to: usize,
    /// The database's sentence.
    pub message: String,
}

/// What a person asked to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunScope {
    /// The statement the cursor means.
    Statement,
    /// The selected text.
    Selection,
    /// The whole text.
    Script,
}

/// A request to run statements of a text; none where what was asked for holds none, a comment only for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAsk {
    /// How it was asked.
    pub scope: RunScope,
    /// The whole text as it is now.
    pub text: Arc<str>,
    /// The statements in order, as byte ranges of `text`. Each is sent exactly as it stands there.
    pub statements: Vec<Range<usize>>,
}

/// What others may do with an editor that is shown. Does nothing once it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditorHandle(u32);

impl EditorHandle {
    /// Puts the cursor into it.
    pub fn focus(self) {
        session::with(self.0, |session| session.js.focus());
    }

    /// Runs the selection or the statement under the cursor, as Ctrl+Enter does.
    pub fn run_statement(self) {
        session::with(self.0, |session| session.js.run("statement"));
    }

    /// Runs the whole text, as Ctrl+Shift+Enter does.
    pub fn run_script(self) {
        session::with(self.0, |session| session.js.run("script"));
    }

    /// Puts text in place of the selection, as typing does.
    pub fn insert(self, text: &str) {
        session::with(self.0, |session| session.js.insert(text));
    }

    /// Selects a byte range and shows it.
    pub fn reveal(self, range: Range<usize>) {
        session::with(self.0, |session| {
            let (from, to) = session.units(range);
            session.js.reveal(from, to);
        });
    }

    /// What is selected, in bytes.
    pub fn selection(self) -> Range<usize> {
        session::with(self.0, |session| session.selection()).unwrap_or_default()
    }

    /// Makes the text signal take what was typed last, now.
    pub fn flush(self) {
        session::with(self.0, |session| session.js.flush());
    }
}

/// The editor of one console. `console` names what its undo history, selection and folds are kept by while it is not shown.
#[component]
pub fn SqlEditor(
    /// The text; follows typing when it pauses, and is followed when set.
    text: RwSignal<String>,
    /// Whose SQL it is.
    #[prop(into)]
    engine: Signal<EngineKind>,
    /// What completion knows of the database.
    #[prop(into)]
    catalog: Signal<Option<Arc<CatalogIndex>>>,
    /// A fault to mark, until the next edit.
    #[prop(into)]
    error: Signal<Option<ErrorMark>>,
    /// The statement that runs, in bytes.
    #[prop(into)]
    running: Signal<Option<(usize, usize)>>,
    /// Told the schemas that completion needs to know more of than their names.
    #[prop(into)]
    on_missing: Callback<Vec<String>>,
    /// Told what to run.
    #[prop(into)]
    on_run: Callback<RunAsk>,
    /// Set while the editor is shown.
    handle: RwSignal<Option<EditorHandle>>,
    /// The console's own name for what is kept of it.
    #[prop(optional, into)]
    console: String,
) -> impl IntoView {
    let host = NodeRef::<Div>::new();
    let shown = StoredValue::new_local(None::<Rc<Session>>);

    Effect::new(move |_| {
        let Some(host) = host.get() else { return };
        if shown.with_value(Option::is_some) {
            return;
        }
        let hooks = session::Asks { text, engine, catalog, on_missing, on_run };
        let session = Session::open(&host, &console, hooks);
        handle.set(Some(EditorHandle(session.key)));
        shown.set_value(Some(session));
    });
    Effect::new(move |_| {
        let text = text.get();
        shown.with_value(|shown| shown.as_ref().map(|session| session.follow_text(&text)));
    });
    // Apart: news of the connection are none of the text, which may be behind what was just typed.
    Effect::new(move |_| {
        let kind = engine.get();
        shown.with_value(|shown| shown.as_ref().map(|session| session.follow_kind(kind)));
    });
    Effect::new(move |_| {
        catalog.track();
        shown.with_value(|shown| shown.as_ref().map(|session| session.follow_catalog()));
    });
    // `handle` in the two below: they must run again once the editor is there.
    Effect::new(move |_| {
        let (error, _) = (error.get(), handle.get());
        shown.with_value(|shown| shown.as_ref().map(|session| session.mark_error(error.as_ref())));
    });
    Effect::new(move |_| {
        let (running, _) = (running.get(), handle.get());
        shown.with_value(|shown| shown.as_ref().map(|session| session.mark_running(running)));
    });
    on_cleanup(move || {
        if let Some(session) = shown.try_update_value(Option::take).flatten() {
            let own = EditorHandle(session.key);
            session.close();
            if handle.try_get_untracked().flatten() == Some(own) {
                handle.try_set(None);
            }
        }
    });

    view! { <div class="sql-editor" node_ref=host></div> }
}
