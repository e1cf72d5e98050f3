//! The build folders of the cache serve one checkout at a time.
//!
//! cargo names what it builds of a workspace by the paths inside of it, and takes it for fresh by the times of files. So with one folder for all
//! checkouts it would take another's build, made a moment ago, for this one's. Invariant: what was built from this workspace's own packages
//! stays in the cache only while the same checkout builds; what was built from others' packages stays for all.

use crate::failure::{Outcome, WhileTrying};
use crate::place::Place;
use std::fs::{File, OpenOptions, TryLockError, read_dir, remove_dir_all};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The workspace's packages.
const PACKAGES: &[&str] = &["bench", "e2e", "frontend", "shared", "sheaf", "testing", "xtask", "xtask-bindgen"];

/// Held while a checkout builds; another one waits for it.
pub struct Owner {
    _locked: File,
}

/// Makes this checkout the one that builds, after whoever builds now.
pub fn become_owner(place: &Place) -> Outcome<Owner> {
    let path = place.cached("owner");
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = opened.while_trying(format_args!("open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("Waiting for another `cargo xtask` that uses the build cache …");
            file.lock().while_trying("wait for the build cache")?;
        }
        Err(TryLockError::Error(error)) => return Err(error).while_trying("lock the build cache"),
    }
    let mut last = String::new();
    file.read_to_string(&mut last).while_trying("read whose the build cache is")?;
    let own = place.root.display().to_string();
    if last != own {
        forget(&place.cached(""))?;
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(own.as_bytes())).while_trying("take the build cache")?;
    }
    Ok(Owner { _locked: file })
}

/// Forgets what was built of the workspace's packages, in every build folder and profile.
fn forget(cache: &Path) -> Outcome<()> {
    let builds = folders(cache).into_iter().filter(|path| name(path).starts_with("target"));
    let profiles: Vec<PathBuf> = builds.flat_map(|target| folders(&target)).collect();
    // A target that was named has its profiles in a folder of its own.
    let of_targets: Vec<PathBuf> = profiles.iter().flat_map(|profile| folders(profile)).collect();
    for profile in profiles.iter().chain(&of_targets) {
        for print in folders(&profile.join(".fingerprint")).iter().filter(|path| is_own(&name(path))) {
            remove_dir_all(print).while_trying(format_args!("remove {}", print.display()))?;
        }
    }
    Ok(())
}

/// Of one of the workspace's packages: its name, a hyphen, cargo's number for it.
fn is_own(print: &str) -> bool {
    print.rsplit_once('-').is_some_and(|(package, _)| PACKAGES.contains(&package))
}

fn folders(path: &Path) -> Vec<PathBuf> {
    read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, read_to_string};

    #[test]
    fn every_package_of_the_workspace_is_known() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found: Vec<String> = folders(root)
            .into_iter()
            .chain([root.join("xtask/bindgen")])
            .filter_map(|folder| read_to_string(folder.join("Cargo.toml")).ok())
            .filter_map(|manifest| Some(manifest.lines().find_map(|line| line.strip_prefix("name = \""))?.trim_end_matches('"').to_owned()))
            .collect();
        found.sort();
        assert_eq!(found, PACKAGES);
    }

    #[test]
    fn what_was_built_of_the_workspace_is_forgotten_and_nothing_else() {
        let cache = std::env::temp_dir().join(format!("sheaf-owner-{}", std::process::id()));
        let prints = [
            ("target/release/.fingerprint/sheaf-0123456789abcdef", true),
            ("target/debug/.fingerprint/xtask-bindgen-0123456789abcdef", true),
            ("target-web/wasm32-unknown-unknown/web/.fingerprint/frontend-0123456789abcdef", true),
            ("target/release/.fingerprint/shared-child-0123456789abcdef", false),
            ("target-web/release/.fingerprint/leptos-0123456789abcdef", false),
            ("npm/release/.fingerprint/sheaf-0123456789abcdef", false),
        ];
        for (path, _) in prints {
            create_dir_all(cache.join(path)).unwrap();
        }
        forget(&cache).unwrap();
        for (path, gone) in prints {
            assert_eq!(cache.join(path).exists(), !gone, "{path}");
        }
        remove_dir_all(&cache).unwrap();
    }
}
