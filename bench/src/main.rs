//! The study: `cargo xtask bench [FAMILY …]`.
//!
//! Rules (docs/performance.md): the noise is measured first, variants stand interleaved in random order after a warm-up, medians
//! are quoted with a bootstrap interval of the ratio, an answer is checked before its time counts. Raw samples go to NDJSON.
//! A new family is one file and one line in [`families::FAMILIES`].

mod families;
mod peers;
mod record;
mod report;
mod schedule;
mod stats;

use clap::Parser;
use std::path::PathBuf;

/// What one study needs to know.
#[derive(Debug, Parser)]
#[command(name = "bench", about = "Measures Sheaf; all families unless some are named")]
struct Study {
    /// Families to run.
    families: Vec<String>,
    /// The release binary.
    #[arg(long, env = "SHEAF_BIN")]
    sheaf: PathBuf,
    /// Where raw samples and the report go.
    #[arg(long, default_value = "target/bench")]
    out: PathBuf,
    /// Decides the order of measurements and the draws of the bootstrap.
    #[arg(long, default_value_t = 20_261_130)]
    seed: u64,
    /// Blocks: how often each variant is measured.
    #[arg(long, default_value_t = 30)]
    blocks: usize,
    /// The commit that was built, for the report.
    #[arg(long, default_value = "unknown")]
    commit: String,
}

/// Why a study ended early.
#[derive(Debug, thiserror::Error)]
enum BenchError {
    #[error("no family is called {0}; there are {1}")]
    NoSuchFamily(String, String),
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("the answer is wrong, so its time does not count: {0}")]
    WrongAnswer(String),
    #[error("{what}: {why}")]
    Failed { what: &'static str, why: String },
}

impl BenchError {
    fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    fn failed(what: &'static str, why: impl ToString) -> Self {
        Self::Failed { what, why: why.to_string() }
    }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    match run(Study::parse()).await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn run(study: Study) -> Result<(), BenchError> {
    std::fs::create_dir_all(&study.out).map_err(BenchError::io(study.out.display().to_string()))?;
    let mut text = report::head(&study);
    for family in families::chosen(&study.families)? {
        eprintln!("{}: {}", family.name, family.boundary);
        let mut record = record::Record::create(&study.out, family.name)?;
        (family.measure)(&study, &mut record).await?;
        let part = report::part(family, &record, study.seed);
        println!("{part}");
        text.push_str(&part);
    }
    let path = study.out.join("report.md");
    std::fs::write(&path, text).map_err(BenchError::io(path.display().to_string()))
}
