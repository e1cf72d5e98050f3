//! Keeps consoles and layout in the browser's storage: after a rest of 400 ms, and when the page is left.

use super::{run, sessions};
use crate::api::storage;
use crate::state::Workbench;
use crate::state::closed::{self, Closed};
use crate::state::consoles::{Console, KEY_PREFIX, Kept, Merge, merge};
use crate::state::theme::{self, Theme};
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use wasm_bindgen::JsCast;

const REST: Duration = Duration::from_millis(400);
const ACTIVE: &str = "sheaf.active";

/// Opens the consoles that storage holds and shows the one that was shown.
pub fn restore(w: Workbench) {
    let mut kept: Vec<(Arc<str>, Kept, String)> = storage::keys(KEY_PREFIX)
        .into_iter()
        .filter_map(|key| {
            let text = storage::get(&key)?;
            let kept = serde_json::from_str(&text).ok()?;
            Some((key.strip_prefix(KEY_PREFIX)?.into(), kept, text))
        })
        .collect();
    kept.sort_by(|a, b| (a.1.made, &a.0).cmp(&(b.1.made, &b.0)));
    for (id, kept, text) in kept {
        let console = w.consoles.add(id, kept);
        console.kept.set_value(Some(text));
        sessions::take_own(console);
    }
    let active = storage::get(ACTIVE);
    let first = w
        .consoles
        .list
        .with_untracked(|all| all.iter().find(|one| Some(&*one.name()) == active.as_deref()).or_else(|| all.first()).map(|one| one.name()));
    w.consoles.active.set(first);
    w.consoles.closed.set(closed_consoles(w));
}

/// Follows every change from now on.
pub fn follow(w: Workbench) {
    let pending: StoredValue<Option<TimeoutHandle>> = StoredValue::new(None);
    Effect::new(move |before: Option<()>| {
        w.consoles.list.with(|all| {
            for console in all {
                console.text.track();
                console.title.track();
                console.connection.track();
                console.mode.track();
                console.session.track();
            }
        });
        w.consoles.active.track();
        w.layout.track();
        if before.is_none() {
            return;
        }
        if let Some(timer) = pending.get_value() {
            timer.clear();
        }
        pending.set_value(set_timeout_with_handle(move || save(w), REST).ok());
    });
    // Requests are broken off between the two.
    let about_to_leave = window_event_listener_untyped("beforeunload", |_| run::set_leaving(true));
    let shown_again = window_event_listener_untyped("pageshow", |_| run::set_leaving(false));
    let leaving = window_event_listener_untyped("pagehide", move |_| {
        run::set_leaving(true);
        for console in w.consoles.list.get_untracked() {
            if let Some(editor) = console.editor.get_untracked() {
                editor.flush.run(());
            }
        }
        save(w);
    });
    let elsewhere = window_event_listener_untyped("storage", move |event| {
        if let Ok(event) = event.dyn_into::<web_sys::StorageEvent>() {
            changed_elsewhere(w, &event);
        }
    });
    on_cleanup(move || {
        about_to_leave.remove();
        shown_again.remove();
        leaving.remove();
        elsewhere.remove();
    });
}

/// Shows and keeps a theme.
pub fn theme(theme: Theme) {
    if let Some(root) = document().document_element() {
        let _ = match theme.attribute() {
            Some(value) => root.set_attribute("data-theme", value),
            None => root.remove_attribute("data-theme"),
        };
    }
    theme::keep(theme);
}

/// Keeps what a console held that is closed, and forgets its place among the open ones.
pub fn lay_by(w: Workbench, id: &str, one: Closed) {
    let mut all = closed_consoles(w);
    closed::lay_by(&mut all, one);
    keep_closed(w, all);
    storage::remove(&format!("{KEY_PREFIX}{id}"));
}

/// The console that was closed last, in whatever window; it is no longer kept as a closed one.
pub fn take_back(w: Workbench) -> Option<Closed> {
    let mut all = closed_consoles(w);
    let one = all.pop()?;
    keep_closed(w, all);
    Some(one)
}

/// Closed consoles as storage has them; as they are known here where it has none.
fn closed_consoles(w: Workbench) -> Vec<Closed> {
    let kept = storage::get(closed::KEY).and_then(|text| serde_json::from_str(&text).ok());
    kept.unwrap_or_else(|| w.consoles.closed.get_untracked())
}

/// Where storage has no room for all of them, the oldest leave it first.
fn keep_closed(w: Workbench, all: Vec<Closed>) {
    let fits = |from: &usize| {
        let newest = all.get(*from..).unwrap_or_default();
        serde_json::to_string(newest).is_ok_and(|text| storage::set(closed::KEY, &text))
    };
    if !(0..all.len().max(1)).any(|from| fits(&from)) {
        storage::remove(closed::KEY);
    }
    w.consoles.closed.set(all);
}

fn save(w: Workbench) {
    for (at, console) in w.consoles.list.get_untracked().into_iter().enumerate() {
        let Ok(text) = serde_json::to_string(&console.to_keep(at as u64)) else { continue };
        if console.kept.with_value(|kept| kept.as_ref() != Some(&text)) && storage::set(&format!("{KEY_PREFIX}{}", console.name()), &text) {
            console.kept.set_value(Some(text));
        }
        sessions::keep_own(console);
    }
    match w.consoles.active.get_untracked() {
        Some(active) => {
            storage::set(ACTIVE, &active);
        }
        None => storage::remove(ACTIVE),
    }
    w.layout.keep();
}

/// Another window wrote. A console that it closed stays open here.
fn changed_elsewhere(w: Workbench, event: &web_sys::StorageEvent) {
    let (Some(key), Some(text)) = (event.key(), event.new_value()) else { return };
    if key == closed::KEY {
        return w.consoles.closed.set(closed_consoles(w));
    }
    let Some(id) = key.strip_prefix(KEY_PREFIX) else { return };
    let Ok(theirs) = serde_json::from_str::<Kept>(&text) else { return };
    let ours = w.consoles.list.with_untracked(|all| all.iter().copied().find(|one| &*one.name() == id));
    match ours {
        Some(console) => take_in(w, console, theirs, text),
        None => {
            let console = w.consoles.add(id.into(), theirs);
            console.kept.set_value(Some(text));
            // A window that opened before anything was kept has nothing else to show.
            if w.consoles.shown_untracked().is_none() {
                w.consoles.active.set(Some(console.name()));
            }
        }
    }
}

fn take_in(w: Workbench, console: Console, theirs: Kept, text: String) {
    // What was typed this very moment is ours too.
    if let Some(editor) = console.editor.get_untracked() {
        editor.flush.run(());
    }
    let base = console.kept.get_value().and_then(|kept| serde_json::from_str::<Kept>(&kept).ok());
    let ours = console.text.get_untracked();
    let merged = merge(base.as_ref().map(|base| base.text.as_str()), &ours, &theirs.text);
    if merged == Merge::Fork {
        let shown = w.consoles.active.get_untracked();
        w.consoles.open(format!("{} (other window)", theirs.title), theirs.text, theirs.connection);
        w.consoles.active.set(shown);
        return;
    }
    if base.is_none_or(|base| base.title == console.title.get_untracked()) {
        console.title.set(theirs.title);
    }
    if merged == Merge::Take {
        console.text.set(theirs.text.clone());
        if !console.is_used.get_value() {
            console.connection.set(theirs.connection);
            console.mode.set(theirs.mode);
        }
    }
    // Nothing that was only taken in is written back: what differs then is this window's own.
    let at = w.consoles.list.with_untracked(|all| all.iter().position(|one| one.name() == console.name()));
    let own = console.to_keep(at.unwrap_or_default() as u64);
    console.kept.set_value(if own.text == theirs.text { serde_json::to_string(&own).ok() } else { Some(text) });
}
