//! What needs a session for a moment and is no run: catalogs and connection tests.
//!
//! Invariant: each is a task of its own, so that a caller who vanishes leaves no call half way.

use super::seat::{Seats, alive};
use crate::engine::catalog::CatalogAsk;
use crate::engine::pool::{Choice, Purpose};
use crate::engine::{Engine, Fate, Target};
use shared::problem::Problem;
use shared::wire::catalog::Catalog;
use shared::wire::connection::TestResult;
use tokio::time::Instant;

pub(super) async fn catalog(seats: Seats, ask: CatalogAsk) -> Result<Catalog, Problem> {
    let mut choice = Choice::Any;
    loop {
        let mut lease = seats.lease_for(Purpose::Catalog, choice).await?;
        let read = match alive(lease.session.as_mut(), lease.idle).await {
            Ok(()) => lease.session.read_catalog(&ask).await,
            Err(error) => Err(error),
        };
        match read {
            Ok(catalog) => {
                tokio::spawn(lease.give_back());
                return Ok(catalog);
            }
            // It only reads, and the link had died while it was idle: once more in a new session.
            Err(error) if error.fate != Fate::Idle && lease.reused => {
                drop(lease);
                choice = Choice::Fresh;
            }
            Err(error) => {
                if error.fate == Fate::Idle {
                    tokio::spawn(lease.give_back());
                }
                return Err(error.problem);
            }
        }
    }
}

pub(super) async fn test(engine: &'static dyn Engine, target: Target) -> Result<TestResult, Problem> {
    let begin = Instant::now();
    let session = engine.connect(&target).await.map_err(|error| error.problem)?;
    let result = TestResult { ok: true, server: session.server().to_owned(), latency_ms: begin.elapsed().as_secs_f64() * 1e3 };
    session.close().await;
    Ok(result)
}
