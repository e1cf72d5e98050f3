//! Where things lie: the checkout, and the cache that every checkout of this user shares, so that a fresh clone builds warm.

use crate::failure::{Outcome, WhileTrying, fail};
use std::env::var_os;
use std::fs::create_dir_all;
use std::path::{Path, PathBuf};

/// The two roots that every path starts from.
pub struct Place {
    /// The checkout.
    pub root: PathBuf,
    cache: PathBuf,
}

impl Place {
    /// From where cargo says the manifest is, and the user's cache folder.
    pub fn find() -> Outcome<Self> {
        let Some(root) = checkout() else {
            return fail("run this as `cargo xtask …` inside the checkout.");
        };
        let Some(cache) = user_cache() else {
            return fail("set HOME or XDG_CACHE_HOME: the build caches go there.");
        };
        let cache = cache.join("sheaf");
        create_dir_all(&cache).while_trying(format_args!("make the cache folder {}", cache.display()))?;
        Ok(Self { root, cache })
    }

    /// A path in the checkout.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A path in the cache.
    pub fn cached(&self, path: &str) -> PathBuf {
        self.cache.join(path)
    }

    /// What cargo builds for this machine.
    pub fn native_target(&self) -> PathBuf {
        self.cached("target")
    }

    /// What cargo builds for the browser.
    pub fn web_target(&self) -> PathBuf {
        self.cached("target-web")
    }
}

fn checkout() -> Option<PathBuf> {
    let manifest_dir = var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)?;
    manifest_dir.parent().map(Path::to_path_buf)
}

fn user_cache() -> Option<PathBuf> {
    let given = var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    given.or_else(|| var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
}
