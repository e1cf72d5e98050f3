//! What a handler may take from a request: a JSON body within its size and time, parameters of the path and the query. Each fault is a
//! Problem that says where.
//!
//! Invariant: no handler reads a body in another way.

mod address;

use super::problem::Failure;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Path, Query, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use shared::limits::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
use shared::problem::ErrorCode;
use std::time::Duration;

/// The bytes of a request's body, at most `limit_bytes` and within the time for a body.
pub async fn read_body(request: Request, limit_bytes: usize) -> Result<Bytes, Failure> {
    let body = Limited::new(request.into_body(), limit_bytes).collect();
    match tokio::time::timeout(Duration::from_secs(BODY_SECONDS_MAX), body).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Failure::new(ErrorCode::TooLarge, format!("The body of the request is over {} KiB.", limit_bytes / 1024)))
        }
        Ok(Err(_)) => Err(Failure::new(ErrorCode::InvalidRequest, "The body of the request broke off.")),
        Err(_) => Err(Failure::new(ErrorCode::InvalidRequest, format!("The body of the request took over {BODY_SECONDS_MAX} s."))),
    }
}

/// A JSON body of one type; unknown fields are refused by the type.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Failure> {
        let bytes = read_body(request, BODY_BYTES_MAX).await?;
        // JSON at all comes first; then an array would be read as the fields in their order.
        let is_object = bytes.trim_ascii_start().starts_with(b"{");
        if !is_object && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok() {
            return Err(Failure::new(ErrorCode::InvalidRequest, "The body of the request must be a JSON object."));
        }
        parse(&bytes).map(Self)
    }
}

/// Reads JSON; the sentence of a fault has its line and column.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|error| {
        let message = match error.classify() {
            serde_json::error::Category::Data => format!("The request is not of the right form: {error}."),
            _ if bytes.is_empty() => "The request needs a JSON body.".to_owned(),
            _ => format!("The body of the request is not JSON: {error}."),
        };
        Failure::new(ErrorCode::InvalidRequest, message)
    })
}

/// The parameters of a path.
#[derive(Clone, Copy, Debug)]
pub struct PathOf<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathOf<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let read: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        read.map(|Path(value)| Self(value)).map_err(|error| {
            let pattern = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
            Failure::new(ErrorCode::InvalidRequest, address::path_fault(&error, pattern))
        })
    }
}

/// In front of a route without a query: what is asked for there would not be done, so it is not passed over.
pub async fn no_query(request: Request, next: Next) -> Response {
    match request.uri().query().and_then(address::surplus) {
        Some(message) => Failure::new(ErrorCode::InvalidRequest, message).into_response(),
        None => next.run(request).await,
    }
}

/// The parameters of a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryOf<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let read: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        read.map(|Query(value)| Self(value)).map_err(|error| Failure::new(ErrorCode::InvalidRequest, address::query_fault(&error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::StatusCode;
    use futures_util::stream;
    use std::convert::Infallible;
    use tokio::time::{Instant, sleep};
    use tower::ServiceExt as _;

    /// JSON, one byte a `gap`, then perhaps never an end.
    fn trickle(bytes: usize, gap: Duration, ends: bool) -> Body {
        let text = format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
        let parts = stream::unfold(0, move |at| {
            let part = text.as_bytes().get(at..=at).map(Bytes::copy_from_slice);
            async move {
                sleep(gap).await;
                match part {
                    Some(part) => Some((Ok::<_, Infallible>(part), at + 1)),
                    None if ends => None,
                    None => std::future::pending().await,
                }
            }
        });
        Body::from_stream(parts)
    }

    /// What such a body is answered with, and after how long.
    async fn answer(body: Body) -> (StatusCode, String, Duration) {
        async fn take(Json(_): Json<serde_json::Value>) -> StatusCode {
            StatusCode::NO_CONTENT
        }
        let router =
            axum::Router::new().route("/", axum::routing::post(take)).layer(axum::middleware::from_fn(super::super::headers::finish));
        let begin = Instant::now();
        let response = router.oneshot(Request::builder().method("POST").uri("/").body(body).unwrap()).await.unwrap();
        let status = response.status();
        let text = axum::body::to_bytes(response.into_body(), 4_096).await.unwrap();
        (status, String::from_utf8_lossy(&text).into_owned(), begin.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_thirty_seconds_however_it_trickles() {
        let gap = Duration::from_secs(1);
        let limit = Duration::from_secs(BODY_SECONDS_MAX);
        // The last byte and the end within the time: read. A moment later: not.
        let (status, _, after) = answer(trickle(28, gap, true)).await;
        assert_eq!((status, after), (StatusCode::NO_CONTENT, Duration::from_secs(29)));
        for body in [trickle(31, gap, true), trickle(20, gap, false), trickle(4_000_000, Duration::from_millis(10), true)] {
            let (status, text, after) = answer(body).await;
            assert_eq!((status, after), (StatusCode::BAD_REQUEST, limit));
            let problem: shared::problem::Problem = serde_json::from_str(&text).unwrap();
            assert_eq!(problem.message, "The body of the request took over 30 s.");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_breaks_off_is_told() {
        let broken = stream::iter([Ok(Bytes::from_static(b"\"x")), Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))]);
        let (status, text, _) = answer(Body::from_stream(broken)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(text.contains("broke off"), "{text}");
    }
}
