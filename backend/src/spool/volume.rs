//! The disk under the spool: a folder of files with random names, and the trait that lets a test make it fail.
//!
//! Invariant: the folder is 0700, a file 0600 and new; only names of this module's own form are ever deleted.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How a file of the spool ends.
const SUFFIX: &str = ".sheaf-pages";

/// Where files are made.
pub trait Volume: Send + Sync + 'static {
    /// A new empty file.
    fn create(&self) -> io::Result<Box<dyn VolumeFile>>;
    /// Bytes that could still be written.
    fn free_bytes(&self) -> io::Result<u64>;
}

/// One file. It is deleted when it is dropped.
pub trait VolumeFile: Send + Sync + 'static {
    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Fills `bytes` from `offset`.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
}

/// A folder of the file system.
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Nothing is made yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Deletes the files an earlier process left (it was killed).
    pub fn remove_stale(&self) {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().ends_with(SUFFIX)
                && let Err(error) = std::fs::remove_file(entry.path())
            {
                tracing::warn!(%error, "a stale spool file stays");
            }
        }
    }
}

impl Volume for Directory {
    fn create(&self) -> io::Result<Box<dyn VolumeFile>> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.path.join(name + SUFFIX);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Box::new(NamedFile { file, path }))
    }

    fn free_bytes(&self) -> io::Result<u64> {
        // The folder may not be there yet: then its nearest parent tells.
        let there = self.path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
        let stat = rustix::fs::statvfs(there)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

struct NamedFile {
    file: File,
    path: PathBuf,
}

impl VolumeFile for NamedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }
}

impl Drop for NamedFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, "a spool file could not be deleted");
        }
    }
}
