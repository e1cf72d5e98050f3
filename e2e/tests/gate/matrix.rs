//! Every route of the running server's own description × every way in that is not one.

use e2e::http::{Client, Request, Response};
use e2e::server::{Server, binary};

const PUBLIC: [(&str, &str); 2] = [("POST", "/api/v1/sign-in/launch"), ("POST", "/api/v1/csp")];

/// Every route, with something in the place of each parameter.
async fn routes(client: &mut Client, bearer: &str) -> Vec<(String, String)> {
    let document = client.send(Request::get("/api/v1/openapi.json").bearer(bearer)).await.unwrap().json();
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let filled: Vec<&str> = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect();
        for method in methods.as_object().unwrap().keys() {
            routes.push((method.to_uppercase(), filled.join("/")));
        }
    }
    assert!(routes.len() >= 20, "{routes:?}");
    routes
}

fn is_public(method: &str, path: &str) -> bool {
    PUBLIC.contains(&(method, path))
}

/// What every answer of the API carries, and what none does.
pub fn check_headers(answer: &Response, what: &str) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
        ("cache-control", "no-store"),
        ("vary", "Origin, Sec-Fetch-Site"),
    ] {
        assert_eq!(answer.header(name), value, "{what}: {name}");
    }
    let foreign = answer.headers.keys().find(|name| name.as_str().starts_with("access-control-") || *name == "set-cookie");
    assert_eq!(foreign, None, "{what}");
    if answer.status >= 400 {
        assert_eq!(answer.header("content-type"), "application/problem+json", "{what}");
        assert!(answer.json()["request_id"].is_string(), "{what}");
    }
}

async fn expect(client: &mut Client, request: Request, status: u16, what: &str) {
    let answer = client.send(request).await.unwrap();
    assert_eq!(answer.status, status, "{what}: {}", answer.text());
    check_headers(&answer, what);
}

#[tokio::test]
async fn z35_z37_no_route_is_reached_by_a_way_that_is_none() {
    let server = Server::start_empty(&binary()).unwrap();
    let bearer = server.sign_in().await.unwrap();
    let mut client = server.client().await.unwrap();
    let port = server.address().port();
    let other_port = format!("http://127.0.0.1:{}", port.wrapping_add(1));
    for (method, path) in routes(&mut client, &bearer).await {
        let what = |way: &str| format!("{method} {path}, {way}");
        let signed = || Request::new(&method, &path).bearer(&bearer);
        if !is_public(&method, &path) {
            expect(&mut client, Request::new(&method, &path), 401, &what("no bearer")).await;
            expect(&mut client, Request::new(&method, &path).bearer("wrong"), 401, &what("wrong bearer")).await;
            expect(&mut client, Request::new(&method, &path).header("Authorization", "Basic eDp5"), 401, &what("basic")).await;
            let cookie = Request::new(&method, &path).header("Cookie", &format!("sheaf={bearer}"));
            expect(&mut client, cookie, 401, &what("bearer in a cookie")).await;
            let query = Request::new(&method, &format!("{path}?bearer={bearer}"));
            expect(&mut client, query, 401, &what("bearer in the query")).await;
        }
        for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "127.0.0.1:1", &format!("0.0.0.0:{port}")] {
            expect(&mut client, signed().header("Host", host), 421, &what(&format!("Host {host}"))).await;
        }
        for site in ["cross-site", "same-site", "none", "unknown"] {
            expect(&mut client, signed().header("Sec-Fetch-Site", site), 403, &what(&format!("Sec-Fetch-Site {site}"))).await;
        }
        for origin in ["http://evil.example", other_port.as_str(), "null", "https://127.0.0.1"] {
            expect(&mut client, signed().header("Origin", origin), 403, &what(&format!("Origin {origin}"))).await;
        }
        if path != "/api/v1/csp" {
            expect(&mut client, signed().without("X-Sheaf-Client"), 403, &what("no client header")).await;
            let unnamed = signed().without("X-Sheaf-Client").header("X-Sheaf-Client", "web");
            expect(&mut client, unnamed, 403, &what("a client header of another form")).await;
        }
        expect(&mut client, signed().header("Content-Encoding", "gzip").body("x"), 415, &what("compressed")).await;
        expect(&mut client, signed().header("Content-Type", "text/plain").body("{}"), 415, &what("plain text")).await;
        expect(&mut client, Request::new("OPTIONS", &path).bearer(&bearer), 403, &what("OPTIONS")).await;
        let preflight = Request::new("OPTIONS", &path)
            .without("X-Sheaf-Client")
            .header("Origin", "http://evil.example")
            .header("Access-Control-Request-Method", &method)
            .header("Access-Control-Request-Headers", "x-sheaf-client, authorization");
        expect(&mut client, preflight, 403, &what("preflight")).await;
        expect(&mut client, Request::new("TRACE", &path).bearer(&bearer), 405, &what("TRACE")).await;
        expect(&mut client, Request::new("PUT", &path).bearer(&bearer), 405, &what("another method")).await;
    }
}

#[tokio::test]
async fn what_does_not_exist_is_as_closed_as_what_does() {
    let server = Server::start_empty(&binary()).unwrap();
    let bearer = server.sign_in().await.unwrap();
    let mut client = server.client().await.unwrap();
    for path in
        ["/api", "/api/", "/api/v1", "/api/v1/nothing", "/api/v2/runs", "/api/v1/runs/", "/api/v1/connections/../csp", "/api//v1/csp"]
    {
        expect(&mut client, Request::get(path), 401, path).await;
        expect(&mut client, Request::get(path).bearer(&bearer), 404, path).await;
    }
}

#[tokio::test]
async fn the_document_opens_for_a_person_and_for_no_page() {
    let server = Server::start_empty(&binary()).unwrap();
    let mut client = server.client().await.unwrap();
    let page = |headers: &[(&str, &str)]| {
        headers.iter().fold(Request::get("/").without("X-Sheaf-Client"), |request, (name, value)| request.header(name, value))
    };
    let by_link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    for headers in [&[][..], &by_link] {
        let answer = client.send(page(headers)).await.unwrap();
        assert_eq!(answer.status, 200);
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{name}");
        }
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"), "{policy}");
        assert!(answer.header("permissions-policy").contains("camera=()"));
        assert!(!answer.headers.contains_key("set-cookie"));
    }
    for (mode, dest) in [("navigate", "iframe"), ("cors", "empty"), ("no-cors", "script"), ("no-cors", "image"), ("navigate", "object")] {
        let framed = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", dest)];
        expect(&mut client, page(&framed), 403, &format!("{mode} {dest}")).await;
    }
    expect(&mut client, page(&[("Host", "evil.example")]), 421, "a rebound name").await;
    expect(&mut client, Request::post("/"), 405, "POST /").await;
}

#[tokio::test]
async fn assets_are_for_the_document_only() {
    let server = Server::start_empty(&binary()).unwrap();
    let mut client = server.client().await.unwrap();
    let document = client.send(Request::get("/")).await.unwrap().text();
    let found = document.split('"').find(|part| part.contains("assets/")).map(|path| format!("/{}", path.trim_start_matches('/')));
    // A binary without the interface has no assets; then the rule is tested on one that is missing.
    let (path, status) = found.map_or_else(|| ("/assets/none.js".to_owned(), 404), |path| (path, 200));
    let own = client.send(Request::get(&path).header("Sec-Fetch-Site", "same-origin").header("Accept-Encoding", "br, gzip")).await.unwrap();
    assert_eq!(own.status, status, "{path}");
    if status == 200 {
        assert_eq!(own.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(own.header("content-encoding"), "br");
        assert_eq!(own.header("x-content-type-options"), "nosniff");
    }
    for site in ["same-site", "cross-site"] {
        expect(&mut client, Request::get(&path).header("Sec-Fetch-Site", site), 403, site).await;
    }
    for path in ["/index.html", "/assets/../index.html", "/..%2f..%2fetc/passwd", "/assets/", "/%00"] {
        expect(&mut client, Request::get(path), 404, path).await;
    }
}
