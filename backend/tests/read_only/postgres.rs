//! PostgreSQL: the role owns all that it attacks, and has every right that a read-only connection takes.

#[path = "postgres/attempts.rs"]
mod attempts;
#[path = "postgres/setup.rs"]
mod setup;

use crate::siege::{Digest, Siege, compare, files};
use attempts::ATTEMPTS;
use shared::wire::connection::{ConnectionFields, EngineKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use testing::keeper::folder;
use testing::postgres::{Cluster, clusters};

fn fields(cluster: &Cluster) -> ConnectionFields {
    ConnectionFields {
        host: Some("127.0.0.1".to_owned()),
        port: Some(cluster.port),
        database: Some("postgres".to_owned()),
        user: Some("writer".to_owned()),
        ..ConnectionFields::new("test", EngineKind::Postgres)
    }
}

/// What a query has per row, each row on a line.
const KEPT: &[(&str, &str)] = &[
    ("relations", "select oid, relname, relfilenode, relkind, relpersistence, relacl from pg_class where oid >= 16384 order by oid"),
    ("statistics", "select s from pg_statistic s join pg_class c on c.oid = starelid where c.oid >= 16384 order by starelid, staattnum"),
    ("prepared transactions", "select gid from pg_prepared_xacts"),
    ("slots", "select slot_name from pg_replication_slots"),
    ("settings", "select name, setting from pg_settings where source in ('configuration file', 'global', 'database', 'user') order by 1"),
    ("origins", "select roname from pg_replication_origin"),
    (
        "files",
        "select name from unnest(array['.', 'base', 'pg_snapshots', 'pg_twophase']) d, pg_ls_dir(d) name where name !~ '^pgsql_tmp' order by 1",
    ),
];

/// Everything that the cluster keeps: what its own dump has, and what that leaves out.
fn digest(cluster: &Cluster, outside: &Path) -> Digest {
    let mut digest: Digest = KEPT.iter().map(|(name, sql)| ((*name).to_owned(), cluster.psql("postgres", sql))).collect();
    digest.insert("dump".to_owned(), dump(cluster));
    digest.insert("files outside".to_owned(), files(outside));
    digest
}

fn dump(cluster: &Cluster) -> String {
    let mut dump = Command::new(cluster.bin.join("pg_dumpall"));
    dump.arg("-h").arg(&cluster.folder).args(["-p", &cluster.port.to_string(), "-U", "postgres"]);
    let output = dump.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // A word made up for each dump keeps its text from being taken for commands.
    let dumped = String::from_utf8(output.stdout).unwrap();
    dumped.lines().filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict")).collect::<Vec<_>>().join("\n")
}

/// A folder beside the server's own that it may write to.
struct Outside(PathBuf);

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn nothing_that_a_read_only_connection_sends_changes_anything() {
    for cluster in clusters() {
        setup::make(cluster);
        let outside = Outside(folder("sheaf-outside-"));
        let before = digest(cluster, &outside.0);
        assert!(before["dump"].contains("kept_row") && before["relations"].contains("guarded"));
        let siege = Siege {
            fields: fields(cluster),
            password: None,
            write: "insert into public.guarded values (666)",
            refusals: &["25006"],
            folder: &outside.0,
        };
        siege.lay(ATTEMPTS).await;
        compare(&before, &digest(cluster, &outside.0));
    }
}
