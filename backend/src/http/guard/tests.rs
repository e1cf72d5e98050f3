//! The gate as a table: each row is a request and what becomes of it.

use super::*;

const OWN: &str = "127.0.0.1:7432";
const IN: Option<u16> = None;

fn verdict(method: &str, uri: &str, headers: &[(&str, &str)]) -> Option<u16> {
    let site = Site::local(7432);
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    let (method, uri) = (method.parse().unwrap(), uri.parse().unwrap());
    let facts = RequestFacts { method: &method, uri: &uri, headers: &map, site: &site };
    check(&facts).err().map(|refusal| refusal.status.as_u16())
}

/// A request that comes in, with one thing changed or added.
fn api_with(changes: &[(&str, &str)]) -> Option<u16> {
    let mut headers = vec![("host", OWN), ("x-sheaf-client", "web/1")];
    headers.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    headers.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
    verdict("POST", "/api/v1/runs", &headers)
}

#[test]
fn only_our_own_names_with_our_port_are_answered() {
    let table: &[(&str, Option<u16>)] = &[
        ("127.0.0.1:7432", IN),
        ("localhost:7432", IN),
        ("LOCALHOST:7432", IN),
        ("[::1]:7432", IN),
        ("127.0.0.1", Some(421)),
        ("localhost", Some(421)),
        ("127.0.0.1:80", Some(421)),
        ("127.0.0.1:74320", Some(421)),
        ("127.0.0.2:7432", Some(421)),
        ("127.1:7432", Some(421)),
        ("0.0.0.0:7432", Some(421)),
        ("[::]:7432", Some(421)),
        ("::1:7432", Some(421)),
        ("localhost.:7432", Some(421)),
        ("evil.example:7432", Some(421)),
        ("127.0.0.1.evil.example:7432", Some(421)),
        ("user@127.0.0.1:7432", Some(421)),
        ("127.0.0.1:7432 ", Some(421)),
        ("127.0.0.1:07432", Some(421)),
    ];
    for (host, expected) in table {
        for path in ["/", "/api/v1/connections", "/api/v1/csp", "/assets/app.js", "/nothing"] {
            let got = verdict("GET", path, &[("host", host), ("x-sheaf-client", "web/1")]);
            assert_eq!(got, *expected, "Host: {host} on {path}");
        }
    }
}

#[test]
fn the_host_stands_exactly_once() {
    assert_eq!(verdict("GET", "/", &[]), Some(400));
    assert_eq!(verdict("GET", "/", &[("host", OWN), ("host", OWN)]), Some(400));
    assert_eq!(verdict("GET", "/", &[("host", "")]), Some(421));
    assert_eq!(verdict("GET", "http://127.0.0.1:7432/", &[("host", OWN)]), IN);
    assert_eq!(verdict("GET", "http://evil.example:7432/", &[("host", OWN)]), Some(421));
    assert_eq!(verdict("GET", "http://localhost:7432/", &[("host", OWN)]), Some(421));
}

#[test]
fn preflights_and_odd_methods_fail_everywhere() {
    for path in ["/", "/api/v1/runs", "/api/v1/csp", "/assets/app.js"] {
        for (method, expected) in [("OPTIONS", 403), ("TRACE", 405), ("CONNECT", 405)] {
            let got = verdict(method, path, &[("host", OWN), ("x-sheaf-client", "web/1")]);
            assert_eq!(got, Some(expected), "{method} {path}");
        }
    }
}

#[test]
fn the_api_needs_a_client_name() {
    let table: &[(&str, Option<u16>)] = &[
        ("web/1", IN),
        ("my-script/0.1.2", IN),
        ("a_b.c+d/1", IN),
        ("", Some(403)),
        ("web", Some(403)),
        ("/1", Some(403)),
        ("web/", Some(403)),
        ("web/1/2", Some(403)),
        ("web /1", Some(403)),
        ("wéb/1", Some(403)),
    ];
    for (client, expected) in table {
        assert_eq!(api_with(&[("x-sheaf-client", client)]), *expected, "{client:?}");
    }
    let long = format!("{}/1", "n".repeat(65));
    assert_eq!(api_with(&[("x-sheaf-client", &long)]), Some(403));
    let twice = [("host", OWN), ("x-sheaf-client", "web/1"), ("x-sheaf-client", "web/1")];
    assert_eq!(verdict("GET", "/api/v1/runs", &twice), Some(403));
    for path in ["/api", "/api/", "/api/v1/anything", "/api/v1/csp/", "/api/v1/sign-in/launch"] {
        assert_eq!(verdict("GET", path, &[("host", OWN)]), Some(403), "{path}");
    }
}

#[test]
fn reports_and_documents_need_no_client_name() {
    for path in ["/", "/api/v1/csp", "/assets/app.js", "/boot.js"] {
        assert_eq!(verdict("GET", path, &[("host", OWN)]), IN, "{path}");
    }
}

#[test]
fn the_api_is_for_the_same_origin_only() {
    for path in ["/api/v1/runs", "/api/v1/csp"] {
        for (site, expected) in [
            ("same-origin", IN),
            ("same-site", Some(403)),
            ("cross-site", Some(403)),
            ("none", Some(403)),
            ("Same-Origin", Some(403)),
            ("", Some(403)),
        ] {
            let headers = [("host", OWN), ("x-sheaf-client", "web/1"), ("sec-fetch-site", site)];
            assert_eq!(verdict("GET", path, &headers), expected, "{site:?} on {path}");
        }
    }
    let twice = [("host", OWN), ("x-sheaf-client", "web/1"), ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "same-origin")];
    assert_eq!(verdict("GET", "/api/v1/runs", &twice), Some(403));
}

#[test]
fn a_document_may_be_linked_to_and_nothing_else() {
    for site in ["same-origin", "same-site", "cross-site", "none"] {
        for (mode, dest, expected) in [
            ("navigate", "document", IN),
            ("navigate", "iframe", Some(403)),
            ("navigate", "embed", Some(403)),
            ("navigate", "object", Some(403)),
            ("cors", "empty", Some(403)),
            ("no-cors", "image", Some(403)),
            ("no-cors", "script", Some(403)),
            ("same-origin", "empty", Some(403)),
        ] {
            let headers = [("host", OWN), ("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
            assert_eq!(verdict("GET", "/", &headers), expected, "{site} {mode} {dest}");
        }
        let navigation = [("host", OWN), ("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        assert_eq!(verdict("POST", "/", &navigation), Some(403), "a form of {site}");
    }
    assert_eq!(verdict("GET", "/", &[("host", OWN), ("sec-fetch-site", "none")]), Some(403));
}

#[test]
fn assets_are_for_our_own_documents() {
    for path in ["/assets/app-1a2b.wasm", "/boot.js", "/favicon.svg", "/nothing"] {
        for (site, expected) in [("same-origin", IN), ("none", IN), ("same-site", Some(403)), ("cross-site", Some(403))] {
            assert_eq!(verdict("GET", path, &[("host", OWN), ("sec-fetch-site", site)]), expected, "{site} on {path}");
        }
    }
}

#[test]
fn an_origin_must_be_our_own() {
    let table: &[(&str, Option<u16>)] = &[
        ("http://127.0.0.1:7432", IN),
        ("http://localhost:7432", Some(403)),
        ("https://127.0.0.1:7432", Some(403)),
        ("http://127.0.0.1", Some(403)),
        ("http://127.0.0.1:7433", Some(403)),
        ("http://evil.example", Some(403)),
        ("http://127.0.0.1:7432.evil.example", Some(403)),
        ("null", Some(403)),
        ("file://", Some(403)),
    ];
    for (origin, expected) in table {
        assert_eq!(api_with(&[("origin", origin)]), *expected, "{origin}");
        let both = api_with(&[("origin", origin), ("sec-fetch-site", "same-origin")]);
        assert_eq!(both, *expected, "{origin} said to be same-origin");
    }
    let other_name = [("host", "localhost:7432"), ("x-sheaf-client", "web/1"), ("origin", "http://localhost:7432")];
    assert_eq!(verdict("POST", "/api/v1/runs", &other_name), IN);
    let twice = [("host", OWN), ("x-sheaf-client", "web/1"), ("origin", "http://127.0.0.1:7432"), ("origin", "http://evil.example")];
    assert_eq!(verdict("POST", "/api/v1/runs", &twice), Some(403));
}

#[test]
fn a_body_is_json_and_not_compressed() {
    type Row<'a> = (&'a [(&'a str, &'a str)], Option<u16>);
    let table: &[Row<'_>] = &[
        (&[], IN),
        (&[("content-length", "0")], IN),
        (&[("content-length", "2"), ("content-type", "application/json")], IN),
        (&[("content-length", "2"), ("content-type", "Application/JSON; charset=utf-8")], IN),
        (&[("transfer-encoding", "chunked"), ("content-type", "application/json")], IN),
        (&[("content-length", "2")], Some(415)),
        (&[("transfer-encoding", "chunked")], Some(415)),
        (&[("content-length", "2"), ("content-type", "text/plain")], Some(415)),
        (&[("content-length", "2"), ("content-type", "application/jsonp")], Some(415)),
        (&[("content-length", "2"), ("content-type", "application/csp-report")], Some(415)),
        (&[("content-length", "2"), ("content-type", "multipart/form-data")], Some(415)),
        (&[("content-length", "2"), ("content-type", "application/x-www-form-urlencoded")], Some(415)),
        (&[("content-length", "2"), ("content-type", "application/json"), ("content-encoding", "gzip")], Some(415)),
        (&[("content-encoding", "identity")], Some(415)),
    ];
    for (headers, expected) in table {
        assert_eq!(api_with(headers), *expected, "{headers:?}");
    }
    let report = [("host", OWN), ("content-length", "2"), ("content-type", "application/csp-report")];
    assert_eq!(verdict("POST", "/api/v1/csp", &report), IN);
}

#[test]
fn long_addresses_and_large_headers_are_refused() {
    let fits = format!("/{}", "a".repeat(URI_BYTES_MAX - 1));
    assert_eq!(verdict("GET", &fits, &[("host", OWN)]), IN);
    assert_eq!(verdict("GET", &format!("{fits}a"), &[("host", OWN)]), Some(414));
    let large = "v".repeat(HEADER_BYTES_MAX);
    assert_eq!(verdict("GET", "/", &[("host", OWN), ("x-large", &large)]), Some(431));
}

#[test]
fn no_request_of_a_foreign_page_reaches_the_api() {
    // What Chromium sends for each way a page has to make a request.
    let shapes: &[(&str, &[(&str, &str)])] = &[
        ("GET", &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")]),
        ("GET", &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "script")]),
        ("GET", &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]),
        ("GET", &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]),
        ("POST", &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"), ("origin", "http://evil.example")]),
        (
            "POST",
            &[
                ("sec-fetch-mode", "no-cors"),
                ("sec-fetch-dest", "empty"),
                ("origin", "http://evil.example"),
                ("content-type", "text/plain"),
            ],
        ),
        ("OPTIONS", &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty"), ("origin", "http://evil.example")]),
    ];
    for (method, shape) in shapes {
        for site in ["cross-site", "same-site"] {
            for path in ["/api/v1/runs", "/api/v1/connections", "/api/v1/csp", "/api/v1/sign-in/launch"] {
                let mut headers = vec![("host", OWN), ("sec-fetch-site", site)];
                headers.extend_from_slice(shape);
                assert_eq!(verdict(method, path, &headers), Some(403), "{method} {path} {headers:?}");
            }
        }
    }
}
