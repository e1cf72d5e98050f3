//! Processes of this machine, as the system tells of them.

use std::collections::BTreeSet;
use std::fs::{read_dir, read_link, read_to_string};
use std::path::Path;
use std::process::Command;

/// The others that have this file open.
pub fn of(file: &Path) -> BTreeSet<u32> {
    let file = file.canonicalize().unwrap();
    let is_it = |pid: &u32| {
        let files = read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        *pid != std::process::id() && files.filter_map(|fd| read_link(fd.path()).ok()).any(|open| open == file)
    };
    let all = read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    all.filter(is_it).collect()
}

/// The only other one that has it open.
pub fn the_one_of(file: &Path) -> u32 {
    let all = of(file);
    assert_eq!(all.len(), 1, "{all:?}");
    *all.first().unwrap()
}

/// Whether there is such a process.
pub fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Waits until it is no more.
pub fn wait_for_end(pid: u32) {
    assert!(Command::new("tail").args(["-f", "/dev/null", "--pid", &pid.to_string()]).status().unwrap().success());
}

/// How long it has worked, in the system's ticks.
pub fn worked(pid: u32) -> u64 {
    let told = read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // Behind the name, which may have anything in it.
    let (_, fields) = told.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(11).unwrap().parse().unwrap()
}

/// Sends it a signal, by its name: `-KILL`.
pub fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}
