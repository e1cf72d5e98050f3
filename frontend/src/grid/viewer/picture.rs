//! Bytes as a picture.
//!
//! Invariant: the type comes from the bytes, never from the database's word, and only raster formats are shown (an SVG can hold a
//! script); the address is given back when the picture goes.

use super::content::picture_type;
use leptos::prelude::*;
use std::sync::Arc;
use web_sys::{Blob, BlobPropertyBag, Url};

fn address(bytes: &[u8]) -> Option<String> {
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let kind = BlobPropertyBag::new();
    kind.set_type(picture_type(bytes)?);
    let blob = Blob::new_with_u8_array_sequence_and_options(&parts, &kind).ok()?;
    Url::create_object_url_with_blob(&blob).ok()
}

/// A picture; `broken` is set where the bytes are none.
#[component]
pub fn Picture(bytes: Arc<[u8]>, broken: RwSignal<bool>) -> impl IntoView {
    let size = RwSignal::new(None::<(u32, u32)>);
    let address = address(&bytes);
    let given_back = address.clone();
    on_cleanup(move || {
        if let Some(address) = given_back {
            let _ = Url::revoke_object_url(&address);
        }
    });
    let measure = move |event: web_sys::Event| {
        let picture = event_target::<web_sys::HtmlImageElement>(&event);
        size.set(Some((picture.natural_width(), picture.natural_height())));
    };
    view! {
            <img class="viewer-picture" alt="The value as a picture" src=address.clone() on:load=measure on:error=move |_| broken.set(true) />
            <p class="viewer-more">{move || size.get().map(|(width, height)| format!("{width} × {height} px"))}</p>
    }
}
