//! Results larger than memory, larger than allowed, and on disks that fail.

use super::*;
use crate::spool::Spool;
use crate::spool::quota::Budgets;
use crate::spool::volume::{Directory, Volume, VolumeFile};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_in_memory_is_read_from_a_file_as_it_was() {
    let house = house_with(|config| config.memory_per_run = 100_000);
    let begun = house.sql("rows n=50000 tag=f width=40").await;
    let id = begun.status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    house.until(&id, |s| s.state == RunState::Done).await;
    assert_eq!(house.files(), 1);
    let census = house.runs.census();
    assert!(census.memory_bytes <= 100_000 && census.disk_bytes > 1_000_000, "{census:?}");
    for n in [0, 49, 1, 25, 25] {
        assert_eq!(rows_of(&house.page(&id, n).await.unwrap()), numbers(i64::from(n) * 1000, i64::from(n) * 1000 + 1000));
    }
    use std::os::unix::fs::PermissionsExt;
    let spool = house.folder.path().join("spool");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&spool), 0o700);
    let file = std::fs::read_dir(&spool).unwrap().next().unwrap().unwrap().path();
    assert_eq!(mode(&file), 0o600);
    house.close(&id).await;
    assert_eq!((house.files(), house.runs.census().disk_bytes), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_result_over_its_quota_stops_and_keeps_what_is_there() {
    let house = house_with(|config| config.bytes_per_run = 200_000);
    let id = house.sql("rows n=1000000").await.status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    let status = house.until(&id, |s| s.state.is_final()).await;
    assert_eq!((status.state, status.problem.unwrap().code), (RunState::Partial, ErrorCode::SpoolFull));
    let last = u32::try_from(status.rows_ready / 1000).unwrap();
    assert!(last > 2);
    house.page(&id, last - 1).await.unwrap();
    assert_eq!(house.page(&id, last).await.unwrap_err().code, ErrorCode::SpoolFull);
    house.settle().await;
    assert_eq!((house.world.get(|w| &w.finishes), house.runs.census().active), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_stops_one_result_and_no_other() {
    let house = house_with(|config| (config.memory_per_run, config.disk_all) = (50_000, 300_000));
    let other = house.sql("rows n=1500").await.status.id;
    let id = house.sql("rows n=1000000").await.status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    assert_eq!(house.until(&id, |s| s.state.is_final()).await.problem.unwrap().code, ErrorCode::SpoolFull);
    assert_eq!(rows_of(&house.page(&other, 1).await.unwrap()), numbers(1000, 1500));
    house.close(&id).await;
    house.sql("rows n=1500").await;

    let house = house_with(|config| (config.memory_per_run, config.disk_free_min) = (0, u64::MAX / 2));
    let problem = house.start(ask("rows n=5")).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::SpoolFull);
    house.settle().await;
    assert_eq!((house.files(), house.runs.census().disk_bytes, house.runs.census().kept), (0, 0, 0));
}

/// A folder whose n-th write fails, in one of three ways.
struct Faulty {
    inner: Directory,
    writes: Arc<AtomicU64>,
    fail_at: u64,
    how: u8,
    files: Arc<Mutex<u64>>,
}

struct FaultyFile {
    inner: Box<dyn VolumeFile>,
    writes: Arc<AtomicU64>,
    fail_at: u64,
    how: u8,
}

impl Volume for Faulty {
    fn create(&self) -> io::Result<Box<dyn VolumeFile>> {
        *self.files.lock().unwrap() += 1;
        let (writes, fail_at, how) = (self.writes.clone(), self.fail_at, self.how);
        Ok(Box::new(FaultyFile { inner: self.inner.create()?, writes, fail_at, how }))
    }

    fn free_bytes(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

impl VolumeFile for FaultyFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.writes.fetch_add(1, SeqCst) + 1 != self.fail_at {
            return self.inner.write_at(bytes, offset);
        }
        match self.how {
            0 => Err(io::Error::from(io::ErrorKind::StorageFull)),
            1 => Err(io::Error::other("EIO")),
            _ => {
                self.inner.write_at(&bytes[..bytes.len() / 2], offset)?;
                Err(io::Error::from(io::ErrorKind::WriteZero))
            }
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.inner.read_at(bytes, offset)
    }
}

#[tokio::test(start_paused = true)]
async fn whichever_write_fails_the_pages_before_it_stay_and_the_space_comes_back() {
    for how in 0..3 {
        for fail_at in 1..=20_u64 {
            let mut house = house();
            let budgets = Budgets { memory_per_run: 0, memory_all: 0, bytes_per_run: u64::MAX, disk_all: u64::MAX, disk_free_min: 0 };
            let inner = Directory::new(house.folder.path().join("spool"));
            let faulty = Faulty { inner, writes: Arc::default(), fail_at, how, files: Arc::default() };
            let mut config = RunsConfig::new(house.folder.path().join("unused"));
            config.disk_free_min = 0;
            let registry = super::super::registry::Registry::on(config, engines, Spool::on(Arc::new(faulty), budgets));
            house.runs = Runs { registry: Arc::new(registry) };
            let started = house.start(ask("rows n=19500 tag=x")).await;
            if fail_at == 1 {
                assert_eq!(started.unwrap_err().code, ErrorCode::SpoolFull);
                continue;
            }
            let id = started.unwrap().status.id;
            house.runs.read_to_end(&house.grant, &id).unwrap();
            let status = house.until(&id, |s| s.state.is_final()).await;
            assert_eq!((status.state, status.problem.unwrap().code), (RunState::Partial, ErrorCode::SpoolFull));
            assert_eq!(status.rows_ready, (fail_at - 1) * 1000);
            for n in 0..i64::try_from(fail_at - 1).unwrap() {
                let page = house.page(&id, u32::try_from(n).unwrap()).await.unwrap();
                assert_eq!(rows_of(&page), numbers(n * 1000, n * 1000 + 1000));
            }
            house.close(&id).await;
            assert_eq!((house.files(), house.runs.census().disk_bytes), (0, 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_damaged_on_disk_is_never_sent() {
    let house = house_with(|config| config.memory_per_run = 0);
    let id = house.sql("rows n=1500 tag=d").await.status.id;
    house.page(&id, 1).await.unwrap();
    let file = std::fs::read_dir(house.folder.path().join("spool")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last / 4] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(house.page(&id, 0).await.unwrap_err().code, ErrorCode::Internal);
    house.page(&id, 1).await.unwrap();
    bytes.truncate(last);
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(house.page(&id, 1).await.unwrap_err().code, ErrorCode::Internal);
}

#[tokio::test(start_paused = true)]
async fn what_a_killed_process_left_is_deleted_at_the_start() {
    let house = house_with(|config| config.memory_per_run = 0);
    house.sql("rows n=5").await;
    assert_eq!(house.files(), 1);
    let spool = house.folder.path().join("spool");
    std::fs::write(spool.join("keep.txt"), "not ours").unwrap();
    let _next = Runs::new(RunsConfig::new(spool), engines);
    assert_eq!(house.files(), 1, "only what is not the spool's stays");
}

#[tokio::test(start_paused = true)]
async fn whole_values_lie_in_the_file_too() {
    let house = house_with(|config| config.memory_per_run = 0);
    let begun = house.sql("rows n=3 width=300000 tag=v").await;
    let super::super::WholeCell::Text(text) = house.runs.cell(&house.grant, &begun.status.id, 1, 1).await.unwrap() else { panic!() };
    assert!(text.len() > 300_000 && text.starts_with(b"v:1"));
}
