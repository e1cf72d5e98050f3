//! Raw samples: kept for the report, written as NDJSON line by line, so that a study that ends early has lost nothing.

use crate::BenchError;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// One measured value.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// What was measured, unit last (`server_ms`, `brotli_bytes`).
    pub metric: String,
    /// Which of the compared ways.
    pub variant: String,
    /// The value in the metric's unit.
    pub value: f64,
}

/// The samples of one family.
pub struct Record {
    file: File,
    samples: Vec<Sample>,
    /// Variants of metrics in the order they are reported in, where it was told.
    orders: Vec<(&'static str, Vec<&'static str>)>,
}

impl Record {
    /// Starts the file `FAMILY.ndjson` in `folder` anew.
    pub fn create(folder: &Path, family: &str) -> Result<Self, BenchError> {
        let path = folder.join(format!("{family}.ndjson"));
        let file = File::create(&path).map_err(BenchError::io(path.display().to_string()))?;
        Ok(Self { file, samples: Vec::new(), orders: Vec::new() })
    }

    /// Says in which order a metric's variants are reported; the last is what the others are compared with.
    pub fn compare(&mut self, metric: &'static str, variants: &[&'static str]) {
        self.orders.push((metric, variants.to_vec()));
    }

    /// Adds a sample.
    pub fn add(&mut self, metric: &str, variant: &str, value: f64) -> Result<(), BenchError> {
        let sample = Sample { metric: metric.to_owned(), variant: variant.to_owned(), value };
        let line = serde_json::to_string(&sample).map_err(|e| BenchError::failed("sample", e))?;
        writeln!(self.file, "{line}").map_err(BenchError::io("the sample file"))?;
        self.samples.push(sample);
        Ok(())
    }

    /// Metrics in the order of their first sample.
    pub fn metrics(&self) -> Vec<&str> {
        let mut metrics: Vec<&str> = Vec::new();
        for sample in &self.samples {
            if !metrics.contains(&sample.metric.as_str()) {
                metrics.push(&sample.metric);
            }
        }
        metrics
    }

    /// Variants of a metric in the order that was told, else in that of their first sample.
    pub fn variants(&self, metric: &str) -> Vec<&str> {
        let mut variants: Vec<&str> = Vec::new();
        for sample in self.samples.iter().filter(|s| s.metric == metric) {
            if !variants.contains(&sample.variant.as_str()) {
                variants.push(&sample.variant);
            }
        }
        if let Some((_, order)) = self.orders.iter().find(|(of, _)| *of == metric) {
            variants.sort_by_key(|variant| order.iter().position(|known| known == variant));
        }
        variants
    }

    /// Values of one variant of a metric.
    pub fn values(&self, metric: &str, variant: &str) -> Vec<f64> {
        self.samples.iter().filter(|s| s.metric == metric && s.variant == variant).map(|s| s.value).collect()
    }
}
