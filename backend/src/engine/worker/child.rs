//! The side of the process that was started: the link to the server that started it.
//!
//! Invariant: this process never outlives its server. The link is its standard input, a socket; when that closes the work is over,
//! and the system ends the process when the server is killed. A panic ends the process, since a thread that answers no more would
//! leave its session waiting.

use super::frames;
use serde::Serialize;
use std::fs::File;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The link, as the process has it: one end to read, one to write.
pub struct Link {
    /// Requests come here. Only one thread reads.
    pub requests: File,
    /// Answers go here.
    pub answers: Answers,
}

/// Where answers go; whole ones, whoever writes.
pub struct Answers(Mutex<File>);

impl Answers {
    /// They go here.
    pub fn new(to: File) -> Self {
        Self(Mutex::new(to))
    }

    /// Writes one.
    pub fn write<H: Serialize>(&self, session: u64, head: &H, body: &[u8]) -> io::Result<()> {
        frames::write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), session, head, body)
    }
}

/// Takes the link from standard input, and puts nothing in its place: whatever a library prints or reads goes nowhere.
#[cfg(unix)]
pub fn take_link() -> io::Result<Link> {
    use std::os::fd::AsFd as _;
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let link = io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    let requests = File::from(link);
    let answers = Answers::new(requests.try_clone()?);
    Ok(Link { requests, answers })
}

/// Where there are no such sockets there are no such processes.
#[cfg(not(unix))]
pub fn take_link() -> io::Result<Link> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Ends the process at once, whatever its threads do.
pub fn end_now() -> ! {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}
