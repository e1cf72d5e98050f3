//! B12: what the browser loads.

use super::{Family, Measuring};
use crate::BenchError;
use crate::record::Record;
use std::path::Path;

/// The family.
pub const FAMILY: Family = Family {
    name: "size",
    budget_ids: "B12",
    budget: "WASM ≤ 900 kB and all first-load JavaScript ≤ 250 kB, brotli",
    boundary: "the brotli files that the release serves at its first load, by their length",
    measure: |_, record| -> Measuring<'_> { Box::pin(async move { measure(record) }) },
};

const ASSETS: &str = "dist/web/assets";

fn measure(record: &mut Record) -> Result<(), BenchError> {
    for ending in ["wasm", "js", "css", "woff2", "svg"] {
        record.add(&format!("{ending}_brotli_kb"), "release", bytes_of(Path::new(ASSETS), ending)? / 1_000.0)?;
    }
    Ok(())
}

/// Bytes of all assets with this ending, each in its brotli form where it has one.
fn bytes_of(folder: &Path, ending: &str) -> Result<f64, BenchError> {
    let mut sum = 0.0;
    for entry in std::fs::read_dir(folder).map_err(BenchError::io(ASSETS))? {
        let path = entry.map_err(BenchError::io(ASSETS))?.path();
        if path.extension().is_some_and(|e| e == ending) {
            let compressed = path.with_extension(format!("{ending}.br"));
            let served = if compressed.exists() { compressed } else { path };
            sum += std::fs::metadata(&served).map_err(BenchError::io(served.display().to_string()))?.len() as f64;
        }
    }
    Ok(sum)
}
