//! A disposable PgBouncer in transaction mode, in front of a cluster.

use crate::keeper::{Keeper, as_user, folder, free_port, give};
use crate::postgres::Cluster;

/// One running pooler.
#[derive(Debug)]
pub struct PgBouncer {
    /// On 127.0.0.1.
    pub port: u16,
    _keeper: Keeper,
}

/// Debian puts it where only root looks for programs.
const PROGRAMS: [&str; 3] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];

impl PgBouncer {
    /// Starts one that lends `servers` processes of the cluster's database `postgres`, to `postgres` and `writer`, who have no password.
    pub fn start(cluster: &Cluster, servers: u32) -> Self {
        let program = PROGRAMS.iter().find(|program| std::path::Path::new(program).exists());
        let program = program.expect("no PgBouncer found: install the package `pgbouncer`");
        let folder = folder("sheaf-pgbouncer-");
        let port = free_port();
        let users = folder.join("users.txt");
        std::fs::write(&users, "\"postgres\" \"\"\n\"writer\" \"\"\n").unwrap();
        give(&users);
        let settings = format!(
            "[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port={port}\nunix_socket_dir=\n\
             auth_type=trust\nauth_file={}\npool_mode=transaction\ndefault_pool_size={servers}\nmax_client_conn=100\nquery_wait_timeout=20\n\
             [databases]\npostgres = host=127.0.0.1 port={} dbname=postgres\n",
            users.display(),
            cluster.port
        );
        let path = folder.join("pgbouncer.ini");
        std::fs::write(&path, settings).unwrap();
        give(&path);
        let mut server = as_user(program.as_ref());
        server.arg(&path);
        let keeper = Keeper::start(&folder, &server, "TERM", "process up");
        Self { port, _keeper: keeper }
    }
}
