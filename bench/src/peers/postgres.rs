//! A PostgreSQL server of the study's own, and what it is filled with.

use crate::BenchError;
use shared::wire::connection::{ConnectionFields, EngineKind};
use testing::postgres::{Cluster, bins};

/// Starts a server of the newest version that is installed.
pub fn cluster() -> Result<Cluster, BenchError> {
    let bin = bins().pop().ok_or_else(|| BenchError::failed("PostgreSQL", "no server programs are installed"))?;
    Ok(Cluster::start(&bin))
}

/// Sheaf's way to it.
pub fn fields(cluster: &Cluster) -> ConnectionFields {
    let mut fields = ConnectionFields::new("fixture", EngineKind::Postgres);
    fields.host = Some("127.0.0.1".to_owned());
    fields.port = Some(cluster.port);
    fields.user = Some("postgres".to_owned());
    fields.database = Some("postgres".to_owned());
    fields
}

/// Makes a table of so many rows × 6 columns, about 128 bytes a row on the wire.
pub fn fixture(rows: u64) -> String {
    format!(
        "CREATE TABLE fixture AS SELECT g::int AS id, (g::bigint * 7919 % 100003)::int AS customer, (g % 100000 / 100.0)::numeric(12,2) AS amount, \
         timestamptz '2024-01-01' + g * interval '1 minute' AS placed_at, md5(g::text) AS reference, \
         CASE WHEN g % 5 = 0 THEN NULL ELSE 'note ' || g END AS note FROM generate_series(1, {rows}) g"
    )
}
