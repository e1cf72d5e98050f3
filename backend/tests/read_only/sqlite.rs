//! SQLite: files of both kinds of journal, and what lies beside them.

#[path = "sqlite/attempts.rs"]
mod attempts;

use crate::siege::{Digest, Siege, compare};
use attempts::ATTEMPTS;
use shared::wire::connection::{ConnectionFields, EngineKind};
use std::path::Path;

const SET_UP: &str = "
PRAGMA user_version = 7; PRAGMA application_id = 8; PRAGMA auto_vacuum = INCREMENTAL; VACUUM;
CREATE TABLE guarded (n INTEGER PRIMARY KEY, t TEXT DEFAULT 'kept_row');
INSERT INTO guarded (n) VALUES (1), (2), (3);
CREATE INDEX guarded_t ON guarded (t);
CREATE TABLE child (n REFERENCES guarded (n), b BLOB);
INSERT INTO child VALUES (1, zeroblob(9000));
CREATE TABLE counted (n INTEGER PRIMARY KEY AUTOINCREMENT);
INSERT INTO counted DEFAULT VALUES;
CREATE TABLE tight (a PRIMARY KEY, b) WITHOUT ROWID;
INSERT INTO tight VALUES (1, 2);
CREATE VIRTUAL TABLE words USING fts5 (t);
INSERT INTO words VALUES ('kept row');
CREATE VIRTUAL TABLE older USING fts4 (t);
INSERT INTO older VALUES ('kept row');
CREATE VIRTUAL TABLE places USING rtree (id, low, high);
INSERT INTO places VALUES (1, 2, 3);
CREATE VIEW seen AS SELECT n, t FROM guarded;
CREATE TRIGGER noted INSTEAD OF INSERT ON seen BEGIN INSERT INTO guarded (n) VALUES (new.n); END;
CREATE TRIGGER echoed AFTER INSERT ON guarded BEGIN INSERT INTO tight VALUES (new.n, 9); END;
ANALYZE;
";

/// Every file of the folder, but the index that readers of a log share; and what a writable connection reads.
fn digest(folder: &Path, writer: &rusqlite::Connection) -> Digest {
    let mut digest = Digest::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| !entry.file_name().to_string_lossy().ends_with("-shm")) {
        let bytes = std::fs::read(entry.path()).unwrap();
        digest.insert(entry.file_name().to_string_lossy().into_owned(), format!("{} {:08x}", bytes.len(), crc32fast::hash(&bytes)));
    }
    for sql in [
        "SELECT group_concat(n || t) FROM guarded",
        "SELECT group_concat(name || coalesce(sql, ''), char(10)) FROM sqlite_schema",
        "SELECT group_concat(name || seq) FROM sqlite_sequence",
        "SELECT group_concat(tbl || stat) FROM sqlite_stat1",
        "SELECT group_concat(t) FROM words WHERE words MATCH 'kept'",
        "PRAGMA user_version",
        "PRAGMA application_id",
        "PRAGMA journal_mode",
        "PRAGMA freelist_count",
        "PRAGMA integrity_check",
    ] {
        let value = writer.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
        digest.insert(sql.to_owned(), format!("{value:?}"));
    }
    digest
}

#[tokio::test]
async fn nothing_that_a_read_only_connection_sends_changes_anything() {
    for journal in ["DELETE", "WAL"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("guarded.sqlite");
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch(SET_UP).unwrap();
        writer.pragma_update(None, "journal_mode", journal).unwrap();
        writer.execute_batch("INSERT INTO child VALUES (2, 'in the log'); DELETE FROM child WHERE n = 1;").unwrap();
        std::fs::write(folder.path().join("other.sqlite"), "").unwrap();
        let before = digest(folder.path(), &writer);
        let fields = ConnectionFields { path: Some(path.display().to_string()), ..ConnectionFields::new("test", EngineKind::Sqlite) };
        let siege = Siege {
            fields,
            password: None,
            write: "INSERT INTO main.guarded (n) VALUES (666)",
            refusals: &["readonly"],
            folder: folder.path(),
        };
        siege.lay(ATTEMPTS).await;
        compare(&before, &digest(folder.path(), &writer));
        // There was something to be written over, and it can be.
        writer.execute("INSERT INTO guarded (n) VALUES (4)", []).unwrap();
    }
}
