//! The catalog of a connection.

use crate::access::Grant;
use crate::app::App;
use crate::error;
use crate::http::limits::{Json, PathOf};
use crate::http::negotiate;
use crate::http::problem::Failure;
use crate::runs::CatalogAsk;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};
use shared::ids::ConnectionId;
use shared::limits::CATALOG_SCHEMAS_ASKED_MAX;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::{Catalog, KnownSchemas, WantedSchemas};

/// Names, types and keys; of a large database the names, and what is in a schema for whoever asks for it. With the entity tag of the last
/// answer in `If-None-Match`, 304 while nothing has changed.
#[utoipa::path(get, path = "/api/v1/connections/{id}/catalog", tag = "connections", params(("id" = ConnectionId, Path)),
    responses((status = 200, body = Catalog), (status = 304), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn read(State(app): State<App>, grant: Grant, PathOf(id): PathOf<ConnectionId>, headers: HeaderMap) -> Result<Response, Failure> {
    let target = app.connections.target(&id).await?;
    let catalog = app.runs.catalog(&grant, target, id, CatalogAsk::First).await?;
    let body = serde_json::to_vec(&catalog).map_err(|e| error::fault("writing a catalog", &e))?;
    let digest = Sha256::digest(&body);
    let etag = format!("\"{}\"", digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>());
    if negotiate::has_already(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, etag)]).into_response());
    }
    Ok(([(CONTENT_TYPE, "application/json".to_owned()), (ETAG, etag)], body).into_response())
}

/// What has changed since a catalog whose schemas had these versions: those that are as they were come without their contents.
#[utoipa::path(post, path = "/api/v1/connections/{id}/catalog/changes", tag = "connections", params(("id" = ConnectionId, Path)),
    request_body = KnownSchemas,
    responses((status = 200, body = Catalog), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn changes(
    State(app): State<App>,
    grant: Grant,
    PathOf(id): PathOf<ConnectionId>,
    Json(known): Json<KnownSchemas>,
) -> Result<axum::Json<Catalog>, Failure> {
    let target = app.connections.target(&id).await?;
    Ok(axum::Json(app.runs.catalog(&grant, target, id, CatalogAsk::Since(known)).await?))
}

/// What is in these schemas: the answer has them whole, and no other. One that is not there is not in it.
#[utoipa::path(post, path = "/api/v1/connections/{id}/catalog/schemas", tag = "connections", params(("id" = ConnectionId, Path)),
    request_body = WantedSchemas,
    responses((status = 200, body = Catalog), (status = 400, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn schemas(
    State(app): State<App>,
    grant: Grant,
    PathOf(id): PathOf<ConnectionId>,
    Json(wanted): Json<WantedSchemas>,
) -> Result<axum::Json<Catalog>, Failure> {
    if wanted.schemas.len() > CATALOG_SCHEMAS_ASKED_MAX {
        let message = format!("At most {CATALOG_SCHEMAS_ASKED_MAX} schemas are told at once.");
        return Err(Problem::new(ErrorCode::InvalidRequest, message).about("schemas").into());
    }
    let target = app.connections.target(&id).await?;
    Ok(axum::Json(app.runs.catalog(&grant, target, id, CatalogAsk::Of(wanted.schemas)).await?))
}
