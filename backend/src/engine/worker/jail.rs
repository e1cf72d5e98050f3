//! What a process of Sheaf's own may do, said by the process itself before it meets anything foreign: limits of the system, the file
//! system (Landlock), system calls (seccomp).
//!
//! Invariant: nothing here is ever taken back or widened; every thread that is started later has it too. A layer that the system does
//! not have is named, and the others hold. Sources: landlock(7), seccomp(2), getrlimit(2).

use std::io;
use std::path::PathBuf;

/// What the process needs.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Files, and folders with everything below, that it reads.
    pub reads: Vec<PathBuf>,
    /// Folders in which it reads, writes, makes and removes files.
    pub writes: Vec<PathBuf>,
    /// Whatever the user reaches, it reaches: no file is shut, and who may use one that it makes is said as for the one beside it.
    pub any_file: bool,
    /// Bytes of memory it may write to.
    pub memory_bytes: u64,
    /// Bytes of a file it writes, where there is a limit.
    pub file_bytes: Option<u64>,
}

/// Sets the limits of the system. Of the process's CPU time there is none: a statement may take as long as it takes, and it is
/// cancelled from outside. The number of processes is the user's, not the process's, and so is left to [`shut`].
#[cfg(unix)]
pub fn limit(needs: &Needs) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let lower = |resource: Resource, bytes: u64| {
        let most = getrlimit(resource).maximum.map_or(bytes, |most| most.min(bytes));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    lower(Resource::Core, 0)?;
    lower(Resource::Data, needs.memory_bytes)?;
    // Of which much is only kept free: a heap for each thread, the library's own text.
    lower(Resource::As, needs.memory_bytes.saturating_mul(4))?;
    if let Some(bytes) = needs.file_bytes {
        lower(Resource::Fsize, bytes)?;
    }
    Ok(())
}

/// Closes the file system and the system calls for this thread and all it starts; the names of the layers that are missing here.
pub fn shut(needs: &Needs) -> Vec<String> {
    let layers = [("Landlock", files::shut(needs)), ("seccomp", calls::shut(needs.any_file))];
    layers.into_iter().filter_map(|(name, outcome)| outcome.err().map(|why| format!("{name} ({why})"))).collect()
}

#[cfg(target_os = "linux")]
mod files {
    use super::Needs;
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
        path_beneath_rules,
    };

    /// The newest that is known here; an older kernel enforces what it has of it.
    const KNOWN: ABI = ABI::V6;
    /// What a dynamic library and the system's own one read.
    const SYSTEM: [&str; 17] = [
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/nix/store",
        "/gnu/store",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/timezone",
        "/usr/share/zoneinfo",
        "/sys/devices/system/cpu",
        "/sys/fs/cgroup",
        // Which group's memory limit is its own; DuckDB takes it for granted that it may read this.
        "/proc/self/cgroup",
        "/proc/sys/vm/overcommit_memory",
        "/dev/null",
        "/dev/urandom",
    ];

    /// Nothing but what is needed, no program, no TCP port, no process outside.
    pub fn shut(needs: &Needs) -> Result<(), String> {
        match restrict(needs) {
            Ok(RulesetStatus::NotEnforced) => Err("the kernel does not have it".to_owned()),
            Ok(_) => Ok(()),
            Err(e) => Err(e.to_string()),
        }
    }

    fn restrict(needs: &Needs) -> Result<RulesetStatus, RulesetError> {
        let ruleset = Ruleset::default();
        if needs.any_file {
            // Programs are no files to work on.
            let ruleset = ruleset.handle_access(AccessFs::Execute)?.handle_access(AccessNet::from_all(KNOWN))?;
            return Ok(ruleset.scope(Scope::from_all(KNOWN))?.create()?.restrict_self()?.ruleset);
        }
        let reading: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
        let writing = AccessFs::from_all(KNOWN) & !(AccessFs::Execute | AccessFs::MakeSym | AccessFs::MakeSock | AccessFs::MakeFifo);
        let ruleset = ruleset
            .handle_access(AccessFs::from_all(KNOWN))?
            .handle_access(AccessNet::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            .add_rules(path_beneath_rules(SYSTEM, reading))?
            .add_rules(path_beneath_rules(&needs.reads, reading))?
            .add_rules(path_beneath_rules(&needs.writes, writing))?;
        Ok(ruleset.restrict_self()?.ruleset)
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls;

#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod calls {
    /// The list of calls is known for two processors only.
    pub fn shut(_: bool) -> Result<(), String> {
        Err("not for this processor".to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod files {
    /// This system has nothing like it that is known here.
    pub fn shut(_: &super::Needs) -> Result<(), String> {
        Err("not on this system".to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod calls {
    /// This system has nothing like it that is known here.
    pub fn shut(_: bool) -> Result<(), String> {
        Err("not on this system".to_owned())
    }
}

/// Nothing to set here.
#[cfg(not(unix))]
pub fn limit(_: &Needs) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
