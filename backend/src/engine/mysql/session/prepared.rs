//! Statements with parameters: prepared, bound, executed, closed.
//! Source: MySQL documentation, "Prepared Statements", "COM_STMT_EXECUTE"; MariaDB documentation, "COM_STMT_PREPARE".
//!
//! Invariant: the text leaves as it was typed and no value becomes part of it. Nothing is executed before the server has said how many
//! values it waits for: a packet with another number of them would be read as other values, not refused. That costs a second flight.

use super::{COM_STMT_EXECUTE, MysqlSession};
use crate::engine::mysql::binary::write_counted;
use crate::engine::mysql::types::number;
use crate::engine::{EngineError, Param};
use shared::problem::{ErrorCode, Problem};

impl MysqlSession {
    /// Takes the answer to a preparation and sends the values behind it.
    pub(super) async fn bind(&mut self, params: &[Param]) -> Result<(), EngineError> {
        let answer = self.preparation().await;
        let (id, wanted) = self.or_failed(answer).await?;
        self.prepared = Some(id);
        if usize::from(wanted) != params.len() {
            let message = format!(
                "The statement waits for {}, and {} given",
                counted(wanted.into()),
                match params.len() {
                    1 => "1 was".to_owned(),
                    many => format!("{many} were"),
                }
            );
            return Err(self.turn_down(EngineError::idle(Problem::new(ErrorCode::Rejected, message))).await);
        }
        if self.canceller.was_asked() {
            let problem = Problem::new(ErrorCode::Rejected, "The statement was cancelled before it ran");
            return Err(self.turn_down(EngineError { cancelled: true, ..EngineError::idle(problem) }).await);
        }
        self.wire.write_command(COM_STMT_EXECUTE, &execution(id, params));
        self.send().await
    }
}

fn counted(values: usize) -> String {
    match values {
        0 => "no value".to_owned(),
        1 => "1 value".to_owned(),
        many => format!("{many} values"),
    }
}

/// The body of COM_STMT_EXECUTE: no cursor, once, with the types and the values.
pub(super) fn execution(id: u32, params: &[Param]) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    body.extend_from_slice(&[0, 1, 0, 0, 0]);
    let mut nulls = vec![0_u8; params.len().div_ceil(8)];
    for (at, _) in params.iter().enumerate().filter(|(_, param)| **param == Param::Null) {
        if let Some(byte) = nulls.get_mut(at / 8) {
            *byte |= 1 << (at % 8);
        }
    }
    body.extend_from_slice(&nulls);
    body.push(1);
    for param in params {
        body.extend_from_slice(&[type_of(param), 0]);
    }
    for param in params {
        match param {
            Param::Null => {}
            Param::Bool(value) => body.push(u8::from(*value)),
            Param::Integer(value) => body.extend_from_slice(&value.to_le_bytes()),
            Param::Real(value) => body.extend_from_slice(&value.to_le_bytes()),
            Param::Text(value) => write_counted(value.as_bytes(), &mut body),
        }
    }
    body
}

fn type_of(param: &Param) -> u8 {
    match param {
        Param::Null => number::NULL,
        Param::Bool(_) => number::TINY,
        Param::Integer(_) => number::LONGLONG,
        Param::Real(_) => number::DOUBLE,
        Param::Text(_) => number::VAR_STRING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_travel_with_their_types_and_nulls_by_their_bits() {
        let params = [Param::Text("ä".to_owned()), Param::Null, Param::Integer(-2), Param::Bool(true), Param::Real(0.5)];
        let body = execution(7, &params);
        let (head, rest) = body.split_at(9);
        assert_eq!(head, [7, 0, 0, 0, 0, 1, 0, 0, 0]);
        let (types, values) = rest.split_at(12);
        assert_eq!(types, [0b10, 1, 253, 0, 6, 0, 8, 0, 1, 0, 5, 0]);
        let whole = [&[2, 0xc3, 0xa4], (-2_i64).to_le_bytes().as_slice(), &[1], &0.5_f64.to_le_bytes()].concat();
        assert_eq!(values, whole);
        assert_eq!(execution(0, &vec![Param::Null; 9])[9..12], [0xff, 1, 1]);
    }
}
