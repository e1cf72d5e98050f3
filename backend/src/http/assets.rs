//! The interface, embedded in the binary: the document at `/`, and files whose names carry the hash of what they hold.
//!
//! Each file may lie beside itself compressed (`.br`, `.gz`), made when the interface was built; the best that the client takes is sent.

use super::problem::Failure;
use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use rust_embed::{EmbeddedFile, RustEmbed};
use shared::problem::ErrorCode;
use std::borrow::Cow;

#[derive(RustEmbed)]
#[folder = "../dist/web/"]
struct Web;

/// Shown where the binary was built without the interface.
const WITHOUT_INTERFACE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sheaf</title>\
    <h1>Sheaf runs, without its interface</h1><p>This binary was built before the interface was. \
    <code>cargo xtask serve</code> builds both; the API at <code>/api/v1</code> answers all the same.</p></html>";

/// Compressed forms, the smaller first.
const ENCODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// `GET /`
pub async fn document(headers: HeaderMap) -> Response {
    let mut response = match send("index.html", &headers) {
        Some(response) => response,
        None => Response::new(Body::from(WITHOUT_INTERFACE)),
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().remove(ETAG);
    response
}

/// Whatever no other route answers: a file of the interface, or nothing.
pub async fn file(uri: Uri, headers: HeaderMap) -> Result<Response, Failure> {
    let path = uri.path().trim_start_matches('/');
    let is_compressed_form = ENCODINGS.iter().any(|(_, ending)| path.ends_with(ending));
    let found = if is_compressed_form || path == "index.html" { None } else { send(path, &headers) };
    found.ok_or_else(|| Failure::new(ErrorCode::NotFound, "Nothing is at that address."))
}

fn send(path: &str, request: &HeaderMap) -> Option<Response> {
    let plain = Web::get(path)?;
    let etag = HeaderValue::from_str(&format!("\"{}\"", etag_text(&plain))).ok()?;
    let (encoding, file) = choose(path, request, plain);
    let mut response = if request.get(IF_NONE_MATCH) == Some(&etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Response::new(match file.data {
            Cow::Borrowed(bytes) => Body::from(bytes),
            Cow::Owned(bytes) => Body::from(bytes),
        })
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(if is_hashed(path) { IMMUTABLE } else { "no-cache" }));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    headers.insert(ETAG, etag);
    if let Some(encoding) = encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    Some(response)
}

const IMMUTABLE: &str = "public, max-age=31536000, immutable";

fn etag_text(file: &EmbeddedFile) -> String {
    file.metadata.sha256_hash().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn choose(path: &str, request: &HeaderMap, plain: EmbeddedFile) -> (Option<&'static str>, EmbeddedFile) {
    let accepted = request.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    for (encoding, ending) in ENCODINGS {
        if takes(accepted, encoding)
            && let Some(file) = Web::get(&format!("{path}{ending}"))
        {
            return (Some(encoding), file);
        }
    }
    (None, plain)
}

/// Whether an `Accept-Encoding` names this encoding and does not give it the weight 0.
fn takes(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|entry| {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse().is_ok_and(|q: f32| q == 0.0));
        name.trim().eq_ignore_ascii_case(encoding) && !refused
    })
}

/// The build puts what it hashes into `assets/`.
fn is_hashed(path: &str) -> bool {
    path.starts_with("assets/")
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "webmanifest") => "application/manifest+json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_used_where_it_is_asked_for() {
        assert!(takes("gzip, deflate, br, zstd", "br"));
        assert!(takes("br;q=1.0, gzip;q=0.8", "gzip"));
        assert!(!takes("gzip;q=0, br", "gzip"));
        assert!(!takes("brotli", "br"));
        assert!(!takes("", "br"));
    }

    #[test]
    fn every_kind_of_file_of_the_interface_has_its_type() {
        assert_eq!(media_type("assets/app-00ff.wasm"), "application/wasm");
        assert_eq!(media_type("boot.js"), "text/javascript; charset=utf-8");
        assert_eq!(media_type("assets/inter.woff2"), "font/woff2");
        assert_eq!(media_type("LICENSE"), "application/octet-stream");
    }

    #[test]
    fn only_hashed_files_are_kept_for_good() {
        assert!(is_hashed("assets/app-00ff.js"));
        assert!(!is_hashed("favicon.svg"));
    }
}
