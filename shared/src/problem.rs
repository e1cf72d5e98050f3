//! What went wrong, as both sides say it.

use crate::wire::run::{Notice, TransactionState};
use serde::{Deserialize, Serialize};

/// The closed list of causes: the only part of a [`Problem`] that code branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is not of the form this route takes (unknown field, wrong type, bad value). 400
    InvalidRequest,
    /// No sign-in, or one that is no longer good. 401
    NotSignedIn,
    /// The gate refused where the request comes from. 403
    Forbidden,
    /// The Host header names another site. 421
    WrongHost,
    /// Nothing of that name here, or not yours. 404
    NotFound,
    /// A page behind the last one. 404
    PastTheEnd,
    /// The run was closed, or its lease ended. 410
    Gone,
    /// Another method is needed. 405
    MethodNotAllowed,
    /// The body is over its limit. 413
    TooLarge,
    /// The body is not JSON, or is encoded. 415
    UnsupportedMediaType,
    /// The database refused the statement. 422
    Rejected,
    /// A file could not be opened as a database. 422
    CannotOpen,
    /// No connection to the database server: refused, no such host, timed out. 422
    ConnectFailed,
    /// A read-only connection would not be one: its user can get around it. 422
    ReadOnlyRefused,
    /// The database server refused the user or password. 422
    AuthenticationFailed,
    /// The password is not known to this server process: it must be given again. 422
    PasswordNeeded,
    /// An SSH server that is not known yet; `host_key` has what it shows. 422
    UnknownHostKey,
    /// An SSH server that shows another key than the known one. 422
    ChangedHostKey,
    /// The link to the database was lost; what a sent statement did is unknown. 422
    ConnectionLost,
    /// The run was cancelled before this page was read. 409
    Cancelled,
    /// The rest of the result will not come. 409
    Partial,
    /// Another window has the console's session; nothing was sent. 409
    Elsewhere,
    /// Too many runs or sessions at once. 429
    TooMany,
    /// The space for results is used up. 507
    SpoolFull,
    /// A fault of Sheaf itself; `request_id` finds it in the log. 500
    Internal,
}

/// The key that an SSH server shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HostKey {
    /// The server, as it was asked for.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The kind of key, e.g. `ssh-ed25519`.
    pub algorithm: String,
    /// `SHA256:…`, as ssh-keygen prints it.
    pub fingerprint: String,
    /// It is the jump host.
    pub jump: bool,
}

/// An error body (`application/problem+json`) and a rejected run's cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// Cause.
    pub code: ErrorCode,
    /// One sentence for a person, in the database's own words where it spoke.
    pub message: String,
    /// The database's further words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where in the statement, as a 0-based offset in UTF-8 bytes of the text that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// The database's advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The database's own code (SQLSTATE, or `SQLITE_…`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlstate: Option<String>,
    /// What the console's session has open after the statement that came to this; of other causes nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<TransactionState>,
    /// What the database said before the statement came to this, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// The field of a connection that it is about, where it is about one: `host`, `tls.certificate`, `tls_key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What an unknown SSH server shows (`unknown_host_key`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_key: Option<Box<HostKey>>,
    /// When another try may succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The request in the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Problem {
    /// A problem with a cause and a sentence, nothing else known.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            detail: None,
            position: None,
            hint: None,
            sqlstate: None,
            transaction: None,
            notices: Vec::new(),
            field: None,
            host_key: None,
            retry_after_ms: None,
            request_id: None,
        }
    }

    /// The same, about a field of a connection.
    #[must_use]
    pub fn about(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
