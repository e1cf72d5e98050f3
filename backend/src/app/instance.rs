//! The one server of a data folder: its lock, its port for `sheaf open`, its folder of launch codes.
//!
//! Invariant: two servers never share a data folder, because each holds the folder's lock for its life.

use crate::access::launch::{LaunchCodes, create_private_folder, write_private_file};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The folder, in the data folder, of what matters only while a server runs.
const FOLDER: &str = "runtime";

/// A claim on a data folder; given up when dropped.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
    _lock: File,
}

/// Why a data folder can't be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another server has it.
    #[error("A Sheaf server already runs on the data folder {0}: `sheaf open` prints a link to it, --data DIR takes another folder.")]
    Taken(String),
    /// The folder can't be made or written.
    #[error("The data folder {0} can't be used: {1}.")]
    Unusable(String, io::Error),
}

impl Instance {
    /// Claims a data folder; makes it where it is missing.
    pub fn claim(data: &Path) -> Result<Self, ClaimError> {
        let shown = data.display().to_string();
        Self::try_claim(data).map_err(|error| match error {
            TryLockError::WouldBlock => ClaimError::Taken(shown),
            TryLockError::Error(cause) => ClaimError::Unusable(shown, cause),
        })
    }

    fn try_claim(data: &Path) -> Result<Self, TryLockError> {
        create_private_folder(data).map_err(TryLockError::Error)?;
        let folder = data.join(FOLDER);
        create_private_folder(&folder).map_err(TryLockError::Error)?;
        let lock = open_private(&folder.join("lock")).map_err(TryLockError::Error)?;
        lock.try_lock()?;
        Ok(Self { folder, _lock: lock })
    }

    /// Launch codes of this server; those of an earlier one are withdrawn.
    pub fn launch_codes(&self) -> io::Result<LaunchCodes> {
        let codes = LaunchCodes::open(&self.folder.join("launch"))?;
        codes.withdraw_all()?;
        Ok(codes)
    }

    /// Says where the server answers, for `sheaf open`.
    pub fn announce(&self, port: u16) -> io::Result<()> {
        write_private_file(&self.folder.join("port"), port.to_string().as_bytes())
    }

    /// Writes the page that leads a browser in, so that the code is on no command line; its path.
    pub fn write_launch_page(&self, link: &str) -> io::Result<PathBuf> {
        let page = self.folder.join("open.html");
        let text = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0; url={link}\"><title>Sheaf</title><a href=\"{link}\">Open Sheaf</a>\n"
        );
        write_private_file(&page, text.as_bytes())?;
        Ok(page)
    }

    /// Removes what is of no use to the next server.
    pub fn withdraw(&self) {
        for name in ["open.html", "port"] {
            // It may never have been written; and a leftover does no harm: its code is spent or ended.
            std::fs::remove_file(self.folder.join(name)).ok();
        }
    }
}

fn open_private(file: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// A fresh link for the server that runs on a data folder; the `Err` is one sentence for the terminal.
pub fn fresh_link(data: &Path, now: u64) -> Result<String, String> {
    let none = || format!("No Sheaf server runs on the data folder {}; `sheaf serve` starts one.", data.display());
    let folder = data.join(FOLDER);
    let lock = File::open(folder.join("lock")).map_err(|_| none())?;
    // Shared, so that two of these at the same moment do not take each other for a server.
    if lock.try_lock_shared().is_ok() {
        return Err(none());
    }
    let port = std::fs::read_to_string(folder.join("port")).ok().and_then(|text| text.trim().parse().ok()).ok_or_else(none)?;
    let code = LaunchCodes::open(&folder.join("launch"))
        .and_then(|codes| codes.issue(now))
        .map_err(|error| format!("A link can't be made: {error}."))?;
    Ok(link(port, code.reveal()))
}

/// The link that signs a browser in.
pub fn link(port: u16, code: &str) -> String {
    format!("http://127.0.0.1:{port}/#launch={code}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_has_one_server() {
        let data = tempfile::tempdir().unwrap();
        let first = Instance::claim(data.path()).unwrap();
        assert!(matches!(Instance::claim(data.path()), Err(ClaimError::Taken(_))));
        drop(first);
        assert!(Instance::claim(data.path()).is_ok());
    }

    #[test]
    fn a_fresh_link_needs_a_server() {
        let data = tempfile::tempdir().unwrap();
        assert!(fresh_link(data.path(), 5).unwrap_err().contains("No Sheaf server"));
        let server = Instance::claim(data.path()).unwrap();
        let codes = server.launch_codes().unwrap();
        server.announce(4_711).unwrap();
        let link = fresh_link(data.path(), 5).unwrap();
        let code = link.strip_prefix("http://127.0.0.1:4711/#launch=").unwrap();
        assert!(codes.redeem(code, 6));
        drop(server);
        assert!(fresh_link(data.path(), 7).is_err());
    }
}
