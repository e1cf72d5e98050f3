//! A large catalog: 16,000 tables of 10 columns and 5,000 routines.

use super::{Family, Measuring};
use crate::peers::bare_driver::BareDriver;
use crate::peers::postgres::cluster;
use crate::peers::sheaf::Api;
use crate::record::Record;
use crate::{BenchError, Study};

/// The family.
pub const FAMILY: Family = Family {
    name: "catalog",
    budget_ids: "large catalogs",
    budget: "16,000 tables and 5,000 routines from PostgreSQL ≤ 1 s; again while nothing has changed, and after one table was made: a small part of that",
    boundary: "GET /catalog on a kept-alive connection to the last byte: all names; POST /catalog/schemas for one of the schemas; then \
               POST /catalog/changes with the versions of both, before and after a CREATE TABLE in it by somebody else; a session in use before",
    measure: |study, record| -> Measuring<'_> { Box::pin(measure(study, record)) },
};

const SCHEMAS: u32 = 16;
const TABLES_EACH: u32 = 1_000;
const ROUTINES: u32 = 5_000;
/// Each takes a second or so.
const ROUNDS: usize = 10;

async fn measure(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    let cluster = cluster()?;
    let bare = BareDriver::connect(&cluster.url()).await?;
    fill(&bare).await?;
    let server = e2e::server::Server::start(&study.sheaf, &[&cluster.url()]).map_err(BenchError::io("sheaf"))?;
    let mut sheaf = Api::sign_in(&server).await?;
    let connection = sheaf.connection().await?;
    sheaf.catalog(&connection).await?;
    for round in 0..ROUNDS.min(study.blocks) {
        let mut whole = sheaf.catalog(&connection).await?;
        let tables: usize = whole.catalog.schemas.iter().filter(|schema| !schema.system).map(|schema| schema.relations.len()).sum();
        if tables != (SCHEMAS * TABLES_EACH) as usize + round {
            return Err(BenchError::WrongAnswer(format!("{tables} tables")));
        }
        record.add("names_ms", "sheaf", whole.ms)?;
        record.add("names_mb", "sheaf", whole.bytes as f64 / 1e6)?;
        let schema = sheaf.catalog_schemas(&connection, &["s3"]).await?;
        if schema.catalog.schemas.iter().any(|schema| schema.partial || schema.relations.len() != TABLES_EACH as usize + round) {
            return Err(BenchError::WrongAnswer("a schema that is not whole".to_owned()));
        }
        record.add("schema_ms", "sheaf", schema.ms)?;
        record.add("schema_mb", "sheaf", schema.bytes as f64 / 1e6)?;
        whole.catalog.put_in(&["s3".to_owned()], schema.catalog);
        let same = sheaf.catalog_changes(&connection, &whole.catalog).await?;
        record.add("unchanged_ms", "sheaf", same.ms)?;
        record.add("unchanged_kb", "sheaf", same.bytes as f64 / 1e3)?;
        bare.prepare(&[&format!("CREATE TABLE s3.new{round} (a int, b text)")]).await?;
        let news = sheaf.catalog_changes(&connection, &whole.catalog).await?;
        record.add("one_table_more_ms", "sheaf", news.ms)?;
        record.add("one_table_more_kb", "sheaf", news.bytes as f64 / 1e3)?;
        let changed: Vec<&str> =
            news.catalog.schemas.iter().filter(|schema| !schema.unchanged).map(|schema| schema.name.as_str()).collect();
        if !same.catalog.is_unchanged(&whole.catalog) || changed != ["s3"] {
            return Err(BenchError::WrongAnswer(format!("changed: {changed:?}")));
        }
    }
    Ok(())
}

async fn fill(bare: &BareDriver) -> Result<(), BenchError> {
    for schema in 0..SCHEMAS {
        // A thousand tables in one transaction need more locks than a server has by default, so it commits on the way.
        let tables = format!(
            "DO $$ BEGIN FOR t IN 1..{TABLES_EACH} LOOP EXECUTE format('CREATE TABLE s{schema}.customer_orders_%s \
             (id int PRIMARY KEY, customer_id int, amount numeric(12,2), placed_at timestamptz, reference text, note text, \
             country varchar(2), status text, weight float8, updated_at timestamptz)', t); \
             IF t % 50 = 0 THEN COMMIT; END IF; END LOOP; END $$"
        );
        bare.prepare(&[&format!("CREATE SCHEMA s{schema}"), &tables]).await?;
    }
    let routines = format!(
        "DO $$ BEGIN FOR r IN 1..{ROUTINES} LOOP EXECUTE format('CREATE FUNCTION s%s.routine_%s(a int, b text) RETURNS int \
         LANGUAGE sql AS ''SELECT 1''', r % {SCHEMAS}, r); END LOOP; END $$"
    );
    bare.prepare(&[&routines, "VACUUM ANALYZE"]).await
}
