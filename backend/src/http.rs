//! HTTP: every route of Sheaf, and the order of the layers in front of them, on one screen.
//!
//! A request passes, from the outside in: [`headers::finish`] (id, response headers, error bodies, panics) → [`guard`] (where it may come
//! from) → [`principal::authenticate`] (who sends it) → [`principal::pace`] (how fast) → the route's [`principal::grant`] (may he) → the handler, which can't be called
//! without what these bring.
//!
//! Invariant: only this module and what is below it knows axum; a route exists only by its line in [`ROUTES`].

pub mod assets;
pub mod guard;
pub mod headers;
pub mod limits;
pub mod listen;
pub mod negotiate;
pub mod openapi;
pub mod principal;
pub mod problem;
pub mod routes;

use crate::access::Action::{self, Browse, Manage, Run};
use crate::app::App;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, delete, get, patch, post};
use guard::{RequestFacts, Site};
use problem::Failure;
use routes::{catalog, connections, events, pages, report, runs, sign_in};
use std::sync::Arc;

/// One route.
pub struct Route {
    /// Its method, as it is written in a request.
    pub method: &'static str,
    /// Its path; `{…}` is a parameter.
    pub path: &'static str,
    /// What the sender must be allowed to do; none for the few that anybody may call.
    pub needs: Option<Action>,
    /// It takes a query, and refuses what it does not know in it; other routes refuse any.
    pub takes_query: bool,
    handler: fn() -> MethodRouter<App>,
}

const fn route(method: &'static str, path: &'static str, needs: Option<Action>, handler: fn() -> MethodRouter<App>) -> Route {
    Route { method, path, needs, takes_query: false, handler }
}

impl Route {
    const fn with_query(self) -> Self {
        Self { takes_query: true, ..self }
    }
}

/// Every route of the API. [`principal::is_public`] names those without a need a second time, on purpose: a test compares the two.
#[rustfmt::skip]
pub const ROUTES: &[Route] = &[
    route("POST",   "/api/v1/sign-in/launch",                      None,         || post(sign_in::launch)),
    route("DELETE", "/api/v1/sign-in",                             Some(Browse), || delete(sign_in::sign_out)),
    route("POST",   guard::REPORT_PATH,                            None,         || post(report::note)),
    route("GET",    "/api/v1/openapi.json",                        Some(Browse), || get(openapi::document)),
    route("GET",    "/api/v1/connections",                         Some(Browse), || get(connections::list)),
    route("POST",   "/api/v1/connections",                         Some(Manage), || post(connections::create)),
    route("POST",   "/api/v1/connections/test",                    Some(Manage), || post(connections::test_unsaved)),
    route("PATCH",  "/api/v1/connections/{id}",                    Some(Manage), || patch(connections::change)),
    route("DELETE", "/api/v1/connections/{id}",                    Some(Manage), || delete(connections::remove)),
    route("POST",   "/api/v1/connections/{id}/test",               Some(Manage), || post(connections::test)),
    route("GET",    "/api/v1/connections/{id}/catalog",            Some(Browse), || get(catalog::read)),
    route("POST",   "/api/v1/connections/{id}/catalog/changes",    Some(Browse), || post(catalog::changes)),
    route("POST",   "/api/v1/connections/{id}/catalog/schemas",    Some(Browse), || post(catalog::schemas)),
    route("POST",   "/api/v1/sessions/{connection}/{session}",     Some(Run),    || post(runs::adopt_session)),
    route("DELETE", "/api/v1/sessions/{connection}/{session}",     Some(Run),    || delete(runs::forget_session)).with_query(),
    route("POST",   "/api/v1/runs",                                Some(Run),    || post(runs::start)),
    route("GET",    "/api/v1/runs/{id}",                           Some(Run),    || get(runs::status)).with_query(),
    route("DELETE", "/api/v1/runs/{id}",                           Some(Run),    || delete(runs::close)),
    route("POST",   "/api/v1/runs/{id}/cancel",                    Some(Run),    || post(runs::cancel)),
    route("POST",   "/api/v1/runs/by-token/{token}/cancel",        Some(Run),    || post(runs::cancel_by_token)),
    route("POST",   "/api/v1/runs/{id}/next",                      Some(Run),    || post(runs::next)),
    route("POST",   "/api/v1/runs/{id}/read-to-end",               Some(Run),    || post(runs::read_to_end)),
    route("GET",    "/api/v1/runs/{id}/pages/{n}",                 Some(Run),    || get(pages::page)),
    route("GET",    "/api/v1/runs/{id}/cells/{row}/{column}",      Some(Run),    || get(pages::cell)),
    route("GET",    "/api/v1/events",                              Some(Run),    || get(events::follow)).with_query(),
];

/// Everything, ready to be served.
pub fn router(app: App) -> Router {
    let site = Arc::new(Site::local(app.port));
    let mut routes = Router::new().route("/", get(assets::document)).fallback(get(assets::file));
    for route in ROUTES {
        let handler = (route.handler)();
        let handler = if route.takes_query { handler } else { handler.layer(from_fn(limits::no_query)) };
        let handler = match route.needs {
            Some(action) => handler.layer(from_fn_with_state(action, principal::grant)),
            None => handler,
        };
        routes = routes.route(route.path, handler);
    }
    let routes = routes.method_not_allowed_fallback(|| async { axum::http::StatusCode::METHOD_NOT_ALLOWED }).with_state(app.clone());
    // The layers stand around the whole router, so they see what has no route as well.
    Router::new()
        .fallback_service(routes)
        .layer(from_fn_with_state(app.clone(), principal::pace))
        .layer(from_fn_with_state(app, principal::authenticate))
        .layer(from_fn_with_state(site, guard_layer))
        .layer(from_fn(headers::finish))
}

async fn guard_layer(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let facts = RequestFacts { method: request.method(), uri: request.uri(), headers: request.headers(), site: &site };
    match guard::check(&facts) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            tracing::info!(status = refusal.status.as_u16(), message = refusal.message, "refused at the gate");
            let problem = shared::problem::Problem::new(refusal.code, refusal.message);
            Failure { problem, status: refusal.status }.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_nothing_is_what_is_public() {
        for route in ROUTES {
            let method = route.method.parse().unwrap();
            assert_eq!(principal::is_public(&method, route.path), route.needs.is_none(), "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn every_route_is_of_the_api_and_stands_once() {
        let mut seen = std::collections::HashSet::new();
        for route in ROUTES {
            assert!(route.path.starts_with("/api/v1/"), "{}", route.path);
            assert!(seen.insert((route.method, route.path)), "{} {} stands twice", route.method, route.path);
        }
    }
}
