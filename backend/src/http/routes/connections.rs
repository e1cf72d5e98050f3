//! Connections: list, make, change, delete, test.

use crate::access::Grant;
use crate::app::App;
use crate::connections::input::{self, Change};
use crate::http::limits::{self, Json, PathOf};
use crate::http::problem::Failure;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::{Map, Value};
use shared::ids::ConnectionId;
use shared::limits::BODY_BYTES_MAX;
use shared::problem::Problem;
use shared::wire::connection::{Connection, ConnectionInput, Created, TestResult};

/// All connections, without secrets.
#[utoipa::path(get, path = "/api/v1/connections", tag = "connections", responses((status = 200, body = Vec<Connection>)))]
pub async fn list(State(app): State<App>, _grant: Grant) -> axum::Json<Vec<Connection>> {
    axum::Json(app.connections.list().await)
}

/// Saves a new connection. A read-only one whose user could get around it is refused, where its server answers.
#[utoipa::path(post, path = "/api/v1/connections", tag = "connections", request_body = ConnectionInput,
    responses((status = 201, body = Created), (status = 400, body = Problem), (status = 422, body = Problem)))]
pub async fn create(
    State(app): State<App>,
    grant: Grant,
    Json(object): Json<Map<String, Value>>,
) -> Result<(StatusCode, axum::Json<Created>), Failure> {
    let input = input::read_whole(object)?;
    app.runs.check_read_only(&grant, app.connections.unsaved(input.clone())?).await?;
    let id = app.connections.create(input, app.clock.now()).await?;
    Ok((StatusCode::CREATED, axum::Json(Created { id })))
}

/// Changes the fields that are given; `null` removes one. A password that is not given stays if it still goes to the same server.
#[utoipa::path(patch, path = "/api/v1/connections/{id}", tag = "connections", params(("id" = ConnectionId, Path)),
    request_body(content = ConnectionInput, description = "Any of these fields"),
    responses((status = 204), (status = 400, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn change(
    State(app): State<App>,
    grant: Grant,
    PathOf(id): PathOf<ConnectionId>,
    Json(object): Json<Map<String, Value>>,
) -> Result<StatusCode, Failure> {
    let change = Change::read(object)?;
    if let Some(target) = app.connections.target_moved(&id, &change).await? {
        app.runs.check_read_only(&grant, target).await?;
    }
    if app.connections.change(&id, &change, app.clock.now()).await? {
        app.runs.forget_connection(&id).await;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a connection; its runs end.
#[utoipa::path(delete, path = "/api/v1/connections/{id}", tag = "connections", params(("id" = ConnectionId, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub async fn remove(State(app): State<App>, _grant: Grant, PathOf(id): PathOf<ConnectionId>) -> Result<StatusCode, Failure> {
    app.connections.delete(&id).await?;
    app.runs.forget_connection(&id).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Connects and says what answered. With a body, as the connection would be after that change.
#[utoipa::path(post, path = "/api/v1/connections/{id}/test", tag = "connections", params(("id" = ConnectionId, Path)),
    request_body(content = Option<ConnectionInput>, description = "Any of these fields, or nothing"),
    responses((status = 200, body = TestResult), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn test(
    State(app): State<App>,
    grant: Grant,
    PathOf(id): PathOf<ConnectionId>,
    request: Request,
) -> Result<axum::Json<TestResult>, Failure> {
    let body = limits::read_body(request, BODY_BYTES_MAX).await?;
    let target = if body.is_empty() {
        app.connections.target(&id).await?
    } else {
        app.connections.target_after(&id, &Change::read(limits::parse(&body)?)?).await?
    };
    Ok(axum::Json(app.runs.test(&grant, target).await?))
}

/// Connects by fields that are not saved, and says what answered.
#[utoipa::path(post, path = "/api/v1/connections/test", tag = "connections", request_body = ConnectionInput,
    responses((status = 200, body = TestResult), (status = 400, body = Problem), (status = 422, body = Problem)))]
pub async fn test_unsaved(
    State(app): State<App>,
    grant: Grant,
    Json(object): Json<Map<String, Value>>,
) -> Result<axum::Json<TestResult>, Failure> {
    let target = app.connections.unsaved(input::read_whole(object)?)?;
    Ok(axum::Json(app.runs.test(&grant, target).await?))
}
