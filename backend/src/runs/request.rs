//! What a request to start a run asks, before anything is done for it.
//!
//! Invariant: pure but for the random bits of an id.

use super::state::internal;
use crate::engine::Param;
use serde_json::Value;
use shared::ids::RunId;
use shared::limits::{PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, PARAMETER_BYTES_MAX, PARAMETERS_MAX, SQL_BYTES_MAX};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{StartRun, TransactionMode};

/// What the request asks is within the limits; the rows of a page.
pub(super) fn check(request: &StartRun) -> Result<u32, Problem> {
    let page_rows = request.page_rows.unwrap_or(PAGE_ROWS_DEFAULT);
    if page_rows == 0 || page_rows > PAGE_ROWS_MAX {
        return Err(Problem::new(ErrorCode::InvalidRequest, format!("page_rows must be from 1 to {PAGE_ROWS_MAX}")));
    }
    if request.sql.len() > SQL_BYTES_MAX {
        let message = format!("The statement has {} bytes, more than the {SQL_BYTES_MAX} of one statement", request.sql.len());
        return Err(Problem::new(ErrorCode::TooLarge, message));
    }
    if request.transaction == TransactionMode::Manual && request.session.is_none() {
        return Err(Problem::new(ErrorCode::InvalidRequest, "`transaction: manual` needs a `session`: one of the pool is anybody's next"));
    }
    Ok(page_rows)
}

/// The values of the statement's parameters.
pub(super) fn params(request: &StartRun) -> Result<Vec<Param>, Problem> {
    let invalid = |message: String| Problem::new(ErrorCode::InvalidRequest, message);
    if request.params.len() > PARAMETERS_MAX {
        return Err(invalid(format!("A statement takes at most {PARAMETERS_MAX} values")));
    }
    let params: Result<Vec<Param>, Problem> = request
        .params
        .iter()
        .enumerate()
        .map(|(at, value)| param(value).ok_or_else(|| invalid(format!("Value {} must be null, true, false, a number or text", at + 1))))
        .collect();
    let bytes: usize = request.params.iter().filter_map(|value| value.as_str()).map(str::len).sum();
    if bytes > PARAMETER_BYTES_MAX {
        return Err(Problem::new(
            ErrorCode::TooLarge,
            format!("The values have {bytes} bytes, more than the {PARAMETER_BYTES_MAX} of one statement"),
        ));
    }
    params
}

fn param(value: &Value) -> Option<Param> {
    Some(match value {
        Value::Null => Param::Null,
        Value::Bool(value) => Param::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Param::Integer(whole),
            // A larger whole number keeps its digits as text.
            None if number.is_u64() => Param::Text(number.to_string()),
            None => Param::Real(number.as_f64()?),
        },
        Value::String(text) => Param::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

pub(super) fn too_many(message: String) -> Problem {
    let mut problem = Problem::new(ErrorCode::TooMany, message);
    problem.retry_after_ms = Some(1_000);
    problem
}

/// 128 random bits.
pub(super) fn new_id() -> Result<RunId, Problem> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).map_err(|error| {
        tracing::error!(%error, "no random bits");
        internal()
    })?;
    Ok(RunId(random.iter().map(|byte| format!("{byte:02x}")).collect()))
}
