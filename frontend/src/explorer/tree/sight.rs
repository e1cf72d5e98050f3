//! What the tree unfolds and shows by itself: at the start, and where somebody wants to see a connection.
//!
//! Invariant: the focus stays where it is.

use super::super::rows::{Node, first_schema, keys, unread_schemas};
use super::{Walk, fold, reveal};
use crate::flows::browse;
use crate::state::connections::Load;
use leptos::prelude::*;
use shared::ids::ConnectionId;
use std::collections::HashSet;

/// At the start, what was unfolded is so again; at the very first, the tables of the first connection are in sight.
pub(super) fn unfold_first(walk: Walk) {
    let done = StoredValue::new(false);
    // A catalog that comes for an unfolded connection unfolds its main schema, once; not where a person's own folds were kept.
    let seen = StoredValue::new(HashSet::<ConnectionId>::new());
    Effect::new(move |_| {
        if done.get_value() {
            return;
        }
        let wanted = walk.w.consoles.shown().and_then(|console| console.connection.get());
        let Some(id) = walk.w.connections.list.with(|list| {
            let all = list.here()?;
            all.iter().find(|one| Some(&one.id) == wanted.as_ref()).or_else(|| all.first()).map(|one| one.id.clone())
        }) else {
            return;
        };
        done.set_value(true);
        if take_up(walk, seen) {
            return;
        }
        browse::want_catalog(walk.w, &id);
        walk.unfolded.update(|unfolded| {
            unfolded.insert(keys::connection(&id));
        });
    });
    Effect::new(move |_| {
        let unfolded = walk.unfolded.get();
        let main: Vec<(ConnectionId, String)> = walk.w.connections.catalogs.with(|all| {
            let here = all.iter().filter_map(|(id, load)| Some((id.clone(), first_schema(load.here()?)?.to_owned())));
            here.filter(|(id, _)| unfolded.contains(&keys::connection(id)) && seen.with_value(|seen| !seen.contains(id))).collect()
        });
        for (id, schema) in main {
            walk.unfolded.update(|unfolded| {
                unfolded.insert(keys::schema(&id, &schema));
            });
            seen.update_value(|seen| {
                seen.insert(id);
            });
        }
    });
}

/// Asks for what is in schemas that are unfolded, where only their names are here. Where that failed it is told, and not asked again by itself.
pub(super) fn read_unfolded(walk: Walk) {
    Effect::new(move |_| {
        let unfolded = walk.unfolded.get();
        let unread: Vec<(ConnectionId, Vec<String>)> = walk.w.connections.catalogs.with(|all| {
            let here = all.iter().filter_map(|(id, load)| if let Load::Here(catalog) = load { Some((id, catalog)) } else { None });
            here.map(|(id, catalog)| (id.clone(), unread_schemas(id, catalog, &unfolded))).collect()
        });
        for (id, schemas) in unread {
            browse::want_schemas(walk.w, &id, schemas);
        }
    });
}

/// Takes up what was kept as unfolded, without what is gone; false where nothing was kept, or nothing of what is there.
fn take_up(walk: Walk, seen: StoredValue<HashSet<ConnectionId>>) -> bool {
    if !walk.w.layout.unfolded_kept.get_value() {
        return false;
    }
    let known: Vec<ConnectionId> =
        walk.w.connections.list.with_untracked(|list| list.here().into_iter().flatten().map(|one| one.id.clone()).collect());
    let is_of = |key: &str, id: &ConnectionId| key.split('/').next() == Some(id.0.as_str());
    let before = walk.unfolded.with_untracked(HashSet::len);
    walk.unfolded.update(|unfolded| unfolded.retain(|key| known.iter().any(|id| is_of(key, id))));
    for id in &known {
        if walk.unfolded.with_untracked(|unfolded| unfolded.contains(&keys::connection(id))) {
            seen.update_value(|seen| {
                seen.insert(id.clone());
            });
            browse::want_catalog(walk.w, id);
        }
    }
    before == 0 || walk.unfolded.with_untracked(|unfolded| !unfolded.is_empty())
}

/// Unfolds and chooses the connection that somebody wants to see here; the focus stays where it is.
pub(super) fn bring_in_sight(walk: Walk) {
    let wanted = walk.w.connections.wanted_in_sight;
    // Until its catalog is here: then what is below it is brought in sight too.
    let waiting = StoredValue::new(None::<ConnectionId>);
    Effect::new(move |_| {
        let count = walk.shown.with(Vec::len);
        let Some(id) = waiting.get_value() else { return };
        if !matches!(walk.w.connections.catalog(&id), Load::Absent | Load::Coming) && count > 0 {
            waiting.set_value(None);
            // Twice: its schema is unfolded by the same news, and drawn a frame later.
            request_animation_frame(move || request_animation_frame(move || reveal_with_children(walk, &keys::connection(&id))));
        }
    });
    Effect::new(move |_| {
        let Some(id) = wanted.get() else { return };
        wanted.set(None);
        waiting.set_value(Some(id.clone()));
        let key = keys::connection(&id);
        fold(walk, &key, &Node::Connection(id), Some(true));
        let at = walk.shown.with_untracked(|all| all.iter().position(|row| row.key == key));
        walk.active.set(Some(key));
        if let Some(at) = at {
            reveal(walk, at);
        }
    });
}

/// Scrolls as little as shows a row and what is below it, as far as there is room for that.
fn reveal_with_children(walk: Walk, key: &str) {
    let Some((at, last)) = walk.shown.with_untracked(|all| {
        let at = all.iter().position(|row| row.key == key)?;
        let level = all.get(at)?.level;
        let below = all.iter().skip(at + 1).take_while(|row| row.level > level).count();
        Some((at, at + below))
    }) else {
        return;
    };
    reveal(walk, last);
    reveal(walk, at);
}
