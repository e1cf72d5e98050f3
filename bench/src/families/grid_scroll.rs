//! B5: scrolling a result of a million rows.

use super::{Family, Measuring};
use crate::peers::browser;
use crate::record::Record;
use crate::{BenchError, Study};

/// The family.
pub const FAMILY: Family = Family {
    name: "grid-scroll",
    budget_ids: "B5",
    budget: "frame p95 ≤ 16.7 ms, scripting ≤ 4 ms a frame while wheeling at 3,000 px/s; ≤ 3,000 nodes in the document",
    boundary: "1,000,000 × 20 mixed columns, read to the end before; then wheel gestures of the browser itself, frames as the page sees them, \
               script and task time as the browser accounts them",
    measure: |study, record| -> Measuring<'_> { Box::pin(measure(study, record)) },
};

const ROWS: u64 = 1_000_000;

/// 20 columns of whole numbers, reals, text in several scripts, dates, NULLs and bytes, a million rows of them.
fn sql() -> String {
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) SELECT i AS id, i * 7919 % 100003 AS a, i / 7.0 AS b, \
         'name ' || i AS c, CASE WHEN i % 3 = 0 THEN NULL ELSE i * i END AS d, date('2000-01-01', '+' || (i % 9000) || ' days') AS e, 'Łódź ' || (i % 977) AS f, \
         i % 2 AS g, 'Ελλάδα ' || i AS h, (i % 1000) / 100.0 AS k, hex(i) AS l, '日本 ' || (i % 31) AS m, -i AS n, i * 1000003 AS o, substr('abcdefghijklmnopqrstuvwxyz', 1 + i % 20) AS p, \
         NULL AS q, i || '@example.org' AS r, i % 97 AS s, x'00ff' AS t, 'last ' || i AS u FROM n"
    )
}

async fn measure(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    let server = e2e::server::Server::start(&study.sheaf, &[]).map_err(BenchError::io("sheaf"))?;
    let options = serde_json::json!({ "sql": sql(), "rows": ROWS });
    browser::measure("grid-scroll", &server.launch_url(), options, "sheaf", record).await
}
