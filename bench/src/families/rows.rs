//! B17, and rows a second from PostgreSQL: how quickly a result becomes Arrow.

use super::{Family, Measuring};
use crate::peers::bare_driver::BareDriver;
use crate::peers::engine::Engine;
use crate::peers::node_sqlite::NodeSqlite;
use crate::peers::postgres::{cluster, fields, fixture};
use crate::record::Record;
use crate::{BenchError, Study, schedule};
use backend::engine::worker::process;
use shared::wire::connection::{ConnectionFields, EngineKind};

/// The family.
pub const FAMILY: Family = Family {
    name: "rows",
    budget_ids: "B17",
    budget: "SQLite: ahead of node:sqlite's all() and get() in the same run; PostgreSQL: ≥ 0.75 M rows/s of 6 columns",
    boundary: "Sheaf: a session of the engine without the server around it, from the statement to its end, every row in Arrow batches of 1,000; \
               node:sqlite: prepare and all() or get(), every row a JavaScript object; bare driver: tokio-postgres, every value of every row read once; \
               one row: the mean of 200 statements in a row",
    measure: |study, record| -> Measuring<'_> { Box::pin(measure(study, record)) },
};

const COLUMNS: &str = "id INTEGER PRIMARY KEY, customer INTEGER, amount REAL, placed_at TEXT, reference TEXT, note TEXT";
const SQLITE_ROWS: u64 = 50_000;
const POSTGRES_ROWS: u64 = 1_000_000;
/// Statements of one sample of the small reading.
const GETS: u32 = 200;
const ALL: &str = "SELECT * FROM fixture";
/// What of a statement is the way between the caller's task and the session's process.
const THERE_AND_BACK: &str = "sheaf, to its process and back";
const ONE: &str = "SELECT * FROM fixture LIMIT 1";

async fn measure(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    process::start_from(study.sheaf.clone());
    sqlite(study, record).await?;
    postgres(study, record).await
}

fn sum_to(rows: u64) -> u64 {
    rows * (rows + 1) / 2
}

fn check(rows: u64, sum: u64, wanted: (u64, u64)) -> Result<(), BenchError> {
    if (rows, sum) == wanted { Ok(()) } else { Err(BenchError::WrongAnswer(format!("{rows} rows, sum {sum}; wanted {wanted:?}"))) }
}

async fn sqlite(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    let folder = tempfile::tempdir().map_err(BenchError::io("the fixture's folder"))?;
    let file = folder.path().join("fixture.sqlite");
    let mut fields = ConnectionFields::new("fixture", EngineKind::Sqlite);
    fields.path = Some(file.display().to_string());
    std::fs::File::create(&file).map_err(BenchError::io("the fixture"))?;
    let mut sheaf = Engine::connect(fields.clone()).await?;
    sheaf.read(&format!("CREATE TABLE fixture ({COLUMNS})")).await?;
    let fill = format!(
        "WITH RECURSIVE g(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM g LIMIT {SQLITE_ROWS}) INSERT INTO fixture \
         SELECT n, n * 7919 % 100003, n % 100000 / 100.0, datetime(1704067200 + n * 60, 'unixepoch'), hex(n * 2654435761 % 4294967296), \
         CASE WHEN n % 5 = 0 THEN NULL ELSE 'note ' || n END FROM g"
    );
    sheaf.read(&fill).await?;
    // One that has changed nothing, so that its reset does nothing.
    let mut sheaf = Engine::connect(fields).await?;
    let mut node = NodeSqlite::start(&file, ALL, ONE, GETS)?;
    if node.is_none() {
        eprintln!("rows: node:sqlite is left out, its package is not installed");
    }
    record.compare("sqlite_50000_rows_ms", &["sheaf", "sheaf again (noise)", "node:sqlite all()"]);
    record.compare(
        "sqlite_one_row_us",
        &["sheaf", "sheaf again (noise)", THERE_AND_BACK, "node:sqlite get(), prepared once", "node:sqlite get()"],
    );
    let whole = (SQLITE_ROWS, sum_to(SQLITE_ROWS));
    let single = (u64::from(GETS), u64::from(GETS));
    let warm = std::iter::repeat_n(vec![0, 1, 2, 3], 3);
    for (block, order) in warm.chain(schedule::blocks(4, study.blocks, study.seed)).enumerate() {
        for variant in order {
            let samples = match (variant, &mut node) {
                (0 | 1, _) => {
                    let all = sheaf.read(ALL).await?;
                    check(all.rows, all.sum, whole)?;
                    let mut ones = (0.0, 0, 0);
                    for _ in 0..GETS {
                        let one = sheaf.read(ONE).await?;
                        ones = (ones.0 + one.ms, ones.1 + one.rows, ones.2 + one.sum);
                    }
                    check(ones.1, ones.2, single)?;
                    let mut nothing = 0.0;
                    for _ in 0..GETS {
                        nothing += sheaf.nothing().await?;
                    }
                    let name = if variant == 0 { "sheaf" } else { "sheaf again (noise)" };
                    let mean_us = |total_ms: f64| total_ms * 1_000.0 / f64::from(GETS);
                    vec![
                        ("sqlite_50000_rows_ms", name, all.ms),
                        ("sqlite_one_row_us", name, mean_us(ones.0)),
                        ("sqlite_one_row_us", THERE_AND_BACK, mean_us(nothing)),
                    ]
                }
                (2, Some(node)) => {
                    let all = node.read("all").await?;
                    check(all.rows, all.sum, whole)?;
                    vec![("sqlite_50000_rows_ms", "node:sqlite all()", all.ms)]
                }
                (3, Some(node)) => {
                    let mut samples = Vec::new();
                    for (way, name) in [("prepared-get", "node:sqlite get(), prepared once"), ("get", "node:sqlite get()")] {
                        let gets = node.read(way).await?;
                        check(gets.rows, gets.sum, single)?;
                        samples.push(("sqlite_one_row_us", name, gets.ms * 1_000.0 / f64::from(GETS)));
                    }
                    samples
                }
                _ => Vec::new(),
            };
            if block >= 3 {
                for (metric, name, value) in samples {
                    record.add(metric, name, value)?;
                }
            }
        }
    }
    Ok(())
}

/// Reading a million rows takes seconds, so fewer rounds of it.
const POSTGRES_BLOCKS_MAX: usize = 10;

async fn postgres(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    let cluster = cluster()?;
    let bare = BareDriver::connect(&cluster.url()).await?;
    bare.prepare(&[&fixture(POSTGRES_ROWS), "VACUUM ANALYZE fixture"]).await?;
    let mut sheaf = Engine::connect(fields(&cluster)).await?;
    let names = ["sheaf", "sheaf again (noise)", "tokio-postgres"];
    record.compare("postgres_million_rows_per_s", &names);
    let warm = std::iter::once(vec![0, 2]);
    for (block, order) in warm.chain(schedule::blocks(names.len(), study.blocks.min(POSTGRES_BLOCKS_MAX), study.seed)).enumerate() {
        for variant in order {
            let (ms, rows, sum) = if variant == 2 {
                bare.read_all(ALL).await?
            } else {
                let read = sheaf.read(ALL).await?;
                (read.ms, read.rows, read.sum)
            };
            check(rows, sum, (POSTGRES_ROWS, sum_to(POSTGRES_ROWS)))?;
            if block >= 1 {
                record.add("postgres_million_rows_per_s", names.get(variant).copied().unwrap_or_default(), rows as f64 / 1_000.0 / ms)?;
            }
        }
    }
    Ok(())
}
