//! Runs: start, go on to the next result, look at, cancel, read to the end, close.

use super::pages;
use crate::access::Grant;
use crate::app::App;
use crate::http::limits::{Json, PathOf, QueryOf};
use crate::http::negotiate::{self, Form};
use crate::http::problem::Failure;
use crate::runs::Begun;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use shared::ids::{ConnectionId, RunId, SessionId, WindowId};
use shared::limits::{PAGE_ROWS_MAX, SQL_BYTES_MAX};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{AdoptSession, RunState, RunStatus, SessionStatus, StartRun, TransactionState};

/// Bytes of a name that a client makes itself.
const CLIENT_NAME_BYTES_MAX: usize = 128;

/// The run's token, for a client that would rather not put it into the body.
const TOKEN_HEADER: HeaderName = HeaderName::from_static("sheaf-run-token");

/// Runs one statement. As Arrow: page 0, or 204 where there are no rows. As JSON: where the run stands, without rows.
#[utoipa::path(post, path = "/api/v1/runs", tag = "runs", request_body = StartRun, responses(
    (status = 200, content((RunStatus = "application/json"), (Vec<u8> = "application/vnd.apache.arrow.stream")),
        headers(("Sheaf-Run" = String), ("Sheaf-Page-Rows" = u32), ("Sheaf-Page-Crc32" = String), ("Sheaf-State" = String), ("Sheaf-Total-Rows" = u64),
            ("Sheaf-Elapsed-Ms" = f64), ("Sheaf-Transaction" = String), ("Sheaf-Notices" = u64), ("Sheaf-Further" = bool))),
    (status = 204, description = "No rows", headers(("Sheaf-Run" = String), ("Sheaf-State" = String), ("Sheaf-Rows-Affected" = u64),
        ("Sheaf-Elapsed-Ms" = f64), ("Sheaf-Transaction" = String), ("Sheaf-Notices" = u64))),
    (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    (status = 429, body = Problem)))]
pub async fn start(
    State(app): State<App>,
    grant: Grant,
    headers: HeaderMap,
    Json(mut request): Json<StartRun>,
) -> Result<Response, Failure> {
    let form = negotiate::form(&headers)?;
    if let Some(token) = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok()) {
        request.token.get_or_insert_with(|| token.to_owned());
    }
    check(&request)?;
    let target = app.connections.target(&request.connection).await?;
    let begun = app.runs.start(&grant, target, request).await?;
    Ok(answer(form, begun))
}

/// The next result of the run's statement, in a run of its own, as the start of a run answers; what is left of this result is read first. Asked
/// again, the answer is the same. 404 where the statement has no further result.
#[utoipa::path(post, path = "/api/v1/runs/{id}/next", tag = "runs", params(("id" = RunId, Path)), responses(
    (status = 200, content((RunStatus = "application/json"), (Vec<u8> = "application/vnd.apache.arrow.stream")),
        headers(("Sheaf-Run" = String), ("Sheaf-Page-Rows" = u32), ("Sheaf-Page-Crc32" = String), ("Sheaf-State" = String), ("Sheaf-Total-Rows" = u64),
            ("Sheaf-Elapsed-Ms" = f64), ("Sheaf-Transaction" = String), ("Sheaf-Notices" = u64), ("Sheaf-Further" = bool))),
    (status = 404, body = Problem), (status = 409, body = Problem), (status = 410, body = Problem), (status = 422, body = Problem)))]
pub async fn next(State(app): State<App>, grant: Grant, headers: HeaderMap, PathOf(id): PathOf<RunId>) -> Result<Response, Failure> {
    let form = negotiate::form(&headers)?;
    Ok(answer(form, app.runs.next(&grant, &id).await?))
}

fn answer(form: Form, begun: Begun) -> Response {
    match form {
        Form::Json => axum::Json(begun.status).into_response(),
        Form::Arrow => as_arrow(begun),
    }
}

fn check(request: &StartRun) -> Result<(), Failure> {
    if request.sql.len() > SQL_BYTES_MAX {
        return Err(Failure::new(ErrorCode::TooLarge, format!("A statement may have {} KiB of text.", SQL_BYTES_MAX / 1024)));
    }
    if request.page_rows.is_some_and(|rows| rows == 0 || rows > PAGE_ROWS_MAX) {
        return Err(Failure::new(ErrorCode::InvalidRequest, format!("`page_rows` must be from 1 to {PAGE_ROWS_MAX}.")));
    }
    let names = [
        ("session", request.session.as_ref().map(|id| id.as_str())),
        ("window", request.window.as_ref().map(|id| id.as_str())),
        ("token", request.token.as_deref()),
    ];
    match names.iter().find(|(_, name)| name.is_some_and(|name| name.is_empty() || name.len() > CLIENT_NAME_BYTES_MAX)) {
        Some((field, _)) => {
            Err(Failure::new(ErrorCode::InvalidRequest, format!("`{field}` must have from 1 to {CLIENT_NAME_BYTES_MAX} bytes.")))
        }
        None => Ok(()),
    }
}

fn as_arrow(begun: Begun) -> Response {
    let status = begun.status;
    let mut response = match begun.page0 {
        Some(page) => pages::send(page),
        None => StatusCode::NO_CONTENT.into_response(),
    };
    let headers = response.headers_mut();
    let mut put = |name: &'static str, text: String| {
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    put("sheaf-run", status.id.to_string());
    put("sheaf-state", state_word(&status).to_owned());
    if status.page_rows > 0 {
        put("sheaf-page-rows", status.page_rows.to_string());
    }
    if let Some(rows) = status.total_rows {
        put("sheaf-total-rows", rows.to_string());
    }
    put("sheaf-elapsed-ms", format!("{:.3}", status.elapsed_ms));
    put("sheaf-transaction", word_of(status.transaction).to_owned());
    if !status.notices.is_empty() {
        put("sheaf-notices", status.notices.len().to_string());
    }
    if status.further {
        put("sheaf-further", "true".to_owned());
    }
    if let Some(rows) = status.rows_affected {
        put("sheaf-rows-affected", rows.to_string());
    }
    response
}

/// `more` while a later page may come, whatever the reason it has not; `ending` where all rows are here and how their query ends is not
/// known yet.
fn state_word(status: &RunStatus) -> &'static str {
    match (status.state, status.total_rows) {
        (RunState::Running, Some(_)) if !status.further => "ending",
        (state, total) if state.is_final() || total.is_some() => "done",
        _ => "more",
    }
}

fn word_of(transaction: TransactionState) -> &'static str {
    match transaction {
        TransactionState::None => "none",
        TransactionState::Open => "open",
        TransactionState::Failed => "failed",
    }
}

/// The query of a run's status.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Answer only once the statement has ended, or waits to be asked for more.
    #[serde(default)]
    settled: bool,
}

/// Where a run stands.
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs", params(("id" = RunId, Path), Asked),
    responses((status = 200, body = RunStatus), (status = 404, body = Problem), (status = 410, body = Problem)))]
pub async fn status(
    State(app): State<App>,
    grant: Grant,
    PathOf(id): PathOf<RunId>,
    QueryOf(asked): QueryOf<Asked>,
) -> Result<axum::Json<RunStatus>, Failure> {
    Ok(axum::Json(if asked.settled { app.runs.settled(&grant, &id).await? } else { app.runs.status(&grant, &id)? }))
}

/// Stops the statement; what was read stays. Again and again without harm.
#[utoipa::path(post, path = "/api/v1/runs/{id}/cancel", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 410, body = Problem)))]
pub async fn cancel(State(app): State<App>, grant: Grant, PathOf(id): PathOf<RunId>) -> Result<StatusCode, Failure> {
    app.runs.cancel(&grant, &id)?;
    Ok(StatusCode::ACCEPTED)
}

/// Stops the statement whose start carried this token, also before its answer has told the run's id.
#[utoipa::path(post, path = "/api/v1/runs/by-token/{token}/cancel", tag = "runs", params(("token" = String, Path)),
    responses((status = 202), (status = 404, body = Problem)))]
pub async fn cancel_by_token(State(app): State<App>, grant: Grant, PathOf(token): PathOf<String>) -> Result<StatusCode, Failure> {
    app.runs.cancel_by_token(&grant, &token)?;
    Ok(StatusCode::ACCEPTED)
}

/// Reads all the rest; the status tells the progress, cancel stops it.
#[utoipa::path(post, path = "/api/v1/runs/{id}/read-to-end", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 410, body = Problem)))]
pub async fn read_to_end(State(app): State<App>, grant: Grant, PathOf(id): PathOf<RunId>) -> Result<StatusCode, Failure> {
    app.runs.read_to_end(&grant, &id)?;
    Ok(StatusCode::ACCEPTED)
}

/// Forgets a run: when this is answered, the database's side is closed and the space is free.
#[utoipa::path(delete, path = "/api/v1/runs/{id}", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 204), (status = 404, body = Problem), (status = 410, body = Problem)))]
pub async fn close(State(app): State<App>, grant: Grant, PathOf(id): PathOf<RunId>) -> Result<StatusCode, Failure> {
    app.runs.close(&grant, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A window that was loaded anew takes a console over, unless another window has it that was not left: the console's session lives on by it, and
/// so does the run that is under way there.
#[utoipa::path(post, path = "/api/v1/sessions/{connection}/{session}", tag = "runs", request_body = AdoptSession,
    params(("connection" = ConnectionId, Path), ("session" = SessionId, Path)),
    responses((status = 200, body = SessionStatus), (status = 404, body = Problem, description = "The console has no session")))]
pub async fn adopt_session(
    State(app): State<App>,
    grant: Grant,
    PathOf((connection, session)): PathOf<(ConnectionId, SessionId)>,
    Json(request): Json<AdoptSession>,
) -> Result<axum::Json<SessionStatus>, Failure> {
    let status = app.runs.adopt_session(&grant, connection, session, request).await;
    Ok(axum::Json(status.ok_or_else(|| Problem::new(ErrorCode::NotFound, "This console has no database session"))?))
}

/// The query of a console's end.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ClosedIn {
    /// The window it was closed in: what another window has is left to it.
    window: Option<WindowId>,
}

/// A console was closed: its run ends, its database session is closed.
#[utoipa::path(delete, path = "/api/v1/sessions/{connection}/{session}", tag = "runs",
    params(("connection" = ConnectionId, Path), ("session" = SessionId, Path), ClosedIn), responses((status = 204)))]
pub async fn forget_session(
    State(app): State<App>,
    grant: Grant,
    PathOf((connection, session)): PathOf<(ConnectionId, SessionId)>,
    QueryOf(query): QueryOf<ClosedIn>,
) -> Result<StatusCode, Failure> {
    app.runs.forget_session(&grant, connection, session, query.window).await;
    Ok(StatusCode::NO_CONTENT)
}
