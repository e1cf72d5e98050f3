//! Who sends a request: the bearer becomes a `Principal`, the `Principal` a `Grant` for the action of the route.
//!
//! Invariant: deny by default. What is not in [`is_public`] needs a sign-in, whether or not there is such a route; a handler behind a
//! grant can't be reached without one, because [`Grant`] is the only thing that unlocks it and [`grant`] is the only layer that brings it.

use super::problem::Failure;
use crate::access::pace::Kind;
use crate::access::{self, Action, Grant, Principal};
use crate::app::App;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use shared::problem::{ErrorCode, Problem};
use tokio::time::Instant;

/// What anybody may ask for who came through the gate: the document, its assets, signing in, and reports of browsers. Nothing else.
pub fn is_public(method: &Method, path: &str) -> bool {
    const PUBLIC: [(Method, &str); 2] = [(Method::POST, "/api/v1/sign-in/launch"), (Method::POST, super::guard::REPORT_PATH)];
    let is_api = path == "/api" || path.starts_with("/api/");
    !is_api || PUBLIC.iter().any(|(of, at)| of == method && *at == path)
}

/// The layer that knows who it is. Stands before routing, so what does not exist is as closed as what does.
pub async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if is_public(request.method(), request.uri().path()) {
        return next.run(request).await;
    }
    let Some(presented) = bearer(request.headers()) else {
        return not_signed_in().into_response();
    };
    match app.resolve(presented).await {
        Some(principal) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        None => not_signed_in().into_response(),
    }
}

/// The layer that keeps everybody who is signed in to a pace. A cancel always goes through.
pub async fn pace(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let Some(principal) = request.extensions().get::<Principal>().filter(|_| !path.ends_with("/cancel")) else {
        return next.run(request).await;
    };
    match app.pace.take(principal, kind(path), Instant::now()) {
        Ok(wait) => {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            next.run(request).await
        }
        Err(again) => {
            let mut problem = Problem::new(ErrorCode::TooMany, "Too many requests in too short a time.");
            problem.retry_after_ms = Some(u64::try_from(again.as_millis()).unwrap_or(u64::MAX).max(1));
            Failure::from(problem).into_response()
        }
    }
}

fn kind(path: &str) -> Kind {
    let of_run = path.strip_prefix("/api/v1/runs/").unwrap_or_default();
    // A console's statements and their results follow each other as fast as the database answers: a script of a thousand is no flood.
    let is_result = path == "/api/v1/runs" || of_run.ends_with("/next");
    let is_page = of_run.contains("/pages/") || of_run.contains("/cells/");
    if is_result || is_page { Kind::Page } else { Kind::Other }
}

/// The layer around one route that asks whether its action is allowed.
pub async fn grant(State(action): State<Action>, mut request: Request, next: Next) -> Response {
    let Some(principal) = request.extensions().get::<Principal>() else {
        return not_signed_in().into_response();
    };
    let grant = access::authorize(principal, action);
    request.extensions_mut().insert(grant);
    next.run(request).await
}

/// The text after `Bearer`, where there is one such header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, bearer) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(bearer.trim())
}

fn not_signed_in() -> Failure {
    Failure::new(ErrorCode::NotSignedIn, "Sign in first: open the link that Sheaf printed, or run `sheaf open` for a new one.")
}

impl<S: Sync> FromRequestParts<S> for Grant {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Grant>().cloned().ok_or_else(not_signed_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_public_is_written_here() {
        for (method, path, expected) in [
            (Method::GET, "/", true),
            (Method::GET, "/assets/app.js", true),
            (Method::POST, "/api/v1/sign-in/launch", true),
            (Method::POST, "/api/v1/csp", true),
            (Method::GET, "/api/v1/sign-in/launch", false),
            (Method::POST, "/api/v1/sign-in/launch/", false),
            (Method::GET, "/api/v1/csp", false),
            (Method::GET, "/api/v1/openapi.json", false),
            (Method::GET, "/api/v1/connections", false),
            (Method::GET, "/api/v2/anything", false),
            (Method::GET, "/api", false),
        ] {
            assert_eq!(is_public(&method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn results_pages_and_cells_have_a_pace_of_their_own() {
        for path in ["/api/v1/runs", "/api/v1/runs/1/next", "/api/v1/runs/1/pages/7", "/api/v1/runs/1/cells/7/0"] {
            assert_eq!(kind(path), Kind::Page, "{path}");
        }
        for path in ["/api/v1/runs/1", "/api/v1/runs/1/cancel", "/api/v1/connections/next", "/"] {
            assert_eq!(kind(path), Kind::Other, "{path}");
        }
    }

    #[test]
    fn a_bearer_is_read_from_one_header_only() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(read(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(read(&["bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(read(&["Basic abc"]), None);
        assert_eq!(read(&["Bearer"]), None);
        assert_eq!(read(&["Bearer abc", "Bearer abc"]), None);
        assert_eq!(read(&[]), None);
    }
}
