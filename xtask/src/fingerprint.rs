//! Whether inputs changed since a step last ran: one number over the names and contents of files.

use crate::failure::{Outcome, WhileTrying};
use std::fs::{read, read_dir, read_to_string, write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The number for these files and folders (with all below, but for `node_modules`); what is missing counts as empty.
pub fn of(paths: &[PathBuf]) -> Outcome<String> {
    let mut hasher = DefaultHasher::new();
    for path in paths {
        for file in files_below(path)? {
            file.strip_prefix(path).unwrap_or(&file).hash(&mut hasher);
            read(&file).while_trying(format_args!("read {}", file.display()))?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Runs `work` unless its product is there and the stamp says that it was made with this very fingerprint.
pub fn unless_done(stamp: &Path, product: &Path, fingerprint: &str, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    if product.exists() && read_to_string(stamp).is_ok_and(|done| done == fingerprint) {
        return Ok(());
    }
    work()?;
    write(stamp, fingerprint).while_trying(format_args!("write {}", stamp.display()))
}

fn files_below(path: &Path) -> Outcome<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    if !path.is_dir() || path.ends_with("node_modules") {
        return Ok(Vec::new());
    }
    let mut children = Vec::new();
    for entry in read_dir(path).while_trying(format_args!("list {}", path.display()))? {
        children.push(entry.while_trying(format_args!("list {}", path.display()))?.path());
    }
    children.sort();
    let nested: Outcome<Vec<Vec<PathBuf>>> = children.iter().map(|child| files_below(child)).collect();
    Ok(nested?.concat())
}
