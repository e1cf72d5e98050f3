//! The tabs of the consoles, and what stands at their right.

use crate::commands;
use crate::flows::tabs as flow;
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::theme::Theme;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::marks::named;
use crate::ui::unseen::spelled;
use leptos::html;
use leptos::prelude::*;
use std::sync::Arc;

/// The row of tabs.
#[component]
pub fn Tabs() -> impl IntoView {
    let w = Workbench::here();
    let theme_glyph = move || match w.theme.get() {
        Theme::System => Glyph::Monitor,
        Theme::Light => Glyph::Sun,
        Theme::Dark => Glyph::Moon,
    };
    let row = NodeRef::<html::Div>::new();
    let beyond = RwSignal::new((false, false));
    let look = move || {
        if let Some(row) = row.get_untracked() {
            let (left, room) = (row.scroll_left(), row.scroll_width() - row.client_width());
            beyond.set((left > 1, left < room - 1));
        }
    };
    Effect::new(move |_| {
        row.track();
        w.consoles.list.with(|all| all.iter().for_each(|console| console.title.track()));
        w.layout.track();
        request_animation_frame(look);
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| {
        crate::ui::reveal("console-tab-active");
        look();
    });
    on_cleanup(move || resized.remove());
    let unfold = move |_| {
        w.layout.explorer_shown.set(true);
        w.layout.drawer_out.update(|out| *out = !*out && crate::ui::is_narrow());
    };
    view! {
        <header class="tabs-bar">
            <button
                type="button"
                class="icon-button explorer-toggle"
                class:needed=move || !w.layout.explorer_shown.get()
                aria-label="Show explorer"
                title="Show explorer"
                on:click=unfold
            >
                <Icon glyph=Glyph::Sidebar />
            </button>
            <div
                node_ref=row
                class="tabs"
                class:more-before=move || beyond.get().0
                class:more-after=move || beyond.get().1
                role="tablist"
                aria-label="Consoles"
                on:scroll=move |_| look()
                on:keydown=move |event| {
                match event.key().as_str() {
                    "ArrowRight" => flow::step(w, 1),
                    "ArrowLeft" => flow::step(w, -1),
                    "Delete" => commands::perform(w, "console.close"),
                    _ => return,
                }
                event.prevent_default();
                crate::ui::focus_soon("console-tab-active".to_owned());
            }>
                <For each=move || w.consoles.list.get() key=|console| console.name() let(console)>
                    <Tab console />
                </For>
            </div>
            <button
                type="button"
                class="icon-button tab-new"
                aria-label="New console"
                title=format!("New console ({})", commands::keys_of("console.new"))
                on:click=move |_| commands::perform(w, "console.new")
            >
                <Icon glyph=Glyph::Plus />
            </button>
            <span class="spring"></span>
            <button type="button" class="search-button" on:click=move |_| commands::perform(w, "open.anything")>
                <Icon glyph=Glyph::Search />
                <span>"Open anything"</span>
                <span class="key" aria-hidden="true">{commands::keys_of("open.anything")}</span>
            </button>
            <button
                type="button"
                class="icon-button"
                aria-label="All commands"
                title=format!("All commands ({})", commands::keys_of("open.palette"))
                on:click=move |_| commands::perform(w, "open.palette")
            >
                <Icon glyph=Glyph::Command />
            </button>
            <button
                type="button"
                class="icon-button"
                aria-label=move || format!("Theme: {}", w.theme.get().title())
                title=move || format!("Theme: {}", w.theme.get().title())
                on:click=move |_| w.theme.update(|theme| *theme = theme.next())
            >
                {move || view! { <Icon glyph=theme_glyph() /> }}
            </button>
        </header>
    }
}

#[component]
fn Tab(console: Console) -> impl IntoView {
    let w = Workbench::here();
    let name: Arc<str> = console.name();
    let panel = format!("console-{name}");
    let name = StoredValue::new(name);
    let active = move || w.consoles.active.with(|active| active.as_ref() == Some(&name.get_value()));
    let color = move || console.connection.get().and_then(|id| w.connections.get(&id)).and_then(|one| one.fields.color);
    let close = move || flow::close(w, &name.get_value());
    Effect::new(move |_| {
        if active() {
            leptos::prelude::request_animation_frame(|| crate::ui::reveal("console-tab-active"));
        }
    });
    view! {
        <div
            id=move || active().then_some("console-tab-active")
            class=move || {
                // In one place: what sets the whole attribute would take away what was added to it.
                let color = color().map(|color| format!(" color-{}", color % 8)).unwrap_or_default();
                let active = if active() { " active" } else { "" };
                format!("tab{color}{active}")
            }
            role="tab"
            tabindex=move || if active() { "0" } else { "-1" }
            aria-selected=move || active().to_string()
            aria-controls=panel
            aria-keyshortcuts="Delete"
            title=move || spelled(&console.title.get()).into_owned()
            on:click=move |_| w.consoles.active.set(Some(name.get_value()))
            on:keydown=move |event| if matches!(event.key().as_str(), "Enter" | " ") {
                event.prevent_default();
                w.consoles.active.set(Some(name.get_value()));
            }
            on:auxclick=move |event| if event.button() == 1 {
                event.prevent_default();
                close();
            }
        >
            <span class="tab-mark" class:busy=move || console.slot.busy() aria-hidden="true"><Icon glyph=Glyph::Console /></span>
            <span class="tab-title">{move || named(&console.title.get())}</span>
            <span
                class="tab-close"
                aria-hidden="true"
                title="Close console"
                on:click=move |event| {
                    event.stop_propagation();
                    close();
                }
            >
                <Icon glyph=Glyph::Cross />
            </span>
        </div>
    }
}
