//! Whether a transaction is open, and whether it has failed: DuckDB does not say.
//!
//! Invariant: asking changes nothing. Within a transaction every statement has the same transaction number; outside, each has its own.
//! One that has failed takes no statement but its end.

use super::thread::rows_of;
use adbc_core::error::Result;
use adbc_driver_manager::ManagedConnection;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use shared::wire::run::TransactionState;

/// Asks.
pub fn of(connection: &mut ManagedConnection) -> TransactionState {
    let mut number = || -> Result<Option<u64>> {
        let batches = rows_of(connection, "SELECT txid_current()::UBIGINT", &[])?;
        let first = batches.first().and_then(|batch| batch.columns().first()?.as_primitive_opt::<UInt64Type>().cloned());
        Ok(first.filter(|numbers| !numbers.is_empty()).map(|numbers| numbers.value(0)))
    };
    match (number(), number()) {
        (Ok(one), Ok(other)) if one == other => TransactionState::Open,
        (Ok(_), Ok(_)) => TransactionState::None,
        _ => TransactionState::Failed,
    }
}
