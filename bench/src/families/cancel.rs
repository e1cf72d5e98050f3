//! T10: how soon a cancel has stopped what the database does.

use super::{Family, Measuring};
use crate::peers::sheaf::Api;
use crate::record::Record;
use crate::{BenchError, Study};
use e2e::server::Server;
use testing::mariadb::Mariadb;
use testing::postgres::{Cluster, bins};

/// The family.
pub const FAMILY: Family = Family {
    name: "cancel",
    budget_ids: "T10",
    budget: "p95 ≤ 150 ms on PostgreSQL, ≤ 250 ms on MariaDB, p50 ≤ 30 ms; every try is cancelled",
    boundary: "from the cancel's request to the last byte of the cancelled request's own answer, which comes once the session is idle again, on loopback; \
               each try is cancelled at a random moment of its first tenth of a second",
    measure: |study, record| -> Measuring<'_> { Box::pin(measure(study, record)) },
};

/// Tries of each kind in a study of the usual thirty blocks.
const TRIES_A_BLOCK: usize = 7;

/// After so many tries the console that holds the lock is used again.
const TRIES_A_SIGN_OF_LIFE: usize = 50;

/// What is stopped, by its name. The lock is held by another console.
struct Kind {
    name: &'static str,
    sql: &'static str,
    /// The statement answers with a first page at once; what is stopped is reading it to a page far behind.
    reads_on: bool,
}

const fn statement(name: &'static str, sql: &'static str) -> Kind {
    Kind { name, sql, reads_on: false }
}

const LOCK: [&str; 4] =
    ["CREATE TABLE held (n INT PRIMARY KEY)", "INSERT INTO held VALUES (1)", "START TRANSACTION", "UPDATE held SET n = 2"];

const POSTGRES: [Kind; 5] = [
    statement("PostgreSQL, sleep", "SELECT pg_sleep(600)"),
    statement(
        "PostgreSQL, loop",
        "WITH RECURSIVE t(n) AS (SELECT 1::bigint UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t WHERE n < 0",
    ),
    statement("PostgreSQL, lock wait", "UPDATE held SET n = 3"),
    statement("PostgreSQL, sort", "SELECT md5(n::text) AS m FROM generate_series(1, 20000000) n ORDER BY m"),
    Kind { name: "PostgreSQL, big fetch", sql: "SELECT n, repeat('x', 100) FROM generate_series(1, 50000000) n", reads_on: true },
];

const MARIADB: [Kind; 5] = [
    statement("MariaDB, sleep", "SELECT SLEEP(600)"),
    // Alone in its statement BENCHMARK is stopped without an error.
    statement("MariaDB, loop", "SELECT COUNT(*) FROM seq_1_to_1000000 WHERE BENCHMARK(1000000000, MD5(seq)) > 0"),
    statement("MariaDB, lock wait", "UPDATE held SET n = 3"),
    statement("MariaDB, sort", "SELECT MD5(seq) AS m FROM seq_1_to_20000000 ORDER BY m"),
    Kind { name: "MariaDB, big fetch", sql: "SELECT seq, REPEAT('x', 100) FROM seq_1_to_50000000", reads_on: true },
];

async fn measure(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    let bin = bins().pop().ok_or_else(|| BenchError::failed("PostgreSQL", "no server programs are installed"))?;
    let cluster = Cluster::start(&bin);
    measure_on(study, record, &cluster.url(), &POSTGRES).await?;
    let mariadb = Mariadb::start();
    let measured = measure_on(study, record, &mariadb.url(), &MARIADB).await;
    mariadb.stop();
    measured
}

async fn measure_on(study: &Study, record: &mut Record, url: &str, kinds: &[Kind]) -> Result<(), BenchError> {
    let server = Server::start(&study.sheaf, &[url]).map_err(BenchError::io("sheaf"))?;
    let mut api = Api::sign_in(&server).await?;
    let mut canceller = api.beside(&server).await?;
    let connection = api.connection().await?;
    for sql in LOCK {
        api.run(&connection, "holder", sql).await?;
    }
    let mut random = fastrand::Rng::with_seed(study.seed);
    let mut order: Vec<usize> = (0..kinds.len() * study.blocks * TRIES_A_BLOCK).collect();
    random.shuffle(&mut order);
    for (at, number) in order.into_iter().enumerate() {
        let Some(kind) = kinds.get(number % kinds.len()) else { continue };
        // A transaction that rests for ten minutes is ended by the server, and the lock is free.
        if at % TRIES_A_SIGN_OF_LIFE == 0 {
            api.run(&connection, "holder", LOCK[3]).await?;
        }
        let delay = std::time::Duration::from_millis(random.u64(5..100));
        let token = format!("try-{at}");
        let ms = api.cancelled(&mut canceller, &connection, kind.sql, kind.reads_on, &token, delay).await?;
        record.add("cancelled_ms", kind.name, ms)?;
    }
    Ok(())
}
