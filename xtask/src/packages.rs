//! Debian's packages: installed where this user may, else named in one sentence.

use crate::failure::{Outcome, fail};
use crate::process::{exists, program, read, run};
use std::path::Path;
use std::process::Command;

/// Installs them; `purpose` completes "needed for …" where that's not possible.
pub fn install(purpose: &str, packages: &[&str]) -> Outcome<()> {
    let by_hand = format!("{purpose} needs {}: run `sudo apt-get install {}`, then this again.", packages.join(", "), packages.join(" "));
    if !exists("apt-get") {
        return fail(format!("{purpose} needs {}: install what your system calls that, then run this again.", packages.join(", ")));
    }
    let Some(mut update) = apt_get() else { return fail(by_hand) };
    let Some(mut install) = apt_get() else { return fail(by_hand) };
    run(update.args(["-qq", "update"]))?;
    run(install.args(["-qq", "-y", "--no-install-recommends", "install"]).args(packages))
}

/// Downloads packages into a folder without installing them; the lists are brought up to date where they do not have them.
pub fn download(packages: &[&str], into: &Path) -> Outcome<()> {
    let attempt = || run(program("apt-get").current_dir(into).args(["-qq", "download"]).args(packages));
    if attempt().is_ok() {
        return Ok(());
    }
    if let Some(mut update) = apt_get() {
        run(update.args(["-qq", "update"]))?;
    }
    attempt()
}

/// apt-get as root, where that needs no password.
fn apt_get() -> Option<Command> {
    let is_root = read(program("id").arg("-u")).is_ok_and(|uid| uid == "0");
    let may_sudo = || read(program("sudo").args(["-n", "true"])).is_ok();
    let mut command = if is_root {
        program("apt-get")
    } else if may_sudo() {
        let mut sudo = program("sudo");
        sudo.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        sudo
    } else {
        return None;
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    Some(command)
}
