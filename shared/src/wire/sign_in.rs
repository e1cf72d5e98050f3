//! Signing in (local mode).

use serde::{Deserialize, Serialize};

/// `POST /api/v1/sign-in/launch`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LaunchRequest {
    /// The code of the `#launch=` fragment; good once, for 120 s.
    pub code: String,
}

/// The bearer for every later request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LaunchResponse {
    /// Sent as `Authorization: Bearer …`.
    pub bearer: String,
}
