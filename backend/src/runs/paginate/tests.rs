//! Every row once, in order, no page too long, nothing lost in a cut.

use super::*;
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryArray, Date32Array, Decimal128Array, Decimal256Array, FixedSizeBinaryArray, Float64Array};
use arrow_array::{Int64Array, NullArray, StringArray, TimestampMicrosecondArray, UnionArray};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, Schema};
use shared::format::{Cell, format_cell};
use shared::page::{EXTENSION_KEY, OFFSETS_KEY, UUID_EXTENSION, decode};
use std::collections::HashMap;

fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
    let fields = columns.iter().enumerate().map(|(n, array)| Field::new(format!("c{n}"), array.data_type().clone(), true));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns).unwrap()
}

fn numbers(from: i64, to: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(from..to))
}

fn read(page: &Page) -> RecordBatch {
    decode(page.bytes.to_vec()).unwrap()
}

fn cells(batch: &RecordBatch, column: usize) -> Vec<Option<String>> {
    let (array, schema) = (batch.column(column), batch.schema());
    (0..batch.num_rows()).map(|row| format_cell(array.as_ref(), schema.field(column), row).text().map(|text| text.into_owned())).collect()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| if *text == "NULL" { None } else { Some((*text).to_owned()) }).collect()
}

#[test]
fn pieces_of_any_size_give_pages_of_one_size() {
    for size in [1, 3, 7, 10, 25, 1000] {
        let mut pages = Paginator::new(10);
        pages.push(batch(vec![numbers(0, 10)]));
        let mut next = 10;
        let mut seen = Vec::new();
        loop {
            while pages.missing() > 0 && next < 95 {
                let to = (next + size).min(95);
                pages.push(batch(vec![numbers(next, to)]));
                next = to;
            }
            if !pages.has_rows() {
                break;
            }
            let (page, cut) = pages.page(next < 95).unwrap();
            assert!(cut.is_empty());
            let rows = read(&page).column(0).as_primitive::<Int64Type>().values().to_vec();
            assert_eq!(rows.len(), 10.min(95 - seen.len()));
            seen.extend(rows);
        }
        assert_eq!(seen, (0..95).collect::<Vec<_>>(), "pieces of {size}");
    }
}

#[test]
fn page_0_settles_the_size_by_what_came() {
    let mut pages = Paginator::new(1000);
    pages.push(batch(vec![numbers(0, 37)]));
    assert_eq!(pages.page(true).unwrap().0.rows, 37);
    assert_eq!((pages.page_rows(), pages.missing()), (37, 37));
    let mut pages = Paginator::new(1000);
    pages.push(batch(vec![numbers(0, 37)]));
    pages.page(false).unwrap();
    assert_eq!(pages.page_rows(), 1000);
}

#[test]
fn rows_too_wide_for_a_page_make_fewer_rows_a_page() {
    // 4,096 columns of eight bytes: 1,000 rows would be 32 MiB.
    let columns: Vec<ArrayRef> =
        (0..4096).map(|n| Arc::new(Int64Array::from_iter_values((0..1000).map(|row| row * 10_000 + n))) as ArrayRef).collect();
    let mut pages = Paginator::new(1000);
    pages.push(batch(columns));
    let mut seen = 0;
    while pages.has_rows() {
        let (page, cut) = pages.page(false).unwrap();
        assert!(cut.is_empty() && page.bytes.len() <= 2 * PAGE_BYTES_MAX);
        let rows = read(&page);
        assert_eq!(rows.column(4095).as_primitive::<Int64Type>().value(0), seen * 10_000 + 4095);
        seen += rows.num_rows() as i64;
    }
    assert_eq!(seen, 1000);
    assert!((100..=128).contains(&pages.page_rows()), "{}", pages.page_rows());
}

#[test]
fn one_row_over_the_limit_has_its_cells_cut_shorter() {
    let columns: Vec<ArrayRef> = (0..200).map(|_| Arc::new(StringArray::from(vec!["é".repeat(40_000)])) as ArrayRef).collect();
    let mut pages = Paginator::new(10);
    let mut whole = pages.push(batch(columns));
    let (page, more) = pages.page(false).unwrap();
    whole.extend(more);
    assert!(page.bytes.len() <= PAGE_BYTES_MAX, "{}", page.bytes.len());
    assert_eq!(whole.len(), 200);
    assert!(whole.iter().all(|cell| cell.text && cell.whole.as_ref().unwrap().len() == 80_000));
    let rows = read(&page);
    let marks: Vec<(u64, u32, u64)> = serde_json::from_str(&rows.schema().metadata()[CUT_KEY]).unwrap();
    assert_eq!(marks, (0..200).map(|column| (0, column, 80_000)).collect::<Vec<_>>());
}

fn long(row: usize, bytes: usize) -> String {
    let digits = row.to_string();
    "0".repeat(bytes.saturating_sub(digits.len())) + &digits
}

#[test]
fn rows_that_grow_later_are_cut_and_never_make_a_page_too_long() {
    let text = |rows: std::ops::Range<usize>, bytes: usize| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.map(|row| long(row, bytes))))
    };
    let mut pages = Paginator::new(1000);
    pages.push(batch(vec![text(0..1000, 10)]));
    pages.page(true).unwrap();
    let mut whole = Vec::new();
    for piece in 0..10 {
        whole.extend(pages.push(batch(vec![text(1000 + piece * 100..1100 + piece * 100, 100_000)])));
    }
    let (page, more) = pages.page(false).unwrap();
    whole.extend(more);
    assert!(page.bytes.len() <= PAGE_BYTES_MAX, "{}", page.bytes.len());
    assert_eq!((page.rows, whole.len()), (1000, 1000));
    whole.sort_by_key(|cell| cell.row);
    for (at, cell) in whole.iter().enumerate() {
        assert_eq!((cell.row, cell.column), (1000 + at as u64, 0));
        assert_eq!(cell.whole.as_deref().unwrap(), long(1000 + at, 100_000).as_bytes());
    }
    let marks: Vec<(u64, u32, u64)> = serde_json::from_str(&read(&page).schema().metadata()[CUT_KEY]).unwrap();
    assert_eq!(marks, (0..1000).map(|row| (row, 0, 100_000)).collect::<Vec<_>>());
}

#[test]
fn text_is_cut_between_characters_and_bytes_anywhere() {
    // Three bytes each: 65,536 is not a multiple.
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("語".repeat(30_000)), None, Some("x".repeat(65_536))]));
    let mut blob = BinaryBuilder::new();
    blob.append_value(vec![7; 65_537]);
    blob.append_null();
    blob.append_value([]);
    let mut pages = Paginator::new(10);
    let cut = pages.push(batch(vec![text, Arc::new(blob.finish())]));
    assert_eq!(cut.iter().map(|cell| (cell.row, cell.column, cell.text)).collect::<Vec<_>>(), [(0, 0, true), (0, 1, false)]);
    let rows = read(&pages.page(false).unwrap().0);
    let texts = rows.column(0).as_string::<i32>();
    assert_eq!(texts.value(0), "語".repeat(21_845));
    assert!(texts.is_null(1));
    assert_eq!(texts.value(2).len(), 65_536, "at the edge, whole");
    let blobs = rows.column(1).as_binary::<i32>();
    assert_eq!((blobs.value(0).len(), blobs.is_null(1), blobs.value(2).len()), (65_536, true, 0));
}

#[test]
fn a_value_longer_than_is_sent_is_marked_and_not_kept() {
    let mut pages = Paginator::new(10);
    let cut = pages.push(batch(vec![Arc::new(BinaryArray::from_vec(vec![&vec![0; 16 * 1024 * 1024 + 1]]))]));
    assert!(cut[0].whole.is_none());
}

fn mixed(ids: Vec<i8>, offsets: Vec<i32>) -> ArrayRef {
    let fields = [(0, Arc::new(Field::new("integer", DataType::Int64, true))), (2, Arc::new(Field::new("text", DataType::Utf8, true)))];
    let fields = fields.into_iter().collect();
    let children: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![Some(1), None])), Arc::new(StringArray::from(vec!["one", "two"]))];
    Arc::new(UnionArray::try_new(fields, ids.into(), Some(offsets.into()), children).unwrap())
}

#[test]
fn columns_whose_type_differs_between_pieces_keep_every_value() {
    let pieces: Vec<(Vec<ArrayRef>, Vec<Option<String>>)> = vec![
        (vec![numbers(1, 3), Arc::new(StringArray::from(vec!["x"]))], some(&["1", "2", "x"])),
        (vec![Arc::new(NullArray::new(2)), Arc::new(NullArray::new(1))], some(&["NULL", "NULL", "NULL"])),
        (vec![Arc::new(NullArray::new(2)), numbers(5, 6), Arc::new(NullArray::new(1))], some(&["NULL", "NULL", "5", "NULL"])),
        (vec![mixed(vec![0, 2, 0, 2], vec![0, 0, 1, 1]), numbers(9, 10)], some(&["1", "one", "NULL", "two", "9"])),
        (vec![mixed(vec![2, 0], vec![1, 0]), mixed(vec![2, 0], vec![0, 1])], some(&["two", "1", "one", "NULL"])),
        (vec![Arc::new(NullArray::new(1)), mixed(vec![0], vec![0]), Arc::new(Float64Array::from(vec![0.5]))], some(&["NULL", "1", "0.5"])),
        (
            vec![Arc::new(Date32Array::from(vec![Some(0), None])), Arc::new(StringArray::from(vec!["infinity"]))],
            some(&["1970-01-01", "NULL", "infinity"]),
        ),
    ];
    for (arrays, expected) in pieces {
        let mut pages = Paginator::new(10);
        for array in arrays {
            pages.push(batch(vec![array]));
        }
        assert_eq!(cells(&read(&pages.page(false).unwrap().0), 0), expected);
    }
}

/// A piece of one column with metadata of its own.
fn noted(array: ArrayRef, key: &str, value: Option<&str>) -> RecordBatch {
    let metadata: HashMap<String, String> = value.map(|value| (key.to_owned(), value.to_owned())).into_iter().collect();
    let field = Field::new("c", array.data_type().clone(), true).with_metadata(metadata);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

fn joined(pieces: Vec<RecordBatch>) -> RecordBatch {
    let mut pages = Paginator::new(1000);
    for piece in pieces {
        pages.push(piece);
    }
    read(&pages.page(false).unwrap().0)
}

#[test]
fn instants_of_several_pieces_keep_the_offset_of_each() {
    let instants = |values: Vec<Option<i64>>| -> ArrayRef { Arc::new(TimestampMicrosecondArray::from(values).with_timezone("UTC")) };
    let piece = |values, list| noted(instants(values), OFFSETS_KEY, list);
    let [winter, summer, utc] = ["1970-01-01 01:00:00+01", "1970-01-01 02:00:00.00001+02", "1970-01-01 00:00:00.00002+00"];
    let page =
        joined(vec![piece(vec![Some(0), None], Some("0:3600")), piece(vec![Some(10)], Some("10:7200")), piece(vec![Some(20)], None)]);
    assert_eq!(cells(&page, 0), some(&[winter, "NULL", summer, utc]));
    assert_eq!(page.schema().field(0).metadata()[OFFSETS_KEY], "0:3600,10:7200,20:0");
    // One instant in two zones is in no list: the page has the texts.
    let page = joined(vec![piece(vec![Some(0)], Some("0:3600")), piece(vec![Some(0)], None)]);
    assert_eq!(cells(&page, 0), some(&[winter, "1970-01-01 00:00:00+00"]));
    assert!(page.schema().field(0).metadata().is_empty());
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["infinity"]));
    let page = joined(vec![piece(vec![Some(0)], Some("0:3600")), noted(texts, OFFSETS_KEY, None)]);
    assert_eq!(cells(&page, 0), some(&[winter, "infinity"]));
    assert!(page.schema().field(0).metadata().is_empty());
}

#[test]
fn a_piece_of_nulls_alone_changes_no_type_and_the_wider_decimal_holds_both() {
    let narrow = |value: Option<i128>, scale| -> ArrayRef {
        Arc::new(Decimal128Array::from(vec![value]).with_precision_and_scale(38, scale).unwrap())
    };
    let wide: ArrayRef = Arc::new(Decimal256Array::from(vec![i256::MINUS_ONE]).with_precision_and_scale(76, 2).unwrap());
    for (arrays, kind, expected) in [
        (vec![narrow(None, 0), narrow(Some(150), 2)], DataType::Decimal128(38, 2), ["NULL", "1.50"]),
        (vec![narrow(Some(150), 2), wide.clone()], DataType::Decimal256(76, 2), ["1.50", "-0.01"]),
        (vec![wide, narrow(Some(150), 1)], DataType::Utf8, ["-0.01", "15.0"]),
    ] {
        let page = joined(arrays.into_iter().map(|array| batch(vec![array])).collect());
        assert_eq!((page.column(0).data_type(), cells(&page, 0)), (&kind, some(&expected)));
    }
    let bytes: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter([[0; 16]].into_iter()).unwrap());
    let page =
        joined(vec![noted(Arc::new(StringArray::from(vec!["?"])), EXTENSION_KEY, None), noted(bytes, EXTENSION_KEY, Some(UUID_EXTENSION))]);
    assert_eq!(cells(&page, 0), some(&["?", "00000000-0000-0000-0000-000000000000"]));
    assert!(page.schema().field(0).metadata().is_empty(), "an extension stands on its physical type only");
}

#[test]
fn a_mixed_column_is_cut_and_carried_like_any_other() {
    let fields = [(2, Arc::new(Field::new("text", DataType::Utf8, true))), (3, Arc::new(Field::new("blob", DataType::Binary, true)))];
    let mut text = StringBuilder::new();
    text.append_value("a".repeat(100_000));
    let mut blob = BinaryBuilder::new();
    blob.append_value(vec![1; 70_000]);
    blob.append_value([2]);
    let children: Vec<ArrayRef> = vec![Arc::new(text.finish()), Arc::new(blob.finish())];
    let union =
        UnionArray::try_new(fields.into_iter().collect(), vec![3_i8, 2, 3].into(), Some(vec![1_i32, 0, 0].into()), children).unwrap();
    let mut pages = Paginator::new(2);
    let cut = pages.push(batch(vec![Arc::new(union)]));
    let mut told: Vec<_> = cut.iter().map(|cell| (cell.row, cell.text, cell.whole.as_ref().unwrap().len())).collect();
    told.sort_unstable();
    assert_eq!(told, [(1, true, 100_000), (2, false, 70_000)]);
    let (first, _) = pages.page(false).unwrap();
    let rows = read(&first);
    assert_eq!(cells(&rows, 0)[0].as_deref(), Some("\\x02"));
    assert!(first.bytes.len() < 70_000, "the carried row's value is not in it: {}", first.bytes.len());
    assert_eq!(rows.schema().metadata()[CUT_KEY], "[[1,0,100000]]");
    let second = read(&pages.page(false).unwrap().0);
    assert_eq!(second.schema().metadata()[CUT_KEY], "[[0,0,70000]]");
    assert!(matches!(format_cell(second.column(0).as_ref(), second.schema().field(0), 0), Cell::Bytes(bytes) if bytes.len() == 65_536));
}

#[test]
fn a_result_without_columns_keeps_its_rows() {
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(3));
    let empty = || RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    let mut pages = Paginator::new(10);
    pages.push(empty());
    pages.push(empty());
    assert_eq!(read(&pages.page(false).unwrap().0).num_rows(), 6);
}
