//! Disposable PostgreSQL clusters: made, started and stopped by the tests, one for each version found.

use crate::certificates;
use crate::keeper::{Keeper, as_user, folder, free_port, run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Roles of every cluster besides the superuser `postgres` and `writer`, who may make tables (both trusted); `md5_user` and `scram_user` have the password [`PASSWORD`],
/// and so have `clear_user`, who sends it in the clear, and `cert_user`, who needs a certificate of his name besides. `named_user` has no certificate of his name.
pub const PASSWORD: &str = "pä55 word";

/// A user who needs [`PASSWORD`] to get in.
pub const USER: &str = "scram_user";

/// One running server.
#[derive(Debug)]
pub struct Cluster {
    /// Where its programs are.
    pub bin: PathBuf,
    /// Its folder: data, socket, certificates.
    pub folder: PathBuf,
    /// On 127.0.0.1.
    pub port: u16,
    keeper: Keeper,
}

/// The clusters of this test binary, started when first asked for.
pub fn clusters() -> &'static [Cluster] {
    static CLUSTERS: OnceLock<Vec<Cluster>> = OnceLock::new();
    CLUSTERS.get_or_init(|| {
        let bins = bins();
        assert!(!bins.is_empty(), "no PostgreSQL server found: install the package `postgresql`, or set SHEAF_TEST_PG_BIN");
        std::thread::scope(|scope| {
            let starts: Vec<_> = bins.iter().map(|bin| scope.spawn(|| Cluster::start(bin))).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        })
    })
}

/// Folders with a server's programs: `SHEAF_TEST_PG_BIN` (colons between them), or what Debian installs.
pub fn bins() -> Vec<PathBuf> {
    if let Ok(list) = std::env::var("SHEAF_TEST_PG_BIN") {
        return list.split(':').filter(|bin| !bin.is_empty()).map(PathBuf::from).collect();
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut bins: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("postgres").exists()).collect();
    // Oldest version first.
    bins.sort_by_key(|bin| bin.parent().and_then(|version| version.file_name()?.to_str()?.parse::<u32>().ok()));
    bins
}

impl Cluster {
    /// Makes and starts one.
    pub fn start(bin: &Path) -> Self {
        let folder = folder("sheaf-pg-");
        let data = folder.join("data");
        let mut initdb = as_user(&bin.join("initdb"));
        initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D"]).arg(&data);
        run(&mut initdb);
        std::fs::write(data.join("pg_hba.conf"), HBA).unwrap();
        let has_tls = certificates::make(&folder);
        let port = free_port();
        let keeper = Keeper::start(&folder, &server(&folder, &data, bin, port, has_tls), "QUIT", "ready to accept connections");
        let cluster = Self { bin: bin.to_owned(), folder, port, keeper };
        cluster.psql("postgres", SET_UP);
        cluster
    }

    /// What `psql -At` prints for a script; panics if it fails.
    pub fn psql(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.arg("-h").arg(&self.folder).args(["-p", &self.port.to_string(), "-U", "postgres", "-d", database]);
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]).env("PGCLIENTENCODING", "UTF8");
        let mut child = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Is it of this version or a later one? What an older one does not know is not asked of it.
    pub fn is_since(&self, major: u32) -> bool {
        self.psql("postgres", &format!("select current_setting('server_version_num')::int >= {major}0000")) == "t\n"
    }

    /// The authority's certificate, if this machine could make one.
    pub fn authority(&self) -> Option<String> {
        certificates::read(&self.folder, "ca.crt")
    }

    /// Ends the server at once, as a crash would.
    pub fn stop(mut self) {
        self.keeper.stop();
    }

    /// The URL of its database `postgres` for the superuser, who needs no password.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

fn server(folder: &Path, data: &Path, bin: &Path, port: u16, has_tls: bool) -> Command {
    let mut server = as_user(&bin.join("postgres"));
    server.arg("-D").arg(data).args(["-F", "-p", &port.to_string(), "-k"]).arg(folder);
    for setting in [
        "listen_addresses=127.0.0.1",
        "max_connections=60",
        "max_prepared_transactions=5",
        "lc_messages=C",
        "full_page_writes=off",
        "timezone=Europe/Berlin",
    ] {
        server.args(["-c", setting]);
    }
    if has_tls {
        for (setting, file) in [("ssl_cert_file", "server.crt"), ("ssl_key_file", "server.key"), ("ssl_ca_file", "ca.crt")] {
            server.arg("-c").arg(format!("{setting}={}", folder.join(file).display()));
        }
        server.args(["-c", "ssl=on"]);
    }
    server
}

const HBA: &str = "local all all trust
host all scram_user 127.0.0.1/32 scram-sha-256
host all md5_user 127.0.0.1/32 md5
host all clear_user 127.0.0.1/32 password
host all nobody_user 127.0.0.1/32 reject
hostssl all cert_user 127.0.0.1/32 scram-sha-256 clientcert=verify-full
hostssl all named_user 127.0.0.1/32 trust clientcert=verify-full
host all cert_user 127.0.0.1/32 reject
hostssl all tls_user 127.0.0.1/32 scram-sha-256
host all tls_user 127.0.0.1/32 reject
host all all 127.0.0.1/32 trust
";

const SET_UP: &str = "SET password_encryption = 'md5';
CREATE ROLE md5_user LOGIN PASSWORD 'pä55 word';
SET password_encryption = 'scram-sha-256';
CREATE ROLE scram_user LOGIN PASSWORD 'pä55 word';
CREATE ROLE tls_user LOGIN PASSWORD 'pä55 word';
CREATE ROLE cert_user LOGIN PASSWORD 'pä55 word';
CREATE ROLE named_user LOGIN;
CREATE ROLE clear_user LOGIN PASSWORD 'pä55 word';
CREATE ROLE writer LOGIN;
GRANT CREATE ON SCHEMA public TO writer;
";
