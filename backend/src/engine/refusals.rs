//! What the engines say to a text before their database sees it, or where its own words are of no use to a person.
//!
//! Invariant: the same sentence for the same cause, and a place in the text where there is one.

use super::EngineError;
use shared::problem::{ErrorCode, Problem};

/// A refusal with its place in the text.
pub fn at(message: impl Into<String>, position: usize) -> EngineError {
    let mut problem = Problem::new(ErrorCode::Rejected, message);
    problem.position = u32::try_from(position).ok();
    EngineError::idle(problem)
}

/// A second statement in one text.
pub fn second_statement(position: usize) -> EngineError {
    at("One statement at a time: another one follows the first.", position)
}

/// A parameter without a value.
pub fn value_missing(name: &str) -> EngineError {
    EngineError::idle(Problem::new(ErrorCode::Rejected, format!("The statement has a parameter, {name}, and no value was given for it.")))
}

/// Other than one value for each parameter.
pub fn values_of_another_number(given: usize, wanted: usize) -> EngineError {
    let parameters = if wanted == 1 { "parameter" } else { "parameters" };
    let values = if given == 1 { "value was" } else { "values were" };
    let message = format!("The statement has {wanted} {parameters}, and {given} {values} given.");
    EngineError::idle(Problem::new(ErrorCode::Rejected, message))
}
