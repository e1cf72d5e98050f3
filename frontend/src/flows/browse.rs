//! Fetches connections and catalogs.

use crate::api;
use crate::state::Workbench;
use crate::state::connections::Load;
use leptos::prelude::*;
use leptos::task::spawn_local;
use shared::complete::CatalogIndex;
use shared::ids::ConnectionId;
use shared::limits::CATALOG_SCHEMAS_ASKED_MAX;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::{Catalog, WantedSchemas};
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
        let answer = api::catalog(&id).await;
        keep(w, id, answer);
    });
}

/// Fetches the contents of those of these schemas of which only names are here, unless they are on their way.
pub fn want_schemas(w: Workbench, id: &ConnectionId, schemas: Vec<String>) {
    let partial = w.connections.catalogs.with_untracked(|all| {
        let catalog = all.get(id).and_then(Load::here)?;
        Some(schemas.into_iter().filter(|name| catalog.schema(name).is_some_and(|schema| schema.partial)).collect::<Vec<_>>())
    });
    let wanted = w.connections.wanted_schemas.try_update_value(|all| {
        let coming = all.entry(id.clone()).or_default();
        partial.unwrap_or_default().into_iter().filter(|name| coming.insert(name.clone())).collect::<Vec<_>>()
    });
    for part in wanted.unwrap_or_default().chunks(CATALOG_SCHEMAS_ASKED_MAX) {
        let (id, wanted) = (id.clone(), WantedSchemas { schemas: part.to_vec() });
        spawn_local(async move {
            let answer = api::catalog_schemas(&id, &wanted).await;
            w.connections.wanted_schemas.try_update_value(|all| {
                if let Some(coming) = all.get_mut(&id) {
                    coming.retain(|name| !wanted.schemas.contains(name));
                }
            });
            put_in(w, id, &wanted.schemas, answer);
        });
    }
}

/// Puts the contents of schemas into the catalog that is here by now.
fn put_in(w: Workbench, id: ConnectionId, wanted: &[String], answer: Result<Catalog, Problem>) {
    let Some(mut catalog) = w.connections.catalogs.with_untracked(|all| all.get(&id)?.here().cloned()) else { return };
    let answer = answer.map(|answer| {
        Arc::make_mut(&mut catalog).put_in(wanted, answer);
        Arc::unwrap_or_clone(catalog)
    });
    keep(w, id, answer);
}

/// What is to be known whole of a catalog that has just come: where unqualified names are looked up, and what was known whole before.
fn want_again(w: Workbench, id: &ConnectionId, before: Option<&Catalog>) {
    let wanted = w.connections.catalogs.with_untracked(|all| {
        let catalog = all.get(id)?.here()?;
        let was_whole = |name: &str| before.and_then(|before| before.schema(name)).is_some_and(|schema| !schema.partial);
        let is_in_path = |name: &String| catalog.search_path.contains(name);
        let partial = catalog.schemas.iter().filter(|schema| schema.partial && !schema.denied);
        let wanted = partial.filter(|schema| was_whole(&schema.name) || (!schema.system && is_in_path(&schema.name)));
        Some(wanted.map(|schema| schema.name.clone()).collect::<Vec<_>>())
    });
    want_schemas(w, id, wanted.unwrap_or_default());
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
    let known = w.connections.catalogs.with_untracked(|all| all.get(id)?.here().map(|catalog| catalog.known()));
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
    let is_here = answer.is_ok();
    let mut before = None;
    w.connections.catalogs.update(|all| {
        let old = all.remove(&id).unwrap_or_default();
        let load = match answer {
            Ok(catalog) => {
                before = old.here().cloned();
                Load::Here(Arc::new(catalog))
            }
            Err(problem) => old.failed(problem),
        };
        all.insert(id.clone(), load);
    });
    if is_here {
        want_again(w, &id, before.as_deref());
    }
}
