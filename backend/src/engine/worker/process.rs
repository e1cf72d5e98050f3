//! A process of its own for a library that may crash, seen from the server: started from the server's own binary, asked by frames,
//! ended.
//!
//! Invariant: the process is hostile as soon as it runs: what it sends is bounded and only ever an answer to what was asked; anything
//! else ends it. It ends when its [`Process`] is dropped, and the server notices every other end. Two threads serve it: one starts it
//! and reads (the system ties a process's life to the thread that started it), one writes.

use super::frames;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// How long a process may take to end by itself once nobody needs it: it writes down what is in its memory.
const END_WAIT: Duration = Duration::from_secs(5);
/// Variables of the server that every process sees too: its time zone.
const INHERITED: [&str; 2] = ["TZ", "TZDIR"];

/// What is to be started.
pub struct Start {
    /// The binary: the server's own.
    pub program: PathBuf,
    /// Its command.
    pub command: &'static str,
    /// What its environment has besides the time zone.
    pub variables: &'static [(&'static str, &'static str)],
    /// Variables of the server that it sees too.
    pub inherited: &'static [&'static str],
    /// The folder it is in.
    pub folder: PathBuf,
    /// For threads and the log.
    pub name: &'static str,
    /// Bytes of an answer at most.
    pub answer_bytes_max: usize,
    /// Done when the process is no more.
    pub afterwards: Box<dyn FnOnce() + Send>,
}

/// A process that is there, or was.
pub struct Process {
    inner: Arc<Inner>,
    outbox: Outbox,
    sessions: AtomicU64,
}

/// Where requests go: straight into the link while it takes them, which it all but always does; what it does not take waits for the
/// thread that may wait.
struct Outbox {
    #[cfg(unix)]
    link: std::os::unix::net::UnixStream,
    /// Unbounded, and short all the same: each session waits for its answer before it asks again.
    queue: mpsc::UnboundedSender<Vec<u8>>,
    /// Frames of the queue that are not written yet: a later one must not get ahead of them.
    queued: Arc<Mutex<usize>>,
}

impl Outbox {
    /// Never waits. Where the link is broken the reader tells.
    fn send(&self, mut frame: Vec<u8>) {
        let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(unix)]
        if *queued == 0 {
            use rustix::net::{SendFlags, send};
            match send(&self.link, &frame, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) if sent >= frame.len() => return,
                Ok(sent) => frame = frame.split_off(sent),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
        *queued += 1;
        let _ = self.queue.send(frame);
    }
}

/// How a process ended, in words that go on `it ended …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End(pub String);

/// There was no answer, and there will be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// How it ended.
    pub end: End,
    /// The question may have reached it.
    pub asked: bool,
}

struct Inner {
    name: &'static str,
    waiting: Mutex<HashMap<u64, VecDeque<oneshot::Sender<Vec<u8>>>>>,
    life: Mutex<Life>,
    over: Condvar,
    ended: watch::Sender<Option<End>>,
}

#[derive(Default)]
struct Life {
    child: Option<Child>,
    /// Why the server ended it.
    reason: Option<String>,
    over: bool,
}

impl Inner {
    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, VecDeque<oneshot::Sender<Vec<u8>>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kill(&self, reason: &str) {
        let mut life = self.life();
        if life.over {
            return;
        }
        life.reason.get_or_insert_with(|| reason.to_owned());
        if let Some(child) = &mut life.child {
            let _ = child.kill();
        }
    }

    /// An answer goes to who waits for it.
    fn hand_out(&self, bytes: Vec<u8>) -> io::Result<()> {
        let session = frames::session(&bytes)?;
        let mut waiting = self.waiting();
        let waiter = waiting.get_mut(&session).and_then(VecDeque::pop_front);
        if waiting.get(&session).is_some_and(VecDeque::is_empty) {
            waiting.remove(&session);
        }
        let nobody = || io::Error::new(io::ErrorKind::InvalidData, "an answer that nobody asked for");
        // Who asked may have left since.
        let _ = waiter.ok_or_else(nobody)?.send(bytes);
        Ok(())
    }

    /// The process is no more: everybody who waits hears of it.
    fn end(&self, end: End) {
        {
            let mut life = self.life();
            life.over = true;
            life.child = None;
        }
        self.ended.send_replace(Some(end));
        self.waiting().clear();
        self.over.notify_all();
    }
}

impl Process {
    /// Starts one. A failure to start is told by its end.
    #[cfg(unix)]
    pub fn start(start: Start) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let (link, writing, reading) = (ours.try_clone()?, ours.try_clone()?, ours);
        let inner = Arc::new(Inner {
            name: start.name,
            waiting: Mutex::default(),
            life: Mutex::default(),
            over: Condvar::new(),
            ended: watch::Sender::new(None),
        });
        let (queue, requests) = mpsc::unbounded_channel();
        let outbox = Outbox { link, queue, queued: Arc::default() };
        let (of_writer, queued) = (Arc::clone(&inner), Arc::clone(&outbox.queued));
        let write = move || write_requests(&of_writer, writing, requests, &queued);
        std::thread::Builder::new().name(format!("{} out", start.name)).spawn(write)?;
        let of_reader = Arc::clone(&inner);
        std::thread::Builder::new().name(start.name.to_owned()).spawn(move || {
            let inner = of_reader;
            // The process has the other end of the link alone, so that the link closes with it.
            let spawned = command(&start, theirs.into()).spawn();
            let end = match spawned {
                Ok(child) => {
                    inner.life().child = Some(child);
                    read_answers(&inner, &mut io::BufReader::new(reading), start.answer_bytes_max);
                    wait(&inner)
                }
                Err(e) => End(format!("before it began: {e}")),
            };
            (start.afterwards)();
            inner.end(end);
        })?;
        Ok(Self { inner, outbox, sessions: AtomicU64::new(0) })
    }

    /// Sockets of this kind are missing here.
    #[cfg(not(unix))]
    pub fn start(_: Start) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A name for a session, new in this process.
    pub fn next_session(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a frame of the session, and waits for the answer.
    pub async fn ask(&self, session: u64, frame: Vec<u8>) -> Result<Vec<u8>, Gone> {
        let (waiter, answer) = oneshot::channel();
        {
            let mut waiting = self.inner.waiting();
            if let Some(end) = self.end() {
                return Err(Gone { end, asked: false });
            }
            waiting.entry(session).or_default().push_back(waiter);
            // Under the lock, so that answers come in the order of their waiters.
            self.outbox.send(frame);
        }
        match answer.await {
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(Gone { end: self.end().unwrap_or_else(|| End("in some way".to_owned())), asked: true }),
        }
    }

    /// Sends a frame that is not answered.
    pub fn tell(&self, frame: Vec<u8>) {
        self.outbox.send(frame);
    }

    /// Sends a frame whose answer nobody waits for.
    pub fn tell_last(&self, session: u64, frame: Vec<u8>) {
        let mut waiting = self.inner.waiting();
        if self.end().is_none() {
            waiting.entry(session).or_default().push_back(oneshot::channel().0);
            self.outbox.send(frame);
        }
    }

    /// Ends it at once; the reason goes on `it ended …`.
    pub fn kill(&self, reason: &str) {
        self.inner.kill(reason);
    }

    /// How it ended, if it did.
    pub fn end(&self) -> Option<End> {
        self.inner.ended.borrow().clone()
    }

    /// It has ended, or was told to.
    pub fn is_ending(&self) -> bool {
        let life = self.inner.life();
        life.over || life.reason.is_some()
    }

    /// Tells the end, whenever it comes.
    pub fn watch(&self) -> watch::Receiver<Option<End>> {
        self.inner.ended.subscribe()
    }
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The binary that processes are started from: Sheaf's own. Only the first time counts.
pub fn start_from(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// The binary of [`start_from`]. Nothing else is ever started.
pub fn program() -> io::Result<PathBuf> {
    PROGRAM.get().cloned().ok_or_else(|| io::Error::other("the server did not say from which binary"))
}

/// The server's own binary, also where a newer one lies in its place by now.
pub fn own_binary() -> io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() { Ok(running.to_owned()) } else { std::env::current_exe() }
}

/// Nothing of the server's environment is handed on but its time zone and what is named; what the process prints is not kept.
#[cfg(unix)]
fn command(start: &Start, link: std::os::fd::OwnedFd) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(&start.program);
    command.arg0("sheaf").arg(start.command).env_clear().current_dir(&start.folder);
    command.envs(start.variables.iter().copied());
    command.envs(INHERITED.iter().chain(start.inherited).filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.stdin(Stdio::from(link)).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[cfg(unix)]
fn write_requests(
    inner: &Inner,
    mut to: std::os::unix::net::UnixStream,
    mut requests: mpsc::UnboundedReceiver<Vec<u8>>,
    queued: &Mutex<usize>,
) {
    while let Some(frame) = requests.blocking_recv() {
        if io::Write::write_all(&mut to, &frame).is_err() {
            // It is gone, or going: the reader tells.
            break;
        }
        *queued.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
    while requests.blocking_recv().is_some() {}
    let _ = to.shutdown(std::net::Shutdown::Write);
    let life = inner.life();
    let waited = inner.over.wait_timeout_while(life, END_WAIT, |life| !life.over);
    let late = waited.is_ok_and(|(_, result)| result.timed_out());
    if late {
        inner.kill("because it did not end by itself");
    }
}

fn read_answers(inner: &Inner, from: &mut impl io::Read, bytes_max: usize) {
    let outcome = loop {
        match frames::read(from, bytes_max) {
            Ok(None) => break Ok(()),
            Ok(Some(bytes)) => {
                if let Err(e) = inner.hand_out(bytes) {
                    break Err(e);
                }
            }
            // What was on its way when it ended.
            Err(e) if matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => break Ok(()),
            Err(e) => break Err(e),
        }
    };
    if let Err(e) = outcome {
        tracing::warn!(process = inner.name, cause = %e, "a process of Sheaf's own said what it may not; it is ended");
        inner.kill("because it said what it may not");
    }
}

/// Nothing is to come from it any more.
fn wait(inner: &Inner) -> End {
    let child = inner.life().child.take();
    let status = child.map(|mut child| {
        // It is ending; one that only closed its link ends now.
        let _ = child.kill();
        child.wait()
    });
    let reason = inner.life().reason.clone();
    let how = match status {
        Some(Ok(status)) => words(status),
        Some(Err(e)) => format!("({e})"),
        None => "in some way".to_owned(),
    };
    tracing::debug!(process = inner.name, %how, reason, "a process of Sheaf's own has ended");
    End(reason.unwrap_or(how))
}

#[cfg(unix)]
fn words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.signal(), status.code()) {
        (Some(6), _) => "by aborting (signal 6)".to_owned(),
        (Some(9), _) => "by being killed (signal 9), perhaps for its memory".to_owned(),
        (Some(11 | 7), _) => "by a fault of its memory (signal 11)".to_owned(),
        (Some(signal), _) => format!("by signal {signal}"),
        (_, Some(code)) => format!("with code {code}"),
        _ => "in some way".to_owned(),
    }
}

#[cfg(not(unix))]
fn words(status: ExitStatus) -> String {
    status.to_string()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::mpsc::channel;

    fn start(program: PathBuf) -> Start {
        let (folder, afterwards) = ("/".into(), Box::new(|| ()));
        Start { program, command: "x", variables: &[], inherited: &[], folder, name: "test", answer_bytes_max: 1, afterwards }
    }

    /// A process that does what this script says; its link is its standard input.
    async fn asked(script: &str) -> (Gone, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let (over, is_over) = channel();
        let afterwards = Box::new(move || over.send(()).unwrap());
        let process = Process::start(Start { answer_bytes_max: 100, afterwards, ..start(program) }).unwrap();
        let mut ended = process.watch();
        let gone = process.ask(7, frames::before(7, &"question", 0).unwrap()).await.unwrap_err();
        ended.wait_for(Option::is_some).await.unwrap();
        is_over.try_recv().unwrap();
        assert!(process.is_ending() && !process.ask(7, Vec::new()).await.unwrap_err().asked);
        (gone, folder)
    }

    #[tokio::test]
    async fn whatever_it_says_but_an_answer_ends_it() {
        let answer_of_another = "printf '\\014\\0\\0\\0\\011\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&0; exec sleep 1000";
        for script in [
            "printf 'no frame at all' >&0; exec sleep 1000",
            "printf '\\145\\0\\0\\0' >&0; exec sleep 1000",
            "printf '\\004\\0\\0\\0abcd' >&0; exec sleep 1000",
            answer_of_another,
        ] {
            assert_eq!(asked(script).await.0, Gone { end: End("because it said what it may not".to_owned()), asked: true }, "{script}");
        }
    }

    #[tokio::test]
    async fn its_own_end_is_told() {
        for (script, words) in [
            ("kill -ABRT $$", "by aborting (signal 6)"),
            ("kill -KILL $$", "by being killed (signal 9), perhaps for its memory"),
            ("exit 3", "with code 3"),
            // A frame that is not whole, then nothing.
            ("printf '\\144\\0\\0\\0ab' >&0; exit 4", "with code 4"),
            // Closes its link and lives on.
            ("exec </dev/null; exec sleep 1000", "by being killed (signal 9), perhaps for its memory"),
        ] {
            assert_eq!(asked(script).await.0.end.0, words, "{script}");
        }
        let process = Process::start(start("/no/such/program".into())).unwrap();
        let gone = process.ask(1, Vec::new()).await.unwrap_err();
        assert!(gone.end.0.starts_with("before it began: No such file"), "{gone:?}");
    }
}
