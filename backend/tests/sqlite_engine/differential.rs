//! The same tables through SQLite's own client and through Sheaf: every cell compared.
//!
//! The rule (docs/decisions/0004): a cell is the text that `sqlite3` prints, wherever that is the whole value. Where it is not, the cell has
//! all of it: a real that 15 digits do not hold has as many as it needs, in the same notation; text goes on behind a NUL; bytes, and text
//! that is not UTF-8, are hexadecimal digits.

use super::support::{Db, PAGE, rows, run};
use backend::engine::Session;
use rusqlite::types::ValueRef;
use testing::sqlite::printed;

/// What the client has of one value.
struct Theirs {
    class: String,
    /// As it prints it.
    shown: Vec<u8>,
    /// All bytes of a text or a blob.
    bytes: Vec<u8>,
}

/// Marks between values and rows (`.mode ascii`), which no text here has.
const VALUE_END: u8 = 0x1f;
const ROW_END: u8 = 0x1e;

/// What the client prints of these columns, row by row.
fn theirs(db: &Db, columns: &[String], rest: &str) -> Vec<Vec<Theirs>> {
    let asked: Vec<String> =
        columns.iter().map(|c| format!("typeof({c}), {c}, CASE WHEN typeof({c}) IN ('text', 'blob') THEN hex({c}) END")).collect();
    let output = printed(db.path(), &format!(".mode ascii\nSELECT {} {rest};\n", asked.join(", ")));
    let rows = output.strip_suffix(&[ROW_END]).unwrap_or(&output).split(|byte| *byte == ROW_END);
    let value = |value: &[&[u8]]| Theirs {
        class: String::from_utf8(value[0].to_vec()).unwrap(),
        shown: value[1].to_vec(),
        bytes: value[2].chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect(),
    };
    rows.map(|row| row.split(|byte| *byte == VALUE_END).collect::<Vec<_>>().chunks(3).map(value).collect()).collect()
}

/// The reals themselves, by the library alone; anything else is `None`.
fn reals(db: &Db, columns: &[String], rest: &str) -> Vec<Vec<Option<f64>>> {
    let connection = rusqlite::Connection::open(db.path()).unwrap();
    let mut statement = connection.prepare(&format!("SELECT {} {rest}", columns.join(", "))).unwrap();
    let mut found = statement.query([]).unwrap();
    let mut reals = Vec::new();
    while let Some(row) = found.next().unwrap() {
        let real = |at| match row.get_ref(at).unwrap() {
            ValueRef::Real(value) => Some(value),
            _ => None,
        };
        reals.push((0..columns.len()).map(real).collect());
    }
    reals
}

fn hexadecimal(bytes: &[u8]) -> String {
    "\\x".to_owned() + &bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
}

/// As many digits as a text of a number has, between zeros at its ends.
fn digits(text: &str) -> usize {
    let mantissa = text.split('e').next().unwrap();
    mantissa.chars().filter(char::is_ascii_digit).collect::<String>().trim_matches('0').len()
}

/// Why a cell is not what it should be.
fn fault(theirs: &Theirs, real: Option<f64>, ours: Option<&str>) -> Option<String> {
    let shown = String::from_utf8_lossy(&theirs.shown).into_owned();
    let until_nul = theirs.bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_right = match (theirs.class.as_str(), ours) {
        ("null", ours) => ours.is_none(),
        (_, None) => false,
        ("integer", Some(ours)) => ours == shown,
        ("real", Some(ours)) => {
            let value = real.unwrap();
            let is_whole = shown.parse() == Ok(value) || shown.trim_start_matches('-') == "Inf";
            let needed = digits(&format!("{value:e}"));
            // An exponent or none, as the client has it, unless rounding made a number longer by a place.
            let alike = ours.contains('e') == shown.contains('e') || shown.trim_matches(['-', '0', '.']).starts_with('1');
            if is_whole { ours == shown } else { ours.parse() == Ok(value) && digits(ours) == needed && needed > 15 && alike }
        }
        ("text", Some(ours)) => {
            assert_eq!(until_nul, theirs.shown, "the client prints what is there");
            match std::str::from_utf8(&theirs.bytes) {
                Ok(text) => ours == text,
                Err(_) => ours == hexadecimal(&theirs.bytes),
            }
        }
        ("blob", Some(ours)) => ours == hexadecimal(&theirs.bytes),
        _ => false,
    };
    (!is_right).then(|| format!("{} {shown:?}, in Sheaf {ours:?}", theirs.class))
}

/// Compares every cell of a query; how many there were.
async fn compare(db: &Db, session: &mut dyn Session, columns: &[&str], rest: &str) -> usize {
    let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
    let (theirs, reals) = (theirs(db, &columns, rest), reals(db, &columns, rest));
    session.execute(&format!("SELECT {} {rest}", columns.join(", ")), PAGE).await.unwrap();
    let mut ours = Vec::new();
    loop {
        let page = session.fetch(PAGE).await.unwrap();
        ours.extend(rows(&page.batch));
        if !page.more {
            break;
        }
    }
    session.finish().await.unwrap();
    assert_eq!((ours.len(), reals.len()), (theirs.len(), theirs.len()), "{rest}");
    let mut faults = Vec::new();
    for (row, theirs) in theirs.iter().enumerate() {
        assert_eq!(theirs.len(), columns.len());
        for (column, theirs) in theirs.iter().enumerate() {
            let ours = Some(ours[row][column].as_str()).filter(|text| *text != "∅");
            let fault = fault(theirs, reals[row][column], ours);
            faults.extend(fault.map(|fault| format!("row {row}, {}: {fault}", columns[column])));
        }
    }
    assert!(faults.is_empty(), "{} of {rest}:\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
    ours.len() * columns.len()
}

/// Every storage class, its ends and its middle, as literals.
const VALUES: &[&str] = &[
    "NULL",
    "0",
    "1",
    "-1",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "2147483648",
    "0.0",
    "-0.0",
    "1.0",
    "0.1",
    "0.1 + 0.2",
    "1e15",
    "1e16",
    "-2.5",
    "9007199254740993.0",
    "9223372036854775807.0",
    "9223372036854775808.0",
    "1e300",
    "2e-20",
    "5e-324",
    "1.7976931348623157e308",
    "9e999",
    "-9e999",
    "9e999 - 9e999",
    "123456789012345680.0",
    "0.0001",
    "0.00001",
    "''",
    "'text'",
    "' 12 '",
    "'12'",
    "'12.0'",
    "'12.50'",
    "'1e3'",
    "'0x10'",
    "'9223372036854775808'",
    "'-0'",
    "'Infinity'",
    "'nan'",
    "'TRUE'",
    "'2024-02-29'",
    "'2024-02-29 12:34:56.789+02:00'",
    "'{\"a\": [1, 2.50, null], \"b\": \"é\"}'",
    "'naïve 🦀 שלום e'||char(769)",
    "'a'||char(10)||'b'||char(9)",
    "'a'||char(0)||'b'",
    "char(0)",
    "CAST(x'ff41' AS TEXT)",
    "CAST(x'c3' AS TEXT)",
    "CAST(x'eda080' AS TEXT)",
    "CAST(x'f4908080' AS TEXT)",
    "x''",
    "x'00'",
    "x'00ff10'",
    "x'6162'",
    "x'c3a9'",
    "zeroblob(300)",
    "TRUE",
    "FALSE",
];

/// Declared types of every affinity, by each of the rules that give it (datatype3.html, 3.1).
const DECLARED: &[&str] = &[
    "",
    "INT",
    "INTEGER",
    "TINYINT",
    "BIGINT",
    "UNSIGNED BIG INT",
    "CHARINT",
    "TEXT",
    "CHARACTER(20)",
    "VARCHAR(3)",
    "NCHAR(55)",
    "CLOB",
    "BLOB",
    "REAL",
    "DOUBLE",
    "DOUBLE PRECISION",
    "FLOAT",
    "NUMERIC",
    "DECIMAL(10,5)",
    "BOOLEAN",
    "DATE",
    "DATETIME",
    "STRING",
    "JSON",
    "UUID",
    "FLOATING POINT",
];

#[tokio::test]
async fn every_class_in_a_column_of_every_affinity() {
    let db = Db::new("");
    let mut session = db.session().await;
    let names: Vec<String> = (0..DECLARED.len()).map(|n| format!("c{n}")).collect();
    let columns: Vec<String> = names.iter().zip(DECLARED).map(|(name, declared)| format!("{name} {declared}")).collect();
    run(&mut session, &[&format!("CREATE TABLE t({})", columns.join(", "))]).await;
    for value in VALUES {
        run(&mut session, &[&format!("INSERT INTO t SELECT {}", vec![*value; names.len()].join(", "))]).await;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cells = compare(&db, session.as_mut(), &names, "FROM t ORDER BY rowid").await;
    assert_eq!(cells, VALUES.len() * DECLARED.len());
}

#[tokio::test]
async fn strict_tables_generated_columns_and_views() {
    let db = Db::new(
        "CREATE TABLE s(i INT, j INTEGER, r REAL, t TEXT, b BLOB, a ANY) STRICT;
         INSERT INTO s VALUES (1, -9223372036854775808, 2, 'é', x'00', 1.0), (NULL, NULL, NULL, NULL, NULL, NULL),
                              (9223372036854775807, 0, 0.1, '', x'', '1'), (0, 7, 1e22, '1', x'ff', x'31'), (2.0, 3, -1e-7, 5, x'41', 5);
         CREATE TABLE g(n REAL, d AS (n * 3), s TEXT GENERATED ALWAYS AS (n || ' of them') STORED, w AS (CAST(n AS INTEGER)) STORED);
         INSERT INTO g(n) VALUES (1), (0.1), (-2.5), (NULL), (1e18);
         CREATE VIEW v AS SELECT n, d + 0.5 AS e, s, typeof(d) AS y FROM g;
         CREATE TABLE k(a TEXT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO k VALUES ('z', 2), ('a', 10), (x'00', 3);
         CREATE VIRTUAL TABLE f USING fts5(title, body); INSERT INTO f VALUES ('Größe', 'ein Satz'), ('x', 'noch ein Satz');",
    );
    let mut session = db.session().await;
    assert_eq!(compare(&db, session.as_mut(), &["i", "j", "r", "t", "b", "a"], "FROM s ORDER BY rowid").await, 30);
    compare(&db, session.as_mut(), &["n", "d", "s", "w"], "FROM g ORDER BY rowid").await;
    compare(&db, session.as_mut(), &["n", "e", "s", "y"], "FROM v").await;
    compare(&db, session.as_mut(), &["a", "b"], "FROM k").await;
    compare(&db, session.as_mut(), &["title", "body", "rowid"], "FROM f WHERE f MATCH 'satz' ORDER BY rowid").await;
}

#[tokio::test]
async fn json_dates_and_aggregates() {
    let db = Db::new(
        "CREATE TABLE t(j TEXT); INSERT INTO t VALUES ('{\"a\": [1, 2.50, null, 1e400, \"é\"], \"b\": {\"c\": 9007199254740993}, \"d\": true}'), ('[]'), (NULL);",
    );
    let mut session = db.session().await;
    let of_json = [
        "j",
        "j -> '$.a'",
        "j ->> '$.a[1]'",
        "j ->> 'b'",
        "j -> '$.b.c'",
        "j ->> '$.b.c'",
        "j ->> 'd'",
        "json_type(j, '$.a')",
        "json_array_length(j, '$.a')",
        "json_extract(j, '$.a[0]', '$.b')",
    ];
    compare(&db, session.as_mut(), &of_json, "FROM t ORDER BY rowid").await;
    compare(&db, session.as_mut(), &["key", "value", "type", "atom", "fullkey"], "FROM json_tree((SELECT j FROM t LIMIT 1))").await;
    let of_dates = [
        "date('2024-02-29', '+1 year')",
        "time('12:34:56.789')",
        "datetime('0000-01-01')",
        "datetime('9999-12-31 23:59:59')",
        "datetime(-62167219200, 'unixepoch')",
        "julianday('2024-02-29 12:34:56')",
        "unixepoch('2024-02-29')",
        "strftime('%Y-%j %W %s %f', '2024-02-29 01:02:03.456')",
        "date('no date')",
    ];
    compare(&db, session.as_mut(), &of_dates, "").await;
    let of_numbers = [
        "sqrt(2)",
        "ln(10)",
        "log10(1000)",
        "log(2, 10)",
        "exp(1)",
        "pow(2, 0.5)",
        "pi()",
        "ceil(-1.5)",
        "floor(-1.5)",
        "trunc(-1.5)",
        "mod(7.5, 2)",
        "degrees(1)",
        "sin(1)",
        "atan2(1, -2)",
        "acosh(3)",
        "sqrt(-1)",
    ];
    compare(&db, session.as_mut(), &of_numbers, "").await;
    let of_groups = ["count(*)", "sum(value)", "total(value)", "avg(value)", "group_concat(value, '; ')", "min(value)", "max(value)"];
    compare(&db, session.as_mut(), &of_groups, "FROM json_each('[1, 2.5, 9007199254740993, \"x\", null, 0.1]')").await;
}

/// A file in another encoding holds other bytes and the same text.
#[tokio::test]
async fn text_of_a_file_in_utf_16_is_the_same() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        let db = Db::new(&format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE t(v); INSERT INTO t VALUES ('naïve 🦀 שלום'), (''), ('12'), (12), (x'00d8');"
        ));
        let mut session = db.session().await;
        let ours: Vec<String> =
            super::support::one(&mut session, "SELECT v FROM t WHERE typeof(v) <> 'blob' ORDER BY rowid").await.concat();
        let theirs = String::from_utf8(printed(db.path(), "SELECT v FROM t WHERE typeof(v) <> 'blob' ORDER BY rowid;\n")).unwrap();
        assert_eq!(ours, theirs.lines().collect::<Vec<_>>());
    }
}

/// Numbers from a seed (xorshift64).
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Puts values into the column `v` of a table `t`.
fn fill(db: &Db, values: &[impl rusqlite::ToSql]) {
    let mut connection = rusqlite::Connection::open(db.path()).unwrap();
    let filling = connection.transaction().unwrap();
    for value in values {
        filling.execute("INSERT INTO t VALUES (?1)", [value]).unwrap();
    }
    filling.commit().unwrap();
}

#[tokio::test]
async fn twenty_thousand_doubles_from_a_seed() {
    let mut random = numbers();
    let mut values = vec![0.1, 0.3, 999_999_999_999_999.0, 9.5e-5, 0.1 + 0.7, f64::MAX, f64::MIN_POSITIVE, 5e-324, 4.35, 2.675, 1.005];
    for exponent in -330..310 {
        values.extend([format!("1e{exponent}").parse::<f64>().unwrap(), -(2_f64.powi(exponent.max(-1022)))]);
    }
    // Any bits at all.
    values.extend(std::iter::repeat_with(|| f64::from_bits(random())).filter(|value| value.is_finite()).take(8_000));
    // Decimals as people write them, up to more digits than a double has.
    for digits in 1..=17_u32 {
        for _ in 0..600 {
            let (whole, places) = (random() % 10_u64.pow(digits), random() % 24);
            values.push(format!("{whole}e-{places}").parse::<f64>().unwrap());
        }
    }
    // Whole numbers, up to far beyond 2^53.
    values.extend((0..2_000).map(|_| (random() >> (random() % 60)) as f64));
    assert!(values.len() > 20_000);
    let db = Db::new("CREATE TABLE t(v REAL)");
    fill(&db, &values);
    assert_eq!(compare(&db, db.session().await.as_mut(), &["v"], "FROM t ORDER BY rowid").await, values.len());
}

#[tokio::test]
async fn twenty_thousand_integers_from_a_seed() {
    let mut random = numbers();
    let mut values: Vec<i64> = (0..20_000).map(|_| random().cast_signed() >> (random() % 64)).collect();
    values.extend([i64::MIN, i64::MIN + 1, -1, 0, i64::MAX]);
    let db = Db::new("CREATE TABLE t(v INTEGER)");
    fill(&db, &values);
    assert_eq!(compare(&db, db.session().await.as_mut(), &["v", "v + 0.0", "CAST(v AS TEXT)"], "FROM t ORDER BY rowid").await, 60_015);
}
