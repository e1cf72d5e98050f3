//! What SQLite holds is what the page holds.

use super::bound;
use super::support::{Db, batch, one, rows};
use arrow_array::{Array, UnionArray};
use arrow_schema::DataType;
use backend::engine::Bound;

fn types(batch: &arrow_array::RecordBatch) -> Vec<(String, DataType)> {
    batch.schema_ref().fields().iter().map(|f| (f.metadata()["sheaf.type"].clone(), f.data_type().clone())).collect()
}

#[tokio::test]
async fn a_page_is_typed_by_what_it_holds() {
    let db = Db::new(
        "CREATE TABLE t(i INTEGER, r REAL, s TEXT, b BLOB, n DECIMAL(10,2), v);
         INSERT INTO t VALUES (NULL,NULL,NULL,NULL,NULL,NULL), (1,2,'x',x'00ff',3.5,'v'), (NULL,NULL,NULL,NULL,NULL,NULL);",
    );
    let mut session = db.session().await;
    let page = batch(&mut session, "SELECT *, i+1, 'é'||s FROM t").await;
    let expected = [
        ("INTEGER", DataType::Int64),
        ("REAL", DataType::Float64),
        ("TEXT", DataType::Utf8),
        ("BLOB", DataType::Binary),
        ("DECIMAL(10,2)", DataType::Float64),
        ("TEXT", DataType::Utf8),
        ("INTEGER", DataType::Int64),
        ("TEXT", DataType::Utf8),
    ];
    assert_eq!(types(&page), expected.map(|(name, kind)| (name.to_owned(), kind)));
    let cells = rows(&page);
    assert_eq!(cells[1], ["1", "2.0", "x", "\\x00ff", "3.5", "v", "2", "éx"]);
    assert!(cells[0].iter().chain(&cells[2]).all(|cell| cell == "∅"));
}

#[tokio::test]
async fn a_page_of_nulls_or_without_rows_keeps_the_declared_types() {
    let db = Db::new("CREATE TABLE t(i BIGINT, s VARCHAR(9), r DOUBLE, b BLOB, n NUMERIC, v); INSERT INTO t DEFAULT VALUES;");
    let mut session = db.session().await;
    let kinds = [DataType::Int64, DataType::Utf8, DataType::Float64, DataType::Binary, DataType::Null, DataType::Null];
    for sql in ["SELECT * FROM t", "SELECT * FROM t WHERE 0"] {
        let page = batch(&mut session, sql).await;
        assert_eq!(types(&page).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>(), kinds, "{sql}");
    }
    assert_eq!(types(&batch(&mut session, "SELECT NULL").await), [("NULL".to_owned(), DataType::Null)]);
}

#[tokio::test]
async fn a_column_of_several_classes_keeps_each_value_as_it_is() {
    let db = Db::new("");
    let mut session = db.session().await;
    let page = batch(
        &mut session,
        "SELECT column1, column1 IS NULL FROM (VALUES (NULL),(9007199254740993),(0.1),('0.1'),(x'e28882'),(NULL),(''),(-9223372036854775808))",
    )
    .await;
    assert_eq!(page.schema_ref().field(0).metadata()["sheaf.type"], "ANY");
    let cells: Vec<String> = rows(&page).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(cells, ["∅", "9007199254740993", "0.1", "0.1", "\\xe28882", "∅", "", "-9223372036854775808"]);
    let union = page.column(0).as_any().downcast_ref::<UnionArray>().unwrap();
    assert_eq!(union.type_ids().as_ref(), [0, 0, 1, 2, 3, 0, 2, 0]);
}

#[tokio::test]
async fn every_order_of_classes_comes_out_as_it_went_in() {
    let db = Db::new("CREATE TABLE t(n INTEGER PRIMARY KEY, v)");
    let mut session = db.session().await;
    let literals = [("NULL", "∅"), ("7", "7"), ("1.5", "1.5"), ("'t'", "t"), ("x'00'", "\\x00"), ("CAST(x'ff' AS TEXT)", "\\xff")];
    let mut values = Vec::new();
    let mut expected = Vec::new();
    for a in &literals {
        for b in &literals {
            for c in &literals {
                values.push([a.0, b.0, c.0, "NULL", a.0]);
                expected.push([a.1, b.1, c.1, "∅", a.1].map(str::to_owned).to_vec());
            }
        }
    }
    for (values, expected) in values.iter().zip(expected) {
        let sql = format!("SELECT column1 FROM (VALUES ({}))", values.join("),("));
        assert_eq!(one(&mut session, &sql).await.concat(), expected, "{sql}");
    }
}

#[tokio::test]
async fn text_that_is_not_utf8_keeps_its_bytes_and_says_so() {
    let db = Db::new("");
    let mut session = db.session().await;
    let page = batch(&mut session, "SELECT * FROM (VALUES ('ok'), (CAST(x'ff41' AS TEXT)), ('né'))").await;
    assert_eq!(page.schema_ref().field(0).metadata()["sheaf.type"], "TEXT");
    let DataType::Union(fields, _) = page.column(0).data_type() else { panic!("not a union") };
    assert_eq!(fields.iter().map(|(_, f)| f.name().as_str()).collect::<Vec<_>>(), ["text", "text, not UTF-8"]);
    assert_eq!(rows(&page).concat(), ["ok", "\\xff41", "né"]);
}

#[tokio::test]
async fn f01_integers_of_64_bits_keep_every_digit() {
    let db = Db::new("CREATE TABLE b(v INTEGER); INSERT INTO b VALUES (9007199254740993),(9223372036854775807),(-9223372036854775808);");
    let mut session = db.session().await;
    assert_eq!(one(&mut session, "SELECT v FROM b").await.concat(), ["9007199254740993", "9223372036854775807", "-9223372036854775808"]);
    assert_eq!(one(&mut session, "SELECT count(*) FROM b WHERE v = 9007199254740993").await, [["1"]]);
}

#[tokio::test]
async fn f14_exponents_keep_their_digits() {
    let db = Db::new("");
    let mut session = db.session().await;
    let cells = one(&mut session, "SELECT 2e-20 AS a, 3e15 AS b, 2e20 AS c").await;
    assert_eq!(cells, [["2.0e-20", "3.0e+15", "2.0e+20"]].map(|row| row.map(str::to_owned)));
}

/// As the shell of SQLite shows them: NaN is NULL already in SQLite, and -0.0 keeps its sign in the value.
#[tokio::test]
async fn infinities_and_zeros_are_those_of_sqlite() {
    let db = Db::new("");
    let mut session = db.session().await;
    let page = batch(&mut session, "SELECT 9e999, -9e999, 9e999 - 9e999, -0.0, 0.1 + 0.2").await;
    let cells = rows(&page);
    assert_eq!((cells[0][0].as_str(), cells[0][1].as_str(), cells[0][2].as_str()), ("Inf", "-Inf", "∅"));
    assert_eq!(cells[0][4], "0.30000000000000004");
    let zero = page.column(3).as_any().downcast_ref::<arrow_array::Float64Array>().unwrap().value(0);
    // The literal -0.0 is minus applied to 0.0, which SQLite computes as 0.0.
    assert_eq!(zero, 0.0);
}

#[tokio::test]
async fn origins_are_of_tables_through_aliases_and_views() {
    let db = Db::new("CREATE TABLE t(a INTEGER, b TEXT); CREATE VIEW v AS SELECT a AS z FROM t; INSERT INTO t VALUES (1, 'x');");
    let mut session = db.session().await;
    let page = batch(&mut session, "SELECT q.a AS renamed, v.z, a + 1 FROM t q, v").await;
    let origins: Vec<Option<&str>> =
        page.schema_ref().fields().iter().map(|f| f.metadata().get("sheaf.origin").map(String::as_str)).collect();
    assert_eq!(origins, [Some("main.t.a"), Some("main.t.a"), None]);
    assert!(page.schema_ref().fields().iter().all(|f| f.metadata()["sheaf.engine"] == "sqlite"));
}

#[tokio::test]
async fn metadata_is_the_same_in_every_page_though_the_types_change() {
    let db = Db::new("");
    let mut session = db.session().await;
    let sql = "SELECT * FROM (VALUES (1),(2),('three'),(4.0))";
    let started = session.execute(sql, bound(2)).await.unwrap();
    let first = session.fetch(bound(2)).await.unwrap().batch;
    let second = session.fetch(bound(2)).await.unwrap().batch;
    assert_eq!(started.schema.unwrap(), first.schema());
    assert_eq!(first.schema_ref().field(0).metadata(), second.schema_ref().field(0).metadata());
    assert_eq!((rows(&first).concat(), rows(&second).concat()), (vec!["1".into(), "2".into()], vec!["three".to_owned(), "4.0".to_owned()]));
}

#[tokio::test]
async fn a_page_ends_at_its_bytes_and_has_one_row_at_least() {
    let db = Db::new("");
    let mut session = db.session().await;
    let bound = Bound { rows: 1_000, bytes: 10_000 };
    session.execute("SELECT zeroblob(4000) FROM json_each('[1,2,3,4,5]')", bound).await.unwrap();
    let first = session.fetch(bound).await.unwrap();
    assert_eq!((first.batch.num_rows(), first.more), (3, true));
    let second = session.fetch(Bound { rows: 1_000, bytes: 1 }).await.unwrap();
    assert_eq!((second.batch.num_rows(), second.more), (1, true));
    session.finish().await.unwrap();
}
