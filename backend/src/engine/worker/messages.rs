//! What the server and a library's process say to each other.
//!
//! Invariant: what comes from the process is believed in nothing: a batch is checked as it is decoded, a panic of a decoder is an
//! error like any other.

use super::frames;
use crate::engine::catalog::CatalogAsk;
use crate::engine::{Bound, EngineError, Finished, Param};
use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};
use shared::limits::{PARAMETER_BYTES_MAX, SQL_BYTES_MAX};
use shared::page;
use shared::wire::catalog::Catalog;
use shared::wire::run::TransactionState;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes of a request at most: a text of SQL and its values, each byte written as six in the worst case (`\u0001`).
pub const REQUEST_BYTES_MAX: usize = 6 * (SQL_BYTES_MAX + PARAMETER_BYTES_MAX) + (1 << 20);
/// Bytes of an answer at most: one row may be larger than a page. It is the process's word, so it is bounded here.
pub const ANSWER_BYTES_MAX: usize = 256 << 20;

/// What is asked of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Begin; what is to be opened, and how, in the engine's own form. The first one of a process opens it.
    Connect(serde_json::Value),
    /// See [`crate::engine::Session::execute_with`]; brings the first rows too.
    Execute {
        /// Counts the session's statements, so that a stop is for one of them.
        statement: u64,
        /// The text, untouched.
        sql: String,
        /// A value for each parameter.
        params: Vec<Param>,
        /// How much comes.
        bound: Bound,
    },
    /// See [`crate::engine::Session::fetch`].
    Fetch(Bound),
    /// See [`crate::engine::Session::finish`].
    Finish,
    /// See [`crate::engine::Session::read_catalog`].
    Catalog {
        /// As of a statement.
        statement: u64,
        /// How much of it.
        ask: CatalogAsk,
    },
    /// See [`crate::engine::Session::reset`].
    Reset,
    /// Stop that statement. Not answered.
    Stop {
        /// Which.
        statement: u64,
    },
    /// End the session.
    Close,
}

/// An answer's head; rows, if it has any, are its body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// What was done.
    pub done: Result<Done, EngineError>,
    /// What is left of a transaction.
    pub transaction: TransactionState,
}

/// What was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Done {
    /// A session is there.
    Connected {
        /// The library's name and version.
        server: String,
        /// Layers of the jail that this system does not have.
        missing: Vec<String>,
    },
    /// The statement runs.
    Started {
        /// What there is to fetch; the body is the first of it.
        rows: Option<Rows>,
        /// How it ended, where it has: a result of one page, or none, costs no further question.
        ended: Option<Finished>,
    },
    /// The body is rows.
    Fetched(Rows),
    /// The statement has ended.
    Finished(Finished),
    /// Names, types, keys.
    Catalog(Catalog),
    /// As new.
    Reset,
    /// No more.
    Closed,
}

/// Rows in the body.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Rows {
    /// More wait.
    pub more: bool,
}

/// A request as a frame.
pub fn request(session: u64, request: &Request) -> io::Result<Vec<u8>> {
    frames::before(session, request, 0)
}

/// An answer's head and its rows.
pub fn read_answer(bytes: Vec<u8>) -> io::Result<(Answer, Option<RecordBatch>)> {
    catch_unwind(AssertUnwindSafe(|| {
        let frames::Frame { head, body, .. } = frames::decode::<Answer>(bytes)?;
        let has_rows = matches!(head.done, Ok(Done::Started { rows: Some(_), .. } | Done::Fetched(_)));
        if !has_rows {
            return Ok((head, None));
        }
        let batch = page::decode_within(body, ANSWER_BYTES_MAX).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
        Ok((head, Some(batch)))
    }))
    .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::InvalidData, "an answer that the decoder fails on")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;

    fn answer() -> Vec<u8> {
        let fields = vec![Field::new("n", DataType::Int64, true), Field::new("t", DataType::Utf8, true)];
        let columns: Vec<arrow_array::ArrayRef> =
            vec![Arc::new(Int64Array::from(vec![Some(1), None])), Arc::new(StringArray::from(vec![Some("é"), None]))];
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let head = Answer { done: Ok(Done::Fetched(Rows { more: true })), transaction: TransactionState::None };
        let mut out = Vec::new();
        frames::write(&mut out, 3, &head, &page::encode(&batch).unwrap()).unwrap();
        out.split_off(4)
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let (head, batch) = read_answer(answer()).unwrap();
        assert!(matches!(head.done, Ok(Done::Fetched(Rows { more: true }))));
        assert_eq!(batch.unwrap().num_rows(), 2);
    }

    #[test]
    fn a_damaged_answer_is_an_error_or_another_answer_and_never_a_panic() {
        let whole = answer();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                let _ = read_answer(bytes);
            }
            // The mark of the stream's end may be missing, the batch not.
            if at + 8 < whole.len() {
                assert!(read_answer(whole[..at].to_vec()).is_err(), "cut at {at}");
            }
        }
    }

    #[test]
    fn a_real_value_comes_back_bit_for_bit() {
        for value in [0.1 + 0.2, 5e-324, -0.0, f64::MAX, f64::INFINITY, f64::NAN] {
            let text = serde_json::to_string(&Param::Real(value)).unwrap();
            let back = serde_json::from_str(&text).unwrap();
            assert!(matches!(back, Param::Real(back) if back.to_bits() == value.to_bits()), "{value}: {text}");
        }
    }
}
