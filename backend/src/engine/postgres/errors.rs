//! The server's errors and notices, in its own words, and what becomes of a session after a fault of the link.
//!
//! Invariant: nothing of the server's fields is lost on the way to the person, and the position is one in the text that was sent.
//! Source: PostgreSQL documentation, "Error and Notice Message Fields".

use super::wire::{Reader, WireError};
pub use crate::engine::notices::Notices;
use crate::engine::{EngineError, Fate};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::Notice;

/// The fields of one ErrorResponse or NoticeResponse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// `ERROR`, `FATAL`, `NOTICE`, …, never translated where the server is 9.6 or later.
    pub severity: String,
    /// SQLSTATE.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// More sentences.
    pub detail: Option<String>,
    /// Advice.
    pub hint: Option<String>,
    /// 1-based, in characters of the text that was sent.
    pub position: Option<usize>,
    /// The calls that led there.
    pub context: Option<String>,
}

impl Fields {
    /// Reads what is there; a damaged field ends the reading, not the error.
    pub fn read(body: &[u8]) -> Self {
        let mut fields = Self::default();
        let mut reader = Reader::new(body);
        while let Ok(kind) = reader.u8() {
            if kind == 0 {
                break;
            }
            let Ok(value) = reader.c_text() else { break };
            match kind {
                b'V' => fields.severity = value,
                b'S' if fields.severity.is_empty() => fields.severity = value,
                b'C' => fields.code = value,
                b'M' => fields.message = value,
                b'D' => fields.detail = Some(value),
                b'H' => fields.hint = Some(value),
                b'P' => fields.position = value.parse().ok(),
                b'W' => fields.context = Some(value),
                _ => {}
            }
        }
        fields
    }

    /// The session is over, not only the statement.
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }

    /// SQLSTATE `query_canceled`, also by a timeout.
    pub fn is_cancel(&self) -> bool {
        self.code == "57014"
    }

    /// The failure of the guard behind a query that was given up: its number of a transaction is none of the integers.
    pub fn is_of_guard(&self) -> bool {
        self.code == "22P02" && self.message.contains("\"acted ")
    }

    /// How many parameters the statement has, where the server refused that `given` values came for them. It has no field for that and
    /// says it in any language, but always with both numbers and the name of the statement, which is empty.
    pub fn wanted_parameters(&self, given: usize) -> Option<usize> {
        if self.code != "08P01" || self.context.is_some() || !self.message.contains("\"\"") {
            return None;
        }
        let words = self.message.split(|c: char| !c.is_ascii_digit());
        let mut numbers = words.filter_map(|digits| digits.parse::<usize>().ok());
        let (first, second) = (numbers.next()?, numbers.next()?);
        match (first == given, second == given, numbers.next()) {
            (true, false, None) => Some(second),
            (false, true, None) => Some(first),
            _ => None,
        }
    }

    /// The cause for a person, with the place in `sql`.
    pub fn problem(self, code: ErrorCode, sql: &str) -> Problem {
        let position = self.position.and_then(|character| byte_position(sql, character));
        let detail = join(self.detail, self.context.map(|context| format!("CONTEXT: {}", of_parameters(&context))));
        let message = if self.message.is_empty() { "the server gave no reason".to_owned() } else { self.message };
        Problem { detail, position, hint: self.hint, sqlstate: Some(self.code), ..Problem::new(code, message) }
    }

    /// The same beside a result.
    pub fn notice(self) -> Notice {
        let mut message = self.message;
        for (label, text) in [("DETAIL", self.detail), ("HINT", self.hint)] {
            if let Some(text) = text {
                message.push_str(&format!("\n{label}: {text}"));
            }
        }
        Notice { severity: self.severity, message }
    }
}

/// Without the protocol's name of where a parameter was read, and without the dots in the place of a value that is not told.
fn of_parameters(context: &str) -> String {
    let shortened = |line: &str| match line.strip_prefix("unnamed portal parameter $") {
        Some(parameter) => format!("parameter ${}", parameter.strip_suffix(" = '...'").unwrap_or(parameter)),
        None => line.to_owned(),
    };
    context.split('\n').map(shortened).collect::<Vec<_>>().join("\n")
}

fn join(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}\n{second}")),
        (first, second) => first.or(second),
    }
}

/// The server counts characters from 1; a [`Problem`] counts bytes from 0. The place behind the last character counts as one.
pub fn byte_position(sql: &str, character: usize) -> Option<u32> {
    let nth = character.checked_sub(1)?;
    let starts = sql.char_indices().map(|(at, _)| at).chain(std::iter::once(sql.len()));
    starts.skip(nth).take(1).next().and_then(|at| u32::try_from(at).ok())
}

/// The link failed before the statement left.
pub fn not_sent(error: &WireError) -> EngineError {
    EngineError::not_sent(ErrorCode::ConnectionLost, error.to_string())
}

/// The link failed after the statement left.
pub fn lost(error: &WireError) -> EngineError {
    EngineError::unknown(error.to_string())
}

/// The server ended the session in the middle of a statement.
pub fn ended(fields: Fields) -> EngineError {
    EngineError { problem: fields.problem(ErrorCode::ConnectionLost, ""), fate: Fate::Unknown, cancelled: false }
}

#[cfg(test)]
mod tests;
