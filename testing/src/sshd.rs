//! A disposable OpenSSH server for tunnels, its keys, and an agent; none of it needs a privilege.
//!
//! It runs as the user that servers run as here, and lets in only that one, by a key: passwords need PAM, which needs root.

use crate::keeper::{Keeper, as_user, folder, free_port, give, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What opens the key `locked`.
pub const PASSPHRASE: &str = "pä55 phrase";

/// The keys that are let in, by the names of their files; `locked` has a passphrase. `stranger` is not let in.
pub const KEYS: [&str; 4] = ["ed25519", "ecdsa", "rsa", "locked"];

/// A running server.
#[derive(Debug)]
pub struct Sshd {
    /// Its folder, with the clients' keys.
    pub folder: PathBuf,
    /// On 127.0.0.1.
    pub port: u16,
    /// Whom it lets in.
    pub user: String,
    keeper: Keeper,
}

impl Sshd {
    /// Makes and starts one that takes tunnels.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with further lines of configuration, which count before the usual ones.
    pub fn start_with(lines: &[&str]) -> Self {
        let folder = folder("sheaf-ssh-");
        keys(&folder);
        let port = free_port();
        let keeper = Keeper::start(&folder, &server(&folder, port, lines), "TERM", "Server listening");
        let user = as_user(Path::new("id")).arg("-un").output().unwrap();
        Self { folder, port, user: String::from_utf8(user.stdout).unwrap().trim().to_owned(), keeper }
    }

    /// The text of one of the clients' private keys.
    pub fn key(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap()
    }

    /// The server's own key, as a line of `known_hosts` has it behind the host.
    pub fn host_key(&self) -> String {
        std::fs::read_to_string(self.folder.join("host.pub")).unwrap().trim().to_owned()
    }

    /// Its fingerprint, as `ssh-keygen` prints it.
    pub fn fingerprint(&self) -> String {
        let printed = Command::new("ssh-keygen").arg("-lf").arg(self.folder.join("host.pub")).output().unwrap();
        String::from_utf8(printed.stdout).unwrap().split(' ').nth(1).unwrap().to_owned()
    }

    /// Ends the server and everything through it, and waits until it is gone.
    pub fn stop(mut self) {
        self.keeper.stop();
    }
}

/// An agent that holds keys.
#[derive(Debug)]
pub struct Agent {
    /// Where it listens.
    pub socket: PathBuf,
    _keeper: Keeper,
}

impl Agent {
    /// One that holds these key files.
    pub fn start(keys: &[PathBuf]) -> Self {
        let folder = tempfile::Builder::new().prefix("sheaf-agent-").tempdir().unwrap().keep();
        let socket = folder.join("socket");
        let mut agent = Command::new("sh");
        agent.args(["-c", r#"exec ssh-agent -D -a "$1" >&2"#, "sh"]).arg(&socket);
        let keeper = Keeper::start(&folder, &agent, "TERM", "SSH_AUTH_SOCK");
        for key in keys {
            // It takes none that others may read.
            let own = folder.join("key");
            std::fs::copy(key, &own).unwrap();
            run(Command::new("chmod").arg("600").arg(&own));
            run(Command::new("ssh-add").arg("-q").arg(&own).env("SSH_AUTH_SOCK", &socket));
        }
        Self { socket, _keeper: keeper }
    }
}

/// The server's program: where `SHEAF_TEST_SSHD` has unpacked Debian's package, or where the system keeps it.
fn program() -> PathBuf {
    let unpacked = std::env::var("SHEAF_TEST_SSHD").ok().map(|root| Path::new(&root).join("usr/sbin/sshd"));
    let found = unpacked.into_iter().chain([PathBuf::from("/usr/sbin/sshd")]).find(|file| file.is_file());
    found.expect("no sshd found: `cargo xtask setup` brings one, or set SHEAF_TEST_SSHD to the root of an unpacked `openssh-server`")
}

/// Brings it into `folder`, with the libraries that came with it: the user it runs as may not look into others' folders.
fn bring(folder: &Path) {
    run(Command::new("cp").arg(program()).arg(folder.join("sshd")));
    let Ok(root) = std::env::var("SHEAF_TEST_SSHD") else { return };
    for systems in std::fs::read_dir(Path::new(&root).join("usr/lib")).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(systems.path()).into_iter().flatten().flatten().filter(|file| file.path().is_file()) {
            std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
    }
}

fn server(folder: &Path, port: u16, lines: &[&str]) -> Command {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut config = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    config += &format!("Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\n", at("host"), at("authorized_keys"));
    config += "PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n";
    config += "AllowTcpForwarding yes\nX11Forwarding no\nPermitTTY no\nMaxStartups 100\nLogLevel VERBOSE\n";
    bring(folder);
    std::fs::write(folder.join("config"), config).unwrap();
    give(&folder.join("config"));
    let mut server = as_user(Path::new("/usr/bin/env"));
    server
        .arg(format!("LD_LIBRARY_PATH={}", folder.display()))
        .arg(folder.join("sshd"))
        .args(["-D", "-e", "-f"])
        .arg(folder.join("config"));
    server
}

fn keys(folder: &Path) {
    let make = |name: &str, kind: &str, passphrase: &str| {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-a", "1", "-C", "test", "-N", passphrase, "-t", kind, "-f"]).arg(folder.join(name));
        if kind == "rsa" {
            keygen.args(["-b", "2048"]);
        }
        // Of 256 bits, one key in 512 begins with a zero byte, and is not read (docs/decisions/0012-ssh-tunnels.md).
        if kind == "ecdsa" {
            keygen.args(["-b", "384"]);
        }
        run(&mut keygen);
    };
    for (name, kind, passphrase) in [
        ("host", "ed25519", ""),
        ("ed25519", "ed25519", ""),
        ("ecdsa", "ecdsa", ""),
        ("rsa", "rsa", ""),
        ("locked", "ed25519", PASSPHRASE),
        ("stranger", "ed25519", ""),
    ] {
        make(name, kind, passphrase);
    }
    let public = |name: &&str| std::fs::read_to_string(folder.join(format!("{name}.pub"))).unwrap();
    std::fs::write(folder.join("authorized_keys"), KEYS.iter().map(public).collect::<String>()).unwrap();
    for name in ["host", "authorized_keys"] {
        give(&folder.join(name));
    }
}
