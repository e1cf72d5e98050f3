//! The command palette, and the picker that opens anything by its name.

use crate::commands::{self, COMMANDS};
use crate::flows::tabs;
use crate::state::Workbench;
use crate::ui::dialog::Modal;
use crate::ui::icon::Glyph;
use crate::ui::on_mac;
use crate::ui::picker::{Choice, Picker};
use leptos::prelude::*;
use shared::wire::catalog::RelationKind;

/// All commands by name.
#[component]
pub fn Palette() -> impl IntoView {
    let w = Workbench::here();
    let mac = on_mac();
    // As it is when the palette opens: a row that comes or goes under the finger would be taken for another.
    let choices = StoredValue::new({
        let runnable = COMMANDS.iter().filter(|command| (command.fits)(w)).filter_map(|command| Some((command, command.run?)));
        runnable
            .map(|(command, run)| Choice {
                glyph: glyph_of(command.group),
                title: command.title.to_owned(),
                aside: command.keys.map(|chord| chord.text(mac)).unwrap_or_default(),
                is_key: command.keys.is_some(),
                run: Callback::new(move |()| run(w)),
            })
            .collect::<Vec<_>>()
    });
    let choices = Signal::derive(move || choices.get_value());
    let close = Callback::new(move |()| w.dialogs.close());
    view! {
        <Modal label="Command palette" class="picker" headed=false on_close=close>
            <Picker label="Find a command" choices empty="No command of that name" on_done=close />
        </Modal>
    }
}

fn glyph_of(group: &str) -> Glyph {
    match group {
        "Run" => Glyph::Play,
        "Consoles" => Glyph::Console,
        "Connections" => Glyph::Database,
        "View" => Glyph::Sidebar,
        _ => Glyph::Right,
    }
}

/// Tables, views, consoles and connections by name.
#[component]
pub fn OpenAnything() -> impl IntoView {
    let w = Workbench::here();
    // Made once for many letters typed: a catalog may have ten thousand names.
    let choices = Memo::new_with_compare(move |_| anything(w), |_, _| true);
    let close = Callback::new(move |()| w.dialogs.close());
    view! {
        <Modal label="Open anything" class="picker" headed=false on_close=close>
            <Picker label="Open a table, view or console" choices empty="Nothing of that name in the catalogs that were read" on_done=close />
        </Modal>
    }
}

fn anything(w: Workbench) -> Vec<Choice> {
    let mut all = Vec::new();
    for console in w.consoles.list.get() {
        let name = console.name();
        all.push(Choice {
            glyph: Glyph::Console,
            title: console.title.get(),
            aside: "console".to_owned(),
            is_key: false,
            run: Callback::new(move |()| {
                w.consoles.active.set(Some(name.clone()));
                commands::focus_editor_soon(w);
            }),
        });
    }
    for connection in w.connections.list.get().here().cloned().unwrap_or_default() {
        let Some(catalog) = w.connections.catalog(&connection.id).here().cloned() else { continue };
        // What may not be used is not offered: no statement could open it.
        let own = || catalog.schemas.iter().filter(|schema| !schema.system && !schema.denied);
        let several = own().count() > 1;
        for schema in own() {
            for relation in &schema.relations {
                let (id, in_schema, name) = (connection.id.clone(), schema.name.clone(), relation.name.clone());
                all.push(Choice {
                    glyph: if matches!(relation.kind, RelationKind::View | RelationKind::MaterializedView) {
                        Glyph::View
                    } else {
                        Glyph::Table
                    },
                    title: relation.name.clone(),
                    aside: if several { format!("{} · {}", connection.fields.name, schema.name) } else { connection.fields.name.clone() },
                    is_key: false,
                    run: Callback::new(move |()| {
                        tabs::open_relation(w, &id, &in_schema, &name);
                        commands::focus_rows_soon(w);
                    }),
                });
            }
        }
    }
    all
}
