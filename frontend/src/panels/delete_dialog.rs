//! Asks before a connection is deleted.

use crate::flows::connect;
use crate::state::Workbench;
use crate::ui::dialog::Modal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::ids::ConnectionId;

/// The question.
#[component]
pub fn DeleteDialog(
    /// Which connection.
    id: ConnectionId,
) -> impl IntoView {
    let w = Workbench::here();
    let name = untrack(|| w.connections.get(&id)).map(|one| one.fields.name).unwrap_or_default();
    let of_it = id.clone();
    let has_open = move || {
        w.consoles
            .list
            .with(|all| all.iter().any(|one| one.connection.get().as_ref() == Some(&of_it) && one.slot.transaction.get().is_open()))
    };
    let failed = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    let delete = move |_| {
        let id = id.clone();
        busy.set(true);
        spawn_local(async move {
            match connect::delete(w, id).await {
                Ok(()) => w.dialogs.close(),
                Err(problem) => {
                    failed.set(Some(problem.message));
                    busy.set(false);
                }
            }
        });
    };
    view! {
        <Modal label="Delete connection" class="question" on_close=Callback::new(move |()| w.dialogs.close())>
            <div class="dialog-body">
                <p>"Delete the connection “" <strong>{name}</strong> "”? The database itself stays as it is, and consoles keep their texts."</p>
                <Show when=has_open>
                    <p class="fault">"A console on it has an open transaction: it will be rolled back, and what it changed is lost."</p>
                </Show>
                {move || failed.get().map(|text| view! { <p class="fault" role="alert">{text}</p> })}
            </div>
            <footer class="dialog-foot">
                <span class="spring"></span>
                <button type="button" class="button" on:click=move |_| w.dialogs.close()>"Keep"</button>
                <button type="button" class="button danger" disabled=move || busy.get() on:click=delete>"Delete"</button>
            </footer>
        </Modal>
    }
}
