//! Problems as responses: `application/problem+json`, always with the id of the request.
//!
//! A handler gives a [`Failure`]; it travels as an extension of its response, and the outermost layer writes the body, because only that
//! layer knows the request's id. So an error that axum makes by itself gets the same form.

use crate::error;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use shared::problem::{ErrorCode, Problem};

/// The media type of every error body.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// A problem on its way out, with the status that says it best.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What to say.
    pub problem: Problem,
    /// What HTTP calls it.
    pub status: StatusCode,
}

impl Failure {
    /// A problem with a cause and a sentence.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Problem::new(code, message).into()
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { status: error::status(problem.code), problem }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the body of an error response; leaves any other as it is.
pub fn write_body(mut response: Response, request_id: &str) -> Response {
    let failure = match response.extensions_mut().remove::<Failure>() {
        Some(failure) => failure,
        None if response.status().is_client_error() || response.status().is_server_error() => from_status(response.status()),
        None => return response,
    };
    let mut problem = failure.problem;
    problem.request_id = Some(request_id.to_owned());
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let headers = response.headers_mut();
    headers.remove(axum::http::header::CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    if let Some(wait_ms) = problem.retry_after_ms {
        headers.insert(RETRY_AFTER, HeaderValue::from(wait_ms.div_ceil(1_000)));
    }
    *response.body_mut() = Body::from(body);
    response
}

/// For an error response that nobody of ours made.
fn from_status(status: StatusCode) -> Failure {
    let (code, message) = match status {
        StatusCode::NOT_FOUND => (ErrorCode::NotFound, "Nothing is at that address."),
        StatusCode::METHOD_NOT_ALLOWED => (ErrorCode::MethodNotAllowed, "That address does not take this method."),
        StatusCode::PAYLOAD_TOO_LARGE => (ErrorCode::TooLarge, "The body of the request is too large."),
        _ if status.is_client_error() => (ErrorCode::InvalidRequest, "The request could not be understood."),
        _ => (ErrorCode::Internal, "Something in Sheaf itself failed."),
    };
    Failure { problem: Problem::new(code, message), status }
}
