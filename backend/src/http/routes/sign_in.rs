//! Signing in and out.

use crate::access::Grant;
use crate::app::App;
use crate::http::limits::Json;
use crate::http::principal;
use crate::http::problem::Failure;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use shared::problem::{ErrorCode, Problem};
use shared::wire::sign_in::{LaunchRequest, LaunchResponse};

/// A launch code, once, for a bearer.
#[utoipa::path(post, path = "/api/v1/sign-in/launch", tag = "sign-in", security(()), request_body = LaunchRequest,
    responses((status = 200, body = LaunchResponse), (status = 401, body = Problem)))]
pub async fn launch(State(app): State<App>, Json(request): Json<LaunchRequest>) -> Result<axum::Json<LaunchResponse>, Failure> {
    match app.redeem(&request.code).await? {
        Some(bearer) => Ok(axum::Json(LaunchResponse { bearer: bearer.reveal().to_owned() })),
        None => Err(Failure::new(
            ErrorCode::NotSignedIn,
            "This link was used before or is older than two minutes; `sheaf open` prints a fresh one.",
        )),
    }
}

/// Ends the sign-in of the bearer that is presented.
#[utoipa::path(delete, path = "/api/v1/sign-in", tag = "sign-in", responses((status = 204), (status = 401, body = Problem)))]
pub async fn sign_out(State(app): State<App>, _grant: Grant, headers: HeaderMap) -> Result<StatusCode, Failure> {
    if let Some(bearer) = principal::bearer(&headers) {
        app.sign_out(bearer).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
