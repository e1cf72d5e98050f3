//! The report: a table a family, medians with their spread, ratios against the floor with their interval and verdict.

use crate::Study;
use crate::families::Family;
use crate::record::Record;
use crate::stats::{median, percentile, ratio};
use std::fmt::Write;

/// What was measured where.
pub fn head(study: &Study) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name").and_then(|l| l.split_once(": "))).map_or("unknown", |(_, m)| m);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("# Study\n\nCommit {}, seed {}, {cores} cores ({model}), load {load} at the start.\n", study.commit, study.seed)
}

/// One family's part.
pub fn part(family: &Family, record: &Record, seed: u64) -> String {
    let mut out = format!(
        "\n## {} ({})\n\nInside: {}\n\nBudget: {}\n\n| metric | variant | n | median | p5 | p95 | ratio to the last variant (95 %) | verdict |\n|---|---|---|---|---|---|---|---|\n",
        family.name, family.budget_ids, family.boundary, family.budget
    );
    for metric in record.metrics() {
        let variants = record.variants(metric);
        let floor = variants.last().map(|v| record.values(metric, v)).unwrap_or_default();
        for (place, variant) in variants.iter().enumerate() {
            let values = record.values(metric, variant);
            let figure = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"));
            let compared = if place + 1 == variants.len() { None } else { ratio(&values, &floor, seed) };
            let (times, verdict) =
                compared.map_or((String::from("-"), "-"), |r| (format!("{:.2} ({:.2} to {:.2})", r.ratio, r.low, r.high), r.verdict()));
            // Writing to a String can't fail.
            let _ = writeln!(
                out,
                "| {metric} | {variant} | {} | {} | {} | {} | {times} | {verdict} |",
                values.len(),
                figure(median(&values)),
                figure(percentile(&values, 0.05)),
                figure(percentile(&values, 0.95)),
            );
        }
    }
    out
}
