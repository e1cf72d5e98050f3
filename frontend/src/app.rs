//! The page: signing in, then explorer, consoles and status line; and what floats over them.
//!
//! The only module that mounts the editor and the grid.

mod console;

use crate::api;
use crate::boot::{self, SignIn};
use crate::commands;
use crate::explorer::Explorer;
use crate::flows::{browse, keep, listen, sessions, tabs};
use crate::panels::close_dialog::CloseDialog;
use crate::panels::connection_dialog::ConnectionDialog;
use crate::panels::delete_dialog::DeleteDialog;
use crate::panels::keys_dialog::KeysDialog;
use crate::panels::palette::{OpenAnything, Palette};
use crate::panels::parameters_dialog::ParametersDialog;
use crate::panels::sign_in::SignInPage;
use crate::panels::status::StatusLine;
use crate::panels::tabs::Tabs;
use crate::state::Workbench;
use crate::state::dialogs::Dialog;
use crate::state::layout::{EXPLORER_PX, Half};
use crate::ui;
use crate::ui::menu::MenuLayer;
use crate::ui::splitter::{Lie, Splitter};
use console::ConsoleView;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The whole page.
#[component]
pub fn App() -> impl IntoView {
    let w = Workbench::new();
    provide_context(w);
    let sign_in = RwSignal::new(SignIn::Coming);
    Effect::new(move |_| keep::theme(w.theme.get()));
    api::on_refused(move || {
        boot::forget_bearer();
        sign_in.set(SignIn::Needed(Some("The server no longer knows this browser".to_owned())));
    });
    let code = boot::take_launch_code();
    spawn_local(async move { sign_in.set(boot::sign_in(code).await) });
    move || match sign_in.get() {
        SignIn::Coming => ().into_any(),
        SignIn::Needed(_) => view! { <SignInPage sign_in /> }.into_any(),
        SignIn::Done => view! { <Workspace /> }.into_any(),
    }
}

#[component]
fn Workspace() -> impl IntoView {
    let w = Workbench::here();
    if w.consoles.list.with_untracked(Vec::is_empty) {
        keep::restore(w);
        sessions::adopt(w);
    }
    keep::follow(w);
    commands::listen(w);
    spawn_local(listen::listen(w));
    spawn_local(async move {
        browse::connections(w).await;
        settle(w);
    });
    // Each console's catalog is wanted as soon as the console is shown: completion lives on it.
    Effect::new(move |_| {
        if let Some(id) = w.consoles.shown().and_then(|console| console.connection.get())
            && w.connections.get(&id).is_some()
        {
            browse::want_catalog(w, &id);
        }
    });
    view! {
        <div
            class="app"
            class:explorer-hidden=move || !w.layout.explorer_shown.get()
            class:drawer-out=move || w.layout.drawer_out.get()
            class:half-editor=move || w.layout.half.get() == Half::Editor
            class:half-result=move || w.layout.half.get() == Half::Result
        >
            <nav class="side" aria-label="Explorer" style:width=move || format!("{}px", w.layout.explorer_px.get())>
                <Explorer />
            </nav>
            <div class="drawer-scrim" on:click=move |_| w.layout.drawer_out.set(false)></div>
            <Splitter label="Width of the explorer" lie=Lie::Upright value=w.layout.explorer_px bounds=EXPLORER_PX per_px=|_| 1.0 step=16.0 />
            <main class="main">
                <Tabs />
                <div class="consoles">
                    <For each=move || w.consoles.list.get() key=|console| console.name() let(console)>
                        <ConsoleView console />
                    </For>
                    <Show when=move || w.consoles.list.with(Vec::is_empty)>
                        <NoConsole />
                    </Show>
                </div>
            </main>
            <StatusLine />
        </div>
        <Floating />
        <MenuLayer menu=w.dialogs.menu />
    }
}

/// Once the connections are known: consoles without one get one, and the first start opens a console.
fn settle(w: Workbench) {
    if w.connections.list.with_untracked(|list| list.here().is_none()) {
        return;
    }
    tabs::settle(w);
    if w.consoles.list.with_untracked(Vec::is_empty) {
        tabs::open_empty(w);
        commands::focus_editor_soon(w);
    }
}

#[component]
fn NoConsole() -> impl IntoView {
    let w = Workbench::here();
    view! {
        <div class="empty">
            <p class="empty-title">"No console is open"</p>
            <p class="empty-text">"A console holds SQL and the result of its last run"</p>
            <button id=ui::NO_CONSOLE type="button" class="button primary" on:click=move |_| commands::perform(w, "console.new")>"Open a console"</button>
        </div>
    }
}

/// The open dialog, if there is one.
#[component]
fn Floating() -> impl IntoView {
    let w = Workbench::here();
    Effect::new(move |before: Option<bool>| {
        let open = w.dialogs.open.with(Option::is_some) || w.dialogs.menu.with(Option::is_some);
        if before == Some(true) && !open {
            commands::keep_focus(w);
        }
        open
    });
    move || {
        w.dialogs.open.get().map(|dialog| match dialog {
            Dialog::Palette => view! { <Palette /> }.into_any(),
            Dialog::Open => view! { <OpenAnything /> }.into_any(),
            Dialog::Keys => view! { <KeysDialog /> }.into_any(),
            Dialog::Connection(id) => view! { <ConnectionDialog id reason=None /> }.into_any(),
            Dialog::Mend(id, reason) => view! { <ConnectionDialog id=Some(id) reason=Some(*reason) /> }.into_any(),
            Dialog::DeleteConnection(id) => view! { <DeleteDialog id /> }.into_any(),
            Dialog::Parameters(asked) => view! { <ParametersDialog asked /> }.into_any(),
            Dialog::CloseConsole(name) => view! { <CloseDialog name /> }.into_any(),
        })
    }
}
