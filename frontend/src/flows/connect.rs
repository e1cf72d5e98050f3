//! Saves, changes and deletes connections.

use super::{browse, tabs};
use crate::api;
use crate::state::Workbench;
use crate::state::result::Transaction;
use leptos::prelude::*;
use shared::ids::ConnectionId;
use shared::problem::Problem;
use shared::wire::connection::{ConnectionInput, TestResult};

/// Tries fields, as a change of a saved connection where one is edited: the secrets that the server holds stay there.
pub async fn test(saved: Option<ConnectionId>, input: ConnectionInput) -> Result<TestResult, Problem> {
    match saved {
        Some(id) => api::test_connection(&id, &input).await,
        None => api::test_fields(&input).await,
    }
}

/// Saves fields as a new connection, with a console on it, or over `id`.
pub async fn save(w: Workbench, id: Option<ConnectionId>, input: ConnectionInput) -> Result<(), Problem> {
    let (id, is_new) = match id {
        Some(id) => {
            api::change_connection(&id, &input).await?;
            w.connections.catalogs.update(|all| {
                all.remove(&id);
            });
            (id, false)
        }
        None => (api::create_connection(&input).await?, true),
    };
    browse::connections(w).await;
    w.connections.preferred.set(Some(id.clone()));
    if is_new {
        tabs::open_on(w, &id);
        w.connections.wanted_in_sight.set(Some(id));
    }
    Ok(())
}

/// Deletes a connection; consoles keep their texts, and none of them goes to another database by itself.
pub async fn delete(w: Workbench, id: ConnectionId) -> Result<(), Problem> {
    api::delete_connection(&id).await?;
    for console in w.consoles.list.get_untracked() {
        if console.connection.with_untracked(|on| on.as_ref() == Some(&id)) {
            console.connection.set(None);
            console.slot.transaction.set(Transaction::None);
        }
    }
    w.connections.catalogs.update(|all| {
        all.remove(&id);
    });
    browse::connections(w).await;
    Ok(())
}
