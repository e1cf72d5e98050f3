//! B1: the first page of an unbounded SELECT of 2,000,000 rows from PostgreSQL.

use super::{Family, Measuring};
use crate::peers::bare_driver::BareDriver;
use crate::peers::browser;
use crate::peers::postgres::{cluster, fixture};
use crate::peers::sheaf::Api;
use crate::record::Record;
use crate::{BenchError, Study, schedule};

/// The family.
pub const FAMILY: Family = Family {
    name: "first-page",
    budget_ids: "B1",
    budget: "server time ≤ 1.5 × the bare driver and ≤ 10 ms; key to paint ≤ 60 ms",
    boundary: "server: POST /runs on a kept-alive connection and a console in use before, to the last byte of page 0, on loopback; \
               bare driver: bind and 1,001 rows of a portal inside an open transaction; key: Ctrl+Enter to the frame after the first rows",
    measure: |study, record| -> Measuring<'_> { Box::pin(measure(study, record)) },
};

const SQL: &str = "SELECT * FROM fixture";

async fn measure(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    let cluster = cluster()?;
    let mut bare = BareDriver::connect(&cluster.url()).await?;
    bare.prepare(&[&fixture(2_000_000), "VACUUM ANALYZE fixture"]).await?;
    let server = e2e::server::Server::start(&study.sheaf, &[&cluster.url()]).map_err(BenchError::io("sheaf"))?;
    let mut sheaf = Api::sign_in(&server).await?;
    let connection = sheaf.connection().await?;

    let variants = ["sheaf", "sheaf again (noise)", "bare driver"];
    record.compare("first_page_ms", &variants);
    let warm = std::iter::repeat_n(vec![0, 1, 2], 5);
    for (block, order) in warm.chain(schedule::blocks(variants.len(), study.blocks, study.seed)).enumerate() {
        for variant in order {
            let ms = if variant == 2 { bare.first_page(SQL).await? } else { sheaf.first_page(&connection, SQL, 1_000).await? };
            if block >= 5 {
                record.add("first_page_ms", variants.get(variant).copied().unwrap_or_default(), ms)?;
            }
        }
    }
    drop(sheaf);
    drop(server);
    let server = e2e::server::Server::start(&study.sheaf, &[&cluster.url()]).map_err(BenchError::io("sheaf"))?;
    let options = serde_json::json!({ "table": "fixture", "rounds": study.blocks });
    browser::measure("first-page", &server.launch_url(), options, "sheaf", record).await
}
