//! What one run keeps: records in memory, and past the budget in one file.
//!
//! Invariant: only one task appends; any number read, also while it appends. A record that was half written is never reachable.

use super::SpoolError;
use super::quota::Quota;
use super::volume::{Volume, VolumeFile};
use bytes::Bytes;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes written between two looks at the free space of the disk.
const LOOK_BYTES: u64 = 16 * 1024 * 1024;

/// Where a record lies and what it must be.
#[derive(Clone, Debug)]
pub struct Record {
    place: Place,
    len: usize,
    crc: u32,
}

#[derive(Clone, Debug)]
enum Place {
    Memory(Bytes),
    File(u64),
}

impl Record {
    /// The checksum of its bytes.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// Its length.
    pub fn len_bytes(&self) -> usize {
        self.len
    }

    /// It lies in a file.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.place, Place::File(_))
    }
}

/// The records of one run.
pub struct Segment {
    quota: Arc<Quota>,
    volume: Arc<dyn Volume>,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    closed: bool,
    memory: u64,
    disk: u64,
    /// Where the next record goes in the file.
    end: u64,
    /// Written since the last look at the disk's free space; none yet looked.
    since_look: Option<u64>,
    file: Option<Arc<dyn VolumeFile>>,
}

impl Segment {
    pub(super) fn new(quota: Arc<Quota>, volume: Arc<dyn Volume>) -> Self {
        Self { quota, volume, inside: Mutex::default() }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps `bytes`.
    pub async fn append(&self, bytes: Bytes) -> Result<Record, SpoolError> {
        let (len, crc) = (bytes.len(), crc32fast::hash(&bytes));
        if self.take_memory(len as u64)? {
            return Ok(Record { place: Place::Memory(bytes), len, crc });
        }
        let offset = self.write(bytes).await?;
        Ok(Record { place: Place::File(offset), len, crc })
    }

    /// True: counted as memory. False: counted as disk.
    fn take_memory(&self, len: u64) -> Result<bool, SpoolError> {
        let mut inside = self.inside();
        if inside.closed {
            return Err(SpoolError::Closed);
        }
        let per_run = self.quota.budgets.bytes_per_run;
        if inside.memory + inside.disk + len > per_run {
            return Err(SpoolError::RunFull(per_run));
        }
        if self.quota.take_memory(inside.memory, len) {
            inside.memory += len;
            return Ok(true);
        }
        if self.quota.take_disk(len) {
            inside.disk += len;
            return Ok(false);
        }
        Err(SpoolError::Full)
    }

    async fn write(&self, bytes: Bytes) -> Result<u64, SpoolError> {
        let len = bytes.len() as u64;
        let (file, offset, look) = {
            let inside = self.inside();
            let look = inside.since_look.is_none_or(|written| written + len > LOOK_BYTES);
            (inside.file.clone(), inside.end, look)
        };
        let (volume, free_min) = (self.volume.clone(), self.quota.budgets.disk_free_min);
        let written = tokio::task::spawn_blocking(move || {
            if look && volume.free_bytes().map_err(SpoolError::Disk)? < free_min.saturating_add(len) {
                return Err(SpoolError::Full);
            }
            let file = match file {
                Some(file) => file,
                None => Arc::from(volume.create().map_err(of_disk)?),
            };
            file.write_at(&bytes, offset).map_err(of_disk)?;
            Ok(file)
        })
        .await
        .unwrap_or_else(|error| Err(SpoolError::Disk(std::io::Error::other(error))));
        let mut inside = self.inside();
        match written {
            Ok(file) if !inside.closed => {
                inside.file = Some(file);
                inside.end = offset + len;
                inside.since_look = Some(if look { len } else { inside.since_look.unwrap_or(0) + len });
                Ok(offset)
            }
            // The space was given back when it was closed.
            Ok(_) => Err(SpoolError::Closed),
            Err(error) => {
                if !inside.closed {
                    inside.disk -= len;
                    self.quota.give_back(0, len);
                }
                Err(error)
            }
        }
    }

    /// The bytes of a record.
    pub async fn read(&self, record: &Record) -> Result<Bytes, SpoolError> {
        let offset = match &record.place {
            Place::Memory(bytes) => return Ok(bytes.clone()),
            Place::File(offset) => *offset,
        };
        let file = self.inside().file.clone().ok_or(SpoolError::Closed)?;
        let (len, crc) = (record.len, record.crc);
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; len];
            match file.read_at(&mut bytes, offset) {
                Ok(()) if crc32fast::hash(&bytes) == crc => Ok(Bytes::from(bytes)),
                Ok(()) => Err(SpoolError::Damaged),
                // Shorter than what was written: torn.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(SpoolError::Damaged),
                Err(error) => Err(SpoolError::Disk(error)),
            }
        });
        read.await.unwrap_or_else(|error| Err(SpoolError::Disk(std::io::Error::other(error))))
    }

    /// Gives all space back and deletes the file. Records that are held elsewhere must be dropped with it.
    pub fn discard(&self) {
        let mut inside = self.inside();
        inside.closed = true;
        inside.file = None;
        self.quota.give_back(std::mem::take(&mut inside.memory), std::mem::take(&mut inside.disk));
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.discard();
    }
}

/// A full disk is the spool's state, not a fault of the disk.
fn of_disk(error: std::io::Error) -> SpoolError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => SpoolError::Full,
        _ => SpoolError::Disk(error),
    }
}
