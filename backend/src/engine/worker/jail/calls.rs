//! The system calls that a database library makes to work on files with threads; every other one is answered as if the kernel did not
//! have it. So there is no new program and no new process, no socket, no other process to reach, no limit to raise.
//!
//! Invariant: a list of what is allowed, so that a call that is new, or of another processor's way to call, is not.

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};
use std::collections::BTreeMap;

/// Calls with any arguments.
const ALLOWED: &[c_long] = &[
    // Files that are open.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fadvise64,
    libc::SYS_ppoll,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    // Files by name: which ones is Landlock's to say.
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_getcwd,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_msync,
    libc::SYS_mincore,
    libc::SYS_brk,
    libc::SYS_membarrier,
    // Threads.
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getcpu,
    // Signals of its own.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Time, chance, and who it is.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getrlimit,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
];

/// The older names of the same calls, which only this processor has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_getdents,
    libc::SYS_dup2,
    libc::SYS_poll,
    libc::SYS_time,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[c_long] = &[];

/// Which terminal a file is, and how wide: none. A terminal would also take what is typed into it.
const TCGETS: u64 = 0x5401;
const TIOCGWINSZ: u64 = 0x5413;
/// Names of threads and of memory.
const PR_SET_NAME: u64 = 15;
const PR_SET_VMA: u64 = 0x5356_4d41;
const CLONE_THREAD: u64 = 0x0001_0000;

/// Who may use an open file: SQLite makes its journals as open to others as the database is.
const OWNERSHIP: &[c_long] = &[libc::SYS_fchmod, libc::SYS_fchown];

/// Closes the calls for this thread and all it starts; `ownership` are those that say who may use a file.
pub fn shut(ownership: bool) -> Result<(), String> {
    let program = filter(if ownership { OWNERSHIP } else { &[] }).map_err(|e| e.to_string())?;
    apply_filter(&program).map_err(|e: Error| e.to_string())
}

fn filter(further: &[c_long]) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().chain(OLDER).chain(further).map(|call| (*call, Vec::new())).collect();
    let own = u64::from(std::process::id());
    let some = [
        // Threads, and no processes. What `clone3` would do can't be seen from here; without it `clone` is used.
        (libc::SYS_clone, vec![(0, SeccompCmpOp::MaskedEq(CLONE_THREAD), CLONE_THREAD)]),
        (libc::SYS_kill, vec![(0, SeccompCmpOp::Eq, own)]),
        (libc::SYS_tgkill, vec![(0, SeccompCmpOp::Eq, own)]),
        // Asking for limits, not setting them.
        (libc::SYS_prlimit64, vec![(2, SeccompCmpOp::Eq, 0)]),
        (libc::SYS_ioctl, vec![(1, SeccompCmpOp::Eq, TCGETS), (1, SeccompCmpOp::Eq, TIOCGWINSZ)]),
        (libc::SYS_prctl, vec![(0, SeccompCmpOp::Eq, PR_SET_NAME), (0, SeccompCmpOp::Eq, PR_SET_VMA)]),
    ];
    for (call, allowed) in some {
        let each = allowed.into_iter().map(|(argument, compared, with)| {
            let width = if call == libc::SYS_prlimit64 { SeccompCmpArgLen::Qword } else { SeccompCmpArgLen::Dword };
            SeccompRule::new(vec![SeccompCondition::new(argument, width, compared, with)?])
        });
        rules.insert(call, each.collect::<Result<_, _>>()?);
    }
    let missing = SeccompAction::Errno(u32::try_from(libc::ENOSYS).unwrap_or(1));
    SeccompFilter::new(rules, missing, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?.try_into()
}
