//! The bar above a console's text: run, cancel, where it runs.

use crate::commands;
use crate::flows::{browse, run};
use crate::state::Workbench;
use crate::state::connections::Load;
use crate::state::consoles::Console;
use crate::state::dialogs::{Menu, MenuItem};
use crate::state::layout::Half;
use crate::state::messages::Kind;
use crate::state::result::Transaction;
use crate::state::words;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::unseen::spelled;
use leptos::prelude::*;
use shared::ids::ConnectionId;
use shared::wire::connection::Connection;
use shared::wire::run::TransactionMode;
use wasm_bindgen::JsCast;

/// The bar.
#[component]
pub fn Toolbar(
    /// Whose.
    console: Console,
) -> impl IntoView {
    let w = Workbench::here();
    let running = move || console.slot.running.with(Option::is_some);
    let cancelling = move || console.slot.running.with(|running| running.as_ref().is_some_and(|running| running.cancelling));
    let transaction = move || console.slot.transaction.get();
    let why = move || words::no_end(w.link.get());
    let no_end = move || running() || why().is_some();
    let run_keys = commands::keys_of("run.statement");
    let choices = move || w.connections.list.with(|list| list.here().cloned().unwrap_or_default());
    let color = move || console.connection.get().and_then(|id| w.connections.get(&id)).and_then(|one| one.fields.color);
    let read_only = move || console.connection.get().and_then(|id| w.connections.get(&id)).is_some_and(|one| one.fields.read_only);
    // The buttons that ended it are gone with it.
    Effect::new(move |was_open: Option<bool>| {
        let is_open = transaction().is_open();
        if was_open == Some(true) && !is_open {
            commands::keep_focus(w);
        }
        is_open
    });
    view! {
        <div class="toolbar" role="toolbar" aria-label="Console">
            <span class="run-group">
                <button
                    type="button"
                    class="button primary with-icon run"
                    disabled=running
                    title=format!("Run the statement under the cursor, or the selection ({run_keys})")
                    on:click=move |_| commands::perform(w, "run.statement")
                >
                    <Icon glyph=Glyph::Play />
                    "Run"
                </button>
                <button
                    type="button"
                    class="button primary run-more"
                    disabled=running
                    aria-label="How to run"
                    aria-haspopup="menu"
                    title="How to run"
                    on:click=move |event| how_to_run(w, &event)
                >
                    <Icon glyph=Glyph::Down />
                </button>
            </span>
            <Show when=move || console.slot.busy()>
                <button
                    type="button"
                    class="button with-icon"
                    title=format!("Cancel ({})", commands::keys_of("run.cancel"))
                    disabled=cancelling
                    on:click=move |_| run::cancel(console)
                >
                    <Icon glyph=Glyph::Stop />
                    "Cancel"
                </button>
            </Show>
            <span class="toolbar-line"></span>
            <span class=move || color().map_or("select connection-select".to_owned(), |color| format!("select connection-select color-{}", color % 8))>
                <span class="connection-dot" aria-hidden="true"></span>
                <select
                    class="field"
                    aria-label="Console runs on"
                    title="Where this console runs"
                    on:change=move |event| take(w, console, &event_target_value(&event))
                    prop:value=move || { w.connections.list.track(); console.connection.get().map(|id| id.0).unwrap_or_default() }
                >
                    <option value="" disabled=true selected=move || console.connection.with(Option::is_none)>"Choose a connection"</option>
                    <For each=choices key=|one| (one.id.clone(), one.fields.name.clone()) let(one)>
                        <Choice console one />
                    </For>
                </select>
                <Icon glyph=Glyph::Down />
            </span>
            <Show when=read_only>
                <span class="badge" title="The database refuses writes on this connection"><Icon glyph=Glyph::Lock />"Read-only"</span>
            </Show>
            <Show when=move || !read_only()>
                <span class="select mode-select" class:by-hand=move || console.mode.get() == TransactionMode::Manual>
                    <select
                        class="field"
                        aria-label="Transactions"
                        title="When what the statements of this console change is kept"
                        on:change=move |event| console.mode.set(mode_of(&event_target_value(&event)))
                        prop:value=move || word_of(console.mode.get())
                    >
                        <option value="auto" selected=move || console.mode.get() == TransactionMode::Auto>"Auto-commit"</option>
                        <option value="manual" selected=move || console.mode.get() == TransactionMode::Manual>"Manual commit"</option>
                    </select>
                    <Icon glyph=Glyph::Down />
                </span>
            </Show>
            <Show when=move || transaction().is_open()>
                <span class="badge" class:warning=move || transaction() == Transaction::Open class:danger=move || transaction() == Transaction::Failed>
                    {move || words::transaction(transaction(), w.link.get())}
                </span>
                <Show when=move || transaction() == Transaction::Open>
                    <button type="button" class="button small" disabled=no_end title=why on:click=move |_| commands::perform(w, "transaction.commit")>"Commit"</button>
                </Show>
                <button type="button" class="button small" disabled=no_end title=why on:click=move |_| commands::perform(w, "transaction.roll_back")>"Roll back"</button>
            </Show>
            <span class="spring"></span>
            <div class="halves" role="group" aria-label="Shown half">
                <HalfButton half=Half::Editor title="Text" />
                <HalfButton half=Half::Result title="Rows" />
            </div>
        </div>
    }
}

fn mode_of(word: &str) -> TransactionMode {
    if word == "manual" { TransactionMode::Manual } else { TransactionMode::Auto }
}

fn word_of(mode: TransactionMode) -> &'static str {
    match mode {
        TransactionMode::Auto => "auto",
        TransactionMode::Manual => "manual",
    }
}

#[component]
fn Choice(console: Console, one: Connection) -> impl IntoView {
    let id = one.id.clone();
    let chosen = move || console.connection.with(|chosen| chosen.as_ref() == Some(&id));
    view! { <option value=one.id.0 selected=chosen>{spelled(&one.fields.name).into_owned()}</option> }
}

#[component]
fn HalfButton(half: Half, title: &'static str) -> impl IntoView {
    let w = Workbench::here();
    view! {
        <button
            type="button"
            class="half"
            aria-pressed=move || (w.layout.half.get() == half).to_string()
            on:click=move |_| w.layout.half.set(half)
        >
            {title}
        </button>
    }
}

/// The menu beside Run.
fn how_to_run(w: Workbench, event: &web_sys::MouseEvent) {
    let Some(button) = event.current_target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) else { return };
    let place = button.parent_element().unwrap_or(button).get_bounding_client_rect();
    let keys = |id: &str| Some(commands::keys_of(id)).filter(|keys| !keys.is_empty());
    let item = |title: &str, id: &'static str| MenuItem {
        title: title.to_owned(),
        keys: keys(id),
        run: Callback::new(move |()| commands::perform(w, id)),
        apart: false,
        checked: None,
    };
    let goes_on = w.past_errors.get_untracked();
    let switch = MenuItem {
        run: Callback::new(move |()| w.go_past_errors(!goes_on)),
        apart: true,
        checked: Some(goes_on),
        ..item("Continue after errors", "script.past_errors")
    };
    let items = vec![item("Run statement", "run.statement"), item("Run script", "run.script"), switch];
    w.dialogs.menu.set(Some(Menu { label: "How to run".to_owned(), x: place.left(), y: place.bottom() + 4.0, items }));
}

/// Takes a connection, and closes the session on the one before; with a transaction open in it the console stays where it is.
fn take(w: Workbench, console: Console, chosen: &str) {
    let id = ConnectionId(chosen.to_owned());
    let known = w.connections.list.with_untracked(|list| matches!(list, Load::Here(all) if all.iter().any(|one| one.id == id)));
    if !known {
        return;
    }
    let before = console.connection.get_untracked();
    if console.slot.transaction.get_untracked().is_open() && before.as_ref() != Some(&id) {
        // What it holds would be lost with the session, and nothing is lost by a choice in a list.
        let why = "This console stays where it is: it has an open transaction. Commit it or roll it back first";
        run::say(console, Kind::Notice, why, None);
        console.messages.shown.set(true);
        console.connection.notify();
        return;
    }
    console.connection.set(Some(id.clone()));
    console.slot.transaction.set(Transaction::None);
    console.slot.mark.set(None);
    w.connections.preferred.set(Some(id.clone()));
    browse::want_catalog(w, &id);
    if let Some(before) = before.filter(|before| *before != id) {
        let (session, window) = (console.session.get_untracked(), w.window.get_value());
        leptos::task::spawn_local(async move {
            let _ = crate::api::forget_session(&before, &session, &window).await;
        });
    }
}
