//! The result as a grid: rows and columns virtualized over a pool of recycled nodes.
//!
//! Invariant: the grid knows its run and nothing of editor, explorer or panels. `advance`, `columns`, `extent`, `fetch_plan`, `geometry`,
//! `held`, `keys`, `page_cache` and `selection` are pure and never import `web_sys`; `paint` alone touches the rows' nodes.
//! Start at [`ResultGrid`], then `view::GridView::refresh`.

pub mod advance;
pub mod clipboard;
pub mod columns;
pub mod extent;
pub mod fetch_plan;
pub mod geometry;
pub mod held;
pub mod keys;
mod measure;
pub mod page_cache;
mod paint;
mod parts;
pub mod pointer;
pub mod selection;
pub mod source;
pub mod ui;
pub mod view;
pub mod viewer;

use crate::state::result::ActiveRun;
use columns::ColumnKey;
use keys::{Held, meaning};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use parts::{FailedPage, GoToRow, NotWhole, ReadingOn, Words};
use selection::Join;
use source::{RunSource, ServerRun};
use std::rc::Rc;
use view::{Grid, GridView, Nodes};
use viewer::CellViewer;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ClipboardEvent, HtmlElement, ResizeObserver};

/// A grid as the rest of the interface holds it.
#[derive(Clone, Copy)]
pub struct GridHandle {
    grid: Grid,
}

impl GridHandle {
    /// Goes to a row, counted from 1; reads up to it first.
    pub fn go_to_row(&self, row: u64) {
        self.grid.with(|view| view.go_to_row(row));
    }

    /// Asks for a row number.
    pub fn ask_for_row(&self) {
        self.grid.ui.going.set(true);
    }

    /// Reads the rest of the result and goes to its last row.
    pub fn read_to_end(&self) {
        self.grid.with(|view| view.go_to_end(Join::Replace));
    }

    /// Copies the selection as tab-separated text.
    pub fn copy_tsv(&self) {
        self.grid.copy_tsv();
    }

    /// Selects every cell.
    pub fn select_all(&self) {
        self.grid.with(|view| view.key(keys::GridKey::SelectAll, Join::Replace));
    }

    /// Opens the active cell in the viewer.
    pub fn open_cell(&self) {
        self.grid.ui.viewer.set(true);
    }

    /// Asks again for what did not come, and forgets that it was told.
    pub fn recover(&self) {
        self.grid.with(GridView::recover);
    }

    /// Gives the grid the keys.
    pub fn focus(&self) {
        self.grid.focus();
    }

    /// What is selected, as words for the status line; empty for a single cell.
    pub fn selection_summary(&self) -> Signal<String> {
        let summary = self.grid.ui.summary;
        Signal::derive(move || match summary.get() {
            ui::Summary { columns: 0, .. } => String::new(),
            ui::Summary { rows, columns } => format!("{} × {columns} selected", ui::rows_text(rows)),
        })
    }
}

impl Grid {
    /// Gives the grid the keys. The focus moves after the change at hand: its own events find the grid at rest.
    pub fn focus(self) {
        if let Some(scroller) = self.with(|view| view.scroller().clone()) {
            let _ = scroller.focus();
        }
    }

    fn key_down(self, event: &web_sys::KeyboardEvent) {
        if event.is_composing() {
            return;
        }
        let held = match (event.alt_key(), event.shift_key(), event.ctrl_key() || event.meta_key()) {
            (true, true, false) => Held::AltShift,
            (true, ..) => Held::Other,
            (false, _, true) => Held::Control,
            (false, _, false) => Held::Plain,
        };
        let Some(key) = meaning(&event.key(), held) else { return };
        let reading = self.with(|view| view.is_reading() || view.copying).unwrap_or(false);
        if key == keys::GridKey::Cancel && !reading {
            self.with(|view| view.forget_note());
            if !self.ui.viewer.get_untracked() {
                return; // Esc means something else to the rest of the interface
            }
            self.ui.viewer.set(false);
        }
        event.prevent_default();
        event.stop_propagation();
        let join = if event.shift_key() { Join::Extend } else { Join::Replace };
        self.with(|view| view.key(key, join));
    }
}

/// What must end with the grid: listeners and observers outside its own nodes.
struct Watch {
    sizes: Option<(ResizeObserver, Closure<dyn FnMut()>)>,
    copies: Option<Closure<dyn FnMut(ClipboardEvent)>>,
    rests: Option<(HtmlElement, Closure<dyn FnMut()>)>,
}

impl Watch {
    fn new(grid: Grid, scroller: &HtmlElement) -> Self {
        let resized = Closure::<dyn FnMut()>::new(move || {
            grid.with(GridView::resized);
        });
        let observer = ResizeObserver::new(resized.as_ref().unchecked_ref()).ok();
        if let Some(observer) = &observer {
            observer.observe(scroller);
        }
        let rested = Closure::<dyn FnMut()>::new(move || {
            grid.with(GridView::rested);
        });
        let _ = scroller.add_event_listener_with_callback("scrollend", rested.as_ref().unchecked_ref());
        // On the document, before all others: with the focus in the grid the event may still be sent to a selection elsewhere.
        let own = scroller.clone();
        let copied = Closure::<dyn FnMut(ClipboardEvent)>::new(move |event: ClipboardEvent| {
            let focused = web_sys::window().and_then(|window| window.document()).and_then(|document| document.active_element());
            if focused.as_ref() == Some(own.as_ref()) {
                grid.copy_event(&event);
            }
        });
        if let Some(document) = scroller.owner_document() {
            let _ = document.add_event_listener_with_callback_and_bool("copy", copied.as_ref().unchecked_ref(), true);
        }
        Self { sizes: observer.map(|observer| (observer, resized)), copies: Some(copied), rests: Some((scroller.clone(), rested)) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((observer, _)) = &self.sizes {
            observer.disconnect();
        }
        if let Some((scroller, rested)) = &self.rests {
            let _ = scroller.remove_event_listener_with_callback("scrollend", rested.as_ref().unchecked_ref());
            if let (Some(document), Some(copied)) = (scroller.owner_document(), &self.copies) {
                let _ = document.remove_event_listener_with_callback_and_bool("copy", copied.as_ref().unchecked_ref(), true);
            }
        }
    }
}

/// A run's rows. Made anew for each run.
#[component]
pub fn ResultGrid(
    /// The run.
    run: ActiveRun,
    /// Gets the grid's handle once it stands, and nothing again when it goes.
    handle: RwSignal<Option<GridHandle>>,
    /// Which columns are keys, as soon as the catalog tells ([`columns::column_keys`]).
    #[prop(optional, into)]
    keys: Option<Signal<Vec<Option<ColumnKey>>>>,
) -> impl IntoView {
    let source = ServerRun::source(&run.id);
    view! { <GridOver run=run source=source handle=handle keys=keys /> }
}

/// A grid over any source of rows.
#[component]
pub fn GridOver(
    /// The run.
    run: ActiveRun,
    /// Where its rows come from.
    source: Rc<dyn RunSource>,
    /// Gets the grid's handle.
    handle: RwSignal<Option<GridHandle>>,
    /// Which columns are keys.
    keys: Option<Signal<Vec<Option<ColumnKey>>>>,
) -> impl IntoView {
    let grid = Grid::new();
    let status = run.status;
    let column_count = run.first_page.num_columns();
    let (scroller, sizer, probe) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let (head, corner, gutter) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let (under, body, over) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let watch = StoredValue::new_local(None::<Watch>);
    Effect::new(move |mounted: Option<bool>| {
        if mounted == Some(true) {
            return true;
        }
        let nodes = (|| {
            Some(Nodes {
                document: web_sys::window()?.document()?,
                scroller: scroller.get()?.into(),
                sizer: sizer.get()?.into(),
                head: head.get()?.into(),
                corner: corner.get()?.into(),
                gutter: gutter.get()?.into(),
                under: under.get()?.into(),
                body: body.get()?.into(),
                over: over.get()?.into(),
                probe: probe.get()?.into(),
            })
        })();
        let Some(nodes) = nodes else { return false };
        watch.set_value(Some(Watch::new(grid, &nodes.scroller)));
        await_font(grid, &nodes.probe);
        grid.mount(&run, source.clone(), nodes);
        handle.set(Some(GridHandle { grid }));
        true
    });
    Effect::new(move |_| {
        status.with(|status| grid.with(|view| view.status_changed(status)));
    });
    Effect::new(move |_| {
        // Reads the handle so that keys known before the grid stood reach it too.
        if let (Some(keys), true) = (keys, handle.with(Option::is_some)) {
            let keys = keys.get();
            grid.with(|view| view.set_keys(keys));
        }
    });
    on_cleanup(move || {
        grid.with(GridView::leave);
        let _ = watch.try_update_value(Option::take);
        handle.try_set(None);
    });
    view! {
        <div class="grid-frame">
            <div class="grid-main">
                <div class="grid-area">
                <div class="grid" role="grid" tabindex="0" aria-label="Result" aria-multiselectable="true" aria-readonly="true"
                    aria-rowcount=move || grid.ui.aria_rows.get().to_string() aria-colcount=column_count.to_string() node_ref=scroller
                    on:scroll=move |_| { grid.with(GridView::scrolled); }
                    on:keydown=move |event| grid.key_down(&event)
                    on:pointerdown=move |event| grid.pointer_down(&event)
                    on:pointermove=move |event| grid.pointer_moved(&event)
                    on:pointerup=move |_| grid.pointer_up()
                    on:pointercancel=move |_| grid.pointer_up()
                    on:click=move |event| grid.tapped(&event)
                    on:dblclick=move |event| grid.double_clicked(&event)>
                    <div class="grid-sizer" role="presentation" node_ref=sizer>
                        <div class="grid-head" role="rowgroup">
                            <div class="grid-corner" aria-hidden="true" node_ref=corner></div>
                            <div class="grid-head-row" role="row" aria-rowindex="1" node_ref=head></div>
                        </div>
                        <div class="grid-gutter" aria-hidden="true" node_ref=gutter></div>
                        <div class="grid-layer grid-under" aria-hidden="true" node_ref=under></div>
                        <div class="grid-layer grid-body" role="rowgroup" node_ref=body></div>
                        <div class="grid-layer grid-over" aria-hidden="true" node_ref=over></div>
                    </div>
                </div>
                <div class="cell grid-probe" aria-hidden="true" node_ref=probe></div>
                <Show when=move || grid.ui.empty.get()><p class="grid-empty">"No rows"</p></Show>
                <FailedPage grid=grid />
                <div class="grid-foot">
                    <ReadingOn grid=grid />
                    <Words grid=grid />
                </div>
                <GoToRow grid=grid />
                </div>
                <NotWhole status=status />
            </div>
            <Show when=move || grid.ui.viewer.get()><CellViewer grid=grid /></Show>
        </div>
    }
}

/// The interface's font may come after the first rows: then widths are found anew, once.
fn await_font(grid: Grid, probe: &HtmlElement) {
    let Some(fonts) = web_sys::window().and_then(|window| window.document()).map(|document| document.fonts()) else { return };
    let Some(font) = measure::font_of(probe) else { return };
    if fonts.check(&font).unwrap_or(true) {
        return;
    }
    let arrival = fonts.load(&font);
    spawn_local(async move {
        if JsFuture::from(arrival).await.is_ok() {
            grid.with(GridView::font_changed);
        }
    });
}
