//! The catalog of a connection.

use crate::access::Grant;
use crate::app::App;
use crate::error;
use crate::http::limits::{Json, PathOf, QueryOf};
use crate::http::negotiate;
use crate::http::problem::Failure;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use shared::ids::ConnectionId;
use shared::problem::Problem;
use shared::wire::catalog::{Catalog, KnownSchemas};

/// How much is asked for.
#[derive(Clone, Copy, Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// As much as is there at once: of a large database the tables without their columns, and no versions.
    #[serde(default)]
    names: bool,
}

/// Names, types and keys. With the entity tag of the last answer in `If-None-Match`, 304 while nothing has changed.
#[utoipa::path(get, path = "/api/v1/connections/{id}/catalog", tag = "connections", params(("id" = ConnectionId, Path), Extent),
    responses((status = 200, body = Catalog), (status = 304), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn read(
    State(app): State<App>,
    grant: Grant,
    PathOf(id): PathOf<ConnectionId>,
    QueryOf(extent): QueryOf<Extent>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let target = app.connections.target(&id).await?;
    let catalog = match extent {
        Extent { names: true } => app.runs.catalog_names(&grant, target, id).await?,
        Extent { names: false } => app.runs.catalog(&grant, target, id).await?,
    };
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
    Ok(axum::Json(app.runs.catalog_since(&grant, target, id, known).await?))
}
