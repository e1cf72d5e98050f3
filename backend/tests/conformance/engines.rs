//! The engines, how their SQL differs, and how a statement is read through any of them.

use arrow_array::RecordBatch;
use backend::engine::{Bound, EngineError, Fetched, Finished, Param, Session, Target, engine};
use shared::format::format_cell;
use shared::page;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::Secrets;
use tempfile::TempDir;
use testing::mariadb::mariadb as mariadb_server;
use testing::postgres::clusters;

/// A page of the usual size.
pub const PAGE: Bound = Bound { rows: 1_000, bytes: 1 << 20 };

/// More pages than any result here has that ends.
const PAGES_MAX: usize = 1_000;

/// So many rows.
pub fn bound(rows: usize) -> Bound {
    Bound { rows, bytes: usize::MAX }
}

/// What one engine writes in its own way. In texts `{n}` is a number that is put in.
pub struct Dialect {
    /// The quotes around a name.
    pub quote: char,
    /// Names of columns that not every engine takes: none at all, a blank, a character outside of the basic plane.
    pub odd_names: &'static [&'static str],
    /// The rows 1 to `{n}` as a column `i`, in order.
    pub numbers: &'static str,
    /// Rows without end.
    pub endless: &'static str,
    /// A statement that never ends and gives no row.
    pub runaway: &'static str,
    /// An expression of a column `i` that fails where that is `{n}`.
    pub fails_at: &'static str,
    /// A first parameter.
    pub parameter: [&'static str; 2],
    /// The type of 64-bit integers, and of those without a sign.
    pub integers: (&'static str, Option<&'static str>),
    /// A type of decimals of 38 digits, 10 of them behind the point.
    pub decimal: Option<&'static str>,
    /// The type of doubles.
    pub double: &'static str,
    /// Doubles that are no number, and minus zero as it comes back from a table: how they are made and how they are shown.
    pub no_numbers: &'static [(&'static str, &'static str)],
    pub minus_zero: &'static str,
    /// The type of bytes, and a value of it around its hexadecimal digits.
    pub bytes: (&'static str, fn(&str) -> String),
    /// The type of texts of any length.
    pub text: &'static str,
}

impl Dialect {
    /// The name in quotes.
    pub fn name(&self, name: &str) -> String {
        let quote = self.quote;
        format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")))
    }

    /// The rows 1 to `count`.
    pub fn numbers_to(&self, count: usize) -> String {
        self.numbers.replace("{n}", &count.to_string())
    }
}

/// An engine to be tested: where it is, and how it is spoken to.
pub struct Subject {
    pub kind: EngineKind,
    pub sql: Dialect,
    target: Target,
    _folder: Option<TempDir>,
}

impl Subject {
    /// A session of its own.
    pub async fn session(&self) -> Box<dyn Session> {
        engine(self.kind).connect(&self.target).await.unwrap()
    }

    /// The same with a table `numbered` of its own: `i` from 1 to `count`, and `label`, `row i`.
    pub async fn numbered(&self, count: usize) -> Box<dyn Session> {
        let mut session = self.session().await;
        done(session.as_mut(), &format!("CREATE TEMPORARY TABLE numbered(i INTEGER, label {})", self.sql.text)).await;
        let rows = self.sql.numbers_to(count);
        done(session.as_mut(), &format!("INSERT INTO numbered SELECT i, CONCAT('row ', i) FROM ({rows}) AS n")).await;
        session
    }
}

fn of_file(kind: EngineKind, name: &str, sql: Dialect, make: impl FnOnce(&std::path::Path)) -> Vec<Subject> {
    backend::engine::worker::process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    make(&path);
    let fields = ConnectionFields { path: Some(path.to_str().unwrap().to_owned()), ..ConnectionFields::new("test", kind) };
    vec![Subject { kind, sql, target: Target::new(fields, Secrets::default()), _folder: Some(folder) }]
}

fn of_server(kind: EngineKind, port: u16, database: &str, user: &str, sql: Dialect) -> Subject {
    let fields = ConnectionFields {
        host: Some("127.0.0.1".to_owned()),
        port: Some(port),
        database: Some(database.to_owned()),
        user: Some(user.to_owned()),
        ..ConnectionFields::new("test", kind)
    };
    Subject { kind, sql, target: Target::new(fields, Secrets::default()), _folder: None }
}

pub fn sqlite() -> Vec<Subject> {
    let sql = Dialect {
        quote: '"',
        odd_names: &["", "", " ", "🦀"],
        numbers: "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < {n}) SELECT i FROM c",
        endless: "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c) SELECT i FROM c",
        runaway: "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c",
        fails_at: "abs(CASE i WHEN {n} THEN -9223372036854775807 - 1 ELSE i END)",
        parameter: ["?", "?"],
        integers: ("INTEGER", None),
        decimal: None,
        double: "REAL",
        no_numbers: &[("9e999", "Inf"), ("-9e999", "-Inf")],
        minus_zero: "0.0",
        bytes: ("BLOB", |digits| format!("x'{digits}'")),
        text: "TEXT",
    };
    of_file(EngineKind::Sqlite, "test.db", sql, |path| drop(std::fs::File::create(path).unwrap()))
}

pub fn postgres() -> Vec<Subject> {
    let subject = |cluster: &testing::postgres::Cluster| {
        let sql = Dialect {
            quote: '"',
            odd_names: &[" ", "🦀"],
            numbers: "SELECT i FROM generate_series(1, {n}) AS s(i)",
            endless: "SELECT generate_series(1, 1000000000000) AS i",
            runaway: "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b, generate_series(1, 1000000) c",
            fails_at: "1 / (i - {n})",
            parameter: ["$1", "$2"],
            integers: ("bigint", None),
            decimal: Some("numeric(38,10)"),
            double: "double precision",
            no_numbers: &[
                ("'NaN'::float8", "NaN"),
                ("'Infinity'::float8", "Infinity"),
                ("'-Infinity'::float8", "-Infinity"),
                ("'-0'::float8", "-0"),
            ],
            minus_zero: "-0",
            bytes: ("bytea", |digits| format!("'\\x{digits}'::bytea")),
            text: "text",
        };
        of_server(EngineKind::Postgres, cluster.port, "postgres", "postgres", sql)
    };
    clusters().iter().map(subject).collect()
}

pub fn mariadb() -> Vec<Subject> {
    let sql = Dialect {
        quote: '`',
        odd_names: &["", ""],
        numbers: "SELECT CAST(seq AS INT) AS i FROM seq_1_to_{n}",
        endless: "SELECT a.seq AS i FROM seq_1_to_1000000000 a",
        runaway: "SELECT COUNT(MD5(a.seq * b.seq)) FROM seq_1_to_1000000 a, seq_1_to_1000000 b",
        fails_at: "IF(i = {n}, (SELECT 1 UNION SELECT 2), i)",
        parameter: ["?", "?"],
        integers: ("BIGINT", Some("BIGINT UNSIGNED")),
        decimal: Some("DECIMAL(38,10)"),
        double: "DOUBLE",
        no_numbers: &[],
        minus_zero: "0",
        bytes: ("LONGBLOB", |digits| format!("x'{digits}'")),
        text: "LONGTEXT CHARACTER SET utf8mb4",
    };
    vec![of_server(EngineKind::Mysql, mariadb_server().port, "shop", "root", sql)]
}

pub fn duckdb() -> Vec<Subject> {
    let bytes = |digits: &str| {
        let pairs = digits.as_bytes().chunks(2).map(|pair| format!("\\x{}", std::str::from_utf8(pair).unwrap()));
        format!("'{}'::BLOB", pairs.collect::<String>())
    };
    let sql = Dialect {
        quote: '"',
        odd_names: &[" ", "🦀"],
        numbers: "SELECT i FROM range(1, {n} + 1) AS r(i)",
        endless: "SELECT range AS i FROM range(1000000000000)",
        runaway: "SELECT count(*) FROM range(100000000) a(x), range(100000) b(y) WHERE x * y = -7",
        fails_at: "CASE WHEN i = {n} THEN error('late') ELSE i END",
        parameter: ["$1", "$2"],
        integers: ("BIGINT", Some("UBIGINT")),
        decimal: Some("DECIMAL(38,10)"),
        double: "DOUBLE",
        no_numbers: &[("'nan'::DOUBLE", "nan"), ("'inf'::DOUBLE", "inf"), ("'-inf'::DOUBLE", "-inf"), ("'-0'::DOUBLE", "-0.0")],
        minus_zero: "-0.0",
        bytes: ("BLOB", bytes),
        text: "VARCHAR",
    };
    // A file of rows: the database in memory behind it takes tables as any other.
    of_file(EngineKind::Duckdb, "first.csv", sql, |path| std::fs::write(path, "a\n1\n").unwrap())
}

/// The cells of a row; `None` is NULL.
pub type Row = Vec<Option<String>>;

/// The cells as the grid shows them, after the way over the wire.
pub fn rows(batch: &RecordBatch) -> Vec<Row> {
    let batch = page::decode(page::encode(batch).unwrap()).unwrap();
    let cell = |row: usize, column: usize| {
        let cell = format_cell(batch.column(column).as_ref(), batch.schema_ref().field(column), row);
        assert_ne!(cell, shared::format::Cell::Unreadable);
        cell.text().map(std::borrow::Cow::into_owned)
    };
    (0..batch.num_rows()).map(|row| (0..batch.num_columns()).map(|column| cell(row, column)).collect()).collect()
}

/// A row of values.
pub fn row<const N: usize>(cells: [&str; N]) -> Row {
    cells.map(|cell| Some(cell.to_owned())).to_vec()
}

/// A statement to its end, page by page.
pub async fn pages(session: &mut dyn Session, sql: &str, bound: Bound) -> Result<(Vec<Fetched>, Finished), EngineError> {
    let started = session.execute(sql, bound).await?;
    pages_of(session, started.schema.is_some(), bound).await
}

async fn pages_of(session: &mut dyn Session, has_rows: bool, bound: Bound) -> Result<(Vec<Fetched>, Finished), EngineError> {
    let mut pages = Vec::new();
    while has_rows && pages.last().is_none_or(|last: &Fetched| last.more) {
        pages.push(session.fetch(bound).await?);
        assert!(pages.len() <= PAGES_MAX, "pages without end");
    }
    Ok((pages, session.finish().await?))
}

/// The cells of a statement; the statement's end.
pub async fn tried(session: &mut dyn Session, sql: &str) -> Result<(Vec<Row>, Finished), EngineError> {
    let (pages, finished) = pages(session, sql, PAGE).await?;
    Ok((pages.iter().flat_map(|page| rows(&page.batch)).collect(), finished))
}

/// The same for one that works.
pub async fn read(session: &mut dyn Session, sql: &str) -> Vec<Row> {
    tried(session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).0
}

/// A statement that works, for its end.
pub async fn done(session: &mut dyn Session, sql: &str) -> Finished {
    tried(session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).1
}

/// A statement with values for its parameters.
pub async fn done_with(session: &mut dyn Session, sql: &str, params: &[Param]) {
    let started = session.execute_with(sql, params, PAGE).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    pages_of(session, started.schema.is_some(), PAGE).await.unwrap();
}

/// The session takes a statement, and answers that one.
pub async fn assert_usable(session: &mut dyn Session) {
    assert_eq!(read(session, "SELECT 41 + 1").await, [row(["42"])]);
}
