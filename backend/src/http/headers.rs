//! The outermost layer: an id for the request, the headers of every response, the body of every error, and an end to panics.
//!
//! Invariant: no response leaves without these headers, whatever made it; no `Access-Control-*` header is ever among them.

use super::problem::{self, Failure};
use crate::access::secret;
use crate::error;
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::time::Instant;
use tracing::Instrument as _;

/// The policy of the application's document: nothing inline, nothing from elsewhere, never in a frame.
pub const DOCUMENT_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob:; \
    font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; \
    frame-src 'none'; frame-ancestors 'none'; report-uri /api/v1/csp";
/// The policy of everything that is not a document: it may do nothing at all.
pub const INERT_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";
/// What the document may ask of the browser.
pub const PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), \
    clipboard-read=(self), clipboard-write=(self)";

/// The id by which a request is found in the log.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// Runs `next` and sends its response out with everything a response needs.
pub async fn finish(mut request: Request, next: Next) -> Response {
    let id = secret::random_id().unwrap_or_else(|_| "unknown".to_owned());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let span = tracing::debug_span!("request", %id, %method, path);
    request.extensions_mut().insert(RequestId(id.clone()));
    let started = Instant::now();
    let response = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await;
    let _entered = span.enter();
    let response = response.unwrap_or_else(|cause| {
        let cause = cause.downcast_ref::<&str>().copied().unwrap_or("a panic");
        Failure::from(error::fault("a request", &cause)).into_response()
    });
    let mut response = problem::write_body(response, &id);
    let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    tracing::debug!(status = response.status().as_u16(), elapsed_ms, "answered");
    stamp(response.status(), response.headers_mut());
    response
}

/// Sets the headers that a response of this kind has. A handler's own `Cache-Control` and `Vary` stand.
pub fn stamp(status: StatusCode, headers: &mut HeaderMap) {
    let is_document = headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    put(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    // Not `no-referrer`: with it some requests of our own would say `Origin: null`.
    put(headers, REFERRER_POLICY, "same-origin");
    put(headers, HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    if is_document {
        put(headers, CONTENT_SECURITY_POLICY, DOCUMENT_POLICY);
        put(headers, X_FRAME_OPTIONS, "DENY");
        put(headers, HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
        put(headers, HeaderName::from_static("permissions-policy"), PERMISSIONS);
    } else {
        put(headers, CONTENT_SECURITY_POLICY, INERT_POLICY);
        headers.entry(VARY).or_insert(HeaderValue::from_static("Origin, Sec-Fetch-Site"));
    }
    if status.is_client_error() || status.is_server_error() {
        put(headers, CACHE_CONTROL, "no-store");
    } else {
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    if status == StatusCode::UNAUTHORIZED {
        put(headers, WWW_AUTHENTICATE, "Bearer");
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_policy_is_the_design_s_word_for_word() {
        assert_eq!(
            DOCUMENT_POLICY,
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob:; font-src 'self'; \
             connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; \
             frame-src 'none'; frame-ancestors 'none'; report-uri /api/v1/csp"
        );
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_with_every_header() {
        use axum::routing::get;
        use tower::ServiceExt as _;
        async fn fails() -> StatusCode {
            panic!("on purpose")
        }
        let router = axum::Router::new().route("/", get(fails)).layer(axum::middleware::from_fn(finish));
        let response = router.oneshot(Request::new(axum::body::Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers().get(X_CONTENT_TYPE_OPTIONS).unwrap(), "nosniff");
        assert_eq!(response.headers().get(CONTENT_TYPE).unwrap(), problem::MEDIA_TYPE);
        let body = axum::body::to_bytes(response.into_body(), 4_096).await.unwrap();
        let problem: shared::problem::Problem = serde_json::from_slice(&body).unwrap();
        assert!(problem.request_id.is_some() && !problem.message.contains("on purpose"));
    }

    #[test]
    fn an_error_is_never_stored_even_where_the_thing_itself_would_be() {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
        stamp(StatusCode::NOT_FOUND, &mut headers);
        assert_eq!(headers.get(CACHE_CONTROL).unwrap(), "no-store");
    }
}
