//! What a request to start a run asks, before anything is done for it.
//!
//! Invariant: pure but for the random bits of an id.

use super::state::internal;
use crate::engine::Param;
use serde_json::value::RawValue;
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
    let values = request.params.iter().enumerate();
    let params: Vec<Param> = values
        .map(|(at, value)| param(value).ok_or_else(|| invalid(format!("Value {} must be null, true, false, a number or text", at + 1))))
        .collect::<Result<_, Problem>>()?;
    let bytes: usize = params.iter().map(|param| if let Param::Text(text) = param { text.len() } else { 0 }).sum();
    if bytes > PARAMETER_BYTES_MAX {
        return Err(Problem::new(
            ErrorCode::TooLarge,
            format!("The values have {bytes} bytes, more than the {PARAMETER_BYTES_MAX} of one statement"),
        ));
    }
    Ok(params)
}

fn param(value: &RawValue) -> Option<Param> {
    Some(match value.get() {
        "null" => Param::Null,
        "true" => Param::Bool(true),
        "false" => Param::Bool(false),
        text if text.starts_with('"') => Param::Text(serde_json::from_str(text).ok()?),
        text if text.starts_with(['[', '{']) => return None,
        number => numeric(number),
    })
}

/// A number that 64 bits hold exactly is one; any other keeps its digits as text, which the database reads for itself.
fn numeric(text: &str) -> Param {
    let whole = text.parse().ok().filter(|_| text != "-0").map(Param::Integer);
    let real = || text.parse::<f64>().ok().filter(|real| is_exact(text, *real)).map(Param::Real);
    whole.or_else(real).unwrap_or_else(|| Param::Text(text.to_owned()))
}

/// The shortest digits that name the float are those of the text.
fn is_exact(text: &str, real: f64) -> bool {
    real.is_finite() && significant(text) == significant(&format!("{real:e}"))
}

/// A number's digits from the first to the last that is not zero, and the power of ten of the first one.
fn significant(text: &str) -> (String, i64) {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let power = power.trim_start_matches('+').parse().unwrap_or(i64::MAX);
    let first = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_sub(i64::try_from(zeros).unwrap_or(i64::MAX));
    match digits.trim_matches('0') {
        "" => (String::new(), 0),
        digits => (digits.to_owned(), first.saturating_add(power)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Param> {
        param(&RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn a_number_is_one_only_where_64_bits_hold_every_digit() {
        for (text, value) in [
            ("9223372036854775807", Param::Integer(i64::MAX)),
            ("-9223372036854775808", Param::Integer(i64::MIN)),
            ("0.1", Param::Real(0.1)),
            ("2.50", Param::Real(2.5)),
            ("1e3", Param::Real(1000.0)),
            ("1.5E-7", Param::Real(1.5e-7)),
            ("0.0", Param::Real(0.0)),
            ("-0", Param::Real(-0.0)),
            ("5e-324", Param::Real(5e-324)),
            ("8.41", Param::Real(8.41)),
        ] {
            assert_eq!(of(text), Some(value), "{text}");
        }
        // serde_json's own reading of this one is a neighbour.
        assert_eq!(of("51.24817837550540"), Some(Param::Real("51.24817837550540".parse().unwrap())));
        for text in
            ["9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "3.14159265358979323846", "1e400", "0.1e-400"]
        {
            assert_eq!(of(text), Some(Param::Text(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_what_it_says() {
        assert_eq!(of("null"), Some(Param::Null));
        assert_eq!(of("true"), Some(Param::Bool(true)));
        assert_eq!(of(r#""a\n\u00e9""#), Some(Param::Text("a\né".to_owned())));
        assert_eq!((of("[1]"), of("{}")), (None, None));
    }
}
