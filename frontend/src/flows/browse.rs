//! Fetches connections and catalogs.

use crate::api::{self, timer};
use crate::state::Workbench;
use crate::state::connections::Load;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::complete::CatalogIndex;
use shared::ids::ConnectionId;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::connection::EngineKind;
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
        let unanswered = |load: &Load<_>| load.problem().is_some_and(|problem| problem.code == ErrorCode::Internal);
        all.iter().filter(|(_, load)| unanswered(load)).map(|(id, _)| id.clone()).collect()
    });
    for id in failed.iter().filter(|id| untrack(|| w.connections.get(id)).is_some()) {
        fetch_catalog(w, id);
    }
}

/// A catalog that is not here by then is a large one: its names are asked for on their own.
const NAMES_AFTER_MS: u32 = 250;

/// Fetches a catalog anew, all of it; the old one is shown until then.
pub fn fetch_catalog(w: Workbench, id: &ConnectionId) {
    let id = id.clone();
    let catalogs = w.connections.catalogs;
    if catalogs.with_untracked(|all| all.get(&id).is_none_or(|load| load.here().is_none())) {
        catalogs.update(|all| {
            all.insert(id.clone(), Load::Coming);
        });
        fetch_names(w, &id);
    }
    spawn_local(async move {
        let answer = api::catalog(&id).await;
        keep(w, id, answer);
    });
}

/// Shows the names alone where the whole takes its time. Only PostgreSQL has them sooner than the rest.
fn fetch_names(w: Workbench, id: &ConnectionId) {
    if untrack(|| w.connections.engine(Some(id))) != EngineKind::Postgres {
        return;
    }
    let id = id.clone();
    let catalogs = w.connections.catalogs;
    let is_coming = move |id: &ConnectionId| catalogs.with_untracked(|all| matches!(all.get(id), Some(Load::Coming)));
    spawn_local(async move {
        timer::rest(NAMES_AFTER_MS).await;
        if !is_coming(&id) {
            return;
        }
        // What is wrong with it the answer to the whole tells.
        let Ok(names) = api::catalog_names(&id).await else { return };
        if is_coming(&id) {
            take_index(w, &id, &names);
            catalogs.update(|all| {
                all.insert(id, Load::Partly(Arc::new(names)));
            });
        }
    });
}

fn take_index(w: Workbench, id: &ConnectionId, catalog: &Catalog) {
    let index = Arc::new(CatalogIndex::build(catalog));
    w.connections.indexes.update(|all| {
        all.insert(id.clone(), index);
    });
}

/// Something in the database may have changed: fetches the schemas that did. What is asked for while a question is on its way is
/// asked once, when its answer is here: a script may define a hundred tables.
pub fn refresh_catalog(w: Workbench, id: &ConnectionId) {
    let is_first = w.connections.refreshing.try_update_value(|all| match all.get_mut(id) {
        Some(again) => {
            *again = true;
            false
        }
        None => all.insert(id.clone(), false).is_none(),
    });
    if is_first == Some(true) {
        let id = id.clone();
        spawn_local(async move { while refresh(w, &id).await {} });
    }
}

/// True where it has to be asked once more.
async fn refresh(w: Workbench, id: &ConnectionId) -> bool {
    // Names alone have no versions to ask with.
    let whole = |load: &Load<Arc<Catalog>>| load.here().filter(|_| !load.is_coming()).map(|catalog| catalog.known());
    let known = w.connections.catalogs.with_untracked(|all| all.get(id).and_then(whole));
    match known {
        None => keep(w, id.clone(), api::catalog(id).await),
        Some(known) => match api::catalog_changes(id, &known).await {
            Ok(news) => take_in(w, id, news),
            Err(problem) => keep(w, id.clone(), Err(problem)),
        },
    }
    let asked_again = w.connections.refreshing.try_update_value(|all| {
        let again = all.remove(id).unwrap_or_default();
        if again {
            all.insert(id.clone(), false);
        }
        again
    });
    asked_again == Some(true)
}

/// Puts what changed into the catalog that is here; the whole is fetched where the two do not fit.
fn take_in(w: Workbench, id: &ConnectionId, mut news: Catalog) {
    let catalogs = w.connections.catalogs;
    let Some(old) = catalogs.with_untracked(|all| all.get(id)?.here().cloned()) else { return fetch_catalog(w, id) };
    if news.is_unchanged(&old) {
        return still_so(w, id);
    }
    if news.take_over(Arc::unwrap_or_clone(old)) { keep(w, id.clone(), Ok(news)) } else { fetch_catalog(w, id) }
}

/// What is here is what the database has; it may have been said to be old.
fn still_so(w: Workbench, id: &ConnectionId) {
    let catalogs = w.connections.catalogs;
    let stale = catalogs.with_untracked(|all| match all.get(id) {
        Some(Load::Stale(catalog, _)) => Some(catalog.clone()),
        _ => None,
    });
    if let Some(catalog) = stale {
        catalogs.update(|all| {
            all.insert(id.clone(), Load::Here(catalog));
        });
    }
}

/// What a question for a catalog came to. Where it failed the one that is here stays, and is said to be old.
fn keep(w: Workbench, id: ConnectionId, answer: Result<Catalog, Problem>) {
    if let Ok(catalog) = &answer {
        take_index(w, &id, catalog);
    }
    w.connections.catalogs.update(|all| {
        let load = match answer {
            Ok(catalog) => Load::Here(Arc::new(catalog)),
            Err(problem) => all.remove(&id).unwrap_or_default().failed(problem),
        };
        all.insert(id, load);
    });
}
