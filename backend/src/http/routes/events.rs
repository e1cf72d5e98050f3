//! The event stream of one window: a line of JSON for each change of one of its runs. While it is open, those runs live.

use crate::access::Grant;
use crate::app::App;
use crate::http::limits::QueryOf;
use crate::http::problem::Failure;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Deserialize;
use shared::ids::WindowId;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::RunStatus;
use std::convert::Infallible;

/// The query of the stream.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    /// The window, by the client's own name for it.
    window: String,
}

/// Follows the runs of a window.
#[utoipa::path(get, path = "/api/v1/events", tag = "runs", params(Follow), responses(
    (status = 200, description = "One RunStatus a line, as they change", content((RunStatus = "application/x-ndjson"))),
    (status = 400, body = Problem)))]
pub async fn follow(State(app): State<App>, grant: Grant, QueryOf(query): QueryOf<Follow>) -> Result<Response, Failure> {
    if query.window.is_empty() || query.window.len() > 128 {
        return Err(Failure::new(ErrorCode::InvalidRequest, "`window` must have from 1 to 128 bytes."));
    }
    let statuses = app.runs.watch(&grant, WindowId(query.window));
    let stopping = app.stopping.clone();
    let lines = statuses.map(|status| Ok::<_, Infallible>(line(&status))).take_until(stopping.cancelled_owned());
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

fn line(status: &RunStatus) -> Bytes {
    let mut line = serde_json::to_vec(status).unwrap_or_default();
    line.push(b'\n');
    Bytes::from(line)
}
