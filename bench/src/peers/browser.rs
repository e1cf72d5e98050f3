//! Browser measurements: `bench/browser/measure.mjs` in a fresh headless Chromium.

use crate::BenchError;
use crate::record::Record;
use serde::Deserialize;
use tokio::process::Command;

#[derive(Deserialize)]
struct Line {
    metric: String,
    value: f64,
}

/// Runs one browser measurement and records what it prints, under `variant`.
pub async fn measure(family: &str, launch: &str, options: serde_json::Value, variant: &str, record: &mut Record) -> Result<(), BenchError> {
    let output = Command::new("node")
        .args(["bench/browser/measure.mjs", family, launch, &options.to_string()])
        .stderr(std::process::Stdio::inherit())
        .output()
        .await
        .map_err(BenchError::io("node"))?;
    if !output.status.success() {
        return Err(BenchError::failed("the browser's measurement", output.status));
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let line: Line = serde_json::from_str(line).map_err(|e| BenchError::failed("the browser's measurement", e))?;
        record.add(&line.metric, variant, line.value)?;
    }
    Ok(())
}
