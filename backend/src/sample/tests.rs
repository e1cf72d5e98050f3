use super::*;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Every row of every table and view, in order, as SQLite quotes it.
fn checksum(db: &Connection) -> String {
    let names: Vec<String> = db
        .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut hash = Sha256::new();
    for name in names {
        let columns: Vec<String> =
            db.prepare(&format!("SELECT * FROM {name}")).unwrap().column_names().iter().map(|c| format!("quote({c})")).collect();
        let mut select = db.prepare(&format!("SELECT {} FROM {name}", columns.join(" || ',' || "))).unwrap();
        let mut rows = select.query([]).unwrap();
        hash.update(&name);
        while let Some(row) = rows.next().unwrap() {
            hash.update(row.get_ref(0).unwrap().as_bytes().unwrap());
            hash.update(b"\n");
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The shop with fewer page views, made once for all tests.
fn small() -> (tempfile::TempDir, Connection) {
    static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.sqlite");
        make(&path, 2_000).unwrap();
        let beside: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(beside, ["small.sqlite"], "all of it is in the one file that gets the name");
        std::fs::read(path).unwrap()
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.sqlite");
    std::fs::write(&path, &*IMAGE).unwrap();
    let db = Connection::open(path).unwrap();
    (folder, db)
}

#[test]
fn the_content_is_the_same_everywhere() {
    // A change of the content is a new file name: FILE_NAME and this go together.
    assert_eq!(checksum(&small().1), "cd7db1b82b1c301be13c10acea9a9b49afb6d5b806a8407f0d2513628360162c");
}

#[test]
fn every_foreign_key_holds_and_the_file_is_sound() {
    let (_folder, db) = small();
    let broken: i64 = db.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(broken, 0);
    let sound: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let mode: String = db.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let keyed: i64 = db
        .query_row(
            "SELECT count(DISTINCT m.name) FROM sqlite_schema m, pragma_foreign_key_list(m.name) WHERE m.type = 'table'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(keyed >= 12, "{keyed} tables refer to another");
}

#[test]
fn what_a_workbench_must_show_is_in_it() {
    let (_folder, db) = small();
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert!(count("SELECT count(*) FROM sqlite_schema WHERE type = 'view'") >= 2);
    assert!(count("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") >= 1);
    assert_eq!(count("SELECT count(*) FROM page_views"), 2_000);
    assert_eq!(count("SELECT count(*) FROM products"), goods::PRODUCTS);
    assert_eq!(count("SELECT count(DISTINCT typeof(value)) FROM settings"), 5);
    assert!(count("SELECT count(*) FROM products WHERE json_valid(attributes)") > 300);
    assert!(count("SELECT count(*) FROM products WHERE substr(picture, 2, 3) = x'504e47'") > 300);
    assert!(count("SELECT count(*) FROM price_changes") > 50);
    assert_eq!(count("SELECT count(DISTINCT script) FROM languages"), 8);
    // Paid is what was ordered, to the cent.
    let differs = "SELECT count(*) FROM order_totals t JOIN (SELECT order_id, sum(amount_cents) AS paid FROM payments GROUP BY order_id) p
                   USING (order_id) WHERE t.total_cents <> p.paid";
    assert_eq!(count(differs), 0);
}

#[test]
fn a_file_is_made_once_and_a_half_made_one_is_never_used() {
    let folder = tempfile::tempdir().unwrap();
    let stale = folder.path().join(format!("{FILE_NAME}.1{PART}"));
    std::fs::write(&stale, "half").unwrap();
    File::options().write(true).open(&stale).unwrap().set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
    std::fs::write(folder.path().join(FILE_NAME), "a person's own").unwrap();
    assert_eq!(std::fs::read(ensure(folder.path()).unwrap()).unwrap(), b"a person's own");
    sweep(folder.path());
    assert!(!stale.exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = ensure(&file.join("data")).unwrap_err();
    assert!(error.to_string().starts_with("the sample database can't be put at"), "{error}");
}
