//! One console: its bar, its text, its rows, its messages.

use crate::editor::{self, EditorHandle, RunAsk, RunScope, SqlEditor};
use crate::grid::columns::{column_keys, unread_schemas};
use crate::grid::{GridHandle, ResultGrid};
use crate::panels::messages::MessageLog;
use crate::panels::result_head::ResultHead;
use crate::panels::result_tabs::{NoRowsTab, pane_id, tab_id};
use crate::panels::ticking::RunningRows;
use crate::panels::toolbar::Toolbar;
use crate::state::Workbench;
use crate::state::consoles::{Console, EditorReach, GridReach};
use crate::state::layout::EDITOR_PERCENT;
use crate::state::result::{ActiveRun, Shown};
use crate::state::results::Tab;
use crate::ui::splitter::{Lie, Splitter};
use crate::{commands, flows, ui};
use leptos::prelude::*;
use std::sync::Arc;
use web_sys::Element;

/// The console; drawn when it is first shown, and kept drawn while another one is.
#[component]
pub fn ConsoleView(
    /// Which one.
    console: Console,
) -> impl IntoView {
    let w = Workbench::here();
    let name: Arc<str> = console.name();
    let id = console.panel();
    let active = Memo::new(move |_| w.consoles.active.with(|active| active.as_ref() == Some(&name)));
    let drawn = Memo::new(move |before: Option<&bool>| before.copied().unwrap_or(false) || active.get());
    view! {
        <section id=id class="console" role="tabpanel" tabindex="-1" aria-label=move || console.title.get() hidden=move || !active.get()>
            <Show when=move || drawn.get()>
                <Body console />
            </Show>
        </section>
    }
}

#[component]
fn Body(console: Console) -> impl IntoView {
    let w = Workbench::here();
    view! {
        <Toolbar console />
        <div class="split">
            <div class="split-editor" style:flex-basis=move || format!("{}%", w.layout.editor_percent.get())>
                <Text console />
            </div>
            <Splitter label="Height of the text" lie=Lie::Level value=w.layout.editor_percent bounds=EDITOR_PERCENT per_px=percent_per_px step=3.0 />
            <div class="split-result">
                <Rows console />
                <MessageLog console />
            </div>
        </div>
    }
}

#[component]
fn Text(console: Console) -> impl IntoView {
    let w = Workbench::here();
    let handle = RwSignal::new(None::<EditorHandle>);
    let engine = Signal::derive(move || w.connections.engine(console.connection.get().as_ref()));
    let catalog = Signal::derive(move || console.connection.get().and_then(|id| w.connections.index(&id)));
    let error = Signal::derive(move || {
        console.slot.mark.get().map(|mark| editor::ErrorMark { from: mark.from, to: mark.to, message: mark.message })
    });
    let running = Signal::derive(move || {
        console.slot.running.with(|running| running.as_ref().map(|running| running.range).filter(|(from, to)| from < to))
    });
    let on_missing = Callback::new(move |schemas: Vec<String>| {
        if let Some(id) = console.connection.get_untracked() {
            flows::browse::want_schemas(w, &id, schemas);
        }
    });
    let on_run = Callback::new(move |ask: RunAsk| {
        if ask.statements.is_empty() {
            return flows::run::nothing(console, ask.scope == RunScope::Selection);
        }
        flows::run::start(w, console, ask.text, ask.statements);
    });
    let with = move |act: &dyn Fn(EditorHandle)| {
        if let Some(handle) = handle.get_untracked() {
            act(handle);
        }
    };
    console.editor.set(Some(EditorReach {
        focus: Callback::new(move |()| with(&|editor| editor.focus())),
        run_statement: Callback::new(move |()| with(&|editor| editor.run_statement())),
        run_script: Callback::new(move |()| with(&|editor| editor.run_script())),
        insert: Callback::new(move |text: String| with(&|editor| editor.insert(&text))),
        reveal: Callback::new(move |(from, to)| with(&|editor| editor.reveal(from..to))),
        selection: Callback::new(move |()| {
            let range = handle.get_untracked().map(EditorHandle::selection).unwrap_or_default();
            (range.start, range.end)
        }),
        flush: Callback::new(move |()| with(&|editor| editor.flush())),
    }));
    Effect::new(move |_| {
        if let (Some(editor), Some((from, to))) = (handle.get(), console.selected.get_value()) {
            console.selected.set_value(None);
            editor.reveal(from..to);
        }
    });
    on_cleanup(move || {
        console.editor.try_set(None);
    });
    view! { <SqlEditor text=console.text engine catalog error running on_missing on_run handle console=console.name().to_string() /> }
}

#[component]
fn Rows(console: Console) -> impl IntoView {
    let w = Workbench::here();
    view! {
        <Show
            when=move || console.slot.tabs.with(|tabs| !tabs.is_empty())
            fallback=move || view! {
                <Show when=move || console.slot.running.with(Option::is_none) fallback=move || view! { <RunningRows console /> }>
                <div class="empty">
                    <Show when=move || console.slot.outcome.with(Option::is_none) fallback=move || view! { <p class="empty-title">{move || outcome_words(console)}</p> }>
                        <p class="empty-title">"Rows appear here"</p>
                        <p class="empty-text">
                            "Write a statement above and run it with " <kbd class="key">{commands::keys_of("run.statement")}</kbd> ", or open a table with "
                            <kbd class="key">{commands::keys_of("open.anything")}</kbd>
                        </p>
                        <button type="button" class="button" on:click=move |_| commands::perform(w, "open.anything")>"Open a table…"</button>
                    </Show>
                </div>
                </Show>
            }
        >
            <ResultHead console />
            // Keyed: the nodes of one run's grid are never taken over by the next one's.
            <For each=move || console.slot.tabs.get() key=|tab| (tab.key, tab.rows().is_some()) let(tab)>
                <Pane console tab />
            </For>
        </Show>
    }
}

/// What one tab shows; drawn when it is first shown, and kept drawn (with its place and selection) while another one is.
#[component]
fn Pane(console: Console, tab: Tab) -> impl IntoView {
    let key = tab.key;
    // By the console's own signal: it outlives what is drawn.
    let active = move || console.slot.tab.get() == Some(key);
    let drawn = Memo::new(move |before: Option<&bool>| before.copied().unwrap_or(false) || active());
    let named = move || console.slot.has_strip();
    let is_before = move || console.slot.shows_before(console.connection.get().as_ref());
    let tab = StoredValue::new(tab);
    let body = move || {
        let Some(tab) = tab.try_get_value() else { return ().into_any() };
        match tab.rows() {
            Some(shown) => view! { <Grid console key shown=shown.clone() /> }.into_any(),
            None => view! { <NoRowsTab console tab /> }.into_any(),
        }
    };
    view! {
        <div
            id=pane_id(console, key)
            class=move || if is_before() { "result-pane before" } else { "result-pane" }
            role=move || named().then_some("tabpanel")
            aria-labelledby=move || named().then(|| tab_id(console, key))
            hidden=move || !active()
        >
            <Show when=move || drawn.try_get().unwrap_or_default()>{body}</Show>
        </div>
    }
}

/// What stands where rows would: why a statement failed only where the messages do not tell it.
fn outcome_words(console: Console) -> Option<String> {
    let told = console.messages.shown.get();
    console.slot.outcome.with(|outcome| {
        let outcome = outcome.as_ref()?;
        match outcome.reason() {
            Some(reason) if !told => Some(format!("Failed: {reason}")),
            Some(_) => Some("Failed".to_owned()),
            None => outcome.words(),
        }
    })
}

/// The grid of one run. Its status signal is made here, so that it ends with the grid.
#[component]
fn Grid(console: Console, key: u64, shown: Shown) -> impl IntoView {
    let w = Workbench::here();
    let handle = RwSignal::new(None::<GridHandle>);
    let connection = shown.connection.clone();
    let origins: Vec<Option<String>> =
        shown.status.with_untracked(|status| status.columns.iter().map(|column| column.origin.clone()).collect());
    let for_contents = (connection.clone(), origins.clone());
    Effect::new(move |_| {
        let (connection, origins) = &for_contents;
        let wanted = w.connections.catalog(connection).here().map(|catalog| unread_schemas(origins, catalog)).unwrap_or_default();
        flows::browse::want_schemas(w, connection, wanted);
    });
    let keys = Signal::derive(move || match w.connections.catalog(&connection).here() {
        Some(catalog) => column_keys(&origins, catalog),
        None => Vec::new(),
    });
    let id = StoredValue::new(shown.id.clone());
    let run = ActiveRun { id: shown.id, page_rows: shown.page_rows, first_page: shown.first_page, status: shown.status.into() };
    Effect::new(move |_| {
        let reach = handle.get().map(|grid| GridReach {
            focus: Callback::new(move |()| grid.focus()),
            selection: grid.selection_summary(),
            recover: Callback::new(move |()| grid.recover()),
        });
        if console.slot.tab.get() != Some(key) {
            return;
        }
        console.grid.set(reach);
        if let Some(grid) = handle.get().filter(|_| console.rows_wanted.get_value()) {
            console.rows_wanted.set_value(false);
            if ui::has_focus(&console.panel()) || ui::focus_is_lost() {
                grid.focus();
            }
        }
    });
    on_cleanup(move || {
        // Another one may have taken the place by now.
        let shown = console.slot.result.try_with_untracked(|shown| shown.as_ref().map(|shown| shown.id.clone())).flatten();
        if id.try_get_value() == shown || shown.is_none() {
            console.grid.try_set(None);
        }
    });
    view! { <div class="result-body"><ResultGrid run handle keys /></div> }
}

/// Percent of the split's height that a pixel is.
fn percent_per_px(splitter: &Element) -> f64 {
    let height = splitter.parent_element().map_or(0, |split| split.client_height());
    if height > 0 { 100.0 / f64::from(height) } else { 0.0 }
}
