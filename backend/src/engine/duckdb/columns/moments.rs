//! Intervals and instants, where Arrow's own types give their text back.
//!
//! Invariant: `None`, or `false`, is never an error, only "keep the text".

use super::Instants;
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{IntervalMonthDayNanoType, TimestampMicrosecondType};
use arrow_schema::{DataType, TimeUnit};
use shared::format::{Offsets, duckdb};
use std::sync::Arc;

/// Nanoseconds of the least part that an INTERVAL has.
const MICROSECOND: i64 = 1_000;
const UTC: &str = "UTC";

/// The physical type of an instant.
pub fn data_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into()))
}

/// Whether all intervals are what they seem: DuckDB's microseconds times 1,000, which did not overflow.
pub fn are_whole(array: &ArrayRef) -> bool {
    let values = array.as_primitive_opt::<IntervalMonthDayNanoType>();
    values.is_some_and(|values| values.iter().flatten().all(|value| value.nanoseconds % MICROSECOND == 0))
}

/// The instants under UTC's own name.
pub fn of_utc(array: &ArrayRef) -> Option<ArrayRef> {
    let values = array.as_primitive_opt::<TimestampMicrosecondType>()?;
    Some(Arc::new(values.clone().with_timezone(UTC)))
}

/// The instants, and how far the session's clock is ahead of UTC at each, by the text of each; `None` where that would not give the
/// texts back.
pub fn instants(array: &ArrayRef, texts: &Instants) -> Option<(ArrayRef, Option<String>)> {
    let values = array.as_primitive_opt::<TimestampMicrosecondType>()?;
    let mut offsets = Vec::with_capacity(values.len());
    for micros in values.iter().flatten().filter(|micros| !duckdb::is_infinite(*micros)) {
        offsets.push((micros, duckdb::ahead(micros, texts.get(&micros)?)?));
    }
    let offsets = Offsets::of(offsets)?;
    Some((Arc::new(values.clone().with_timezone(UTC)), offsets.metadata()))
}
