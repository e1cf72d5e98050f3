//! The log of a console.

use crate::state::consoles::Console;
use crate::state::messages::{Kind, Message};
use crate::ui::icon::{Glyph, Icon};
use crate::ui::marks::{named, written};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{HtmlDivElement, ResizeObserver};

/// The log.
#[component]
pub fn MessageLog(
    /// Whose.
    console: Console,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    let at_newest = StoredValue::new(true);
    // As it was when it was last brought into sight: what scrolls with another height was scrolled by that, not by a person.
    let height = StoredValue::new(0);
    Effect::new(move |_| {
        console.messages.entries.track();
        console.messages.shown.track();
        if let Some(log) = node.get() {
            at_newest.set_value(true);
            request_animation_frame(move || show_newest(&log));
        }
    });
    follow_size(node, move || {
        let Some(log) = node.get_untracked() else { return };
        height.set_value(log.client_height());
        if at_newest.get_value() {
            show_newest(&log);
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
            <div
                node_ref=node
                class="messages-list"
                role="log"
                aria-label="Messages"
                tabindex="0"
                on:scroll=move |_| if let Some(log) = node.get_untracked().filter(|log| log.client_height() == height.get_value()) {
                    at_newest.set_value(shows_newest(&log));
                }
            >
                <For each=move || console.messages.entries.get() key=|entry| entry.number let(entry)>
                    <Entry console entry />
                </For>
            </div>
        </div>
    }
}

/// Scrolls the newest entry into sight, from its beginning.
fn show_newest(log: &HtmlDivElement) {
    log.set_scroll_top(log.scroll_height());
    if let Some(newest) = log.last_element_child() {
        let above = log.get_bounding_client_rect().top() - newest.get_bounding_client_rect().top();
        if above > 0.0 {
            log.set_scroll_top(log.scroll_top() - above.ceil() as i32);
        }
    }
}

/// Something of the newest entry is in sight.
fn shows_newest(log: &HtmlDivElement) -> bool {
    let newest = log.last_element_child().map(|newest| newest.get_bounding_client_rect());
    newest.is_none_or(|newest| newest.top() < log.get_bounding_client_rect().bottom())
}

/// Calls whenever the log has another size than before, for as long as it is drawn.
fn follow_size(node: NodeRef<html::Div>, resized: impl Fn() + 'static) {
    let resized = Closure::<dyn FnMut()>::new(resized);
    let observer = ResizeObserver::new(resized.as_ref().unchecked_ref()).ok();
    let held = StoredValue::new_local(Some((observer, resized)));
    Effect::new(move |_| {
        if let Some(log) = node.get() {
            held.with_value(|held| {
                if let Some((Some(observer), _)) = held {
                    observer.observe(&log);
                }
            });
        }
    });
    on_cleanup(move || {
        if let Some((Some(observer), _)) = held.try_update_value(Option::take).flatten() {
            observer.disconnect();
        }
    });
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
