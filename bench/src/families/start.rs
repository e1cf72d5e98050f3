//! B11: from nothing to a usable page.

use super::{Family, Measuring};
use crate::peers::browser;
use crate::record::Record;
use crate::{BenchError, Study};
use e2e::http::Request;
use e2e::server::Server;
use std::time::Instant;

/// The family.
pub const FAMILY: Family = Family {
    name: "start",
    budget_ids: "B11",
    budget: "server answers ≤ 60 ms after exec, ≤ 40 MB; page usable ≤ 250 ms from a cold browser cache on loopback",
    boundary: "answer: spawn to the whole body of GET / on a fresh data folder; memory: resident after that answer and once the sample database is made; \
               page: start of the navigation to the frame after the explorer's first row and the Run button, a new browser each time",
    measure: |study, record| -> Measuring<'_> { Box::pin(measure(study, record)) },
};

/// Starting a browser is slow, so fewer rounds of it.
const BROWSERS: usize = 10;

async fn measure(study: &Study, record: &mut Record) -> Result<(), BenchError> {
    for _ in 0..study.blocks {
        let started = Instant::now();
        let server = Server::start(&study.sheaf, &[]).map_err(BenchError::io("sheaf"))?;
        let mut client = server.client().await.map_err(BenchError::io("sheaf"))?;
        let answer = client.send(Request::get("/")).await.map_err(BenchError::io("sheaf"))?;
        let ms = started.elapsed().as_secs_f64() * 1_000.0;
        if answer.status != 200 || !answer.text().contains("<title>") {
            return Err(BenchError::WrongAnswer(format!("GET / gave {}", answer.status)));
        }
        record.add("answer_ms", "sheaf", ms)?;
        record.add("resident_mb", "sheaf", resident_mb(server.pid())?)?;
    }
    for _ in 0..BROWSERS {
        let server = Server::start(&study.sheaf, &[]).map_err(BenchError::io("sheaf"))?;
        browser::measure("start", &server.launch_url(), serde_json::json!({}), "sheaf", record).await?;
        record.add("resident_mb", "sheaf, page open", resident_mb(server.pid())?)?;
    }
    Ok(())
}

fn resident_mb(pid: u32) -> Result<f64, BenchError> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(BenchError::io("the process's status"))?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    kib.map(|kib| kib * 1_024.0 / 1e6).ok_or_else(|| BenchError::failed("memory", "the process told no size"))
}
