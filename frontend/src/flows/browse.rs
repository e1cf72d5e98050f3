//! Fetches connections and catalogs.

use crate::api;
use crate::state::Workbench;
use crate::state::connections::Load;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::complete::CatalogIndex;
use shared::ids::ConnectionId;
use shared::problem::ErrorCode;
use std::sync::Arc;

/// Fetches the list of connections; what is shown stays until the answer is here.
pub async fn connections(w: Workbench) {
    if w.connections.list.with_untracked(|list| list.here().is_none()) {
        w.connections.list.set(Load::Coming);
    }
    match api::connections().await {
        Ok(all) => w.connections.list.set(Load::Here(all)),
        Err(problem) if w.connections.list.with_untracked(|list| list.here().is_none()) => w.connections.list.set(Load::Failed(problem)),
        // The list that is shown is better than none; the status line tells of a lost link.
        Err(_) => {}
    }
}

/// Fetches a catalog unless it is here or on its way.
pub fn want_catalog(w: Workbench, id: &ConnectionId) {
    let asked = w.connections.catalogs.with_untracked(|all| all.get(id).is_some_and(|load| !matches!(load, Load::Absent)));
    if !asked {
        fetch_catalog(w, id);
    }
}

/// Asks again for the catalogs whose request found no server.
pub fn retry_unanswered(w: Workbench) {
    let failed: Vec<ConnectionId> = w.connections.catalogs.with_untracked(|all| {
        let unanswered = |load: &Load<_>| matches!(load, Load::Failed(problem) if problem.code == ErrorCode::Internal);
        all.iter().filter(|(_, load)| unanswered(load)).map(|(id, _)| id.clone()).collect()
    });
    for id in failed.iter().filter(|id| untrack(|| w.connections.get(id)).is_some()) {
        fetch_catalog(w, id);
    }
}

/// Fetches a catalog anew; the old one is shown until then.
pub fn fetch_catalog(w: Workbench, id: &ConnectionId) {
    let id = id.clone();
    let catalogs = w.connections.catalogs;
    if catalogs.with_untracked(|all| all.get(&id).is_none_or(|load| load.here().is_none())) {
        catalogs.update(|all| {
            all.insert(id.clone(), Load::Coming);
        });
    }
    spawn_local(async move {
        let load = match api::catalog(&id).await {
            Ok(catalog) => {
                let index = Arc::new(CatalogIndex::build(&catalog));
                w.connections.indexes.update(|all| {
                    all.insert(id.clone(), index);
                });
                Load::Here(Arc::new(catalog))
            }
            Err(problem) => Load::Failed(problem),
        };
        catalogs.update(|all| {
            all.insert(id, load);
        });
    });
}
