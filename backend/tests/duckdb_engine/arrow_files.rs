//! Arrow files by their path: what is read of good ones, and what is said of others.

use super::support::{Db, PAGE, batch as batch_of, connect, one, refusal, rows, run};
use arrow_array::builder::{FixedSizeBinaryBuilder, ListBuilder, StringBuilder, StringViewBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, Decimal256Array, DictionaryArray,
    DurationMicrosecondArray, FixedSizeBinaryArray, FixedSizeListArray, Float16Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, IntervalMonthDayNanoArray, LargeStringArray, NullArray, RecordBatch, StringArray, StructArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::{IntervalMonthDayNano, i256};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use shared::page::{EXTENSION_KEY, OFFSETS_KEY, ORIGIN_KEY, UUID_EXTENSION};
use shared::problem::ErrorCode;
use std::collections::HashMap;
use std::sync::Arc;

const ROWS: i64 = 100_000;
/// Every so many rows there is a NULL in each column but the first.
const NULLS: i64 = 97;

/// Columns of all common types over the rows of a batch; each with what its values are in SQL, of the row's number `n`.
fn columns(rows: std::ops::Range<i64>) -> Vec<(&'static str, &'static str, ArrayRef)> {
    fn every<T>(rows: &std::ops::Range<i64>, of: impl Fn(i64) -> T) -> Vec<Option<T>> {
        rows.clone().map(|n| (n % NULLS != 5).then(|| of(n))).collect()
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Meant: the numbers are small.
    fn small<T: TryFrom<i64>>(n: i64) -> T {
        T::try_from(n).ok().unwrap()
    }
    let text = |n: i64| format!("row {n} é");
    let texts = every(&rows, text);
    let mut views = StringViewBuilder::new();
    texts.iter().for_each(|text| views.append_option(text.as_deref()));
    let mut lists = ListBuilder::new(StringBuilder::new());
    every(&rows, text).into_iter().for_each(|text| lists.append_option(text.map(|text| [Some(text), None])));
    let mut fixed = FixedSizeBinaryBuilder::new(8);
    every(&rows, i64::to_be_bytes).iter().for_each(|bytes| match bytes {
        Some(bytes) => fixed.append_value(bytes).unwrap(),
        None => fixed.append_null(),
    });
    let whole = Int64Array::from(every(&rows, |n| n * 3));
    let parts =
        StructArray::new(vec![Field::new("a", DataType::Int64, true)].into(), vec![Arc::new(whole.clone())], whole.nulls().cloned());
    let pairs = every(&rows, |n| vec![Some(small::<i32>(n)), None]);
    let words: DictionaryArray<Int8Type> =
        texts.iter().enumerate().map(|(at, text)| text.as_ref().map(|_| ["one", "two", "three"][at % 3])).collect();
    let within = StructArray::new(
        vec![Field::new("d", words.data_type().clone(), true)].into(),
        vec![Arc::new(words.clone())],
        words.keys().nulls().cloned(),
    );
    vec![
        ("n", "n", Arc::new(Int64Array::from_iter_values(rows.clone()))),
        ("i8", "n % 100", Arc::new(Int8Array::from(every(&rows, |n| small(n % 100))))),
        ("i16", "n % 30000", Arc::new(Int16Array::from(every(&rows, |n| small(n % 30_000))))),
        ("i32", "-n", Arc::new(Int32Array::from(every(&rows, |n| small(-n))))),
        ("i64", "n - 9223372036854775807", Arc::new(Int64Array::from(every(&rows, |n| n - i64::MAX)))),
        ("u8", "n % 256", Arc::new(UInt8Array::from(every(&rows, |n| small(n % 256))))),
        ("u16", "n % 65536", Arc::new(UInt16Array::from(every(&rows, |n| small(n % 65_536))))),
        ("u32", "4294967295 - n", Arc::new(UInt32Array::from(every(&rows, |n| small(4_294_967_295 - n))))),
        ("u64", "18446744073709551615 - n", Arc::new(UInt64Array::from(every(&rows, |n| u64::MAX - small::<u64>(n))))),
        ("f32", "n + 0.5", Arc::new(Float32Array::from(every(&rows, |n| small::<i32>(n) as f32 + 0.5)))),
        ("f64", "n / 7.0::DOUBLE", Arc::new(Float64Array::from(every(&rows, |n| n as f64 / 7.0)))),
        ("b", "n % 2 = 0", Arc::new(BooleanArray::from(every(&rows, |n| n % 2 == 0)))),
        ("s", "'row ' || n || ' é'", Arc::new(StringArray::from(texts.clone()))),
        ("ls", "'row ' || n || ' é'", Arc::new(LargeStringArray::from(texts.clone()))),
        ("vs", "'row ' || n || ' é'", Arc::new(views.finish())),
        (
            "bin",
            "encode('row ' || n || ' é')",
            Arc::new(texts.iter().map(|text| text.as_ref().map(String::as_bytes)).collect::<BinaryArray>()),
        ),
        ("fix", "unhex(printf('%016x', n))", Arc::new(fixed.finish())),
        ("d32", "DATE '1970-01-01' + n::INTEGER - 50000", Arc::new(Date32Array::from(every(&rows, |n| small(n - 50_000))))),
        ("d64", "DATE '1970-01-01' + n::INTEGER", Arc::new(Date64Array::from(every(&rows, |n| n * 86_400_000)))),
        ("t64", "TIME '00:00:00' + to_microseconds(n * 800000)", Arc::new(Time64MicrosecondArray::from(every(&rows, |n| n * 800_000)))),
        ("ts", "make_timestamp(n * 1000000)", Arc::new(TimestampSecondArray::from(every(&rows, |n| n)))),
        ("tms", "make_timestamp(-n * 1000)", Arc::new(TimestampMillisecondArray::from(every(&rows, |n| -n)))),
        ("tus", "make_timestamp(n)", Arc::new(TimestampMicrosecondArray::from(every(&rows, |n| n)))),
        ("tns", "make_timestamp_ns(n)", Arc::new(TimestampNanosecondArray::from(every(&rows, |n| n)))),
        ("tz", "make_timestamptz(n)", Arc::new(TimestampMicrosecondArray::from(every(&rows, |n| n)).with_timezone("UTC"))),
        ("du", "to_microseconds(n)", Arc::new(DurationMicrosecondArray::from(every(&rows, |n| n)))),
        (
            "dec",
            "(n - 50000)::DECIMAL(38, 5) / 100000",
            Arc::new(Decimal128Array::from(every(&rows, |n| i128::from(n) - 50_000)).with_precision_and_scale(38, 5).unwrap()),
        ),
        ("dic", "['one', 'two', 'three'][n % 10000 % 3 + 1]", Arc::new(words)),
        ("li", "['row ' || n || ' é', NULL]", Arc::new(lists.finish())),
        ("fl", "[n::INTEGER, NULL]::INTEGER[2]", Arc::new(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(pairs, 2))),
        ("st", "{'a': n * 3}", Arc::new(parts)),
        ("sd", "{'d': ['one', 'two', 'three'][n % 10000 % 3 + 1]}", Arc::new(within)),
    ]
}

fn batch(rows: std::ops::Range<i64>) -> RecordBatch {
    let count = usize::try_from(rows.end - rows.start).unwrap();
    let mut named: Vec<(&str, ArrayRef)> = columns(rows).into_iter().map(|(name, _, array)| (name, array)).collect();
    named.push(("nothing", Arc::new(NullArray::new(count))));
    let fields: Vec<Field> = named.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), named.into_iter().map(|(_, array)| array).collect()).unwrap()
}

/// The bytes of a file, or of a stream, with these batches.
fn written(batches: &[RecordBatch], as_stream: bool) -> Vec<u8> {
    let (mut out, schema) = (Vec::new(), batches[0].schema());
    if as_stream {
        let mut writer = StreamWriter::try_new(&mut out, &schema).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new(&mut out, &schema).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
    }
    out
}

fn file(name: &str, bytes: &[u8]) -> Db {
    let file = Db::file(name, "");
    std::fs::write(file.path(), bytes).unwrap();
    file
}

#[tokio::test]
async fn every_value_of_a_hundred_thousand_rows_comes_over() {
    let batches: Vec<RecordBatch> = (0..10).map(|part| batch(part * 10_000..(part + 1) * 10_000)).collect();
    for (name, as_stream) in [("trips.arrow", false), ("trips.arrows", true)] {
        let file = file(name, &written(&batches, as_stream));
        for read_only in [false, true] {
            let mut session = connect(file.path().to_str().unwrap(), read_only).await.unwrap();
            let counted = "SELECT count(*), count(DISTINCT n), min(n), max(n), count(nothing) FROM trips";
            assert_eq!(one(&mut session, counted).await, [["100000", "100000", "0", "99999", "0"]]);
            for (column, value, _) in columns(0..1).iter().skip(1) {
                let wrong = format!(
                    "SELECT count(*), min(n) FROM trips WHERE ({column} IS NULL) <> (n % {NULLS} = 5) OR (n % {NULLS} <> 5 AND {column} IS DISTINCT FROM ({value}))"
                );
                assert_eq!(one(&mut session, &wrong).await, [["0", "∅"]], "{column}");
            }
            session.close().await;
        }
        // In pages, in order.
        let mut session = file.session().await;
        session.execute("SELECT n, s, li FROM trips", PAGE).await.unwrap();
        let mut seen = 0;
        loop {
            let page = session.fetch(PAGE).await.unwrap();
            for row in rows(&page.batch) {
                let (text, list) = if seen % NULLS == 5 {
                    ("∅".to_owned(), "∅".to_owned())
                } else {
                    (format!("row {seen} é"), format!("[row {seen} é, NULL]"))
                };
                assert_eq!(row, [seen.to_string(), text, list]);
                seen += 1;
            }
            if !page.more {
                break;
            }
        }
        session.finish().await.unwrap();
        assert_eq!(seen, ROWS);
    }
}

/// What a page tells of a column beside its type.
type Noted = Option<(&'static str, &'static str)>;

#[tokio::test]
async fn what_sheaf_sends_of_other_databases_is_read_again() {
    let digits = "9".repeat(76);
    let most = i256::from_string(&digits).unwrap();
    let bytes = *b"\xa0\xee\xbc\x99\x9c\x0b\x4e\xf8\xbb\x6d\x6b\xb9\xbd\x38\x0a\x11";
    let named: Vec<(&str, Noted, ArrayRef)> = vec![
        ("id", Some((EXTENSION_KEY, UUID_EXTENSION)), Arc::new(FixedSizeBinaryArray::try_from_iter([bytes].into_iter()).unwrap())),
        ("moment", Some((OFFSETS_KEY, "0:3600")), Arc::new(TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("UTC"))),
        ("d", None, Arc::new(Decimal256Array::from(vec![most]).with_precision_and_scale(76, 10).unwrap())),
        ("i", None, Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(14, -3, 1_500_000_000)]))),
        ("t", None, Arc::new(Time64MicrosecondArray::from(vec![3_723_000_100]))),
    ];
    let field = |(name, noted, array): &(&str, Noted, ArrayRef)| {
        let metadata: HashMap<String, String> = noted.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Field::new(*name, array.data_type().clone(), true).with_metadata(metadata)
    };
    let schema = Arc::new(Schema::new(named.iter().map(field).collect::<Vec<_>>()));
    let page = RecordBatch::try_new(schema, named.into_iter().map(|(_, _, array)| array).collect()).unwrap();
    let mut session = file("page.arrows", &shared::page::encode(&page).unwrap()).session().await;
    let shown = one(
        &mut session,
        "SELECT id, moment = make_timestamptz(1500000), d, i, t, typeof(id), typeof(moment), typeof(d), typeof(i), typeof(t) FROM page",
    )
    .await;
    let (whole, fraction) = digits.split_at(66);
    let expected = [
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "true",
        &format!("{whole}.{fraction}"),
        "1 year 2 months -3 days 00:00:01.5",
        "01:02:03.0001",
        "UUID",
        "TIMESTAMP WITH TIME ZONE",
        "VARCHAR",
        "INTERVAL",
        "TIME",
    ];
    assert_eq!(shown, [expected]);
}

#[tokio::test]
async fn the_file_is_a_view_that_no_statement_changes() {
    let file = file("trips.feather", &written(&[batch(0..10)], false));
    let mut session = file.session().await;
    let catalog = session.catalog().await.unwrap();
    assert_eq!(catalog.schemas.iter().map(|schema| schema.name.as_str()).collect::<Vec<_>>(), ["main"]);
    assert_eq!(catalog.schemas[0].relations.iter().map(|relation| relation.name.as_str()).collect::<Vec<_>>(), ["trips"]);
    assert_eq!(catalog.schemas[0].relations[0].columns.len(), 33);
    for sql in ["DELETE FROM trips", "INSERT INTO trips(n) VALUES (1)", "UPDATE trips SET n = 1", "SELECT * FROM read_csv('/etc/passwd')"] {
        refusal(&mut session, sql).await;
    }
    assert_eq!(one(&mut session, "SELECT count(*) FROM trips").await, [["10"]]);
}

#[tokio::test]
async fn odd_names_and_files_without_rows_are_read() {
    let numbers = |n| Arc::new(Int32Array::from(vec![n])) as ArrayRef;
    let fields = ["a", "a", "A", "", "x \"y\"", "größe"].map(|name| Field::new(name, DataType::Int32, true));
    let odd = RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), (0..6).map(numbers).collect()).unwrap();
    let mut session = file("odd.arrow", &written(&[odd], false)).session().await;
    let (own, given) = (["a", "a", "A", "", "x \"y\"", "größe"], ["a", "a_1", "A_2", "v3", "x \"y\"", "größe"]);
    for (sql, names) in [("SELECT * FROM odd", own), ("SELECT * FROM odd LIMIT 1", own), ("SELECT * FROM odd WHERE true", given)] {
        let shown = batch_of(&mut session, sql).await;
        assert_eq!(rows(&shown), [["0", "1", "2", "3", "4", "5"]]);
        assert_eq!(shown.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), names, "{sql}");
    }
    // What DuckDB calls them is told beside, and what they are called in the file beside that.
    let shown = batch_of(&mut session, "SELECT * FROM odd").await;
    let origins: Vec<&str> = shown.schema_ref().fields().iter().map(|field| field.metadata()[ORIGIN_KEY].as_str()).collect();
    assert_eq!(origins, given.map(|name| format!("main.odd.{name}")));
    let catalog = session.catalog().await.unwrap();
    let comments: Vec<_> = catalog.schemas[0].relations[0].columns.iter().map(|column| column.comment.as_deref()).collect();
    let renamed = Some("is called \"a\" in odd.arrow");
    assert_eq!(comments, [None, renamed, Some("is called \"A\" in odd.arrow"), Some("has no name in odd.arrow"), None, None]);
    // Something else in the view's place has names of its own.
    run(&mut session, &["CREATE TEMP TABLE odd AS SELECT 1 AS a_1, 2, 3, 4, 5, 6"]).await;
    assert_eq!(batch_of(&mut session, "SELECT * FROM odd").await.schema().field(0).name(), "a_1");
    for as_stream in [false, true] {
        let empty = written(&[batch(0..5).slice(0, 0)], as_stream);
        let mut session = file("empty.arrow", &empty).session().await;
        assert_eq!(one(&mut session, "SELECT count(*) FROM empty").await, [["0"]]);
    }
    // What the file is decides, not its name.
    let mut session = file("rows", &written(&[batch(0..5)], false)).session().await;
    assert_eq!(one(&mut session, "SELECT count(*) FROM rows").await, [["5"]]);
}

async fn refused(file: &Db) -> String {
    let problem = file_problem(file).await.unwrap_or_else(|| panic!("{:?} opened", std::fs::read(file.path())));
    assert!(problem.ends_with('.') && !problem.contains('\n'), "{problem}");
    problem
}

async fn file_problem(file: &Db) -> Option<String> {
    let problem = connect(file.path().to_str().unwrap(), false).await.err()?.problem;
    assert_eq!(problem.code, ErrorCode::CannotOpen);
    Some(problem.message)
}

#[tokio::test]
async fn what_is_no_whole_arrow_file_is_told_in_a_sentence() {
    for (bytes, words) in [
        (&b"just some notes"[..], "a.arrow is no Arrow file."),
        (b"", "a.arrow is no Arrow file."),
        (b"FEA1\0\0\0\0FEA1", "a.arrow is a Feather file of version 1; write it as version 2, which is Arrow's own format."),
        (b"ARROW1", "a.arrow is cut short."),
        (b"ARROW1\0\0ARROW1", "a.arrow is cut short."),
        (b"\xff\xff\xff\xff\xff\xff\xff\x7f", "a.arrow is damaged: a message has too long a description."),
        (b"\xff\xff\xff\xff\x10\0\0\0", "a.arrow is cut short."),
        (b"\xff\xff\xff\xff\0\0\0\0", "a.arrow has no columns."),
    ] {
        assert_eq!(refused(&file("a.arrow", bytes)).await, words);
    }
    let rows = arrow_array::RecordBatchOptions::new().with_row_count(Some(3));
    let without = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &rows).unwrap();
    for as_stream in [false, true] {
        assert_eq!(refused(&file("a.arrow", &written(std::slice::from_ref(&without), as_stream))).await, "a.arrow has no columns.");
    }
    let whole = written(&[batch(0..300), batch(300..600)], false);
    for at in [9, 100, 5_000, whole.len() / 2, whole.len() - 7, whole.len() - 1] {
        assert_eq!(refused(&file("cut.arrow", &whole[..at])).await, "cut.arrow is cut short.");
    }
    let stream = written(&[batch(0..300), batch(300..600)], true);
    for at in [9, 100, 5_000, stream.len() / 2, stream.len() - 9] {
        assert_eq!(refused(&file("cut.arrows", &stream[..at])).await, "cut.arrows is cut short.");
    }
}

/// The same 300 rows as another library writes them, in three batches: as a Feather file, which has LZ4 unless told otherwise, and as a
/// stream with ZSTD. A dictionary, a view, runs and a list are among them.
const PACKED: [(&str, &[u8]); 2] = [("packed.feather", include_bytes!("lz4.feather")), ("packed.arrows", include_bytes!("zstd.arrows"))];

#[tokio::test]
async fn compressed_buffers_are_unpacked() {
    for (name, bytes) in PACKED {
        let mut session = file(name, bytes).read_only().await;
        let counts =
            "SELECT count(*), sum(n), count(s), count(l), sum(m), count(DISTINCT d), count(DISTINCT v), count(DISTINCT r) FROM packed";
        assert_eq!(one(&mut session, counts).await, [["300", "44850", "257", "240", "448.50", "3", "11", "2"]], "{name}");
        let cells = "SELECT s, d, l, v, t, m, r FROM packed WHERE n IN (101, 299) ORDER BY n";
        let wanted = [
            ["∅", "three", "[101, NULL]", "view number 2", "2024-01-01 01:41:00", "1.01", "first"],
            ["row 299 é", "three", "[299, NULL]", "view number 2", "2024-01-01 04:59:00", "2.99", "second"],
        ];
        assert_eq!(one(&mut session, cells).await, wanted, "{name}");
    }
    let mut session = file("a.arrow", include_bytes!("compressed.arrow")).read_only().await;
    assert_eq!(one(&mut session, "SELECT count(*), min(n), any_value(d) FROM a").await, [["3", "1", "xxxxxxxxxxxxxxxxxxxx"]]);
    // A dictionary that grows from batch to batch.
    let mut session = file("grows.arrows", include_bytes!("delta.arrows")).read_only().await;
    let grown = "SELECT d, count(*) FROM grows GROUP BY d ORDER BY d";
    assert_eq!(one(&mut session, grown).await, [["a", "13"], ["b", "13"], ["c", "7"], ["dé", "3"]]);
}

/// The places in `bytes` where a frame of a codec begins; eight bytes before it stands how long it is unpacked.
fn frames(bytes: &[u8]) -> Vec<usize> {
    let marks = [[0x04, 0x22, 0x4d, 0x18], [0x28, 0xb5, 0x2f, 0xfd]];
    (8..bytes.len() - 4).filter(|at| marks.iter().any(|mark| bytes[*at..].starts_with(mark))).collect()
}

#[tokio::test]
async fn what_unpacks_to_too_much_or_to_nothing_is_told_in_a_sentence() {
    let over = "is over 1024 MiB once it is unpacked; Sheaf takes 1024 MiB.";
    let other = "is damaged: a packed buffer is not as long as it says.";
    for (name, bytes) in PACKED {
        let first = frames(bytes)[0];
        let declared = i64::from_le_bytes(bytes[first - 8..first].try_into().unwrap());
        for (length, words) in [
            (i64::MAX, over),
            ((1 << 30) + 1, over),
            (declared + 1, other),
            (declared - 1, other),
            (i64::MIN, "is damaged: a packed buffer has a length below zero."),
        ] {
            let mut lies = bytes.to_vec();
            lies[first - 8..first].copy_from_slice(&length.to_le_bytes());
            let problem = refused(&file(name, &lies)).await;
            assert!(problem.starts_with(name) && problem.ends_with(words), "{name}, {length}: {problem}");
        }
        // Within a frame: whatever comes of it, it is rows or a sentence.
        for at in frames(bytes).into_iter().step_by(5) {
            let mut broken = bytes.to_vec();
            broken[at + 5] ^= 0xff;
            broken[at + 11] ^= 0x55;
            if let Some(problem) = file_problem(&file(name, &broken)).await {
                assert!(problem.starts_with(name) && problem.ends_with('.') && !problem.contains('\n'), "{problem}");
            }
        }
    }
}

/// Bytes from a seed put anywhere: what opens answers, and what does not says why; the server goes on.
#[tokio::test]
async fn a_damaged_file_is_a_sentence_or_other_rows() {
    let whole = written(&[batch(0..200)], true);
    let (mut state, mut told) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for round in 0..60 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 4 {
            // Mostly where lengths and places are.
            let at = if round % 3 == 0 { random(bytes.len()) } else { random(6_000) };
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random(5)];
        }
        match connect(file("damaged.arrows", &bytes).path().to_str().unwrap(), true).await {
            Ok(mut session) => {
                let _ = session.execute("SELECT * FROM damaged", PAGE).await;
                session.close().await;
            }
            Err(error) => {
                told += 1;
                assert_eq!(error.problem.code, ErrorCode::CannotOpen);
                assert!(error.problem.message.ends_with('.') && !error.problem.message.contains('\n'), "{}", error.problem.message);
            }
        }
    }
    assert!(told > 10, "{told}");
}

/// Types that few files have: what DuckDB takes of them, with their rows whole, and what it says of the others.
#[tokio::test]
async fn rare_types_are_read_or_refused_in_a_sentence() {
    use arrow_schema::{IntervalUnit, TimeUnit};
    let item = |kind: DataType| Arc::new(Field::new("item", kind, true));
    let parts = [(0, Arc::new(Field::new("a", DataType::Int32, true))), (1, item(DataType::Utf8))];
    let union = |mode| DataType::Union(parts.iter().cloned().collect(), mode);
    let run_ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
    let entry = vec![Field::new("keys", DataType::Utf8, false), Field::new("values", DataType::Int32, true)];
    let types = [
        (DataType::Float16, Some("FLOAT")),
        (DataType::Decimal32(9, 2), Some("DECIMAL(9,2)")),
        (DataType::Decimal64(18, 2), Some("DECIMAL(18,2)")),
        (DataType::Decimal256(76, 2), Some("VARCHAR")),
        (DataType::Time32(TimeUnit::Second), Some("TIME")),
        (DataType::Time32(TimeUnit::Millisecond), Some("TIME")),
        (DataType::Time64(TimeUnit::Nanosecond), Some("TIME_NS")),
        (DataType::Duration(TimeUnit::Second), Some("INTERVAL")),
        (DataType::Interval(IntervalUnit::YearMonth), Some("INTERVAL")),
        (DataType::Interval(IntervalUnit::DayTime), Some("INTERVAL")),
        (DataType::Interval(IntervalUnit::MonthDayNano), Some("INTERVAL")),
        (DataType::LargeBinary, Some("BLOB")),
        (DataType::BinaryView, Some("BLOB")),
        (DataType::LargeList(item(DataType::Int32)), Some("INTEGER[]")),
        (DataType::ListView(item(DataType::Int32)), Some("INTEGER[]")),
        (DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entry.into()), false)), false), Some("MAP(VARCHAR, INTEGER)")),
        (union(arrow_schema::UnionMode::Sparse), Some("UNION(a INTEGER, item VARCHAR)")),
        (union(arrow_schema::UnionMode::Dense), None),
        (DataType::RunEndEncoded(run_ends, item(DataType::Utf8)), Some("VARCHAR")),
    ];
    for (kind, known) in types {
        let field = Field::new("v", kind.clone(), true);
        let numbers = Int64Array::from_iter_values(0..5_000);
        let columns = vec![Arc::new(numbers) as ArrayRef, arrow_array::new_null_array(&kind, 5_000)];
        let schema = Schema::new(vec![Field::new("n", DataType::Int64, false), field]);
        let rare = file("rare.arrow", &written(&[RecordBatch::try_new(Arc::new(schema), columns).unwrap()], false));
        match known {
            Some(known) => {
                let mut session = rare.read_only().await;
                let seen = one(&mut session, "SELECT count(*), sum(n), any_value(typeof(v)), count(v) FROM rare").await;
                assert_eq!(seen, [["5000", "12497500", known, "0"]], "{kind:?}");
            }
            None => {
                let problem = refused(&rare).await;
                assert!(
                    problem.starts_with("DuckDB cannot open rare.arrow: ") && problem.contains("rrow") && !problem.contains('{'),
                    "{problem}"
                );
            }
        }
    }
}

/// What the bits of a half float stand for, by its definition.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff) / 1_024.0);
    let size = match exponent {
        0 => fraction * 2.0_f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2.0_f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[tokio::test]
async fn every_half_float_is_read_as_what_it_is() {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let halves = || (0..=u16::MAX).map(|bits| (bits != 7).then(|| Half::from_bits(bits)));
    let pairs = halves().map(|half| half.map(|half| vec![Some(half), None]));
    let columns: [(&str, ArrayRef); 3] = [
        ("h", Arc::new(halves().collect::<Float16Array>())),
        ("l", Arc::new(FixedSizeListArray::from_iter_primitive::<Float16Type, _, _>(pairs, 2))),
        ("f", Arc::new((0..=u16::MAX).map(|bits| (bits != 7).then(|| half(bits))).collect::<Float32Array>())),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap();
    let mut session = file("halves.arrow", &written(&[batch], false)).read_only().await;
    let seen = one(
        &mut session,
        "SELECT count(*), count(h), count(l), any_value(typeof(h)), any_value(typeof(l)),
                count(*) FILTER (WHERE h IS DISTINCT FROM f OR (f IS NOT NULL AND l IS DISTINCT FROM [f, NULL]::FLOAT[2]))
         FROM halves",
    )
    .await;
    assert_eq!(seen, [["65536", "65535", "65535", "FLOAT", "FLOAT[2]", "0"]]);
}

/// More than is taken over as a file is opened.
const LARGE_ROWS: i64 = 9_000_000;

/// A large file: `n`, and a text for every tenth row; in batches of a hundred thousand rows.
fn large(file: &Db) {
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false), Field::new("s", DataType::Utf8, true)]));
    let out = std::io::BufWriter::new(std::fs::File::create(file.path()).unwrap());
    let mut writer = StreamWriter::try_new(out, &schema).unwrap();
    for from in (0..LARGE_ROWS).step_by(100_000) {
        let rows = from..from + 100_000;
        let texts: StringArray = rows.clone().map(|n| (n % 10 == 0).then(|| format!("row {n}"))).collect();
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(rows)), Arc::new(texts)];
        writer.write(&RecordBatch::try_new(schema.clone(), columns).unwrap()).unwrap();
    }
    writer.finish().unwrap();
}

#[tokio::test]
async fn a_large_file_is_shown_as_far_as_it_is_read_and_taken_over_when_it_is_asked_for_more() {
    let file = Db::file("large.arrows", "");
    large(&file);
    assert!(std::fs::metadata(file.path()).unwrap().len() > 64 << 20);
    let mut session = file.read_only().await;
    assert_eq!(session.catalog().await.unwrap().schemas[0].relations[0].columns.len(), 2);
    // Two sessions read it at once, each at its own pace.
    let mut other = file.read_only().await;
    session.execute("SELECT * FROM large", PAGE).await.unwrap();
    other.execute("select * from \"large\" limit 30001;", PAGE).await.unwrap();
    for (session, last) in [(&mut session, false), (&mut other, true)] {
        let mut n = 0;
        while n < 40_000 {
            let fetched = session.fetch(PAGE).await.unwrap();
            for row in rows(&fetched.batch) {
                let text = if n % 10 == 0 { format!("row {n}") } else { "∅".to_owned() };
                assert_eq!(row, [n.to_string(), text]);
                n += 1;
            }
            if !fetched.more {
                assert_eq!(n, 30_001);
                break;
            }
        }
        assert_eq!(n == 30_001, last, "{n}");
        session.finish().await.unwrap();
    }
    // What needs no rows takes none over.
    assert_eq!(one(&mut session, "SELECT 1 + 1").await, [["2"]]);
    let counts = "SELECT count(*), sum(n), count(s), max(s) FROM large";
    let all = [["9000000", "40499995500000", "900000", "row 999990"]];
    assert_eq!(one(&mut session, counts).await, all);
    assert_eq!(one(&mut other, counts).await, all);
    assert_eq!(one(&mut other, "SELECT * FROM large LIMIT 1").await, [["0", "row 0"]]);
    // Something else in the view's place is what is shown.
    run(&mut other, &["CREATE TEMP TABLE large AS SELECT 7 AS seven"]).await;
    assert_eq!(one(&mut other, "SELECT * FROM large").await, [["7"]]);
}

#[tokio::test]
async fn the_taking_over_of_a_large_file_is_stopped_by_a_cancel_and_begins_anew() {
    let file = Db::file("large.arrows", "");
    large(&file);
    let mut session = file.read_only().await;
    let handle = session.cancel_handle();
    let (stopped, ()) = tokio::join!(session.execute("SELECT count(*) FROM large", PAGE), async {
        tokio::task::yield_now().await;
        handle.cancel().await.unwrap();
    });
    let error = stopped.err().unwrap();
    assert!(error.cancelled, "{error:?}");
    assert_eq!(one(&mut session, "SELECT count(*) FROM large").await, [["9000000"]]);
}

#[tokio::test]
async fn a_large_file_that_is_cut_short_or_damaged_is_told_when_that_is_seen() {
    let file = Db::file("large.arrows", "");
    large(&file);
    let whole = std::fs::read(file.path()).unwrap();
    std::fs::write(file.path(), &whole[..whole.len() - 1_000]).unwrap();
    assert_eq!(refused(&file).await, "large.arrows is cut short.");
    // The last text's place is put behind the end: only who reads so far sees it.
    let mut broken = whole;
    let at = broken.len() - 3_000_000;
    broken[at - 600_000..at].fill(0xff);
    std::fs::write(file.path(), &broken).unwrap();
    let mut session = file.read_only().await;
    session.execute("SELECT * FROM large", PAGE).await.unwrap();
    assert_eq!(session.fetch(PAGE).await.unwrap().batch.num_rows(), 1_000);
    session.finish().await.unwrap();
    let told = refusal(&mut session, "SELECT count(s) FROM large").await.problem.message;
    assert!(told.starts_with("large.arrows is damaged: ") && told.ends_with('.'), "{told}");
}
