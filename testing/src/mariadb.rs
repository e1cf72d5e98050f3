//! A disposable MariaDB server: made, started and stopped by the tests.

use crate::certificates;
use crate::keeper::{Keeper, as_user, folder, free_port, run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Password of `native_user`, `tls_user` (only over TLS), `cert_user` (only with a certificate) and `reader` (who may only read `shop`); `root` needs none.
pub const PASSWORD: &str = "pä55 word";

/// One running server.
#[derive(Debug)]
pub struct Mariadb {
    /// Its folder: data, socket, certificates.
    pub folder: PathBuf,
    /// On 127.0.0.1.
    pub port: u16,
    keeper: Keeper,
}

/// The server of this test binary, started when first asked for.
pub fn mariadb() -> &'static Mariadb {
    static SERVER: OnceLock<Mariadb> = OnceLock::new();
    SERVER.get_or_init(Mariadb::start)
}

/// `name` in `SHEAF_TEST_MARIADB_BIN` (folders with colons between them), or where the system keeps programs.
fn program(name: &str) -> PathBuf {
    let named = std::env::var("SHEAF_TEST_MARIADB_BIN").unwrap_or_default();
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = named.split(':').chain(path.split(':')).chain(["/usr/sbin", "/usr/bin", "/usr/local/bin"]);
    let found = folders.filter(|folder| !folder.is_empty()).map(|folder| Path::new(folder).join(name)).find(|file| file.is_file());
    found.unwrap_or_else(|| {
        panic!("no {name} found: install `mariadb-server-core` and `mariadb-client-core`, or set SHEAF_TEST_MARIADB_BIN")
    })
}

impl Mariadb {
    /// Makes and starts one.
    pub fn start() -> Self {
        let folder = folder("sheaf-my-");
        let data = folder.join("data");
        let mut install = as_user(&program("mariadb-install-db"));
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]);
        install.arg(format!("--datadir={}", data.display()));
        run(&mut install);
        let has_tls = certificates::make(&folder);
        let port = free_port();
        let keeper = Keeper::start(&folder, &server(&folder, &data, port, has_tls), "TERM", "ready for connections");
        let server = Self { folder, port, keeper };
        server.sql(SET_UP);
        server
    }

    /// What `mariadb --batch` prints for a script, run by `root`; panics if it fails.
    pub fn sql(&self, script: &str) -> String {
        String::from_utf8(self.raw(&[], script)).unwrap()
    }

    /// The bytes it prints, with further options.
    pub fn raw(&self, options: &[&str], script: &str) -> Vec<u8> {
        let mut client = Command::new(program("mariadb"));
        client.args(["--no-defaults", "--batch", "--skip-column-names", "--default-character-set=utf8mb4", "--user=root"]);
        client.arg(format!("--socket={}", self.socket().display())).args(options);
        let mut child = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// Its Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// The authority's certificate, if this machine could make one.
    pub fn authority(&self) -> Option<String> {
        certificates::read(&self.folder, "ca.crt")
    }

    /// Ends the server, and waits until it is gone.
    pub fn stop(mut self) {
        self.keeper.stop();
    }

    /// The URL of its database `shop` for `root`, who needs no password.
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}/shop", self.port)
    }
}

fn server(folder: &Path, data: &Path, port: u16, has_tls: bool) -> Command {
    let mut server = as_user(&program("mariadbd"));
    server.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0"]);
    server.args([
        "--innodb-buffer-pool-size=64M",
        "--max-connections=80",
        "--max-allowed-packet=128M",
        "--plugin-maturity=experimental",
        "--default-time-zone=+02:00",
    ]);
    // Temporary tables of its own: a server that starts deletes those of every other in the same folder.
    for (option, value) in
        [("datadir", data.to_owned()), ("tmpdir", folder.to_owned()), ("socket", folder.join("socket")), ("pid-file", folder.join("pid"))]
    {
        server.arg(format!("--{option}={}", value.display()));
    }
    server.arg(format!("--port={port}"));
    if has_tls {
        for (option, file) in [("ssl-ca", "ca.crt"), ("ssl-cert", "server.crt"), ("ssl-key", "server.key")] {
            server.arg(format!("--{option}={}", folder.join(file).display()));
        }
    }
    server
}

const SET_UP: &str = "CREATE DATABASE shop;
CREATE USER native_user IDENTIFIED BY 'pä55 word';
CREATE USER tls_user IDENTIFIED BY 'pä55 word' REQUIRE SSL;
CREATE USER cert_user IDENTIFIED BY 'pä55 word' REQUIRE X509;
CREATE USER reader IDENTIFIED BY 'pä55 word';
GRANT ALL ON shop.* TO native_user, tls_user, cert_user;
GRANT SELECT ON shop.* TO reader;
";
