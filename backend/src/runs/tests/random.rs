//! Seeded random callers: whatever they do in whatever order, the invariants hold.

use super::*;
use std::collections::HashMap;
use std::sync::Mutex;

/// A small generator (splitmix64): the seed of a failure is all it takes to see it again.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// What was seen of all runs, to be compared.
#[derive(Default)]
struct Seen {
    pages: HashMap<(RunId, u32), StoredPage>,
    tags: HashMap<RunId, String>,
}

fn check_page(seen: &Mutex<Seen>, id: &RunId, n: u32, page: &StoredPage) {
    let mut seen = seen.lock().unwrap();
    let tag = seen.tags[id].clone();
    let first = i64::from(n) * 10;
    for (row, text) in texts_of(page).iter().enumerate() {
        assert_eq!(*text, format!("{tag}:{}", first + row as i64), "another's row, or out of order");
    }
    let known = seen.pages.entry((id.clone(), n)).or_insert_with(|| page.clone());
    assert_eq!(known, page, "a page changed");
}

/// An interrupt that was meant for this run has the cause "cancelled"; the same words with another cause are a stranger's cancel.
fn check_not_hit(problem: &Problem) {
    let is_own = problem.code == ErrorCode::Cancelled;
    assert!(is_own || !problem.message.contains("canceling"), "a cancel hit a statement nobody stopped");
}

async fn one_case(seed: u64) {
    let mut draw = Draw(seed);
    let house = house_with(|config| {
        config.memory_per_run = [0, 3_000, u64::MAX][(seed % 3) as usize];
        config.memory_all = u64::MAX / 2;
    });
    house.world.slow_cancels.store(draw.below(3) == 0, std::sync::atomic::Ordering::SeqCst);
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut ids: Vec<RunId> = Vec::new();
    let later: Arc<Mutex<Vec<RunId>>> = Arc::default();
    let mut tasks = Vec::new();
    for step in 0..draw.below(30) + 5 {
        ids.append(&mut later.lock().unwrap());
        let pick = (!ids.is_empty()).then(|| ids[draw.below(ids.len() as u64) as usize].clone());
        match (draw.below(11), pick) {
            (0..=3, _) | (_, None) => {
                let tag = format!("s{seed}x{step}");
                let gate = ["", " gate=execute", " gate=fetch", " gate=finish"][draw.below(4) as usize];
                let rows = draw.below(120);
                let next = match draw.below(3) {
                    0 => format!(" | rows n={} tag={tag}n{}", draw.below(40), ["", " gate=next", " gate=fetch"][draw.below(3) as usize]),
                    _ => String::new(),
                };
                let mut request = ask(&format!("rows n={rows} tag={tag}{gate}{next}"));
                request.page_rows = Some(10);
                request.session = (draw.below(2) == 0).then(|| SessionId(format!("k{}", draw.below(3))));
                request.window = (draw.below(2) == 0).then(|| WindowId("w".to_owned()));
                request.token = Some(tag.clone());
                let start = house.start_later(request);
                for _ in 0..draw.below(12) {
                    tokio::task::yield_now().await;
                }
                match draw.below(6) {
                    0 => {
                        start.abort();
                    }
                    1 => {
                        house.runs.cancel_by_token(&house.grant, &tag).unwrap();
                        tasks.push(tokio::spawn(async move { drop(start.await) }));
                    }
                    _ => {
                        house.world.gate.add_permits(2);
                        let started = start.await.unwrap();
                        if let Err(problem) = &started {
                            check_not_hit(problem);
                        }
                        if let Ok(begun) = started {
                            let id = begun.status.id.clone();
                            seen.lock().unwrap().tags.insert(id.clone(), tag);
                            if let Some(page0) = &begun.page0 {
                                check_page(&seen, &id, 0, page0);
                            }
                            ids.push(id);
                        }
                    }
                }
            }
            (4..=6, Some(id)) => {
                let n = draw.below(14) as u32;
                let reader = house.page_later(&id, n);
                if draw.below(4) == 0 {
                    reader.abort();
                } else {
                    let seen = seen.clone();
                    tasks.push(tokio::spawn(async move {
                        if let Ok(page) = reader.await.unwrap() {
                            check_page(&seen, &id, n, &page);
                        }
                    }));
                }
            }
            (9, Some(id)) => {
                let (runs, grant) = (house.runs.clone(), house.grant.clone());
                let (seen, later) = (seen.clone(), later.clone());
                let asking = tokio::spawn(async move {
                    match runs.next(&grant, &id).await {
                        Ok(begun) => {
                            let tag = format!("{}n", seen.lock().unwrap().tags[&id]);
                            seen.lock().unwrap().tags.insert(begun.status.id.clone(), tag);
                            check_page(&seen, &begun.status.id, 0, &begun.page0.unwrap());
                            later.lock().unwrap().push(begun.status.id);
                        }
                        Err(problem) => check_not_hit(&problem),
                    }
                });
                match draw.below(4) {
                    0 => asking.abort(),
                    _ => tasks.push(asking),
                }
            }
            (7, Some(id)) => {
                let _ = house.runs.cancel(&house.grant, &id);
            }
            (8, Some(id)) => {
                let (runs, grant) = (house.runs.clone(), house.grant.clone());
                let closing = tokio::spawn(async move { drop(runs.close(&grant, &id).await) });
                if draw.below(2) == 0 {
                    tasks.push(closing);
                }
            }
            (_, Some(id)) => {
                let _ = house.runs.read_to_end(&house.grant, &id);
            }
        }
        house.world.gate.add_permits(draw.below(3) as usize);
        house.world.cancel_gate.add_permits(draw.below(2) as usize);
        for _ in 0..draw.below(8) {
            tokio::task::yield_now().await;
        }
    }
    house.world.gate.add_permits(1_000_000);
    house.world.cancel_gate.add_permits(1_000);
    for task in tasks {
        task.await.unwrap();
    }
    ids.append(&mut later.lock().unwrap());
    // What is still there reads as it did.
    for id in &ids {
        if let Ok(status) = house.status(id) {
            status.problem.iter().for_each(check_not_hit);
            for n in 0..u32::try_from(status.rows_ready.div_ceil(10)).unwrap() {
                match house.page(id, n).await {
                    Ok(page) => check_page(&seen, id, n, &page),
                    // Nobody waited for the end of some that were closed.
                    Err(problem) => assert_eq!(problem.code, ErrorCode::Gone),
                }
            }
            if status.state == RunState::Done {
                assert_eq!(status.total_rows, Some(status.rows_ready));
            }
        }
    }
    // Lease, parking and idle times over, nothing is left anywhere.
    tokio::time::sleep(2 * 3600 * SECOND).await;
    let census = house.runs.census();
    assert_eq!((census.sessions, census.active, census.kept, census.memory_bytes, census.disk_bytes), (0, 0, 0, 0, 0));
    assert_eq!((house.world.get(|w| &w.open), house.files()), (0, 0));
}

#[test]
fn a_thousand_random_interleavings_keep_every_invariant() {
    let cases = std::env::var("SHEAF_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    for seed in 0..cases {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.block_on(one_case(seed))));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}
