//! The few npm packages: installed from their lockfile, once for each lockfile.

use crate::failure::{Outcome, fail};
use crate::fingerprint;
use crate::place::Place;
use crate::process::{exists, program, run};

/// Fills `node_modules` of one folder of the checkout; downloads land in the cache, so a fresh clone is quick.
pub fn install(place: &Place, folder: &str) -> Outcome<()> {
    if !exists("npm") || !exists("node") {
        return fail("Node.js 20 or later with npm is needed: install it, then run this again.");
    }
    let at = place.at(folder);
    let modules = at.join("node_modules");
    let inputs = fingerprint::of(&[at.join("package.json"), at.join("package-lock.json")])?;
    let stamp = modules.join(".sheaf-installed");
    fingerprint::unless_done(&stamp, &modules, &inputs, || {
        let mut command = program("npm");
        command.current_dir(&at).env("npm_config_cache", place.cached("npm")).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        run(command.args(["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]))
    })
}
