//! Attempts, one after the other, and what is there afterwards.

use backend::engine::{Bound, EngineError, Fate, Session, Target, engine};
use shared::wire::connection::ConnectionFields;
use shared::wire::secrets::{Secret, Secrets};
use std::collections::BTreeMap;
use std::path::Path;

/// Attempts of one kind, which share a session: an earlier one may prepare a later one.
pub type Kind = (&'static str, &'static [&'static str]);

/// At least so many attempts on each engine.
const ATTEMPTS_MIN: usize = 200;
const PAGE: Bound = Bound { rows: 1_000, bytes: 1 << 20 };
/// An attempt without end is given up behind so many pages.
const PAGES_MAX: usize = 3;

/// A connection that may only read, and how its engine refuses a plain write.
pub struct Siege<'a> {
    pub fields: ConnectionFields,
    pub password: Option<&'a str>,
    /// A write that anybody with a writable connection could make.
    pub write: &'a str,
    /// What the refusal of it says: a code, or words; one of them.
    pub refusals: &'a [&'a str],
    /// A folder that the server may write to; `{folder}` in an attempt stands for it.
    pub folder: &'a Path,
}

impl Siege<'_> {
    async fn session(&self) -> Box<dyn Session> {
        backend::engine::worker::process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
        let fields = ConnectionFields { read_only: true, ..self.fields.clone() };
        let secrets = Secrets { password: self.password.map(Secret::new), ..Secrets::default() };
        engine(fields.engine).connect(&Target::new(fields, secrets)).await.unwrap()
    }

    /// Makes all attempts; the session of each still refuses the write.
    pub async fn lay(&self, kinds: &[Kind]) {
        let attempts: usize = kinds.iter().map(|(_, attempts)| attempts.len()).sum();
        assert!(attempts >= ATTEMPTS_MIN, "only {attempts}");
        for (kind, attempts) in kinds {
            let mut session = self.session().await;
            for attempt in *attempts {
                let sql = attempt.replace("{folder}", self.folder.to_str().unwrap());
                let _ = run(session.as_mut(), &sql).await;
                let mut refused = run(session.as_mut(), self.write).await;
                if refused.as_ref().is_err_and(|error| error.fate != Fate::Idle) {
                    // The attempt has ended the session: what it left behind may still be there for the next.
                    session = self.session().await;
                    refused = run(session.as_mut(), self.write).await;
                }
                let error = refused.err().unwrap_or_else(|| panic!("{kind}: written after {attempt}"));
                let told = format!("{:?}", error.problem);
                assert!(self.refusals.iter().any(|words| told.contains(words)), "{kind}: after {attempt}: {told}");
                if told.contains("aborted") {
                    // In a transaction that has failed every attempt would be refused for that alone.
                    let _ = run(session.as_mut(), "ROLLBACK").await;
                }
            }
            session.close().await;
        }
    }
}

/// A statement to its end, or as far as a reader would go.
pub async fn run(session: &mut dyn Session, sql: &str) -> Result<(), EngineError> {
    let started = session.execute(sql, PAGE).await?;
    if started.schema.is_some() {
        for _ in 0..PAGES_MAX {
            if !session.fetch(PAGE).await?.more {
                break;
            }
        }
    }
    session.finish().await.map(drop)
}

/// What is kept, by what it is called.
pub type Digest = BTreeMap<String, String>;

/// Fails where they differ, and says where.
pub fn compare(before: &Digest, after: &Digest) {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = |name: &&&String| before.get(**name) != after.get(**name);
    let faults: Vec<String> = names.iter().filter(differ).map(|name| difference(name, before.get(*name), after.get(*name))).collect();
    assert!(faults.is_empty(), "read-only did not hold:\n{}", faults.join("\n"));
}

fn difference(name: &str, before: Option<&String>, after: Option<&String>) -> String {
    let lines = |text: Option<&String>| text.map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).unwrap_or_default();
    let (before, after) = (lines(before), lines(after));
    let only = |some: &[String], others: &[String], sign: &str| -> String {
        some.iter().filter(|line| !others.contains(line)).map(|line| format!("  {sign} {line}\n")).collect()
    };
    format!("{name}:\n{}{}", only(&before, &after, "-"), only(&after, &before, "+"))
}

/// Every file below a folder with a checksum of what is in it, so that a new one, a changed one and a missing one are seen.
pub fn files(folder: &Path) -> String {
    let mut lines: Vec<String> = below(folder).into_iter().map(|(name, bytes)| format!("{name} {:08x}", crc32fast::hash(&bytes))).collect();
    lines.sort();
    lines.join("\n")
}

fn below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(below(&path)),
            false => found.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default())),
        }
    }
    found
}
