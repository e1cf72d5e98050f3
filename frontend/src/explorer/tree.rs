//! The tree itself: the rows in sight, the focus that walks them, what a row does.

mod sight;

use super::ACTIVE_ROW;
use super::rows::{Node, Row, line_count, row_on_line, rows};
use crate::flows::{browse, tabs};
use crate::state::Workbench;
use crate::state::dialogs::{Dialog, Menu, MenuItem};
use crate::state::words;
use crate::ui::icon::Icon;
use crate::ui::marks::named;
use crate::ui::unseen::spelled;
use crate::ui::{focus_soon, on_mac};
use leptos::attr::custom::custom_attribute;
use leptos::html;
use leptos::prelude::*;
use shared::ids::ConnectionId;
use sight::{bring_in_sight, read_unfolded, unfold_first};
use std::collections::HashSet;
use web_sys::KeyboardEvent;

/// Height of a row; the same as `--row` of the tokens.
const ROW_PX: f64 = 24.0;
/// Steps in which the tree follows its width.
const WIDTH_STEP_PX: f64 = 24.0;
/// Rows drawn beyond what is in sight.
const BEYOND: usize = 8;

/// What the tree is in the middle of; cheap to copy.
#[derive(Clone, Copy)]
struct Walk {
    w: Workbench,
    unfolded: RwSignal<HashSet<String>>,
    active: RwSignal<Option<String>>,
    shown: Memo<Vec<Row>>,
    scroll: RwSignal<f64>,
    height: RwSignal<f64>,
    viewport: NodeRef<html::Div>,
    typed: StoredValue<(String, f64)>,
}

/// The tree.
#[component]
pub fn Tree(
    /// Shows only what holds this.
    filter: RwSignal<String>,
) -> impl IntoView {
    let w = Workbench::here();
    let unfolded = w.layout.unfolded;
    // In steps: the rows are not made anew for each pixel that the explorer is drawn wider.
    let width_px = Memo::new(move |_| (w.layout.explorer_px.get() / WIDTH_STEP_PX).floor() * WIDTH_STEP_PX);
    let shown = Memo::new(move |_| {
        let list = w.connections.list.get();
        let connections = list.here().map(Vec::as_slice).unwrap_or_default();
        rows(connections, |id| w.connections.catalog(id), &unfolded.read(), &filter.read(), width_px.get())
    });
    let walk = Walk {
        w,
        unfolded,
        active: RwSignal::new(None),
        shown,
        scroll: RwSignal::new(0.0),
        height: RwSignal::new(600.0),
        viewport: NodeRef::new(),
        typed: StoredValue::new((String::new(), 0.0)),
    };
    unfold_first(walk);
    bring_in_sight(walk);
    read_unfolded(walk);
    measure(walk);
    let active_at = Memo::new(move |_| {
        let active = walk.active.get();
        walk.shown.with(|all| all.iter().position(|row| Some(&row.key) == active.as_ref()).unwrap_or(0))
    });
    let window = Memo::new(move |_| {
        let (first, lines) = ((walk.scroll.get() / ROW_PX) as usize, (walk.height.get() / ROW_PX) as usize);
        walk.shown.with(|all| {
            let from = row_on_line(all, first).saturating_sub(BEYOND);
            (from, (row_on_line(all, first + lines) + 1 + BEYOND).min(all.len()))
        })
    });
    // The active row is drawn wherever it is, so that Tab comes back to it.
    let drawn = move || {
        let (from, to) = window.get();
        let active = active_at.get();
        walk.shown.with(|all| {
            let sight = all.iter().enumerate().skip(from).take(to - from);
            let apart = all.iter().enumerate().skip(active).take(1).filter(|(at, _)| !(from..to).contains(at));
            sight.chain(apart).map(|(at, row)| (at, row.clone())).collect::<Vec<_>>()
        })
    };
    view! {
        <div
            node_ref=walk.viewport
            class="tree"
            on:scroll=move |_| {
                if let Some(element) = walk.viewport.get_untracked() {
                    walk.scroll.set(f64::from(element.scroll_top()));
                }
            }
        >
            <div
                class="tree-rows"
                role="tree"
                aria-label="Explorer"
                style:height=move || format!("{}px", walk.shown.with(|all| line_count(all)) as f64 * ROW_PX)
                on:keydown=move |event| pressed(walk, &event)
            >
                <For each=drawn key=|(at, row)| (*at, fixed(row)) let((at, row))>
                    <TreeRow walk at row active_at />
                </For>
            </div>
        </div>
    }
}

/// A row without what its element follows by itself.
fn fixed(row: &Row) -> Row {
    Row { unfolded: row.unfolded.map(|_| false), ..row.clone() }
}

#[component]
fn TreeRow(walk: Walk, at: usize, row: Row, active_at: Memo<usize>) -> impl IntoView {
    let is_active = move || active_at.get() == at;
    let key = StoredValue::new(row.key.clone());
    let node = StoredValue::new(row.node.clone());
    let opens = row.unfolded.is_some();
    let unfolded = move || walk.shown.with(|all| all.get(at).and_then(|row| row.unfolded).unwrap_or(false));
    let color = row.color.map(|color| format!(" color-{}", color % 8)).unwrap_or_default();
    let class = match row.node {
        Node::Connection(_) => "tree-row connection",
        Node::Schema(..) => "tree-row schema",
        Node::Relation(..) => "tree-row relation",
        Node::Column(..) => "tree-row column",
        Node::Failed(..) => "tree-row failed",
        Node::Coming | Node::Nothing => "tree-row quiet",
    };
    let failed =
        if let Node::Failed(id, wants_password) = &row.node { Some((StoredValue::new(id.clone()), *wants_password)) } else { None };
    view! {
        <div
            id=move || is_active().then_some(ACTIVE_ROW)
            class=format!("{class}{color}{}", if row.dim { " dim" } else { "" })
            role="treeitem"
            tabindex=move || if is_active() { "0" } else { "-1" }
            {..custom_attribute("aria-level", row.level.to_string())}
            aria-setsize=row.place.1.to_string()
            aria-posinset=row.place.0.to_string()
            aria-selected=move || is_active().to_string()
            aria-expanded=move || opens.then(|| unfolded().to_string())
            title=spelled(&row.label).into_owned()
            style:top=format!("{}px", row.lines.0 as f64 * ROW_PX)
            style:height=format!("{}px", row.lines.1 as f64 * ROW_PX)
            style:padding-left=format!("{}px", 8 + (row.level - 1) * 14)
            on:focus=move |_| choose(walk, key.get_value(), &node.get_value())
            on:click=move |_| {
                choose(walk, key.get_value(), &node.get_value());
                if opens && !matches!(node.get_value(), Node::Relation(..)) {
                    fold(walk, &key.get_value(), &node.get_value(), None);
                }
            }
            on:dblclick=move |_| if matches!(node.get_value(), Node::Relation(..)) { open(walk, &node.get_value()) }
            on:contextmenu=move |event| {
                event.prevent_default();
                choose(walk, key.get_value(), &node.get_value());
                show_menu(walk, &node.get_value(), f64::from(event.client_x()), f64::from(event.client_y()));
            }
        >
            <span
                class="twisty"
                class:open=move || opens && unfolded()
                aria-hidden="true"
                on:click=move |event| {
                    event.stop_propagation();
                    fold(walk, &key.get_value(), &node.get_value(), None);
                }
            >
                {opens.then(|| view! { <Icon glyph=crate::ui::icon::Glyph::Right /> })}
            </span>
            <span class="tree-glyph"><Icon glyph=row.glyph /></span>
            <span class="tree-label">{named(&row.label)}</span>
            " "
            <span class="tree-detail">{row.detail}</span>
            {(!row.says.is_empty()).then(|| view! { " " <span class="visually-hidden">{row.says}</span> })}
            {failed.map(|(id, wants_password)| view! {
                <button type="button" class="button small" tabindex="-1" on:click=move |event| {
                    event.stop_propagation();
                    retry(walk.w, &id.get_value(), wants_password);
                }>{if wants_password { "Password…" } else { "Retry" }}</button>
            })}
        </div>
    }
}

/// Follows the height of what is in sight.
fn measure(walk: Walk) {
    let take = move || {
        if let Some(element) = walk.viewport.get_untracked() {
            walk.height.set(f64::from(element.client_height().max(200)));
        }
    };
    Effect::new(move |_| {
        walk.viewport.track();
        request_animation_frame(take);
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| take());
    on_cleanup(move || resized.remove());
}

fn choose(walk: Walk, key: String, node: &Node) {
    if walk.active.with_untracked(|active| active.as_ref() != Some(&key)) {
        walk.active.set(Some(key));
    }
    if let Some(id) = connection_of(node) {
        walk.w.connections.preferred.set(Some(id.clone()));
    }
}

fn connection_of(node: &Node) -> Option<&ConnectionId> {
    match node {
        Node::Connection(id) | Node::Schema(id, _) | Node::Relation(id, _, _) | Node::Column(id, _) | Node::Failed(id, _) => Some(id),
        Node::Coming | Node::Nothing => None,
    }
}

/// Unfolds or folds; without a wish, the other of what it is.
fn fold(walk: Walk, key: &str, node: &Node, wish: Option<bool>) {
    let open = wish.unwrap_or_else(|| walk.unfolded.with_untracked(|unfolded| !unfolded.contains(key)));
    if open && let Node::Connection(id) = node {
        browse::want_catalog(walk.w, id);
    }
    walk.unfolded.update(|unfolded| {
        if open {
            unfolded.insert(key.to_owned());
        } else {
            unfolded.remove(key);
        }
    });
}

fn open(walk: Walk, node: &Node) {
    match node {
        Node::Relation(id, schema, relation) => tabs::open_relation(walk.w, id, schema, relation),
        Node::Column(id, column) => insert(walk.w, &words::quoted(column, untrack(|| walk.w.connections.engine(Some(id))))),
        Node::Failed(id, wants_password) => retry(walk.w, id, *wants_password),
        Node::Connection(_) | Node::Schema(..) | Node::Coming | Node::Nothing => {}
    }
}

fn retry(w: Workbench, id: &ConnectionId, wants_password: bool) {
    if wants_password {
        w.dialogs.show(Dialog::Connection(Some(id.clone())));
    } else {
        browse::fetch_catalog(w, id);
    }
}

fn insert(w: Workbench, text: &str) {
    if let Some(editor) = w.consoles.shown_untracked().and_then(|console| console.editor.get_untracked()) {
        editor.insert.run(text.to_owned());
        editor.focus.run(());
    }
}

fn pressed(walk: Walk, event: &KeyboardEvent) {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    let all = walk.shown.get_untracked();
    let active = walk.active.get_untracked();
    let at = all.iter().position(|row| Some(&row.key) == active.as_ref()).unwrap_or(0);
    let Some(row) = all.get(at) else { return };
    let page = ((walk.height.get_untracked() / ROW_PX) as usize).max(2) - 1;
    let last = all.len() - 1;
    let to = match event.key().as_str() {
        "ArrowDown" => (at + 1).min(last),
        "ArrowUp" => at.saturating_sub(1),
        "PageDown" => (at + page).min(last),
        "PageUp" => at.saturating_sub(page),
        "Home" => 0,
        "End" => last,
        "ArrowRight" => match row.unfolded {
            Some(false) => {
                fold(walk, &row.key, &row.node, Some(true));
                at
            }
            Some(true) => (at + 1).min(last),
            None => at,
        },
        "ArrowLeft" if row.unfolded == Some(true) => {
            fold(walk, &row.key, &row.node, Some(false));
            at
        }
        "ArrowLeft" => all.iter().take(at).rposition(|other| other.level < row.level).unwrap_or(at),
        "Enter" => {
            event.prevent_default();
            if row.unfolded.is_some() && !matches!(row.node, Node::Relation(..)) {
                fold(walk, &row.key, &row.node, None);
            } else {
                open(walk, &row.node);
            }
            return;
        }
        "ContextMenu" => {
            event.prevent_default();
            menu_by_key(walk, &row.node);
            return;
        }
        "F10" if event.shift_key() => {
            event.prevent_default();
            menu_by_key(walk, &row.node);
            return;
        }
        key if key.chars().count() == 1 && key != " " => match type_ahead(walk, &all, at, key) {
            Some(to) => to,
            None => return,
        },
        _ => return,
    };
    event.prevent_default();
    go(walk, &all, to);
}

/// The next row that begins with what was typed within a second.
fn type_ahead(walk: Walk, all: &[Row], at: usize, key: &str) -> Option<usize> {
    let now = js_sys::Date::now();
    let (mut typed, when) = walk.typed.get_value();
    if now - when > 1000.0 {
        typed.clear();
    }
    typed.push_str(&key.to_lowercase());
    let from = if typed.chars().count() == 1 { at + 1 } else { at };
    walk.typed.set_value((typed.clone(), now));
    let begins = |n: &usize| all.get(*n).is_some_and(|row| row.label.to_lowercase().starts_with(&typed));
    (from..all.len()).chain(0..from.min(all.len())).find(begins)
}

/// Moves the active row, brings it in sight, and the focus to it.
fn go(walk: Walk, all: &[Row], to: usize) {
    let Some(row) = all.get(to) else { return };
    walk.active.set(Some(row.key.clone()));
    reveal(walk, to);
    focus_soon(ACTIVE_ROW.to_owned());
}

/// Scrolls as little as shows a row.
fn reveal(walk: Walk, at: usize) {
    let Some(viewport) = walk.viewport.get_untracked() else { return };
    let (top, height) = (f64::from(viewport.scroll_top()), f64::from(viewport.client_height()));
    let (above, own) = walk.shown.with_untracked(|all| all.get(at).map_or((at, 1), |row| row.lines));
    let place = above as f64 * ROW_PX;
    let wanted = if place < top { place } else { top.max(place + own as f64 * ROW_PX - height) };
    if (wanted - top).abs() > 0.5 {
        viewport.set_scroll_top(wanted as i32);
        walk.scroll.set(wanted);
    }
}

fn menu_by_key(walk: Walk, node: &Node) {
    let place = document().get_element_by_id(ACTIVE_ROW).map(|element| element.get_bounding_client_rect());
    let (x, y) = place.map_or((40.0, 40.0), |place| (place.left() + 40.0, place.bottom()));
    show_menu(walk, node, x, y);
}

fn show_menu(walk: Walk, node: &Node, x: f64, y: f64) {
    let w = walk.w;
    let item = |title: &str, run: Callback<()>| MenuItem { title: title.to_owned(), keys: None, run, apart: false, checked: None };
    let copy = |text: String| item("Copy name", Callback::new(move |()| copy_text(&text)));
    let (label, items) = match node.clone() {
        Node::Connection(id) => {
            let name = w
                .connections
                .list
                .with_untracked(|list| list.here().and_then(|all| all.iter().find(|one| one.id == id)).map(|one| one.fields.name.clone()));
            let (for_console, for_refresh, for_edit, for_delete) = (id.clone(), id.clone(), id.clone(), id);
            let mut items = vec![
                item(
                    "New console",
                    Callback::new(move |()| {
                        w.connections.preferred.set(Some(for_console.clone()));
                        let console = tabs::open_empty(w);
                        request_animation_frame(move || {
                            if let Some(editor) = console.editor.get_untracked() {
                                editor.focus.run(())
                            }
                        });
                    }),
                ),
                item("Refresh", Callback::new(move |()| browse::fetch_catalog(w, &for_refresh))),
                item("Edit…", Callback::new(move |()| w.dialogs.show(Dialog::Connection(Some(for_edit.clone()))))),
                item("Delete…", Callback::new(move |()| w.dialogs.show(Dialog::DeleteConnection(for_delete.clone())))),
            ];
            if let Some(edit) = items.get_mut(2) {
                edit.apart = true;
            }
            (name.unwrap_or_default(), items)
        }
        Node::Schema(id, schema) => {
            (schema.clone(), vec![copy(schema), item("Refresh", Callback::new(move |()| browse::fetch_catalog(w, &id)))])
        }
        Node::Relation(id, schema, relation) => {
            let written = words::quoted(&relation, untrack(|| w.connections.engine(Some(&id))));
            let opened = node.clone();
            let mut rows = item("Open rows", Callback::new(move |()| open(walk, &opened)));
            rows.keys = Some(if on_mac() { "↩".to_owned() } else { "Enter".to_owned() });
            let items = vec![
                rows,
                item("Insert name", Callback::new(move |()| insert(w, &written))),
                copy(relation.clone()),
                item("Refresh", Callback::new(move |()| browse::fetch_catalog(w, &id))),
            ];
            (format!("{schema}.{relation}"), items)
        }
        Node::Column(id, column) => {
            let written = words::quoted(&column, untrack(|| w.connections.engine(Some(&id))));
            (column.clone(), vec![item("Insert name", Callback::new(move |()| insert(w, &written))), copy(column)])
        }
        Node::Failed(id, wants_password) => {
            ("Catalog".to_owned(), vec![item("Retry", Callback::new(move |()| retry(w, &id, wants_password)))])
        }
        Node::Coming | Node::Nothing => return,
    };
    w.dialogs.menu.set(Some(Menu { label, x, y, items }));
}

fn copy_text(text: &str) {
    let _ = window().navigator().clipboard().write_text(text);
}
