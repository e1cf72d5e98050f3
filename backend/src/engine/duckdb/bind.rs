//! Values for the parameters of a statement, in the order in which DuckDB counts them.
//!
//! Invariant: nothing of a value becomes part of the text. [`parameters`] counts as DuckDB does: by number, or by the first place of a
//! name.

use crate::engine::{EngineError, Param, refusals};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use shared::problem::{ErrorCode, Problem};
use shared::sql::{TokenKind, lex, parameters};
use shared::wire::connection::EngineKind;
use std::sync::Arc;

/// One row with a column for each of DuckDB's parameters; `None` where there is none.
pub fn values(sql: &str, params: &[Param]) -> Result<Option<RecordBatch>, EngineError> {
    let names = parameters(sql, EngineKind::Duckdb);
    if params.len() > names.len() {
        return Err(refusals::values_of_another_number(params.len(), names.len()));
    }
    if let Some(name) = names.get(params.len()) {
        return Err(refusals::value_missing(name));
    }
    if names.is_empty() {
        return Ok(None);
    }
    if let Some(name) = names.iter().find(|name| name.starts_with('$') && !stands_in(name, sql)) {
        let message = format!("The statement has no parameter {name}: DuckDB counts parameters without a gap.");
        return Err(EngineError::idle(Problem::new(ErrorCode::Rejected, message)));
    }
    let columns: Vec<ArrayRef> = params.iter().map(array).collect();
    let fields: Vec<Field> = columns.iter().map(|column| Field::new("", column.data_type().clone(), true)).collect();
    let unbound = |e: arrow_schema::ArrowError| EngineError::idle(Problem::new(ErrorCode::Internal, format!("No row of values: {e}")));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map(Some).map_err(unbound)
}

/// One row of texts; `None` where there is none.
pub fn texts(values: &[String]) -> Option<RecordBatch> {
    let columns: Vec<ArrayRef> = values.iter().map(|value| Arc::new(StringArray::from(vec![value.as_str()])) as ArrayRef).collect();
    let fields: Vec<Field> = columns.iter().map(|column| Field::new("", column.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).ok().filter(|row| row.num_columns() > 0)
}

fn stands_in(name: &str, sql: &str) -> bool {
    lex(sql, EngineKind::Duckdb).any(|token| token.kind == TokenKind::Parameter && token.text(sql) == name)
}

fn array(value: &Param) -> ArrayRef {
    match value {
        Param::Null => Arc::new(NullArray::new(1)),
        Param::Bool(value) => Arc::new(BooleanArray::from(vec![*value])),
        Param::Integer(value) => Arc::new(Int64Array::from(vec![*value])),
        Param::Real(value) => Arc::new(Float64Array::from(vec![*value])),
        Param::Text(value) => Arc::new(StringArray::from(vec![value.as_str()])),
    }
}
