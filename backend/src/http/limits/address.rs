//! What is wrong with a request's address, as a sentence that names the parameter: never the router's own words.

use axum::extract::path::ErrorKind;
use axum::extract::rejection::{PathRejection, QueryRejection};
use std::error::Error as _;

/// Of a path that matched the route `pattern`.
pub fn path_fault(rejection: &PathRejection, pattern: &str) -> String {
    let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
        return "The address is not of the right form.".to_owned();
    };
    match failed.kind() {
        ErrorKind::ParseErrorAtIndex { index, value, expected_type } => {
            wrong_value(parameters(pattern).nth(*index).unwrap_or_default(), value, expected_type)
        }
        ErrorKind::ParseErrorAtKey { key, value, expected_type } => wrong_value(key, value, expected_type),
        ErrorKind::ParseError { value, expected_type } => wrong_value(parameters(pattern).next().unwrap_or_default(), value, expected_type),
        ErrorKind::InvalidUtf8InPathParam { key } => format!("`{key}` of the address is not UTF-8."),
        _ => "The address is not of the right form.".to_owned(),
    }
}

/// Of a query; its type's own words say which field.
pub fn query_fault(rejection: &QueryRejection) -> String {
    match rejection.source() {
        Some(cause) => format!("The query of the address is not of the right form: {cause}."),
        None => "The query of the address is not of the right form.".to_owned(),
    }
}

/// Of the query of an address that takes none; nothing where it is empty.
pub fn surplus(query: &str) -> Option<String> {
    let name = query.split('&').find(|part| !part.is_empty())?.split('=').next().unwrap_or_default();
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    Some(if is_plain { format!("This address takes no parameter `{name}`.") } else { "This address takes no parameters.".to_owned() })
}

/// The names of a pattern's parameters, in order.
fn parameters(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn wrong_value(name: &str, value: &str, expected_type: &str) -> String {
    let most = match expected_type {
        "u32" => u64::from(u32::MAX),
        "u64" => u64::MAX,
        _ => return format!("`{name}` of the address cannot be read: {value}."),
    };
    format!("`{name}` of the address must be a whole number from 0 to {most}, not {value}.")
}
