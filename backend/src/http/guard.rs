//! The gate in front of everything: where a request may come from, before anyone asks where it wants to go or who sends it.
//!
//! A web page anywhere can make a browser send requests to this machine's ports, and by DNS rebinding even read the answers. So:
//! the Host is one of ours with its port; an API request carries a header that no cross-site page can set without a preflight,
//! and preflights always fail; what the browser says about the sender (`Sec-Fetch-*`, `Origin`) must be this very origin.
//!
//! Invariant: one pure function, [`check`]; no state, no clock, no routing, no sign-in.

use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, ORIGIN, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use shared::limits::{HEADER_BYTES_MAX, URI_BYTES_MAX};
use shared::problem::ErrorCode;

#[cfg(test)]
mod tests;

/// The header every API request carries, `NAME/VERSION`.
pub const CLIENT_HEADER: HeaderName = HeaderName::from_static("x-sheaf-client");
/// Where browsers send reports about the content security policy. They can't carry [`CLIENT_HEADER`].
pub const REPORT_PATH: &str = "/api/v1/csp";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The names this server answers to.
#[derive(Clone, Debug)]
pub struct Site {
    hosts: Vec<String>,
}

impl Site {
    /// Local mode: this machine's own names for itself, with the port.
    pub fn local(port: u16) -> Self {
        Self { hosts: vec![format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")] }
    }

    fn has(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}

/// All that the gate looks at.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    /// The request's method.
    pub method: &'a Method,
    /// The request's target.
    pub uri: &'a Uri,
    /// The request's headers.
    pub headers: &'a HeaderMap,
    /// The names this server answers to.
    pub site: &'a Site,
}

/// Why a request goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What HTTP calls it.
    pub status: StatusCode,
    /// What clients branch on.
    pub code: ErrorCode,
    /// One sentence for a person.
    pub message: &'static str,
}

const fn refusal(status: StatusCode, code: ErrorCode, message: &'static str) -> Refusal {
    Refusal { status, code, message }
}

/// What kind of thing a path names; each has its own rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Api,
    Report,
    Document,
    Asset,
}

fn kind(path: &str) -> Kind {
    match path {
        REPORT_PATH => Kind::Report,
        "/" => Kind::Document,
        _ if path == "/api" || path.starts_with("/api/") => Kind::Api,
        _ => Kind::Asset,
    }
}

/// Whether a request may come in.
pub fn check(facts: &RequestFacts<'_>) -> Result<(), Refusal> {
    let kind = kind(facts.uri.path());
    check_size(facts)?;
    let host = check_host(facts)?;
    check_method(facts.method)?;
    if kind == Kind::Api {
        check_client(facts.headers)?;
    }
    check_sender(facts, kind, host)?;
    check_body(facts.headers, kind)
}

fn check_size(facts: &RequestFacts<'_>) -> Result<(), Refusal> {
    let uri_bytes = facts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if uri_bytes > URI_BYTES_MAX {
        return Err(refusal(StatusCode::URI_TOO_LONG, ErrorCode::TooLarge, "The address of the request is too long."));
    }
    let header_bytes: usize = facts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if header_bytes > HEADER_BYTES_MAX {
        return Err(refusal(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, ErrorCode::TooLarge, "The headers of the request are too large."));
    }
    Ok(())
}

fn check_host<'a>(facts: &RequestFacts<'a>) -> Result<&'a str, Refusal> {
    let wrong = refusal(StatusCode::MISDIRECTED_REQUEST, ErrorCode::WrongHost, "This server does not answer to that host name.");
    let host = match only(facts.headers, &HOST) {
        Only::One(host) => host,
        Only::None | Only::Many => {
            return Err(refusal(StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest, "The request needs exactly one Host header."));
        }
        Only::Unreadable => return Err(wrong),
    };
    // A request line with a whole URL names the host a second time.
    let named_twice_the_same = facts.uri.authority().is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host));
    if facts.site.has(host) && named_twice_the_same { Ok(host) } else { Err(wrong) }
}

fn check_method(method: &Method) -> Result<(), Refusal> {
    match *method {
        Method::TRACE | Method::CONNECT => {
            Err(refusal(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::MethodNotAllowed, "This server does not take that method."))
        }
        // A preflight: no other origin is ever allowed in.
        Method::OPTIONS => Err(refusal(StatusCode::FORBIDDEN, ErrorCode::Forbidden, "No other site may use this server.")),
        _ => Ok(()),
    }
}

fn check_client(headers: &HeaderMap) -> Result<(), Refusal> {
    match only(headers, &CLIENT_HEADER) {
        Only::One(client) if is_client_name(client) => Ok(()),
        _ => Err(refusal(StatusCode::FORBIDDEN, ErrorCode::Forbidden, "An API request needs the header X-Sheaf-Client: NAME/VERSION.")),
    }
}

fn is_client_name(client: &str) -> bool {
    let is_word = |word: &str| {
        (1..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+'))
    };
    client.split_once('/').is_some_and(|(name, version)| is_word(name) && is_word(version))
}

fn check_sender(facts: &RequestFacts<'_>, kind: Kind, host: &str) -> Result<(), Refusal> {
    let stranger = refusal(StatusCode::FORBIDDEN, ErrorCode::Forbidden, "The request comes from another site.");
    match only(facts.headers, &ORIGIN) {
        Only::None => {}
        // The server speaks plain HTTP on loopback only.
        Only::One(origin) if origin.strip_prefix("http://").is_some_and(|of| of.eq_ignore_ascii_case(host)) => {}
        _ => return Err(stranger),
    }
    let site = match only(facts.headers, &SEC_FETCH_SITE) {
        // An old browser or no browser: the client header and the bearer stand on their own.
        Only::None => return Ok(()),
        Only::One(site) => site,
        Only::Many | Only::Unreadable => return Err(stranger),
    };
    let allowed = match kind {
        // `same-site` is another port of this machine: as foreign as any.
        Kind::Api | Kind::Report => site == "same-origin",
        // Any page may link here; no page may frame, fetch or embed it.
        Kind::Document => {
            *facts.method == Method::GET
                && only(facts.headers, &SEC_FETCH_MODE).is("navigate")
                && only(facts.headers, &SEC_FETCH_DEST).is("document")
        }
        Kind::Asset => site == "same-origin" || site == "none",
    };
    if allowed { Ok(()) } else { Err(stranger) }
}

fn check_body(headers: &HeaderMap, kind: Kind) -> Result<(), Refusal> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::UnsupportedMediaType, "A request body must not be compressed."));
    }
    let empty = headers.get(CONTENT_LENGTH).is_none_or(|length| length.as_bytes() == b"0");
    let has_body = headers.contains_key(TRANSFER_ENCODING) || !empty;
    if !has_body {
        return Ok(());
    }
    let media_type = match only(headers, &CONTENT_TYPE) {
        Only::One(value) => value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
        _ => String::new(),
    };
    let allowed: &[&str] = match kind {
        Kind::Report => &["application/csp-report", "application/reports+json", "application/json"],
        _ => &["application/json"],
    };
    if allowed.contains(&media_type.as_str()) {
        Ok(())
    } else {
        Err(refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::UnsupportedMediaType,
            "A request body must be JSON, with Content-Type: application/json.",
        ))
    }
}

/// A header that may stand once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Only<'a> {
    None,
    One(&'a str),
    Many,
    Unreadable,
}

impl Only<'_> {
    fn is(self, wanted: &str) -> bool {
        self == Only::One(wanted)
    }
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Only<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Only::None,
        (Some(_), Some(_)) => Only::Many,
        (Some(value), None) => value.to_str().map_or(Only::Unreadable, Only::One),
    }
}
