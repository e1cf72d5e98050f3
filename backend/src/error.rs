//! The one place where a cause becomes an HTTP status, and where a fault of Sheaf's own becomes a sentence.
//!
//! Invariant: the match in [`status`] is exhaustive; a fault is logged here, once, and nothing of it but its id goes out.

use axum::http::StatusCode;
use shared::problem::{ErrorCode, Problem};

/// What HTTP calls each cause.
pub fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidRequest => StatusCode::BAD_REQUEST,
        ErrorCode::NotSignedIn => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::WrongHost => StatusCode::MISDIRECTED_REQUEST,
        ErrorCode::NotFound | ErrorCode::PastTheEnd => StatusCode::NOT_FOUND,
        ErrorCode::Gone => StatusCode::GONE,
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::Rejected
        | ErrorCode::CannotOpen
        | ErrorCode::ConnectFailed
        | ErrorCode::ReadOnlyRefused
        | ErrorCode::AuthenticationFailed
        | ErrorCode::PasswordNeeded
        | ErrorCode::UnknownHostKey
        | ErrorCode::ChangedHostKey
        | ErrorCode::ConnectionLost => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::Cancelled | ErrorCode::Partial | ErrorCode::Elsewhere => StatusCode::CONFLICT,
        ErrorCode::TooMany => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::SpoolFull => StatusCode::INSUFFICIENT_STORAGE,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// A fault of Sheaf itself: logged, and told without its particulars.
pub fn fault(doing: &str, cause: &dyn std::fmt::Display) -> Problem {
    tracing::error!(doing, %cause, "fault");
    Problem::new(ErrorCode::Internal, "Something in Sheaf itself failed. Its log has the cause, under the id of this request.")
}

impl From<crate::store::StoreError> for Problem {
    fn from(error: crate::store::StoreError) -> Self {
        fault("the store", &error)
    }
}
