//! What browsers report about the content security policy: a bug of ours or an attack; either way it belongs into the log.
//!
//! Anybody may send one, so at most one a second is read, and only the name of the directive is taken from it.

use crate::app::App;
use crate::http::limits;
use crate::http::problem::Failure;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::Value;
use shared::limits::REPORT_BYTES_MAX;
use shared::problem::Problem;
use std::sync::atomic::Ordering;

/// Notes a report.
#[utoipa::path(post, path = "/api/v1/csp", tag = "interface", security(()), responses((status = 204), (status = 413, body = Problem)))]
pub async fn note(State(app): State<App>, request: Request) -> Result<StatusCode, Failure> {
    let bytes = limits::read_body(request, REPORT_BYTES_MAX).await?;
    let now = app.clock.now();
    if app.last_report.swap(now, Ordering::Relaxed) != now {
        tracing::warn!(directive = directive(&bytes), "a browser reported a breach of the content security policy");
    }
    Ok(StatusCode::NO_CONTENT)
}

/// The name of the directive, of both forms a report has; letters and hyphens only, because it goes into the log.
fn directive(bytes: &[u8]) -> String {
    let report: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let named = ["/csp-report/effective-directive", "/csp-report/violated-directive", "/0/body/effectiveDirective"];
    let name = named.iter().find_map(|at| report.pointer(at)?.as_str()).unwrap_or("unknown");
    name.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directive_s_name_is_taken_from_a_report() {
        assert_eq!(directive(br#"{"csp-report": {"effective-directive": "script-src-elem"}}"#), "script-src-elem");
        assert_eq!(directive(br#"[{"body": {"effectiveDirective": "img-src"}}]"#), "img-src");
        assert_eq!(directive(br#"{"csp-report": {"violated-directive": "style-src\nforged line"}}"#), "style-src");
        assert_eq!(directive(b"not json"), "unknown");
    }
}
