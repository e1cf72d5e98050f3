//! What form of an answer a client asks for.

use super::problem::Failure;
use axum::http::header::{ACCEPT, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use shared::page;
use shared::problem::{ErrorCode, Problem};

/// The forms an answer with rows can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A page as an Arrow IPC stream.
    Arrow,
    /// JSON, without rows.
    Json,
}

/// The form with the highest weight; JSON where nothing is said.
pub fn form(headers: &HeaderMap) -> Result<Form, Failure> {
    let accepted: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let accepted = accepted.join(",");
    if accepted.trim().is_empty() {
        return Ok(Form::Json);
    }
    let mut best: Option<(f32, Form)> = None;
    for entry in accepted.split(',') {
        let (range, weight) = read_entry(entry);
        let form = match range.as_str() {
            page::MEDIA_TYPE => Form::Arrow,
            "application/json" | "application/*" | "*/*" => Form::Json,
            _ => continue,
        };
        if weight > 0.0 && best.is_none_or(|(so_far, _)| weight > so_far) {
            best = Some((weight, form));
        }
    }
    best.map(|(_, form)| form)
        .ok_or_else(|| not_acceptable("This answer comes as application/vnd.apache.arrow.stream or application/json."))
}

/// Refuses a client that does not take pages.
pub fn expect_arrow(headers: &HeaderMap) -> Result<(), Failure> {
    let mut accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    let takes = accepted.peek().is_none()
        || accepted.flat_map(|value| value.split(',')).any(|entry| {
            let (range, weight) = read_entry(entry);
            weight > 0.0 && matches!(range.as_str(), page::MEDIA_TYPE | "application/*" | "*/*")
        });
    if takes { Ok(()) } else { Err(not_acceptable("A page comes as application/vnd.apache.arrow.stream.")) }
}

/// Whether the client has this very thing already.
pub fn has_already(headers: &HeaderMap, etag: &str) -> bool {
    let tags = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    tags.map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

fn read_entry(entry: &str) -> (String, f32) {
    let mut parts = entry.split(';').map(str::trim);
    let range = parts.next().unwrap_or_default().to_ascii_lowercase();
    let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |text| text.parse().unwrap_or(0.0));
    (range, weight)
}

fn not_acceptable(message: &str) -> Failure {
    Failure { problem: Problem::new(ErrorCode::InvalidRequest, message), status: StatusCode::NOT_ACCEPTABLE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, value.parse().unwrap())])
    }

    #[test]
    fn the_form_is_what_weighs_most() {
        for (value, expected) in [
            ("application/vnd.apache.arrow.stream", Some(Form::Arrow)),
            ("application/json", Some(Form::Json)),
            ("*/*", Some(Form::Json)),
            ("application/vnd.apache.arrow.stream, */*", Some(Form::Arrow)),
            ("application/json;q=0.5, application/vnd.apache.arrow.stream", Some(Form::Arrow)),
            ("application/vnd.apache.arrow.stream;q=0, application/json", Some(Form::Json)),
            ("text/html", None),
            ("application/vnd.apache.arrow.stream;q=0", None),
        ] {
            assert_eq!(form(&accept(value)).ok(), expected, "{value}");
        }
        assert_eq!(form(&HeaderMap::new()).ok(), Some(Form::Json));
    }

    #[test]
    fn a_page_is_given_to_whoever_takes_one() {
        for value in ["*/*", "application/vnd.apache.arrow.stream", "text/html, application/*;q=0.1"] {
            assert!(expect_arrow(&accept(value)).is_ok(), "{value}");
        }
        assert!(expect_arrow(&HeaderMap::new()).is_ok());
        assert_eq!(expect_arrow(&accept("application/json")).unwrap_err().status, StatusCode::NOT_ACCEPTABLE);
    }

    #[test]
    fn an_entity_tag_is_found_in_a_list() {
        let with = |value: &str| HeaderMap::from_iter([(IF_NONE_MATCH, value.parse().unwrap())]);
        assert!(has_already(&with("\"a\", W/\"b\""), "\"b\""));
        assert!(has_already(&with("*"), "\"b\""));
        assert!(!has_already(&with("\"a\""), "\"b\""));
        assert!(!has_already(&HeaderMap::new(), "\"b\""));
    }
}
