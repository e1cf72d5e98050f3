//! Launch codes: how the person who started the server gets a browser signed in.
//!
//! A code is a file in a folder that only its owner can enter; its name is the code's SHA-256, its text the second it ends. So `sheaf open`
//! can make one for a server that runs without talking to it, and removing the file is what makes a code single use.
//! Looking a file up by name is no timing oracle: what is compared is the hash of a guess, and nobody can steer that.

use super::secret::{Secret, SecretHash};
use shared::limits::LAUNCH_CODE_SECONDS;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of codes that were issued and not yet used.
#[derive(Clone, Debug)]
pub struct LaunchCodes {
    folder: PathBuf,
}

impl LaunchCodes {
    /// Opens the folder; makes it, for its owner alone, where it is missing.
    pub fn open(folder: &Path) -> io::Result<Self> {
        create_private_folder(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// A new code, good once, until [`LAUNCH_CODE_SECONDS`] after `now` (seconds since 1970).
    pub fn issue(&self, now: u64) -> io::Result<Secret> {
        self.forget_ended(now)?;
        let code = Secret::random()?;
        let ends = now.saturating_add(LAUNCH_CODE_SECONDS);
        write_private_file(&self.folder.join(code.hash().hex()), ends.to_string().as_bytes())?;
        Ok(code)
    }

    /// True once for a code that was issued and has not ended.
    pub fn redeem(&self, code: &str, now: u64) -> bool {
        let file = self.folder.join(SecretHash::of(code).hex());
        let Some(ends) = read_end(&file) else { return false };
        // Of several that present the same code only one succeeds in removing its file.
        if std::fs::remove_file(&file).is_err() {
            return false;
        }
        now < ends && ends.saturating_sub(now) <= LAUNCH_CODE_SECONDS
    }

    /// Withdraws every code, as when a server starts anew.
    pub fn withdraw_all(&self) -> io::Result<()> {
        self.forget_ended(u64::MAX)
    }

    fn forget_ended(&self, now: u64) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if read_end(&path).is_none_or(|ends| ends <= now) {
                // Another process may have removed it meanwhile: then it is gone, which is what is wanted.
                std::fs::remove_file(&path).ok();
            }
        }
        Ok(())
    }
}

fn read_end(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Makes a folder that only its owner can enter (0700), and its parents.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Writes a file that only its owner can read (0600), whatever stood there before.
pub fn write_private_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    match std::fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes() -> (tempfile::TempDir, LaunchCodes) {
        let folder = tempfile::tempdir().unwrap();
        let codes = LaunchCodes::open(&folder.path().join("launch")).unwrap();
        (folder, codes)
    }

    #[test]
    fn a_code_is_good_once() {
        let (_folder, codes) = codes();
        let code = codes.issue(1_000).unwrap();
        assert!(!codes.redeem("something else", 1_000));
        assert!(codes.redeem(code.reveal(), 1_001));
        assert!(!codes.redeem(code.reveal(), 1_001));
    }

    #[test]
    fn a_code_ends_after_two_minutes() {
        let (_folder, codes) = codes();
        let (early, late) = (codes.issue(1_000).unwrap(), codes.issue(1_000).unwrap());
        assert!(codes.redeem(early.reveal(), 1_119));
        assert!(!codes.redeem(late.reveal(), 1_120));
    }

    #[test]
    fn a_code_from_the_future_is_refused() {
        let (_folder, codes) = codes();
        let code = codes.issue(10_000).unwrap();
        assert!(!codes.redeem(code.reveal(), 1_000));
    }

    #[test]
    fn another_process_can_issue_for_the_same_folder() {
        let (folder, codes) = codes();
        let other = LaunchCodes::open(&folder.path().join("launch")).unwrap();
        let code = other.issue(50).unwrap();
        assert!(codes.redeem(code.reveal(), 51));
    }

    #[test]
    fn the_code_itself_is_nowhere_on_disk() {
        let (folder, codes) = codes();
        let code = codes.issue(50).unwrap();
        for entry in std::fs::read_dir(folder.path().join("launch")).unwrap() {
            let entry = entry.unwrap();
            assert!(!entry.file_name().to_string_lossy().contains(code.reveal()));
            assert!(!std::fs::read_to_string(entry.path()).unwrap().contains(code.reveal()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, codes) = codes();
        let code = codes.issue(50).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("launch")), 0o700);
        assert_eq!(mode(&folder.path().join("launch").join(code.hash().hex())), 0o600);
    }
}
