//! One process for each file that is open, shared by its sessions.
//!
//! Invariant: a file is open in one process at a time (DuckDB would write over itself else): who wants it while an old process still
//! ends waits for that.

use super::database::Opening;
use super::place::Place;
use super::{COMMAND, library};
use crate::engine::EngineError;
use crate::engine::files::cannot_open;
use crate::engine::worker::messages::ANSWER_BYTES_MAX;
use crate::engine::worker::process::{self, End, Process, Start};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use tokio::sync::watch;

struct Known {
    process: Weak<Process>,
    opening: Opening,
    ended: watch::Receiver<Option<End>>,
}

static OPEN: Mutex<Option<HashMap<PathBuf, Known>>> = Mutex::new(None);

/// DuckDB's allocator gives memory back, rather than keeping it for later: the process's limit counts what is kept.
const VARIABLES: [(&str, &str); 1] = [("DUCKDB_JE_MALLOC_CONF", "retain:false")];

enum Found {
    Open(Arc<Process>, Opening),
    Ending(watch::Receiver<Option<End>>),
}

/// The process of this file, started if there is none yet, and what it is told first.
pub async fn process_of(place: &Place) -> Result<(Arc<Process>, Opening), EngineError> {
    loop {
        match look(place)? {
            Found::Open(process, opening) => return Ok((process, opening)),
            Found::Ending(mut ended) => {
                let _ = ended.wait_for(Option::is_some).await;
            }
        }
    }
}

fn look(place: &Place) -> Result<Found, EngineError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_with(HashMap::new);
    open.retain(|_, known| known.ended.borrow().is_none());
    if let Some(known) = open.get(&place.path) {
        let Some(process) = known.process.upgrade().filter(|process| !process.is_ending()) else {
            return Ok(Found::Ending(known.ended.clone()));
        };
        check_way(&known.opening, place)?;
        return Ok(Found::Open(process, known.opening.clone()));
    }
    let (process, opening) = start(place)?;
    let process = Arc::new(process);
    let known = Known { process: Arc::downgrade(&process), opening: opening.clone(), ended: process.watch() };
    open.insert(place.path.clone(), known);
    Ok(Found::Open(process, opening))
}

fn check_way(open: &Opening, place: &Place) -> Result<(), EngineError> {
    if open.read_only == place.read_only || place.form.is_rows() {
        return Ok(());
    }
    let (is, asked) = if place.read_only { ("for writing", "only for reading") } else { ("only for reading", "for writing") };
    let name = place.name();
    Err(cannot_open(format!("{name} is open {is} by another connection of Sheaf's; close its consoles to open it {asked}.")))
}

fn start(place: &Place) -> Result<(Process, Opening), EngineError> {
    let unstarted = |cause: std::io::Error| cannot_open(format!("DuckDB's process could not be started: {cause}."));
    let program = process::program().map_err(unstarted)?;
    let library = library::find()?;
    let library = library.to_str().ok_or_else(|| cannot_open("The path of DuckDB's library is not in UTF-8."))?.to_owned();
    let spill = spill_folder().map_err(|e| cannot_open(format!("No folder for what does not fit in memory: {e}.")))?;
    let opening =
        Opening { path: place.text(), form: place.form, read_only: place.read_only, library, spill: spill.to_string_lossy().into_owned() };
    let process = Process::start(Start {
        program,
        command: COMMAND,
        variables: &VARIABLES,
        inherited: &[],
        folder: "/".into(),
        name: "duckdb",
        answer_bytes_max: ANSWER_BYTES_MAX,
        afterwards: Box::new(move || drop(std::fs::remove_dir_all(spill))),
    });
    Ok((process.map_err(unstarted)?, opening))
}

/// What the folders are called that rows are spilled into; behind it stand the server's process id and a random name.
const SPILL: &str = "sheaf-duckdb-";

/// Made here, so that the process need not: it may make files in it only. Only this user sees into it.
fn spill_folder() -> std::io::Result<PathBuf> {
    static SWEPT: Once = Once::new();
    let above = std::env::temp_dir().canonicalize()?;
    SWEPT.call_once(|| sweep(&above));
    let mut name = [0_u8; 8];
    getrandom::fill(&mut name).map_err(|e| std::io::Error::other(e.to_string()))?;
    let folder = above.join(format!("{SPILL}{}-{:016x}", std::process::id(), u64::from_le_bytes(name)));
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    Ok(folder)
}

/// Takes away what servers of this user that were killed have left.
#[cfg(unix)]
fn sweep(above: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::getuid().as_raw();
    for entry in std::fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let server = name.to_str().and_then(|name| name.strip_prefix(SPILL)?.split('-').next()?.parse().ok());
        let is_left = server
            .and_then(rustix::process::Pid::from_raw)
            .is_some_and(|server| rustix::process::test_kill_process(server) == Err(rustix::io::Errno::SRCH));
        // Of the entry itself: a link is not followed.
        let is_ours = |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user);
        if is_left && is_ours(&entry) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(not(unix))]
fn sweep(_: &Path) {}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_server_left_that_is_no_more_is_swept() {
        let above = tempfile::tempdir().unwrap();
        let own = format!("{SPILL}{}-0", std::process::id());
        // No process has so high a number.
        let dead = format!("{SPILL}{}-0", i32::MAX);
        for name in [&own, &dead, "other", &format!("{SPILL}x-0")] {
            std::fs::create_dir(above.path().join(name)).unwrap();
        }
        std::fs::write(above.path().join(&dead).join("rows"), "spilled").unwrap();
        std::os::unix::fs::symlink(above.path().join("other"), above.path().join(format!("{SPILL}{}-1", i32::MAX))).unwrap();
        sweep(above.path());
        let mut left: Vec<String> =
            std::fs::read_dir(above.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let mut expected = vec!["other".to_owned(), own, format!("{SPILL}{}-1", i32::MAX), format!("{SPILL}x-0")];
        expected.sort();
        assert_eq!(left, expected);
    }
}
