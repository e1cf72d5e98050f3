//! What needs a session for a moment and is no run: catalogs and connection tests.
//!
//! Invariant: each is a task of its own, so that a caller who vanishes leaves no call half way.

use super::seat::{Seats, alive};
use crate::engine::pool::{Choice, Purpose};
use crate::engine::{Engine, Fate, Target};
use sha2::{Digest as _, Sha256};
use shared::problem::Problem;
use shared::wire::catalog::{Catalog, KnownSchemas, Schema};
use shared::wire::connection::TestResult;
use tokio::time::Instant;

/// How much of a catalog is asked for.
#[derive(Debug)]
pub(super) enum Extent {
    /// As much as is there at once; see [`crate::engine::Session::catalog_names`].
    Names,
    /// What has changed since these versions; all of it where there are none.
    Since(KnownSchemas),
}

pub(super) async fn catalog(seats: Seats, extent: Extent) -> Result<Catalog, Problem> {
    let mut choice = Choice::Any;
    loop {
        let mut lease = seats.lease_for(Purpose::Catalog, choice).await?;
        let read = match alive(lease.session.as_mut(), lease.idle).await {
            Ok(()) => match &extent {
                Extent::Names => lease.session.catalog_names().await,
                Extent::Since(known) => lease.session.catalog_since(known).await,
            },
            Err(error) => Err(error),
        };
        match read {
            Ok(catalog) => {
                tokio::spawn(lease.give_back());
                return Ok(match &extent {
                    Extent::Names => catalog,
                    Extent::Since(known) => settle(catalog, known),
                });
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

/// Versions for the schemas of an engine that has none: they are made from what is in the schema.
fn settle(mut catalog: Catalog, known: &KnownSchemas) -> Catalog {
    for schema in catalog.schemas.iter_mut().filter(|schema| schema.version.is_empty()) {
        let Ok(contents) = serde_json::to_vec(schema) else { continue };
        schema.version = Sha256::digest(contents).iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        if known.has(schema) {
            let (name, version) = (std::mem::take(&mut schema.name), std::mem::take(&mut schema.version));
            *schema = Schema { name, version, system: schema.system, denied: schema.denied, unchanged: true, ..Schema::default() };
        }
    }
    catalog
}

pub(super) async fn test(engine: &'static dyn Engine, target: Target) -> Result<TestResult, Problem> {
    let begin = Instant::now();
    let session = engine.connect(&target).await.map_err(|error| error.problem)?;
    let result = TestResult { ok: true, server: session.server().to_owned(), latency_ms: begin.elapsed().as_secs_f64() * 1e3 };
    session.close().await;
    Ok(result)
}
