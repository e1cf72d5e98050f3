//! Opens and closes consoles.

use super::{browse, keep, run, sessions};
use crate::api;
use crate::state::Workbench;
use crate::state::closed::Closed;
use crate::state::connections::Load;
use crate::state::consoles::Console;
use crate::state::dialogs::Dialog;
use crate::state::layout::Half;
use crate::state::words;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::ids::ConnectionId;
use shared::wire::connection::Connection;

/// An empty console on the connection that was chosen last.
pub fn open_empty(w: Workbench) -> Console {
    let connection = w.connections.for_new_console();
    if let Some(id) = &connection {
        browse::want_catalog(w, id);
    }
    w.consoles.open(w.consoles.free_title(), String::new(), connection)
}

/// An empty console on a connection: the shown one if nothing was ever written into it, else a new one.
pub fn open_on(w: Workbench, connection: &ConnectionId) {
    browse::want_catalog(w, connection);
    if empty_one(w, connection).is_none() {
        w.consoles.open(w.consoles.free_title(), String::new(), Some(connection.clone()));
    }
}

/// Consoles whose connection is not known get one. A connection of the command line has a new id with each start of the server.
pub fn settle(w: Workbench) {
    let Load::Here(all) = w.connections.list.get_untracked() else { return };
    for console in w.consoles.list.get_untracked() {
        let known = console.connection.with_untracked(|id| id.as_ref().is_some_and(|id| all.iter().any(|one| one.id == *id)));
        if !known {
            console.connection.set(w.connections.for_new_console());
        }
    }
}

/// Consoles whose connection has another id by now (one of the command line has, with each start of the server) go on where its name is.
pub fn follow_names(w: Workbench, before: &[Connection]) {
    let Load::Here(all) = w.connections.list.get_untracked() else { return };
    for console in w.consoles.list.get_untracked() {
        let Some(id) = console.connection.get_untracked() else { continue };
        if all.iter().any(|one| one.id == id) {
            continue;
        }
        let old = before.iter().find(|one| one.id == id);
        let same = old.and_then(|old| all.iter().find(|one| one.fields.name == old.fields.name && one.fields.engine == old.fields.engine));
        console.connection.set(same.map(|one| one.id.clone()));
    }
}

/// A console that shows the rows of a relation.
pub fn open_relation(w: Workbench, connection: &ConnectionId, schema: &str, relation: &str) {
    let engine = untrack(|| w.connections.engine(Some(connection)));
    let found_without_schema =
        untrack(|| w.connections.catalog(connection)).here().is_some_and(|catalog| catalog.search_path.iter().any(|one| one == schema));
    let sql = words::select_all((!found_without_schema).then_some(schema), relation, engine);
    let same = w.consoles.list.with_untracked(|all| {
        all.iter()
            .copied()
            .find(|one| one.text.with_untracked(|text| text.trim() == sql) && one.connection.get_untracked().as_ref() == Some(connection))
    });
    let console = match same {
        Some(console) => {
            w.consoles.active.set(Some(console.name()));
            console
        }
        None => empty_one(w, connection).unwrap_or_else(|| w.consoles.open(relation.to_owned(), String::new(), Some(connection.clone()))),
    };
    if console.text.with_untracked(|text| text.trim() != sql) {
        console.title.set(relation.to_owned());
        console.text.set(sql.clone());
    }
    w.layout.half.set(Half::Result);
    w.layout.drawer_out.set(false);
    let text = console.text.get_untracked();
    let from = text.find(&sql).unwrap_or(0);
    run::start(w, console, text.into(), std::iter::once(from..from + sql.len()).collect());
}

/// The shown console, if nothing was ever written into it.
fn empty_one(w: Workbench, connection: &ConnectionId) -> Option<Console> {
    let shown = w.consoles.shown_untracked()?;
    let untouched = shown.text.with_untracked(String::is_empty) && shown.slot.result.with_untracked(Option::is_none);
    if !untouched || shown.slot.is_working() {
        return None;
    }
    shown.connection.set(Some(connection.clone()));
    Some(shown)
}

/// Closes a console, or asks first where a transaction would be lost with it.
pub fn close(w: Workbench, id: &str) {
    let found = w.consoles.list.with_untracked(|all| all.iter().copied().find(|one| &*one.name() == id));
    let Some(console) = found else { return };
    if console.slot.transaction.get_untracked().is_open() {
        w.consoles.active.set(Some(console.name()));
        w.dialogs.show(Dialog::CloseConsole(console.name()));
    } else {
        close_now(w, id);
    }
}

/// Closes a console: its run, its database session and what that has open. Its text is kept for [`reopen`].
pub fn close_now(w: Workbench, id: &str) {
    let Some(console) = w.consoles.remove(id) else { return };
    run::cancel(console);
    keep::lay_by(w, id, as_closed(w, console));
    console.messages.entries.set(Vec::new());
    let connection = console.connection.get_untracked();
    sessions::forget_own(console);
    let (session, window) = (console.session.get_untracked(), w.window.get_value());
    spawn_local(async move {
        run::close_results(w, console).await;
        if let Some(connection) = connection {
            let _ = api::forget_session(&connection, &session, &window).await;
        }
    });
}

/// What is kept of a console when it is closed.
fn as_closed(w: Workbench, console: Console) -> Closed {
    let editor = console.editor.get_untracked();
    if let Some(editor) = editor {
        editor.flush.run(());
    }
    let connection = console.connection.get_untracked();
    Closed {
        title: console.title.get_untracked(),
        text: console.text.get_untracked(),
        connection_name: connection.as_ref().and_then(|id| untrack(|| w.connections.get(id))).map(|one| one.fields.name),
        connection,
        selection: editor.map(|editor| editor.selection.run(())).unwrap_or_default(),
    }
}

/// Opens the console that was closed last, with its text, its cursor and where it ran.
pub fn reopen(w: Workbench) {
    let Some(closed) = keep::take_back(w) else { return };
    let connection = w.connections.list.with_untracked(|list| {
        let all = list.here()?;
        let same = all.iter().find(|one| Some(&one.id) == closed.connection.as_ref());
        same.or_else(|| all.iter().find(|one| Some(&one.fields.name) == closed.connection_name.as_ref())).map(|one| one.id.clone())
    });
    if let Some(id) = &connection {
        browse::want_catalog(w, id);
    }
    let console = w.consoles.open(closed.title, closed.text, connection);
    console.selected.set_value(Some(closed.selection));
}

/// Shows the console `by` places further, around the end.
pub fn step(w: Workbench, by: isize) {
    let Some(active) = w.consoles.active.get_untracked() else { return };
    let next = w.consoles.list.with_untracked(|all| {
        let at = all.iter().position(|one| one.name() == active)?;
        let next = (at as isize + by).rem_euclid(all.len() as isize) as usize;
        all.get(next).map(|one| one.name())
    });
    w.consoles.active.set(next);
}
