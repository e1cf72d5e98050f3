//! All keys, from the table of commands.

use crate::commands::COMMANDS;
use crate::state::Workbench;
use crate::ui::dialog::Modal;
use crate::ui::on_mac;
use leptos::prelude::*;

/// The dialog.
#[component]
pub fn KeysDialog() -> impl IntoView {
    let w = Workbench::here();
    let mac = on_mac();
    let mut groups: Vec<&'static str> = Vec::new();
    for command in COMMANDS {
        if command.keys.is_some() && !groups.contains(&command.group) {
            groups.push(command.group);
        }
    }
    let sections = groups.into_iter().map(move |group| {
        let lines = COMMANDS.iter().filter(move |command| command.group == group).filter_map(|command| Some((command.title, command.keys?)));
        view! {
            <section class="keys-group">
                <h3>{group}</h3>
                <dl>
                    {lines.map(|(title, chord)| view! { <div><dt>{title}</dt><dd><kbd class="key">{chord.text(mac)}</kbd></dd></div> }).collect_view()}
                </dl>
            </section>
        }
    });
    view! {
        <Modal label="Keys" class="keys" on_close=Callback::new(move |()| w.dialogs.close())>
            <div class="keys-groups">{sections.collect_view()}</div>
        </Modal>
    }
}
