//! What a request to start a run asks, before anything is done for it.
//!
//! Invariant: pure but for the random bits of an id.

use super::state::internal;
use shared::ids::RunId;
use shared::limits::{PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, SQL_BYTES_MAX};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::StartRun;

/// What the request asks is within the limits; the rows of a page.
pub(super) fn check(request: &StartRun) -> Result<u32, Problem> {
    if !request.params.is_empty() {
        return Err(Problem::new(ErrorCode::InvalidRequest, "Parameters cannot be bound yet: params must be empty"));
    }
    let page_rows = request.page_rows.unwrap_or(PAGE_ROWS_DEFAULT);
    if page_rows == 0 || page_rows > PAGE_ROWS_MAX {
        return Err(Problem::new(ErrorCode::InvalidRequest, format!("page_rows must be from 1 to {PAGE_ROWS_MAX}")));
    }
    if request.sql.len() > SQL_BYTES_MAX {
        let message = format!("The statement has {} bytes, more than the {SQL_BYTES_MAX} of one statement", request.sql.len());
        return Err(Problem::new(ErrorCode::TooLarge, message));
    }
    Ok(page_rows)
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
