//! A statement whose plan has workers keeps them.

use super::{Family, Measuring};
use crate::peers::bare_driver::BareDriver;
use crate::peers::engine::Engine;
use crate::peers::postgres::{cluster, fields, fixture};
use crate::peers::psql::Psql;
use crate::record::Record;
use crate::{BenchError, Study, schedule};

/// The family.
pub const FAMILY: Family = Family {
    name: "parallel",
    budget_ids: "parallel plans",
    budget: "an aggregate over 2,000,000 rows from PostgreSQL ≤ 1.15 × psql's own time",
    boundary: "Sheaf: a session of the engine, from the statement to its end; psql: what its \\timing says, in a session in use before",
    measure: |study, record| -> Measuring<'_> { Box::pin(measure(study, record)) },
};

const SQL: &str = "SELECT count(*)::int, sum(amount), max(reference) FROM fixture WHERE note LIKE '%7%'";

async fn measure(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    let cluster = cluster()?;
    BareDriver::connect(&cluster.url()).await?.prepare(&[&fixture(2_000_000), "VACUUM ANALYZE fixture"]).await?;
    let mut psql = Psql::connect(&cluster).await?;
    let mut sheaf = Engine::connect(fields(&cluster)).await?;
    let (answer, _) = psql.one_line(SQL).await?;
    let wanted: u64 = answer.split('|').next().and_then(|count| count.parse().ok()).unwrap_or_default();
    let names = ["sheaf", "sheaf again (noise)", "psql"];
    record.compare("aggregate_ms", &names);
    let warm = std::iter::repeat_n(vec![0, 2], 3);
    for (block, order) in warm.chain(schedule::blocks(names.len(), study.blocks, study.seed)).enumerate() {
        for variant in order {
            let ms = if variant == 2 {
                psql.one_line(SQL).await?.1
            } else {
                let read = sheaf.read(SQL).await?;
                if (read.rows, read.sum) != (1, wanted) {
                    return Err(BenchError::WrongAnswer(format!("{read:?}, wanted {wanted}")));
                }
                read.ms
            };
            if block >= 3 {
                record.add("aggregate_ms", names.get(variant).copied().unwrap_or_default(), ms)?;
            }
        }
    }
    Ok(())
}
