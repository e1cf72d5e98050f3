//! The results of a script, or of one statement, a tab each, in the strip above the rows; and what a tab without rows shows.

use crate::commands;
use crate::flows::run;
use crate::state::consoles::Console;
use crate::state::results::{Body, Failure, Tab};
use crate::state::script::line_and_column;
use crate::state::words;
use crate::ui;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::marks::{named, written};
use crate::ui::unseen::spelled;
use leptos::html;
use leptos::prelude::*;
use shared::limits::RESULTS_PER_CONSOLE_MAX;
use std::sync::Arc;

/// The id of a tab's element.
pub fn tab_id(console: Console, key: u64) -> String {
    format!("{}-tab-{key}", console.panel())
}

/// The id of what a tab shows.
pub fn pane_id(console: Console, key: u64) -> String {
    format!("{}-result-{key}", console.panel())
}

/// The strip.
#[component]
pub fn ResultTabs(
    /// Whose.
    console: Console,
) -> impl IntoView {
    let row = NodeRef::<html::Div>::new();
    let beyond = RwSignal::new((false, false));
    let look = move || {
        // The strip may be gone by the frame that this was put off to.
        if let Some(row) = row.try_get_untracked().flatten() {
            let (left, room) = (row.scroll_left(), row.scroll_width() - row.client_width());
            beyond.try_set((left > 1, left < room - 1));
        }
    };
    Effect::new(move |_| {
        row.track();
        console.slot.tabs.track();
        // What stands beside the tabs takes its room from them.
        console.slot.outcome.track();
        let shown = console.slot.tab.get();
        request_animation_frame(move || {
            if let Some(shown) = shown {
                ui::reveal(&tab_id(console, shown));
            }
            look();
        });
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| look());
    on_cleanup(move || resized.remove());
    let by_key = move |event: web_sys::KeyboardEvent| {
        let ends = |last: bool| {
            let key = console.slot.tabs.with_untracked(|tabs| if last { tabs.last() } else { tabs.first() }.map(|tab| tab.key));
            if let Some(key) = key {
                run::show_result(console, key);
            }
        };
        match event.key().as_str() {
            "ArrowRight" => run::step_result(console, 1),
            "ArrowLeft" => run::step_result(console, -1),
            "Home" => ends(false),
            "End" => ends(true),
            _ => return,
        }
        event.prevent_default();
        if let Some(shown) = console.slot.tab.get_untracked() {
            ui::focus_soon(tab_id(console, shown));
        }
    };
    // A tab whose rows were closed is another one: the same key would leave it as it was.
    let each = move || console.slot.tabs.get();
    let name = |tab: &Tab| (tab.key, tab.rows().is_some());
    view! {
        <div
            node_ref=row
            class="result-tabs"
            class:more-before=move || beyond.get().0
            class:more-after=move || beyond.get().1
            role="tablist"
            aria-label="Results"
            title=move || format!("Next result ({}), the one before ({})", commands::keys_of("result.next"), commands::keys_of("result.previous"))
            on:scroll=move |_| look()
            on:keydown=by_key
        >
            <For each key=name let(tab)>
                <TabButton console tab />
            </For>
        </div>
    }
}

#[component]
fn TabButton(console: Console, tab: Tab) -> impl IntoView {
    let key = tab.key;
    // By the console's own signal: it outlives what is drawn.
    let shown = move || console.slot.tab.get() == Some(key);
    let part = tab.part.clone();
    let title = format!("{}: {}", part.words(), spelled(&words::beginning(&tab.sql, 300)));
    let (class, aside) = match &tab.body {
        Body::Rows(shown) => {
            let status = shown.status.clone();
            ("result-tab", (move || words::rows_of(&status.get())).into_any())
        }
        Body::Closed => ("result-tab closed", "closed".into_any()),
        Body::Failed(_) => {
            ("result-tab failed", view! { <Icon glyph=Glyph::Error /><span class="visually-hidden">"failed"</span> }.into_any())
        }
    };
    view! {
        <button
            id=tab_id(console, key)
            type="button"
            class=class
            class:active=shown
            role="tab"
            tabindex=move || if shown() { "0" } else { "-1" }
            aria-selected=move || shown().to_string()
            aria-controls=pane_id(console, key)
            title=title
            on:click=move |_| run::show_result(console, key)
        >
            <span class="result-tab-number">{part.mark()}</span>
            <span class="result-tab-label">{named(&tab.label)}</span>
            <span class="result-tab-aside">{aside}</span>
        </button>
    }
}

/// What a tab without rows shows.
#[component]
pub fn NoRowsTab(
    /// Whose.
    console: Console,
    /// The tab.
    tab: Tab,
) -> impl IntoView {
    let part = tab.part.clone();
    match tab.body {
        Body::Rows(_) => ().into_any(),
        Body::Closed => view! {
            <div class="empty">
                <p class="empty-title">{part.closed()}</p>
                <p class="empty-text">
                    {format!("A console holds the newest {RESULTS_PER_CONSOLE_MAX} results")}
                </p>
                <p class="entry-sql">{named(&words::beginning(&tab.sql, 160))}</p>
            </div>
        }
        .into_any(),
        Body::Failed(failure) => {
            let title = format!("{} failed", part.words());
            view! { <FailedTab console title failure sql=tab.sql /> }.into_any()
        }
    }
}

#[component]
fn FailedTab(console: Console, title: String, failure: Arc<Failure>, sql: Arc<str>) -> impl IntoView {
    let place = failure.mark.clone().map(|mark| {
        let (line, column) = console.text.with_untracked(|text| line_and_column(text, mark.from));
        view! {
            <button type="button" class="button small" on:click=move |_| {
                if let Some(editor) = console.editor.get_untracked() {
                    editor.reveal.run((mark.from, mark.to));
                    editor.focus.run(());
                }
            }>{format!("Show line {line}, column {column}")}</button>
        }
    });
    view! {
        <div class="failed-tab">
            <p class="failed-tab-title"><Icon glyph=Glyph::Error />{title}</p>
            <p class="failed-tab-message">{written(&failure.message)}</p>
            {failure.more.iter().map(|line| view! { <p class="entry-more">{line.clone()}</p> }).collect_view()}
            <p class="entry-sql">{named(&words::beginning(&sql, 300))}</p>
            {place}
        </div>
    }
}
