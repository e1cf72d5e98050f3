//! The OpenAPI document, made from the handlers' own descriptions. A test holds it and the route table together.

use super::routes::{catalog, connections, events, pages, report, runs, sign_in};
use crate::access::Grant;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// Says how a request is signed.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("From POST /api/v1/sign-in/launch")).build();
        document.components.get_or_insert_default().add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

#[derive(OpenApi)]
#[openapi(
    modifiers(&Bearer),
    security(("bearer" = [])),
    info(title = "Sheaf", description = "Runs SQL statements and serves their rows as Arrow pages. docs/protocol.md is the prose of it. \
        Every request carries the header X-Sheaf-Client: NAME/VERSION."),
    paths(
        document,
        sign_in::launch,
        sign_in::sign_out,
        report::note,
        connections::list,
        connections::create,
        connections::test_unsaved,
        connections::change,
        connections::remove,
        connections::test,
        catalog::read,
        catalog::changes,
        catalog::schemas,
        runs::adopt_session,
        runs::forget_session,
        runs::start,
        runs::status,
        runs::close,
        runs::cancel,
        runs::cancel_by_token,
        runs::next,
        runs::read_to_end,
        pages::page,
        pages::cell,
        events::follow,
    )
)]
struct Api;

/// The description of this API.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "interface", responses((status = 200, description = "This document")))]
pub async fn document(_grant: Grant) -> axum::Json<utoipa::openapi::OpenApi> {
    axum::Json(Api::openapi())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::ROUTES;
    use std::collections::BTreeSet;

    #[test]
    fn the_document_has_every_route_and_no_other() {
        let document = serde_json::to_value(Api::openapi()).unwrap();
        let described: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())))
            .collect();
        let routed: BTreeSet<(String, String)> = ROUTES.iter().map(|route| (route.method.to_owned(), route.path.to_owned())).collect();
        assert_eq!(described, routed);
    }

    #[test]
    fn the_document_says_which_routes_need_no_sign_in() {
        let document = serde_json::to_value(Api::openapi()).unwrap();
        for route in ROUTES {
            let operation = &document["paths"][route.path][route.method.to_lowercase()];
            let is_open = operation["security"] == serde_json::json!([{}]);
            assert_eq!(is_open, route.needs.is_none(), "{} {}", route.method, route.path);
        }
    }
}
