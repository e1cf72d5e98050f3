//! Addresses that no route can read: each is one clear problem, in our own words.

use crate::support::{Answer, Server, request};
use axum::body::Body;
use backend::http::ROUTES;
use shared::problem::ErrorCode;

/// Of the libraries below, not of ours.
const FOREIGN_WORDS: [&str; 6] = ["deserialize", "Invalid URL", "u32", "u64", "index", "path param"];

fn parameters(path: &str) -> Vec<&str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

fn is_number(parameter: &str) -> bool {
    matches!(parameter, "n" | "row" | "column")
}

/// The path with `value` for one parameter, and something that can be read for the others.
fn filled(path: &str, parameter: &str, value: &str) -> String {
    path.replace(&format!("{{{parameter}}}"), value)
        .split('/')
        .map(|part| if part.starts_with('{') { "1" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

fn is_ours(answer: &Answer, what: &str) {
    if answer.status >= 400 {
        let message = answer.problem(answer.status).message;
        assert!(FOREIGN_WORDS.iter().all(|word| !message.contains(word)), "{what}: {message}");
    }
}

#[tokio::test]
async fn a_parameter_that_cannot_be_read_is_named_on_every_route() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let mut asked = 0;
    for route in ROUTES {
        for parameter in parameters(route.path) {
            for value in ["%FF", "99999999999999999999999999", "-1", "1.5", "a%20b", "%F0%9F%98%80", "''"] {
                let path = filled(route.path, parameter, value);
                let answer = client.send(request(route.method, &path, Body::empty())).await;
                is_ours(&answer, &path);
                if value == "%FF" || is_number(parameter) {
                    let problem = answer.problem(400);
                    assert_eq!(problem.code, ErrorCode::InvalidRequest, "{path}");
                    assert!(problem.message.contains(&format!("`{parameter}`")), "{path}: {}", problem.message);
                }
                asked += 1;
            }
        }
    }
    assert!(asked > 100, "{asked}");
}

#[tokio::test]
async fn a_number_over_its_type_is_told_with_its_bounds() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (path, sentence) in [
        ("pages/99999999999999", "`n` of the address must be a whole number from 0 to 4294967295, not 99999999999999."),
        ("cells/0/4294967296", "`column` of the address must be a whole number from 0 to 4294967295, not 4294967296."),
        ("cells/-1/0", "`row` of the address must be a whole number from 0 to 18446744073709551615, not -1."),
    ] {
        assert_eq!(client.get(&format!("/api/v1/runs/x/{path}")).await.problem(400).message, sentence);
    }
    assert_eq!(client.get("/api/v1/runs/x/pages/4294967295").await.problem(404).code, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_query_that_cannot_be_read_is_told_on_every_route() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    for route in ROUTES {
        for query in ["window=%FF&window=%FF", "surprise=1", "window=a&surprise=1", "=&&=", "%"] {
            // Anew each time: one of the routes ends the sign-in.
            let client = server.sign_in().await;
            let path = format!("{}?{query}", filled(route.path, "", ""));
            let answer = client.send(request(route.method, &path, Body::empty())).await;
            is_ours(&answer, &path);
            assert_ne!(answer.status, 401, "{path}");
            assert_eq!(answer.problem(400).code, ErrorCode::InvalidRequest, "{path}");
        }
    }
}

#[tokio::test]
async fn a_query_where_none_is_taken_is_named() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    for (address, sentence) in [
        ("/api/v1/runs/x/pages/0?x=1", "This address takes no parameter `x`."),
        ("/api/v1/connections?&names=true", "This address takes no parameter `names`."),
        ("/api/v1/runs/x/pages/0?%F0%9F", "This address takes no parameters."),
    ] {
        assert_eq!(client.get(address).await.problem(400).message, sentence);
    }
    client.get("/api/v1/runs/x/pages/0?").await.problem(404);
}
