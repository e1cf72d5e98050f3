//! The cell viewer: the active cell's value whole, beside the grid; it follows the active cell.
//!
//! Invariant: values reach the document as text nodes, or as a picture by a `blob:` address that is given back with the panel.

pub mod content;
pub mod json;
mod picture;

use super::ui::grouped;
use super::view::Grid;
use crate::ui::marks::{named, written};
use content::{beginning, bytes_of_line, bytes_text, hex_lines, is_json, picture_type};
use json::JsonTree;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use picture::Picture;
use shared::format::{Cell, hex};
use std::sync::Arc;
use wasm_bindgen_futures::JsFuture;

/// Text shown at once; more on request.
const SHOWN_BYTES: usize = 256 * 1024;
/// Bytes shown in hexadecimal.
const HEX_BYTES: usize = 64 * 1024;

/// Width of a character of hexadecimal: the mono's advance is six tenths of the size, which is 11 px (`--size-tiny`).
const HEX_CHARACTER_PX: f64 = 6.6;
/// What stands left and right of the value.
const BODY_PADDING_PX: f64 = 24.0;

/// A value, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// It is on its way.
    Loading,
    /// It did not come.
    Failed(String),
    /// SQL NULL.
    Null,
    /// Text.
    Text(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    AsIs,
    LaidOut,
    Hex,
    Picture,
}

impl Reading {
    fn label(self) -> &'static str {
        match self {
            Reading::AsIs => "Text",
            Reading::LaidOut => "JSON",
            Reading::Hex => "Hex",
            Reading::Picture => "Picture",
        }
    }
}

fn readings(value: &Value, no_picture: bool) -> Vec<Reading> {
    match value {
        Value::Text(text) if is_json(text) => vec![Reading::LaidOut, Reading::AsIs],
        Value::Text(_) => vec![Reading::AsIs],
        Value::Bytes(bytes) if !no_picture && picture_type(bytes).is_some() => vec![Reading::Picture, Reading::Hex],
        Value::Bytes(_) => vec![Reading::Hex],
        _ => Vec::new(),
    }
}

fn length(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(format!("{}, {}", counted(text.chars().count(), "character"), counted(text.len(), "byte"))),
        Value::Bytes(bytes) => Some(counted(bytes.len(), "byte")),
        _ => None,
    }
}

/// `1 byte`, `1,234,567 bytes`.
fn counted(number: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

impl Grid {
    /// Reads the active cell whole into `value`.
    fn read_active(self, value: RwSignal<Value>) {
        let place = self.ui.active.get_untracked();
        let here = self.with(|view| {
            let n = u32::try_from(place.row / view.page_rows()).ok()?;
            let row = usize::try_from(place.row % view.page_rows()).ok()?;
            let page = view.cached(n)?;
            let cut = page.cut_bytes(row, place.column).is_some();
            Some((
                cut,
                match page.cell(row, place.column) {
                    Cell::Null => Value::Null,
                    Cell::Unreadable => Value::Failed("This version can't show a value of this type".to_owned()),
                    Cell::Text(text) => Value::Text(text.as_ref().into()),
                    Cell::Bytes(bytes) => Value::Bytes(bytes.into()),
                },
            ))
        });
        match here.flatten() {
            None => value.set(Value::Loading),
            Some((false, whole)) => value.set(whole),
            Some((true, begun)) => self.read_whole(matches!(begun, Value::Bytes(_)), value),
        }
    }

    fn read_whole(self, binary: bool, value: RwSignal<Value>) {
        value.set(Value::Loading);
        let place = self.ui.active.get_untracked();
        let Some(source) = self.with(|view| view.source()) else { return };
        spawn_local(async move {
            let answer = source.cell(place.row, u32::try_from(place.column).unwrap_or(u32::MAX)).await;
            if self.ui.active.try_get_untracked() != Some(place) {
                return;
            }
            value.set(match answer {
                Ok(bytes) if binary => Value::Bytes(bytes.into()),
                Ok(bytes) => Value::Text(String::from_utf8_lossy(&bytes).as_ref().into()),
                Err(problem) => Value::Failed(problem.message),
            });
        });
    }
}

fn whole_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Bytes(bytes) => hex(bytes),
        _ => String::new(),
    }
}

/// The panel.
#[component]
pub fn CellViewer(
    /// The grid whose active cell is shown.
    grid: Grid,
) -> impl IntoView {
    let value = RwSignal::new(Value::Loading);
    let chosen = RwSignal::new(None::<Reading>);
    let all = RwSignal::new(false);
    let copied = RwSignal::new(false);
    // The bytes begin like a picture, but the browser found none in them.
    let no_picture = RwSignal::new(false);
    let body = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        grid.ui.active.track();
        grid.ui.pages.track();
        all.set(false);
        copied.set(false);
        no_picture.set(false);
        grid.read_active(value);
    });
    let width_px = RwSignal::new(0);
    let measure = move || {
        if let Some(body) = body.get_untracked() {
            width_px.try_set(body.client_width());
        }
    };
    Effect::new(move |_| {
        if let Some(body) = body.get() {
            let _ = body.focus();
            measure();
        }
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    let of_line = Memo::new(move |_| bytes_of_line(((f64::from(width_px.get()) - BODY_PADDING_PX) / HEX_CHARACTER_PX).max(0.0) as usize));
    let offered = Memo::new(move |_| value.with(|value| readings(value, no_picture.get())));
    let reading = Memo::new(move |_| {
        let offered = offered.get();
        chosen.get().filter(|chosen| offered.contains(chosen)).or(offered.first().copied())
    });
    let close = move || {
        grid.ui.viewer.set(false);
        grid.focus();
    };
    let title = move || {
        let place = grid.ui.active.get();
        let name = grid.with(|view| view.field(place.column).map(|field| field.name().clone())).flatten().unwrap_or_default();
        (name, format!("Row {}", place.row + 1))
    };
    let copy = move |_| {
        let text = value.with_untracked(whole_text);
        spawn_local(async move {
            if let Some(window) = web_sys::window() {
                let taken = JsFuture::from(window.navigator().clipboard().write_text(&text)).await.is_ok();
                copied.try_set(taken);
            }
        });
    };
    let picker = move || {
        let offered = offered.get();
        (offered.len() > 1).then(|| {
            let button = move |offer: Reading| {
                let pressed = move || (reading.get() == Some(offer)).to_string();
                view! { <button type="button" class="viewer-reading" aria-pressed=pressed on:click=move |_| chosen.set(Some(offer))>{offer.label()}</button> }
            };
            view! { <div class="viewer-readings" role="group" aria-label="Show as">{offered.into_iter().map(button).collect_view()}</div> }
        })
    };
    let shown = move || show(&value.get(), reading.get(), all, no_picture, of_line);
    let nothing_to_copy = move || !value.with(|value| matches!(value, Value::Text(_) | Value::Bytes(_)));
    view! {
        <aside class="viewer" role="dialog" aria-label="Cell"
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    event.prevent_default();
                    event.stop_propagation();
                    close();
                }
            }>
            <header class="viewer-head">
                <div class="viewer-title">
                    <span class="viewer-name">{move || named(&title().0)}</span>
                    <span class="viewer-row">{move || title().1}</span>
                </div>
                <button type="button" class="button ghost small" disabled=nothing_to_copy on:click=copy>
                    {move || if copied.get() { "Copied" } else { "Copy" }}
                </button>
                <button type="button" class="icon-button small viewer-close" aria-label="Close" on:click=move |_| close()></button>
            </header>
            <div class="viewer-body" tabindex="0" role="region" aria-label="Value" node_ref=body>{shown}</div>
            <footer class="viewer-foot">
                <span class="viewer-length">{move || value.with(length)}</span>
                {picker}
            </footer>
        </aside>
    }
}

fn show(value: &Value, reading: Option<Reading>, all: RwSignal<bool>, no_picture: RwSignal<bool>, of_line: Memo<usize>) -> AnyView {
    match (value, reading) {
        (Value::Loading, _) => view! { <p class="viewer-word">"Reading the value"</p> }.into_any(),
        (Value::Failed(sentence), _) => view! { <p class="viewer-word failed" role="alert">{sentence.clone()}</p> }.into_any(),
        (Value::Null, _) => view! { <p class="viewer-word"><span class="null-mark" role="img" aria-label="NULL"></span></p> }.into_any(),
        (Value::Text(text), Some(Reading::LaidOut)) => view! { <JsonTree text=text.to_string() all /> }.into_any(),
        (Value::Text(text), _) if text.is_empty() => view! { <p class="viewer-word">"Empty text"</p> }.into_any(),
        (Value::Text(text), _) => show_text(text.to_string(), all),
        (Value::Bytes(bytes), Some(Reading::Picture)) => view! { <Picture bytes=bytes.clone() broken=no_picture /> }.into_any(),
        (Value::Bytes(bytes), _) if bytes.is_empty() => view! { <p class="viewer-word">"No bytes"</p> }.into_any(),
        (Value::Bytes(bytes), _) => show_hex(bytes, no_picture.get(), of_line.get()),
    }
}

fn show_text(text: String, all: RwSignal<bool>) -> AnyView {
    let head = beginning(&text, SHOWN_BYTES);
    if all.get() || head.len() == text.len() {
        return view! { <pre class="viewer-text">{written(&text)}</pre> }.into_any();
    }
    let head = head.to_owned();
    view! {
        <pre class="viewer-text">{written(&head)}</pre>
        <p class="viewer-more">
            {format!("The first {} of {}", bytes_text(SHOWN_BYTES), bytes_text(text.len()))}
            <button type="button" class="button small" on:click=move |_| all.set(true)>"Show all"</button>
        </p>
    }
    .into_any()
}

fn show_hex(bytes: &[u8], no_picture: bool, of_line: usize) -> AnyView {
    let head = bytes.get(..HEX_BYTES.min(bytes.len())).unwrap_or(bytes);
    let rest = (head.len() < bytes.len()).then(|| {
        let told = format!("The first {} of {}", bytes_text(head.len()), bytes_text(bytes.len()));
        view! { <p class="viewer-more">{told}</p> }
    });
    let fault = no_picture.then(|| view! { <p class="viewer-word viewer-fault">"The bytes begin like a picture but are none"</p> });
    view! {
        {fault}
        <pre class="viewer-text hex">{hex_lines(head, of_line)}</pre>
        {rest}
    }
    .into_any()
}
