//! A disposable PostgreSQL: its own folder, a free port of the loopback, stopped and removed when dropped.

use std::io::{self, BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running cluster. Its one user is [`USER`], whose password is [`PASSWORD`].
pub struct Cluster {
    child: Child,
    home: tempfile::TempDir,
    port: u16,
}

/// The cluster's superuser.
pub const USER: &str = "sheaf";
/// Its password.
pub const PASSWORD: &str = "bound";

/// Folders with the server programs to test with, oldest version first: `SHEAF_TEST_PG_BIN` (separated by colons), else what Debian's packages left.
pub fn installed() -> Vec<PathBuf> {
    if let Some(paths) = std::env::var_os("SHEAF_TEST_PG_BIN") {
        return std::env::split_paths(&paths).collect();
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|v| v.path().join("bin")).filter(|bin| bin.join("initdb").exists()).collect();
    found.sort_by_key(|bin| bin.parent().and_then(|p| p.file_name()?.to_str()?.parse::<u32>().ok()));
    found
}

impl Cluster {
    /// Makes and starts a cluster with the programs in `bin`; `auth` is the method for its user (`trust`, `md5`, `scram-sha-256`).
    pub fn start(bin: &Path, auth: &str) -> io::Result<Self> {
        let home = tempfile::tempdir()?;
        let owner = Owner::find()?;
        let password = home.path().join("password");
        std::fs::write(&password, PASSWORD)?;
        owner.give(home.path())?;
        owner.give(&password)?;
        let data = home.path().join("data");
        let mut initdb = Command::new(bin.join("initdb"));
        initdb
            .args(["-U", USER, "-A", auth, "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync", "-D"])
            .arg(&data)
            .arg("--pwfile")
            .arg(&password);
        if auth == "md5" {
            initdb.args(["-c", "password_encryption=md5"]);
        }
        let made = owner.apply(&mut initdb).current_dir(home.path()).output()?;
        if !made.status.success() {
            return Err(io::Error::other(format!("initdb: {}", String::from_utf8_lossy(&made.stderr))));
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut server = Command::new(bin.join("postgres"));
        server.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c"]);
        server.arg(format!("unix_socket_directories={}", home.path().display()));
        let mut child =
            owner.apply(&mut server).current_dir(home.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        wait_until_ready(&mut child)?;
        Ok(Self { child, home, port })
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its Unix socket.
    pub fn socket_folder(&self) -> &Path {
        self.home.path()
    }

    /// The URL of its database `postgres`, password inside.
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops it at once, as a crash would.
    pub fn kill(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // An immediate end asked for by signal, so that the server ends its own children; then nothing is left to wait for.
        let asked = Command::new("kill").args(["-QUIT", &self.child.id().to_string()]).status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn wait_until_ready(child: &mut Child) -> io::Result<()> {
    let stderr = child.stderr.take().ok_or_else(|| io::Error::other("no stderr"))?;
    let mut lines = BufReader::new(stderr).lines();
    let mut log = String::new();
    for line in lines.by_ref() {
        let line = line?;
        if line.contains("ready to accept connections") {
            // Somebody must go on reading, or a talkative server would block.
            std::thread::spawn(move || lines.for_each(drop));
            return Ok(());
        }
        log.push_str(&line);
        log.push('\n');
    }
    Err(io::Error::other(format!("PostgreSQL did not start: {log}")))
}

/// PostgreSQL refuses root: as root its files and processes belong to the user that its package made.
struct Owner(Option<(u32, u32)>);

impl Owner {
    fn find() -> io::Result<Self> {
        if id(&["-u"])? != 0 {
            return Ok(Self(None));
        }
        Ok(Self(Some((id(&["-u", "postgres"])?, id(&["-g", "postgres"])?))))
    }

    fn give(&self, path: &Path) -> io::Result<()> {
        self.0.map_or(Ok(()), |(uid, gid)| std::os::unix::fs::chown(path, Some(uid), Some(gid)))
    }

    fn apply<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        match self.0 {
            Some((uid, gid)) => command.uid(uid).gid(gid),
            None => command,
        }
    }
}

fn id(arguments: &[&str]) -> io::Result<u32> {
    let output = Command::new("id").args(arguments).output()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| io::Error::other(format!("id {} said nothing", arguments.join(" "))))
}
