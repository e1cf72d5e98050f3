//! A result comes in pages that add up to it, and no further than it was asked for.

use super::engines::{PAGE, Row, Subject, assert_usable, bound, done, pages, read, row, rows};
use arrow_array::RecordBatch;
use arrow_schema::{Metadata, Schema};
use backend::engine::{Bound, Session};
use shared::page::TYPE_KEY;

/// Rows of the tables: more than two pages of the usual size, and no whole number of them.
const ROWS: usize = 2_345;

fn expected(count: usize) -> Vec<Row> {
    (1..=count).map(|i| row([&i.to_string(), &format!("row {i}")])).collect()
}

/// What each column of a page is called and said to be.
fn told(schema: &Schema) -> Vec<(String, Metadata)> {
    schema.fields().iter().map(|field| (field.name().clone(), field.metadata().clone())).collect()
}

pub async fn pages_add_up_to_the_whole_in_order(subject: &Subject) {
    let mut session = subject.numbered(ROWS).await;
    for size in [7, 500, 1_000, 5_000] {
        let (pages, _) = pages(session.as_mut(), "SELECT i, label FROM numbered ORDER BY i", bound(size)).await.unwrap();
        assert!(pages.iter().all(|page| (1..=size).contains(&page.batch.num_rows())), "{size}");
        let whole: Vec<Row> = pages.iter().flat_map(|page| rows(&page.batch)).collect();
        assert!(whole == expected(ROWS), "{size}: {} rows", whole.len());
    }
    // Of another size with every fetch.
    session.execute("SELECT i, label FROM numbered ORDER BY i", PAGE).await.unwrap();
    let mut whole = Vec::new();
    for size in (1..).map(|n| n * 13 % 97 + 1) {
        let page = session.fetch(bound(size)).await.unwrap();
        assert!((1..=size).contains(&page.batch.num_rows()));
        whole.extend(rows(&page.batch));
        assert!(whole.len() <= ROWS, "rows without end");
        if !page.more {
            break;
        }
    }
    session.finish().await.unwrap();
    assert!(whole == expected(ROWS), "{} rows", whole.len());
}

pub async fn a_page_is_full_or_the_last_and_exactly_a_page_has_no_more(subject: &Subject) {
    let mut session = subject.numbered(31).await;
    for count in [0, 1, 9, 10, 11, 20, 21, 30] {
        let sql = format!("SELECT i, label FROM numbered WHERE i <= {count} ORDER BY i");
        let (pages, _) = pages(session.as_mut(), &sql, bound(10)).await.unwrap();
        let sizes: Vec<usize> = pages.iter().map(|page| page.batch.num_rows()).collect();
        let full = (0..count.max(1)).step_by(10).map(|first| (count - first).min(10)).collect::<Vec<_>>();
        assert_eq!(sizes, full, "{count} rows");
    }
}

pub async fn a_page_ends_at_its_bytes_and_has_a_row(subject: &Subject) {
    let mut session = subject.session().await;
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE wide(i INTEGER, v {})", subject.sql.text)).await;
    for i in 0..6 {
        done(session.as_mut(), &format!("INSERT INTO wide VALUES ({i}, '{}')", "x".repeat(40_000))).await;
    }
    let small = Bound { rows: 1_000, bytes: 100_000 };
    let (first, _) = pages(session.as_mut(), "SELECT i, v FROM wide ORDER BY i", small).await.unwrap();
    let sizes: Vec<usize> = first.iter().map(|page| page.batch.num_rows()).collect();
    assert!(sizes.iter().all(|rows| (1..=3).contains(rows)) && sizes.iter().sum::<usize>() == 6, "{sizes:?}");
    let (pages, _) = pages(session.as_mut(), "SELECT i, v FROM wide ORDER BY i", Bound { rows: 1_000, bytes: 1 }).await.unwrap();
    assert_eq!(pages.iter().map(|page| page.batch.num_rows()).collect::<Vec<_>>(), [1; 6]);
}

pub async fn metadata_is_the_same_in_every_page(subject: &Subject) {
    let mut session = subject.numbered(50).await;
    // The first page holds nothing but NULL where the second has values.
    let sql =
        "SELECT i, label, CASE WHEN i > 20 THEN label END AS late, CASE WHEN i > 20 THEN i END AS later, i * 0.5 AS half, NULL AS none
               FROM numbered ORDER BY i";
    let started = session.execute(sql, bound(10)).await.unwrap();
    let mut pages = Vec::new();
    loop {
        let page = session.fetch(bound(10)).await.unwrap();
        pages.push(page.batch);
        if !page.more || pages.len() > 50 {
            break;
        }
    }
    session.finish().await.unwrap();
    let schema = started.schema.unwrap();
    assert_eq!(pages.len(), 5);
    // How many digits a number has behind its point, only its values tell.
    let settled = |schema: &Schema| {
        schema.fields().iter().map(|field| field.data_type().clone()).filter(|kind| !kind.is_decimal()).collect::<Vec<_>>()
    };
    assert_eq!(settled(&schema), settled(pages[0].schema_ref()));
    for page in &pages {
        assert_eq!(told(page.schema_ref()), told(&schema));
        assert!(told(&schema).iter().all(|(_, metadata)| metadata.contains_key(TYPE_KEY)));
    }
    let late: Row = pages.iter().flat_map(rows).map(|row| row[2].clone()).collect();
    assert_eq!((&late[19], late[20].as_deref()), (&None, Some("row 21")));
}

pub async fn an_empty_result_has_its_columns(subject: &Subject) {
    let mut session = subject.numbered(3).await;
    for sql in ["SELECT i, label FROM numbered WHERE 1 = 0", "SELECT i, label FROM numbered ORDER BY i LIMIT 0"] {
        let (empty, _) = pages(session.as_mut(), sql, PAGE).await.unwrap();
        assert_eq!((empty.len(), empty[0].batch.num_rows(), empty[0].more), (1, 0, false));
        let (full, _) = pages(session.as_mut(), "SELECT i, label FROM numbered", PAGE).await.unwrap();
        let types = |batch: &RecordBatch| {
            told(batch.schema_ref()).into_iter().map(|(name, told)| (name, told.get(TYPE_KEY).cloned())).collect::<Vec<_>>()
        };
        assert_eq!(types(&empty[0].batch), types(&full[0].batch));
    }
}

async fn first_of_endless(subject: &Subject, session: &mut dyn Session) -> Vec<String> {
    session.execute(subject.sql.endless, bound(100)).await.unwrap();
    let (first, second) = (session.fetch(bound(100)).await.unwrap(), session.fetch(bound(10)).await.unwrap());
    assert!(first.more && second.more);
    assert_eq!((first.batch.num_rows(), second.batch.num_rows()), (100, 10));
    rows(&first.batch).into_iter().chain(rows(&second.batch)).map(|row| row[0].clone().unwrap()).collect()
}

pub async fn an_endless_result_is_read_only_as_far_as_asked(subject: &Subject) {
    let mut session = subject.session().await;
    let seen = first_of_endless(subject, session.as_mut()).await;
    session.finish().await.unwrap();
    let first: i64 = seen[0].parse().unwrap();
    assert_eq!(seen, (first..first + 110).map(|i| i.to_string()).collect::<Vec<_>>());
    assert_usable(session.as_mut()).await;
}

pub async fn a_limit_in_the_text_is_kept(subject: &Subject) {
    let mut session = subject.numbered(ROWS).await;
    let mut seen = async |sql: &str| read(session.as_mut(), sql).await.into_iter().map(|row| row[0].clone().unwrap()).collect::<Vec<_>>();
    assert_eq!(seen("SELECT i FROM numbered ORDER BY i LIMIT 3 OFFSET 2").await, ["3", "4", "5"]);
    assert_eq!(seen("SELECT i FROM numbered ORDER BY i DESC LIMIT 1 -- LIMIT 7").await, [ROWS.to_string()]);
    assert_eq!(seen("SELECT i FROM (SELECT i FROM numbered ORDER BY i LIMIT 2) AS two ORDER BY i DESC").await, ["2", "1"]);
    // More than a page, and less than there is.
    assert_eq!(seen("SELECT i FROM numbered ORDER BY i LIMIT 1500").await.len(), 1_500);
    assert_eq!(seen("SELECT i FROM numbered ORDER BY i").await.len(), ROWS);
}
