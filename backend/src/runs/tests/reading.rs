//! Pages in order, far and near, once and again.

use super::*;

#[tokio::test(start_paused = true)]
async fn every_page_has_the_settled_rows_though_the_engine_brings_fewer() {
    let house = house();
    // 3,000 bytes a row: page 0 ends at 1 MiB and settles the size; later fetches bring 100 rows at most.
    let begun = house.sql("rows n=1000 width=3000 tag=w narrow=100").await;
    let id = begun.status.id;
    let page_rows = i64::from(begun.status.page_rows);
    assert_eq!(page_rows, 100);
    for n in 0..10 {
        let page = house.page(&id, n).await.unwrap();
        assert_eq!(rows_of(&page), numbers(i64::from(n) * page_rows, (i64::from(n) + 1) * page_rows));
    }
    assert_eq!(house.until(&id, |s| s.state.is_final()).await.total_rows, Some(1000));

    let begun = house.sql("rows n=1000 width=3000").await;
    let page_rows = begun.status.page_rows;
    assert!((300..400).contains(&page_rows), "{page_rows}");
    assert_eq!(rows_of(&house.page(&begun.status.id, 2).await.unwrap()), numbers(2 * i64::from(page_rows), 1000));
}

#[tokio::test(start_paused = true)]
async fn a_page_of_many_short_fetches_is_whole() {
    let house = house();
    let begun = house.start(StartRun { page_rows: Some(100), ..ask("rows n=1000 tag=s") }).await.unwrap();
    assert_eq!(rows_of(&house.page(&begun.status.id, 3).await.unwrap()), numbers(300, 400));
    let begun = house.start(StartRun { page_rows: Some(50), ..ask("rows n=1000 narrow=50") }).await.unwrap();
    assert_eq!(begun.status.page_rows, 50);
}

#[tokio::test(start_paused = true)]
async fn asking_for_a_page_keeps_four_more_ready() {
    let house = house();
    let begun = house.sql("rows n=1000000").await;
    house.page(&begun.status.id, 1).await.unwrap();
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.fetches), 6);
    house.page(&begun.status.id, 3).await.unwrap();
    house.settle().await;
    assert_eq!(house.world.get(|w| &w.fetches), 8);
    assert_eq!(house.status(&begun.status.id).unwrap().state, RunState::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_jump_ahead_reads_the_pages_between_once() {
    let house = house();
    let begun = house.sql("rows n=100500 tag=j").await;
    let id = begun.status.id;
    assert_eq!(rows_of(&house.page(&id, 80).await.unwrap()), numbers(80_000, 81_000));
    assert_eq!(rows_of(&house.page(&id, 40).await.unwrap()), numbers(40_000, 41_000));
    let last = house.page(&id, 100).await.unwrap();
    assert_eq!(rows_of(&last), numbers(100_000, 100_500));
    assert_eq!(texts_of(&last)[0], "j:100000");
    let problem = house.page(&id, 101).await.unwrap_err();
    assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::PastTheEnd, "There is no page 101: the result has 101 pages"));
    assert_eq!(house.world.get(|w| &w.fetches), 101);
    assert_eq!(house.status(&id).unwrap().total_rows, Some(100_500));
}

#[tokio::test(start_paused = true)]
async fn a_page_is_the_same_bytes_and_tag_whenever_it_is_read() {
    let house = house();
    let begun = house.sql("rows n=5000").await;
    let other = house.sql("rows n=5000").await;
    let (one, two) = (house.page(&begun.status.id, 2).await.unwrap(), house.page(&begun.status.id, 2).await.unwrap());
    assert_eq!(one, two);
    assert!(one.etag.starts_with('"') && one.etag.ends_with('"'));
    let far = house.page(&other.status.id, 2).await.unwrap();
    assert_eq!(far.bytes, one.bytes);
    assert_ne!(far.etag, one.etag, "another run, another tag");
}

#[tokio::test(start_paused = true)]
async fn many_readers_wait_for_the_same_page() {
    let house = house();
    let begun = house.sql("rows n=50000").await;
    let readers: Vec<_> = (0..20).map(|n| house.page_later(&begun.status.id, 1 + n % 7)).collect();
    for (n, reader) in readers.into_iter().enumerate() {
        let n = 1 + (n % 7) as i64;
        assert_eq!(rows_of(&reader.await.unwrap().unwrap()), numbers(n * 1000, (n + 1) * 1000));
    }
}

#[tokio::test(start_paused = true)]
async fn the_wish_of_a_reader_who_vanished_goes_with_him() {
    let house = house();
    let begun = house.sql("rows n=1000000 gate=fetch").await_after_gate(&house).await;
    let reader = house.page_later(&begun.status.id, 900);
    house.world.at_gate.notified().await;
    reader.abort();
    house.settle().await;
    house.world.gate.add_permits(1000);
    house.settle().await;
    assert_eq!(house.status(&begun.status.id).unwrap().rows_ready, 2000, "the page under way comes, no further");
}

#[tokio::test(start_paused = true)]
async fn read_to_end_reads_all_and_tells_the_progress() {
    let house = house();
    let begun = house.sql("rows n=1000000").await;
    let id = begun.status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    let under_way = house.until(&id, |s| s.rows_ready > 1000).await;
    assert!(under_way.reading_to_end && under_way.state == RunState::Running);
    let status = house.until(&id, |s| s.state.is_final()).await;
    assert_eq!((status.state, status.total_rows, status.reading_to_end), (RunState::Done, Some(1_000_000), false));
    assert_eq!(rows_of(&house.page(&id, 999).await.unwrap()), numbers(999_000, 1_000_000));
    // Again, at the end: nothing.
    house.runs.read_to_end(&house.grant, &id).unwrap();
    assert_eq!(house.status(&id).unwrap().state, RunState::Done);
}

#[tokio::test(start_paused = true)]
async fn a_closed_run_is_gone_and_an_unknown_one_was_never_there() {
    let house = house();
    let begun = house.sql("rows n=5000").await;
    house.close(&begun.status.id).await;
    assert_eq!(house.page(&begun.status.id, 0).await.unwrap_err().code, ErrorCode::Gone);
    assert_eq!(house.status(&begun.status.id).unwrap_err().code, ErrorCode::Gone);
    assert_eq!(house.runs.close(&house.grant, &begun.status.id).await.unwrap_err().code, ErrorCode::Gone);
    assert_eq!(house.page(&RunId("nobody".to_owned()), 0).await.unwrap_err().code, ErrorCode::NotFound);
    let census = house.runs.census();
    assert_eq!((census.active, census.kept, census.memory_bytes, census.sessions), (0, 0, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_reader_who_waits_for_a_run_that_is_closed_is_told_so() {
    let house = house();
    let begun = house.sql("rows n=5000 gate=fetch").await_after_gate(&house).await;
    let reader = house.page_later(&begun.status.id, 3);
    house.world.at_gate.notified().await;
    house.close(&begun.status.id).await;
    assert_eq!(reader.await.unwrap().unwrap_err().code, ErrorCode::Gone);
}

#[tokio::test(start_paused = true)]
async fn whole_values_are_there_for_cut_cells_and_for_others() {
    let house = house();
    let begun = house.sql("rows n=3 width=200000 tag=c").await;
    let id = begun.status.id;
    let batch = batch_of(&begun.page0.unwrap());
    assert_eq!(batch.column(1).as_string::<i32>().value(0).len(), 65_535, "between characters of two bytes");
    let cut: Vec<(u64, u32, u64)> = serde_json::from_str(&batch.schema().metadata()["sheaf.cut"]).unwrap();
    assert_eq!(cut.iter().map(|(row, column, _)| (*row, *column)).collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1)]);
    let super::super::WholeCell::Text(text) = house.runs.cell(&house.grant, &id, 2, 1).await.unwrap() else { panic!("not text") };
    assert_eq!((text.len() as u64, text.starts_with(b"c:2")), (cut[2].2, true));
    let number = house.runs.cell(&house.grant, &id, 2, 0).await.unwrap();
    assert_eq!(number, super::super::WholeCell::Text("2".into()));
    for (row, column) in [(3, 0), (0, 2), (u64::MAX, 0)] {
        assert_eq!(house.runs.cell(&house.grant, &id, row, column).await.unwrap_err().code, ErrorCode::PastTheEnd);
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_longer_than_is_ever_sent_says_so() {
    let house = house();
    let begun = house.sql(&format!("rows n=1 width={}", 17 * 1024 * 1024)).await;
    let problem = house.runs.cell(&house.grant, &begun.status.id, 0, 1).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::TooLarge);
}

#[tokio::test(start_paused = true)]
async fn elapsed_counts_work_and_not_the_readers_pauses() {
    let house = house();
    let start = house.start_later(ask("rows n=5000 gate=execute"));
    house.world.at_gate.notified().await;
    tokio::time::advance(3 * SECOND).await;
    house.world.gate.add_permits(1);
    let begun = start.await.unwrap().unwrap();
    assert_eq!(begun.status.elapsed_ms, 3000.0);
    tokio::time::advance(20 * SECOND).await;
    assert_eq!(house.status(&begun.status.id).unwrap().elapsed_ms, 3000.0);
}

/// Starts whose first fetch waits at the gate.
trait AfterGate {
    async fn await_after_gate(self, house: &House) -> Begun;
}

impl<F: Future<Output = Begun>> AfterGate for F {
    async fn await_after_gate(self, house: &House) -> Begun {
        house.world.gate.add_permits(1);
        let begun = self.await;
        house.world.at_gate.notified().await;
        begun
    }
}
