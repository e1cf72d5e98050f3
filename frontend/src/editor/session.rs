//! One editor that is shown: its script, its JavaScript side, and the answers to what that asks.
//!
//! Invariant: the script is never borrowed while JavaScript is called, for JavaScript calls back at once. What is kept of a console that is
//! not shown stays in [`SAVED`], by its name.

use super::bridge::{self, Editor, Hooks};
use super::{ErrorMark, RunAsk, RunScope};
use crate::ui::unseen::spelled;
use js_sys::Uint32Array;
use leptos::prelude::*;
use shared::complete::{self, CatalogIndex};
use shared::sql::Script;
use shared::wire::connection::EngineKind;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;

/// Bytes of a statement up to which typing asks for completions.
const STATEMENT_TYPED_MAX: usize = 256 * 1024;

thread_local! {
    static SHOWN: RefCell<HashMap<u32, Rc<Session>>> = RefCell::default();
    static SAVED: RefCell<HashMap<String, JsValue>> = RefCell::default();
    static NEXT_KEY: Cell<u32> = const { Cell::new(1) };
    static NO_CATALOG: Arc<CatalogIndex> = Arc::default();
}

/// What the component was given.
#[derive(Clone, Copy)]
pub struct Asks {
    pub text: RwSignal<String>,
    pub engine: Signal<EngineKind>,
    pub catalog: Signal<Option<Arc<CatalogIndex>>>,
    /// Told the schemas that completion needs to know more of.
    pub on_missing: Callback<Vec<String>>,
    pub on_run: Callback<RunAsk>,
}

/// An editor that is shown.
pub struct Session {
    pub key: u32,
    pub js: Editor,
    console: String,
    script: Rc<RefCell<Script>>,
    kind: Cell<EngineKind>,
    /// The cursor at which a list waits for more to be known.
    waiting: Rc<Cell<Option<usize>>>,
    _hooks: Hooks,
}

/// Does something with the editor of this key, if it is still shown.
pub fn with<T>(key: u32, act: impl FnOnce(&Session) -> T) -> Option<T> {
    let session = SHOWN.with_borrow(|shown| shown.get(&key).cloned());
    session.map(|session| act(&session))
}

impl Session {
    /// Shows an editor in `host`.
    pub fn open(host: &HtmlElement, console: &str, asks: Asks) -> Rc<Session> {
        let text = asks.text.get_untracked();
        let kind = asks.engine.get_untracked();
        let script = Rc::new(RefCell::new(Script::new(text.clone(), kind)));
        let waiting = Rc::default();
        let hooks = hooks(&script, asks, &waiting);
        let saved = SAVED.with_borrow_mut(|saved| saved.remove(console)).unwrap_or(JsValue::UNDEFINED);
        let js = bridge::open(host, &text, &hooks, &saved);
        let key = NEXT_KEY.replace(NEXT_KEY.get() + 1);
        let session = Rc::new(Session { key, js, console: console.to_owned(), script, kind: Cell::new(kind), waiting, _hooks: hooks });
        SHOWN.with_borrow_mut(|shown| shown.insert(key, session.clone()));
        session
    }

    /// Follows the engine.
    pub fn follow_kind(&self, kind: EngineKind) {
        if self.kind.replace(kind) != kind {
            self.script.borrow_mut().set_kind(kind);
            self.js.recolour();
        }
    }

    /// More is known of the database: a list that waited for it is made anew.
    pub fn follow_catalog(&self) {
        if let Some(cursor) = self.waiting.take() {
            self.js.complete_again(unit(cursor));
        }
    }

    /// Follows the text when it was set from outside.
    pub fn follow_text(&self, text: &str) {
        let differs = self.script.borrow().text() != text;
        if differs {
            self.js.set_text(text);
        }
    }

    /// UTF-16 places of a byte range.
    pub fn units(&self, range: Range<usize>) -> (u32, u32) {
        let script = self.script.borrow();
        (unit(script.unit_of(range.start)), unit(script.unit_of(range.end)))
    }

    /// What is selected, in bytes; empty at the cursor where nothing is.
    pub fn selection(&self) -> Range<usize> {
        let units = self.js.selection();
        let script = self.script.borrow();
        script.byte_of(units.get_index(0) as usize)..script.byte_of(units.get_index(1) as usize)
    }

    pub fn mark_error(&self, error: Option<&ErrorMark>) {
        match error {
            Some(mark) => {
                let (from, to) = self.units(mark.from..mark.to);
                self.js.set_error(from, to, &mark.message);
            }
            None => self.js.clear_error(),
        }
    }

    pub fn mark_running(&self, running: Option<(usize, usize)>) {
        match running {
            Some((from, to)) => {
                let (from, to) = self.units(from..to);
                self.js.set_running(from, to);
            }
            None => self.js.clear_running(),
        }
    }

    /// Keeps what is worth keeping and takes the editor off the page.
    pub fn close(&self) {
        if !self.console.is_empty() {
            let saved = self.js.save();
            SAVED.with_borrow_mut(|kept| kept.insert(self.console.clone(), saved));
        }
        self.js.destroy();
        SHOWN.with_borrow_mut(|shown| shown.remove(&self.key));
    }
}

fn unit(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn hooks(script: &Rc<RefCell<Script>>, asks: Asks, waiting: &Rc<Cell<Option<usize>>>) -> Hooks {
    let of = || script.clone();
    let (waiting, nothing_waits) = (waiting.clone(), waiting.clone());
    let (changed, settled, statement, colours, complete, run) = (of(), of(), of(), of(), of(), of());
    Hooks {
        changed: Closure::new(move |from: u32, deleted: u32, insert: String| {
            changed.borrow_mut().edit(from as usize, deleted as usize, &insert);
        }),
        settled: Closure::new(move || {
            let text = settled.borrow().text().to_owned();
            // The console may be gone already: then nobody reads its text.
            if asks.text.try_with_untracked(|known| *known != text) == Some(true) {
                asks.text.try_set(text);
            }
        }),
        statement: Closure::new(move |cursor: u32| {
            let script = statement.borrow();
            let range = script.statement_at(cursor as usize)?;
            Some(Uint32Array::from([unit(script.unit_of(range.start)), unit(script.unit_of(range.end))].as_slice()))
        }),
        colours: Closure::new(move |from: u32, to: u32| {
            let found = colours.borrow_mut().colours(from as usize, to as usize);
            Uint32Array::from(found.as_slice())
        }),
        complete: Closure::new(move |cursor: u32, explicit: bool| {
            let script = complete.borrow();
            let found = suggest(&script, asks, cursor as usize, explicit);
            let waits = ask_for_missing(&script, asks, cursor as usize, explicit, found.is_some());
            waiting.set(waits.then_some(cursor as usize));
            found
        }),
        run: Closure::new(move |scope: String, from: u32, to: u32| {
            // A list that waits for more to be known does not come up over the rows.
            nothing_waits.set(None);
            let ask = run_ask(&run.borrow(), &scope, from as usize..to as usize);
            asks.on_run.run(ask);
        }),
    }
}

/// Asks for what a list at this cursor would need to know of the database; true where one is to come up, or to be made anew,
/// when that is here.
fn ask_for_missing(script: &Script, asks: Asks, cursor: usize, explicit: bool, is_found: bool) -> bool {
    let (Some(kind), Some(Some(catalog))) = (asks.engine.try_get_untracked(), asks.catalog.try_get_untracked()) else { return false };
    let place = script.segment_at(cursor);
    if !explicit && place.text.len() > STATEMENT_TYPED_MAX {
        return false;
    }
    let missing = complete::missing(&catalog, place.text, place.at, kind);
    let is_wanted = !missing.named.is_empty() || (!missing.in_path.is_empty() && !is_found);
    // Apart: what the statement names is here sooner.
    for schemas in [missing.named, missing.in_path].into_iter().filter(|schemas| !schemas.is_empty()) {
        asks.on_missing.run(schemas);
    }
    is_wanted && (explicit || missing.begun)
}

/// The list for a cursor, as the bundle's `Completions`; nothing where none should open.
fn suggest(script: &Script, asks: Asks, cursor: usize, explicit: bool) -> Option<String> {
    let kind = asks.engine.try_get_untracked()?;
    let catalog = asks.catalog.try_get_untracked()?.unwrap_or_else(|| NO_CATALOG.with(Arc::clone));
    let place = script.segment_at(cursor);
    // A statement of a quarter megabyte takes longer than a frame to understand: only when asked for.
    if !explicit && place.text.len() > STATEMENT_TYPED_MAX {
        return None;
    }
    let ask = if explicit { complete::Asked::ByKey } else { complete::Asked::ByTyping };
    let mut found = complete::suggest_in(&catalog, place.text, place.at, kind, ask);
    if found.items.is_empty() {
        return None;
    }
    found.items.iter_mut().for_each(show_unseen);
    let units = |byte: usize| place.start_units + place.text.get(..byte).map_or(0, |head| head.encode_utf16().count());
    let (from, to) = (units(found.from), units(found.to));
    serde_json::to_string(&found.at(from, to)).ok()
}

/// The list has no room for marks; which letters matched is of no use in a name that is spelled otherwise.
fn show_unseen(item: &mut complete::Suggestion) {
    if let Cow::Owned(spelled) = spelled(&item.label) {
        item.label = spelled;
        item.matched.clear();
    }
    if let Cow::Owned(spelled) = spelled(&item.detail) {
        item.detail = spelled;
    }
}

/// What a run request means in this text.
fn run_ask(script: &Script, scope: &str, selection: Range<usize>) -> RunAsk {
    let text = script.text();
    let (scope, statements) = if scope == "script" {
        (RunScope::Script, script.statements())
    } else if selection.is_empty() {
        (RunScope::Statement, script.statement_at(selection.start).into_iter().collect())
    } else {
        (RunScope::Selection, script.statements_between(selection.start, selection.end))
    };
    RunAsk { scope, text: text.into(), statements }
}
