//! Every command, in one table: the palette, the keys, menus and the help are made from it.
//!
//! A new command is one line in [`COMMANDS`].

mod chord;

pub use chord::{Chord, key};

use crate::flows::{browse, run, tabs};
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::dialogs::Dialog;
use crate::state::link::Link;
use crate::state::result::Transaction;
use crate::state::theme::Theme;
use crate::ui;
use leptos::prelude::*;
use shared::wire::run::TransactionMode;

/// One command.
pub struct Command {
    /// Its name in code and tests.
    pub id: &'static str,
    /// Its name for people; a verb first.
    pub title: &'static str,
    /// Where the help lists it.
    pub group: &'static str,
    /// Its key.
    pub keys: Option<Chord>,
    /// What it does; none where the key is handled by what has the focus (the editor, the grid).
    pub run: Option<fn(Workbench)>,
    /// Whether there is something for it to do now; the palette leaves out what has nothing.
    pub fits: fn(Workbench) -> bool,
}

const fn command(id: &'static str, title: &'static str, group: &'static str, keys: Option<Chord>, run: fn(Workbench)) -> Command {
    Command { id, title, group, keys, run: Some(run), fits: |_| true }
}

const fn inside(id: &'static str, title: &'static str, group: &'static str, keys: Chord) -> Command {
    Command { id, title, group, keys: Some(keys), run: None, fits: |_| true }
}

impl Command {
    const fn only_when(self, fits: fn(Workbench) -> bool) -> Self {
        Self { fits, ..self }
    }
}

/// The table.
pub const COMMANDS: &[Command] = &[
    command("run.statement", "Run statement", "Run", Some(key("Enter").ctrl()), |w| with_editor(w, |editor| editor.run_statement.run(())))
        .only_when(at_rest),
    command("run.script", "Run script", "Run", Some(key("Enter").ctrl().shift()), |w| with_editor(w, |editor| editor.run_script.run(())))
        .only_when(at_rest),
    command("run.cancel", "Cancel what runs", "Run", Some(key("Escape")), cancel).only_when(|w| shown(w, |console| console.slot.busy())),
    command("result.read_to_end", "Read the result to its end", "Run", None, |w| {
        if let Some(console) = w.consoles.shown_untracked() {
            run::read_to_end(w, console);
        }
    })
    .only_when(|w| shown(w, |console| console.slot.has_rest())),
    command("script.past_errors", "Scripts: continue after errors", "Run", None, |w| w.go_past_errors(true))
        .only_when(|w| !w.past_errors.get_untracked()),
    command("script.to_first_error", "Scripts: stop at the first error", "Run", None, |w| w.go_past_errors(false))
        .only_when(|w| w.past_errors.get_untracked()),
    command("result.next", "Next result", "Run", Some(key(".").alt().shift()), |w| step_result(w, 1)).only_when(several_results),
    command("result.previous", "Previous result", "Run", Some(key(",").alt().shift()), |w| step_result(w, -1)).only_when(several_results),
    command("transaction.by_hand", "Transactions: commit by hand", "Run", None, |w| set_mode(w, TransactionMode::Manual))
        .only_when(|w| shown(w, |console| console.mode.get() == TransactionMode::Auto)),
    command("transaction.auto", "Transactions: commit each statement", "Run", None, |w| set_mode(w, TransactionMode::Auto))
        .only_when(|w| shown(w, |console| console.mode.get() == TransactionMode::Manual)),
    command("transaction.commit", "Commit the transaction", "Run", None, |w| end_transaction(w, "COMMIT"))
        .only_when(|w| transaction(w, |state| state == Transaction::Open)),
    command("transaction.roll_back", "Roll the transaction back", "Run", None, |w| end_transaction(w, "ROLLBACK"))
        .only_when(|w| transaction(w, Transaction::is_open)),
    command("open.anything", "Open anything…", "Go", Some(key("P").ctrl()), |w| w.dialogs.show(Dialog::Open)),
    command("open.palette", "Show all commands", "Go", Some(key("P").ctrl().shift()), |w| w.dialogs.show(Dialog::Palette)),
    command("focus.explorer", "Go to the explorer", "Go", Some(key("1").alt()), focus_explorer),
    command("focus.editor", "Go to the editor", "Go", Some(key("2").alt()), |w| {
        w.layout.half.set(crate::state::layout::Half::Editor);
        w.layout.drawer_out.set(false);
        with_editor(w, |editor| editor.focus.run(()));
    }),
    command("focus.result", "Go to the result", "Go", Some(key("3").alt()), focus_result),
    command("explorer.filter", "Filter the explorer", "Go", Some(key("4").alt()), |w| {
        w.layout.explorer_shown.set(true);
        w.layout.drawer_out.set(ui::is_narrow());
        ui::focus_soon("explorer-filter".to_owned());
    }),
    command("console.new", "New console", "Consoles", Some(key("N").alt()), |w| {
        tabs::open_empty(w);
        focus_editor_soon(w);
    }),
    command("console.close", "Close console", "Consoles", Some(key("W").alt()), |w| {
        if let Some(active) = w.consoles.active.get_untracked() {
            tabs::close(w, &active);
        }
    })
    .only_when(|w| shown(w, |_| true)),
    command("console.reopen", "Reopen closed console", "Consoles", Some(key("T").alt().shift()), |w| {
        tabs::reopen(w);
        focus_editor_soon(w);
    })
    .only_when(|w| w.consoles.closed.with_untracked(|all| !all.is_empty())),
    command("console.next", "Next console", "Consoles", Some(key(".").alt()), |w| tabs::step(w, 1)).only_when(several_consoles),
    command("console.previous", "Previous console", "Consoles", Some(key(",").alt()), |w| tabs::step(w, -1)).only_when(several_consoles),
    command("connection.new", "New connection…", "Connections", None, |w| w.dialogs.show(Dialog::Connection(None))),
    command("connection.edit", "Edit the console's connection…", "Connections", None, |w| {
        if let Some(id) = w.consoles.shown_untracked().and_then(|console| console.connection.get_untracked()) {
            w.dialogs.show(Dialog::Connection(Some(id)));
        }
    }),
    command("catalog.refresh", "Refresh the catalog", "Connections", None, |w| {
        if let Some(id) = w.consoles.shown_untracked().and_then(|console| console.connection.get_untracked()) {
            browse::fetch_catalog(w, &id);
        }
    }),
    command("view.explorer", "Show or hide the explorer", "View", Some(key("B").ctrl()), |w| {
        w.layout.explorer_shown.update(|shown| *shown = !*shown)
    }),
    command("view.messages", "Show or hide messages", "View", Some(key("5").alt()), |w| {
        if let Some(console) = w.consoles.shown_untracked() {
            console.messages.shown.update(|shown| *shown = !*shown);
        }
    }),
    command("theme.system", "Theme: as the system", "View", None, |w| w.theme.set(Theme::System)),
    command("theme.light", "Theme: light", "View", None, |w| w.theme.set(Theme::Light)),
    command("theme.dark", "Theme: dark", "View", None, |w| w.theme.set(Theme::Dark)),
    command("help.keys", "Show all keys", "View", Some(key("F1")), |w| w.dialogs.show(Dialog::Keys)),
    inside("editor.complete", "Complete", "Editor", key("Space").ctrl()),
    inside("editor.find", "Find", "Editor", key("F").ctrl()),
    inside("editor.comment", "Comment or uncomment lines", "Editor", key("/").ctrl()),
    inside("editor.leave", "Leave the editor, after Escape", "Editor", key("Tab")),
    inside("editor.undo", "Undo", "Editor", key("Z").ctrl()),
    inside("grid.copy", "Copy the selection", "Result", key("C").ctrl()),
    inside("grid.all", "Select all", "Result", key("A").ctrl()),
    inside("grid.start", "First row", "Result", key("Home").ctrl()),
    inside("grid.end", "Last row: reads to the end", "Result", key("End").ctrl()),
    inside("grid.go", "Go to a row", "Result", key("G").ctrl()),
    inside("grid.wider", "Make the column wider", "Result", key("ArrowRight").alt().shift()),
    inside("grid.narrower", "Make the column narrower", "Result", key("ArrowLeft").alt().shift()),
    inside("grid.fit", "Fit the column to what it shows", "Result", key("ArrowUp").alt().shift()),
    inside("grid.cell", "Show the cell", "Result", key("Enter")),
];

/// The command of this name.
pub fn find(id: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.id == id)
}

/// Its key as this machine writes it.
pub fn keys_of(id: &str) -> String {
    find(id).and_then(|command| command.keys).map(|chord| chord.text(ui::on_mac())).unwrap_or_default()
}

/// Runs the command of this name.
pub fn perform(w: Workbench, id: &str) {
    if let Some(run) = find(id).and_then(|command| command.run) {
        run(w);
        keep_focus(w);
    }
}

/// What had the focus may be gone or hidden by now: then the text takes it, or what stands in its place. A page without a focus hears
/// no key but the window's own.
pub fn keep_focus(w: Workbench) {
    let settled = move || {
        if w.dialogs.open.with_untracked(Option::is_some) || w.dialogs.menu.with_untracked(Option::is_some) || !ui::focus_is_lost() {
            return;
        }
        match w.consoles.shown_untracked().and_then(|console| console.editor.get_untracked()) {
            Some(editor) => editor.focus.run(()),
            None => ui::focus(ui::NO_CONSOLE),
        }
    };
    // Two frames: what is shown anew is drawn in the first.
    request_animation_frame(move || request_animation_frame(settled));
}

/// Puts the focus on the place of the shown console's rows, and into them once they are there.
pub fn focus_rows_soon(w: Workbench) {
    if let Some(console) = w.consoles.shown_untracked() {
        console.rows_wanted.set_value(true);
        ui::focus_soon(console.panel());
    }
}

/// Answers to keys, wherever the focus is, unless what has it answered already.
pub fn listen(w: Workbench) {
    let mac = ui::on_mac();
    let listener = window_event_listener(leptos::ev::keydown, move |event| {
        if event.default_prevented() || event.is_composing() || w.dialogs.open.with_untracked(Option::is_some) {
            return;
        }
        let Some(command) =
            COMMANDS.iter().find(|command| command.run.is_some() && command.keys.is_some_and(|chord| chord.is(&event, mac)))
        else {
            return;
        };
        // Esc is everybody's key: ours only while something runs.
        if command.id == "run.cancel"
            && !w.consoles.shown_untracked().is_some_and(|console| console.slot.is_working() || untrack(|| console.slot.busy()))
        {
            return;
        }
        event.prevent_default();
        if let Some(run) = command.run {
            run(w);
            keep_focus(w);
        }
    });
    on_cleanup(move || listener.remove());
}

/// Puts the cursor into the shown editor once it is drawn.
pub fn focus_editor_soon(w: Workbench) {
    request_animation_frame(move || with_editor(w, |editor| editor.focus.run(())));
}

fn with_editor(w: Workbench, act: impl FnOnce(crate::state::consoles::EditorReach)) {
    if let Some(editor) = w.consoles.shown_untracked().and_then(|console| console.editor.get_untracked()) {
        act(editor);
    }
}

/// The shown console is of that kind.
fn shown(w: Workbench, is: fn(Console) -> bool) -> bool {
    w.consoles.shown_untracked().is_some_and(|console| untrack(|| is(console)))
}

fn at_rest(w: Workbench) -> bool {
    shown(w, |console| console.slot.running.with(Option::is_none))
}

/// The shown console rests, and its session has something open of that kind.
fn transaction(w: Workbench, is: fn(Transaction) -> bool) -> bool {
    let answers = w.link.get_untracked() == Link::Up;
    at_rest(w) && answers && w.consoles.shown_untracked().is_some_and(|console| is(console.slot.transaction.get_untracked()))
}

fn several_consoles(w: Workbench) -> bool {
    w.consoles.list.with_untracked(Vec::len) > 1
}

fn set_mode(w: Workbench, mode: TransactionMode) {
    if let Some(console) = w.consoles.shown_untracked() {
        console.mode.set(mode);
    }
}

fn several_results(w: Workbench) -> bool {
    shown(w, |console| console.slot.tabs.with(|tabs| tabs.len() > 1))
}

fn step_result(w: Workbench, by: isize) {
    if let Some(console) = w.consoles.shown_untracked() {
        run::step_result(console, by);
    }
}

fn cancel(w: Workbench) {
    if let Some(console) = w.consoles.shown_untracked() {
        run::cancel(console);
    }
}

fn end_transaction(w: Workbench, sql: &'static str) {
    if let Some(console) = w.consoles.shown_untracked()
        && console.slot.transaction.get_untracked().is_open()
    {
        run::start_apart(w, console, sql);
    }
}

fn focus_explorer(w: Workbench) {
    w.layout.explorer_shown.set(true);
    w.layout.drawer_out.set(ui::is_narrow());
    ui::focus_soon(crate::explorer::ACTIVE_ROW.to_owned());
}

fn focus_result(w: Workbench) {
    w.layout.half.set(crate::state::layout::Half::Result);
    w.layout.drawer_out.set(false);
    if let Some(grid) = w.consoles.shown_untracked().and_then(|console| console.grid.get_untracked()) {
        grid.focus.run(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_keys_are_taken_once() {
        let ids: HashSet<_> = COMMANDS.iter().map(|command| command.id).collect();
        assert_eq!(ids.len(), COMMANDS.len());
        let global: Vec<_> = COMMANDS
            .iter()
            .filter(|command| command.run.is_some())
            .filter_map(|command| command.keys)
            .map(|chord| chord.text(false))
            .collect();
        assert_eq!(global.iter().collect::<HashSet<_>>().len(), global.len());
    }
}
