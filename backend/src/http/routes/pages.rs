//! Pages and whole cells of a run, as they lie in the spool.

use crate::access::Grant;
use crate::app::App;
use crate::http::limits::PathOf;
use crate::http::negotiate;
use crate::http::problem::Failure;
use crate::runs::{StoredPage, WholeCell};
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use shared::ids::RunId;
use shared::page;
use shared::problem::Problem;

/// CRC-32 (IEEE) of a page's bytes, eight hexadecimal digits.
const CHECKSUM_HEADER: HeaderName = HeaderName::from_static("sheaf-page-crc32");

/// Page `n`, waiting until it is read if it is still to come. The same bytes and entity tag until the run is closed.
#[utoipa::path(get, path = "/api/v1/runs/{id}/pages/{n}", tag = "runs", params(("id" = RunId, Path), ("n" = u32, Path)), responses(
    (status = 200, content((Vec<u8> = "application/vnd.apache.arrow.stream")), headers(("ETag" = String), ("Sheaf-Page-Crc32" = String))),
    (status = 304), (status = 404, body = Problem), (status = 409, body = Problem), (status = 410, body = Problem)))]
pub async fn page(
    State(app): State<App>,
    grant: Grant,
    PathOf((id, n)): PathOf<(RunId, u32)>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    negotiate::expect_arrow(&headers)?;
    let page = app.runs.page(&grant, &id, n).await?;
    if negotiate::has_already(&headers, &page.etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, page.etag)]).into_response());
    }
    Ok(send(page))
}

/// A page as a body. Its length goes ahead of it, so a transfer that breaks off is seen; and its checksum, so is one that was damaged.
pub fn send(page: StoredPage) -> Response {
    let checksum = (CHECKSUM_HEADER, format!("{:08x}", page.crc32));
    let media_type = (CONTENT_TYPE, page::MEDIA_TYPE.to_owned());
    ([media_type, (ETAG, page.etag), checksum], Body::from(page.bytes)).into_response()
}

/// One whole value, where its page has it cut. Text as UTF-8, bytes as they are, 204 for NULL.
#[utoipa::path(get, path = "/api/v1/runs/{id}/cells/{row}/{column}", tag = "runs",
    params(("id" = RunId, Path), ("row" = u64, Path, description = "Row of the result, from 0"), ("column" = u32, Path, description = "Column, from 0")),
    responses((status = 200, content((String = "text/plain"), (Vec<u8> = "application/octet-stream"))), (status = 204, description = "NULL"),
        (status = 404, body = Problem), (status = 410, body = Problem)))]
pub async fn cell(State(app): State<App>, grant: Grant, PathOf((id, row, column)): PathOf<(RunId, u64, u32)>) -> Result<Response, Failure> {
    Ok(match app.runs.cell(&grant, &id, row, column).await? {
        WholeCell::Null => StatusCode::NO_CONTENT.into_response(),
        WholeCell::Text(bytes) => ([(CONTENT_TYPE, "text/plain; charset=utf-8")], bytes).into_response(),
        WholeCell::Binary(bytes) => ([(CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
    })
}
