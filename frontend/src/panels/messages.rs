//! The log of a console.

use crate::state::consoles::Console;
use crate::state::messages::{Kind, Message};
use crate::ui::icon::{Glyph, Icon};
use crate::ui::marks::{named, written};
use leptos::html;
use leptos::prelude::*;

/// The log.
#[component]
pub fn MessageLog(
    /// Whose.
    console: Console,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    // The newest entry is in sight, from its beginning.
    Effect::new(move |_| {
        console.messages.entries.track();
        console.messages.shown.track();
        if let Some(log) = node.get() {
            request_animation_frame(move || {
                log.set_scroll_top(log.scroll_height());
                if let Some(newest) = log.last_element_child() {
                    let above = log.get_bounding_client_rect().top() - newest.get_bounding_client_rect().top();
                    if above > 0.0 {
                        log.set_scroll_top(log.scroll_top() - above.ceil() as i32);
                    }
                }
            });
        }
    });
    view! {
        <div class="messages" hidden=move || !console.messages.shown.get()>
            <div class="messages-head">
                <h2 class="messages-title">"Messages"</h2>
                <span class="spring"></span>
                <button type="button" class="button ghost small" on:click=move |_| console.messages.entries.set(Vec::new())>"Clear"</button>
                <button type="button" class="icon-button small" aria-label="Hide messages" title="Hide messages" on:click=move |_| console.messages.shown.set(false)>
                    <Icon glyph=Glyph::Cross />
                </button>
            </div>
            <div node_ref=node class="messages-list" role="log" aria-label="Messages" tabindex="0">
                <For each=move || console.messages.entries.get() key=|entry| entry.number let(entry)>
                    <Entry console entry />
                </For>
            </div>
        </div>
    }
}

/// How an entry looks: its class (the style sheet has the colours), its icon, and what the icon says.
fn look(kind: Kind) -> (&'static str, Glyph, &'static str) {
    match kind {
        Kind::Done => ("entry done", Glyph::Check, "Done"),
        Kind::Debug => ("entry debug", Glyph::Console, "Log"),
        Kind::Notice => ("entry notice", Glyph::Note, "Notice"),
        Kind::Warning => ("entry warning", Glyph::Warning, "Warning"),
        Kind::Error => ("entry error", Glyph::Error, "Error"),
    }
}

#[component]
fn Entry(console: Console, entry: Message) -> impl IntoView {
    let (class, glyph, word) = look(entry.kind);
    let place = entry.mark.map(|mark| {
        view! {
            <button type="button" class="button ghost small" on:click=move |_| {
                if let Some(editor) = console.editor.get_untracked() {
                    editor.reveal.run((mark.from, mark.to));
                    editor.focus.run(());
                }
            }>"Show the place"</button>
        }
    });
    view! {
        <div class=class>
            <span class="entry-glyph" role="img" aria-label=word title=word><Icon glyph /></span>
            <span class="entry-time">{entry.at}</span>
            <div class="entry-body">
                <p class="entry-text">{written(&entry.text)}</p>
                {entry.more.into_iter().map(|line| view! { <p class="entry-more">{written(&line)}</p> }).collect_view()}
                {entry.statement.map(|sql| view! { <p class="entry-sql">{named(&sql)}</p> })}
            </div>
            {place}
        </div>
    }
}
