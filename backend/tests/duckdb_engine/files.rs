//! Files by their path: what opens, as what, and what is said where it does not.

use super::support::{Db, connect, one, refusal};
use backend::engine::{Target, engine};
use shared::problem::ErrorCode;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::Secrets;

#[tokio::test]
async fn a_file_of_rows_is_a_view_with_its_name() {
    let parquet = Db::written("trips.parquet", "COPY (SELECT range AS a, 'x' || range AS b FROM range(3)) TO '{}'");
    let files = [
        parquet,
        Db::file("trips.csv", "a,b\n0,x0\n1,x1\n2,x2\n"),
        Db::file("trips.tsv", "a\tb\n0\tx0\n1\tx1\n2\tx2\n"),
        Db::file("trips.ndjson", "{\"a\":0,\"b\":\"x0\"}\n{\"a\":1,\"b\":\"x1\"}\n{\"a\":2,\"b\":\"x2\"}\n"),
        Db::file("trips.jsonl", "{\"a\":0,\"b\":\"x0\"}\n{\"a\":1,\"b\":\"x1\"}\n{\"a\":2,\"b\":\"x2\"}\n"),
        Db::file("trips.json", "[{\"a\":0,\"b\":\"x0\"},{\"a\":1,\"b\":\"x1\"},{\"a\":2,\"b\":\"x2\"}]"),
    ];
    for file in files {
        for read_only in [false, true] {
            let mut session = connect(file.path().to_str().unwrap(), read_only).await.unwrap();
            assert_eq!(
                one(&mut session, "SELECT * FROM trips ORDER BY a").await,
                [["0", "x0"], ["1", "x1"], ["2", "x2"]],
                "{:?}",
                file.path()
            );
            let catalog = session.catalog().await.unwrap();
            assert_eq!(catalog.schemas[0].relations[0].name, "trips");
            assert_eq!(catalog.schemas[0].relations[0].columns.len(), 2);
        }
    }
}

#[tokio::test]
async fn a_database_that_is_open_is_told_as_what_it_is_to_who_takes_it_for_one_of_sqlite() {
    let db = Db::new(&["CREATE TABLE t(a INTEGER)"]);
    let _session = db.session().await;
    let path = db.path().to_str().unwrap();
    let fields = ConnectionFields { path: Some(path.to_owned()), ..ConnectionFields::new("test", EngineKind::Sqlite) };
    let told = engine(EngineKind::Sqlite).connect(&Target::new(fields, Secrets::default())).await.err().unwrap();
    assert_eq!(told.problem.message, format!("{path} is a DuckDB database; choose DuckDB to open it."));
}

#[tokio::test]
async fn a_name_with_marks_is_one_file() {
    for name in ["a[1].csv", "b*.csv", "q'x (2) \"y\".csv", "größe.csv"] {
        let file = Db::file(name, "n\n1\n");
        let mut session = file.session().await;
        let catalog = session.catalog().await.unwrap();
        assert_eq!(catalog.schemas[0].relations[0].name, name.trim_end_matches(".csv"));
        let view = name.trim_end_matches(".csv").replace('"', "\"\"");
        assert_eq!(one(&mut session, &format!("SELECT n FROM \"{view}\"")).await, [["1"]], "{name}");
    }
}

#[tokio::test]
async fn what_is_no_database_is_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("notes.txt"), "just some notes, no rows").unwrap();
    std::fs::write(at("broken.parquet"), "PAR1 and then nothing").unwrap();
    for (path, words) in [
        (at("none.duckdb"), "There is no such file"),
        (at("notes.txt"), "no DuckDB database"),
        (at("broken.parquet"), "DuckDB cannot open broken.parquet"),
        (folder.path().to_str().unwrap().to_owned(), "is a folder"),
        (String::new(), "Give the path"),
    ] {
        let problem = connect(&path, false).await.err().unwrap().problem;
        assert_eq!(problem.code, ErrorCode::CannotOpen);
        assert!(problem.message.contains(words) && !problem.message.contains('\n'), "{path}: {}", problem.message);
    }
    assert!(!folder.path().join("none.duckdb").exists());
}

/// Whatever DuckDB makes of it, up to its own end: the server tells it in a sentence and goes on.
#[tokio::test]
async fn a_damaged_database_is_told_in_a_sentence() {
    let whole = Db::new(&["CREATE TABLE t AS SELECT range AS a, 'x' || range AS b FROM range(1000)"]);
    let bytes = std::fs::read(whole.path()).unwrap();
    let mut refused = 0;
    for part in 0..24 {
        let mut damaged = bytes.clone();
        // Behind the mark that says what the file is, in its headers and in its blocks.
        for at in (16 + part * 37..damaged.len()).step_by(damaged.len() / 3 + part * 101) {
            damaged[at] ^= 0x5a;
        }
        let file = Db::file("damaged.duckdb", "");
        std::fs::write(file.path(), &damaged).unwrap();
        match connect(file.path().to_str().unwrap(), part % 2 == 0).await {
            Ok(mut session) => {
                let _ = session.execute("SELECT * FROM t", super::support::PAGE).await;
                session.close().await;
            }
            Err(e) => {
                refused += 1;
                assert_eq!(e.problem.code, ErrorCode::CannotOpen);
                assert!(e.problem.message.ends_with('.') && !e.problem.message.contains('\n'), "{}", e.problem.message);
            }
        }
    }
    assert!(refused > 0);
    assert_eq!(one(&mut whole.session().await, "SELECT count(*) FROM t").await, [["1000"]]);
}

#[tokio::test]
async fn a_read_only_database_is_not_written() {
    let db = Db::new(&["CREATE TABLE t AS SELECT 1 AS a"]);
    let mut session = db.read_only().await;
    for sql in ["INSERT INTO t VALUES (2)", "CREATE TABLE u(a INTEGER)", "DROP TABLE t", "WITH x AS (SELECT 1) DELETE FROM t"] {
        let message = refusal(&mut session, sql).await.problem.message;
        assert!(message.contains("read-only mode"), "{sql}: {message}");
    }
    assert_eq!(one(&mut session, "SELECT a FROM t").await, [["1"]]);
    // One file is open once, in one way.
    let problem = connect(db.path().to_str().unwrap(), false).await.err().unwrap().problem;
    assert!(problem.message.contains("open only for reading"), "{}", problem.message);
    session.close().await;
    assert!(connect(db.path().to_str().unwrap(), false).await.is_ok());
}

/// A Parquet file of three rows with `a`, and `d` and `s` with decimals of 50 digits, as other writers make them: DuckDB writes 38 at
/// most, so the number is put in its place.
fn with_wide_decimals() -> Db {
    let rows =
        "SELECT range AS a, nullif(range + 0.5, 1.5)::DECIMAL(38,2) AS d, {'x': (range / 4)::DECIMAL(38,2)} AS s, 1.5::DECIMAL(38,3) AS n";
    let file = Db::written("wide.parquet", &format!("COPY ({rows} FROM range(3)) TO '{{}}'"));
    let mut bytes = std::fs::read(file.path()).unwrap();
    // Scale 2 and precision 38, each as a number of the footer's.
    let (said, put) = ([0x15, 2 << 1, 0x15, 38 << 1], [0x15, 2 << 1, 0x15, 50 << 1]);
    let places: Vec<usize> = (0..bytes.len() - said.len()).filter(|at| bytes[*at..].starts_with(&said)).collect();
    assert!(places.len() >= 2, "{places:?}");
    places.iter().for_each(|at| bytes[*at..][..put.len()].copy_from_slice(&put));
    std::fs::write(file.path(), bytes).unwrap();
    file
}

#[tokio::test]
async fn decimals_that_duckdb_reads_wrongly_are_refused_and_what_is_beside_them_is_read() {
    let file = with_wide_decimals();
    let path = file.path().to_str().unwrap();
    for read_only in [false, true] {
        let mut session = connect(path, read_only).await.unwrap();
        assert_eq!(one(&mut session, "SELECT a, n FROM wide WHERE a > 0").await, [["1", "1.500"], ["2", "1.500"]]);
        assert_eq!(one(&mut session, "SELECT count(*), sum(a) FROM wide").await, [["3", "3"]]);
        assert_eq!(one(&mut session, "SELECT d FROM wide WHERE a = 1").await, [["∅"]]);
        let mut shortest = String::new();
        for sql in [
            "SELECT * FROM wide",
            "SELECT d FROM wide",
            "SELECT sum(d::DOUBLE) FROM wide",
            "SELECT count(s) FROM wide",
            "SELECT a FROM wide WHERE d > '1'",
            &format!("SELECT a FROM read_parquet('{path}')"),
            &format!("FROM parquet_scan(['{path}'])"),
            &format!("SELECT * FROM '{path}'"),
        ] {
            let message = refusal(&mut session, sql).await.problem.message;
            assert!(
                message.contains("of wide.parquet has decimals of more than 38 digits, DECIMAL(50,2), which DuckDB reads wrongly"),
                "{message}"
            );
            shortest = message;
        }
        let without = shortest.split_once("can be read: ").unwrap().1;
        assert_eq!(one(&mut session, without).await, [["0", "1.500"], ["1", "1.500"], ["2", "1.500"]]);
        assert_eq!(one(&mut session, &format!("SELECT max(precision) FROM parquet_schema('{path}')")).await, [["50"]]);
        let catalog = session.catalog().await.unwrap();
        let told: Vec<_> = catalog.schemas[0].relations[0].columns.iter().map(|column| column.comment.as_deref()).collect();
        let words = Some("DECIMAL(50,2), which DuckDB reads wrongly");
        assert_eq!(told, [None, words, words, None]);
        session.close().await;
    }
}
