//! Asks what becomes of an open transaction before its console is closed.

use crate::flows::{run, tabs};
use crate::state::Workbench;
use crate::state::result::{Outcome, Transaction};
use crate::state::words;
use crate::ui::dialog::Modal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::sync::Arc;

/// The question.
#[component]
pub fn CloseDialog(
    /// Which console.
    name: Arc<str>,
) -> impl IntoView {
    let w = Workbench::here();
    let found = w.consoles.list.with_untracked(|all| all.iter().copied().find(|one| one.name() == name));
    found.map(|console| {
        let title = console.title.get_untracked();
        let refused = RwSignal::new(None::<String>);
        let busy = RwSignal::new(false);
        let failed = move || console.slot.transaction.get() == Transaction::Failed;
        let working = move || busy.get() || console.slot.running.with(Option::is_some);
        let why = move || words::no_end(w.link.get());
        let keep = move || w.dialogs.close();
        // The session goes with the console, and all that was not committed with the session.
        let roll_back = move |_| {
            w.dialogs.close();
            tabs::close_now(w, &console.name());
        };
        let commit = move |_| {
            busy.set(true);
            spawn_local(async move {
                if run::apart(w, console, "COMMIT").await && !console.slot.transaction.get_untracked().is_open() {
                    w.dialogs.close();
                    return tabs::close_now(w, &console.name());
                }
                let why = console.slot.outcome.with_untracked(|outcome| outcome.as_ref().and_then(Outcome::reason).map(str::to_owned));
                refused.try_set(Some(why.map_or_else(|| "Not committed".to_owned(), |why| format!("Not committed: {why}"))));
                busy.try_set(false);
            });
        };
        // A refused COMMIT ends a transaction as well.
        let open = move || console.slot.transaction.get().is_open();
        let consequence = move || {
            if !open() {
                "It has ended, and nothing of it is kept."
            } else if failed() {
                "It has failed: the database takes nothing of it any more."
            } else {
                "What it changed is kept only if it is committed."
            }
        };
        view! {
            <Modal label="Close console" class="question" on_close=Callback::new(move |()| keep())>
                <div class="dialog-body">
                    <p>{move || if open() { "A transaction is open in “" } else { "A transaction was open in “" }} <strong>{title}</strong> "”. " {consequence} " The text is kept either way."</p>
                    {move || refused.get().map(|text| view! { <p class="fault" role="alert">{text}</p> })}
                </div>
                <footer class="dialog-foot">
                    <button type="button" class="button" autofocus=true on:click=move |_| keep()>"Keep open"</button>
                    <span class="spring"></span>
                    <button type="button" class="button danger" disabled=working on:click=roll_back>
                        {move || if open() { "Roll back" } else { "Close" }}
                    </button>
                    <Show when=move || open() && !failed()>
                        <button type="button" class="button primary" disabled=move || working() || why().is_some() title=why on:click=commit>"Commit"</button>
                    </Show>
                </footer>
            </Modal>
        }
    })
}
