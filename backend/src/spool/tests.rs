//! Records come back as they were, budgets hold, space is given back.

use super::quota::Budgets;
use super::*;
use bytes::Bytes;

const WIDE: Budgets = Budgets { memory_per_run: 10, memory_all: 15, bytes_per_run: 100, disk_all: 200, disk_free_min: 0 };

fn spool(folder: &tempfile::TempDir, budgets: Budgets) -> Spool {
    Spool::new(folder.path().join("spool"), budgets)
}

#[tokio::test]
async fn records_go_to_memory_first_and_come_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let spool = spool(&folder, WIDE);
    let segment = spool.segment();
    let mut records = Vec::new();
    for n in 0..10_u8 {
        records.push(segment.append(Bytes::from(vec![n; 6])).await.unwrap());
    }
    assert_eq!(records.iter().filter(|record| record.is_on_disk()).count(), 9);
    for (n, record) in records.iter().enumerate() {
        assert_eq!(segment.read(record).await.unwrap(), vec![n as u8; 6]);
    }
    assert_eq!(spool.used(), (6, 54));
    segment.discard();
    assert_eq!(spool.used(), (0, 0));
    assert!(matches!(segment.append(Bytes::from_static(b"x")).await, Err(SpoolError::Closed)));
    assert!(matches!(segment.read(&records[9]).await, Err(SpoolError::Closed)));
    assert_eq!(std::fs::read_dir(folder.path().join("spool")).unwrap().count(), 0);
}

#[tokio::test]
async fn budgets_hold_at_their_edge() {
    let folder = tempfile::tempdir().unwrap();
    let spool = spool(&folder, WIDE);
    let (one, two) = (spool.segment(), spool.segment());
    one.append(Bytes::from(vec![0; 10])).await.unwrap();
    assert!(!two.append(Bytes::from(vec![0; 5])).await.unwrap().is_on_disk(), "15 of all is just right");
    assert!(two.append(Bytes::from(vec![0; 1])).await.unwrap().is_on_disk());
    one.append(Bytes::from(vec![0; 90])).await.unwrap();
    assert!(matches!(one.append(Bytes::from(vec![0; 1])).await, Err(SpoolError::RunFull(100))));
    two.append(Bytes::from(vec![0; 94])).await.unwrap();
    let three = spool.segment();
    assert!(matches!(three.append(Bytes::from(vec![0; 16])).await, Err(SpoolError::Full)));
    three.append(Bytes::from(vec![0; 15])).await.unwrap();
    drop(one);
    three.append(Bytes::from(vec![0; 16])).await.unwrap();
}

#[tokio::test]
async fn an_empty_record_is_one_too() {
    let folder = tempfile::tempdir().unwrap();
    let spool = spool(&folder, Budgets { memory_per_run: 0, memory_all: 0, ..WIDE });
    let segment = spool.segment();
    let record = segment.append(Bytes::new()).await.unwrap();
    assert_eq!(segment.read(&record).await.unwrap().len(), 0);
}
