//! The OpenSSH server that tests start for tunnels. Its package would start a service of its own where it is installed, so it is only
//! unpacked, into the user's cache.

use crate::failure::{Outcome, WhileTrying, fail};
use crate::packages;
use crate::place::Place;
use crate::process::{exists, program, run};
use std::fs::{create_dir_all, read_dir};
use std::path::{Path, PathBuf};

/// The server, and the one library that comes with nothing else.
const PACKAGES: [&str; 2] = ["openssh-server", "libwrap0"];
const INSTALLED: &str = "/usr/sbin/sshd";

/// Brings the server where none is there, and the programs that make keys.
pub fn ensure(place: &Place) -> Outcome<()> {
    if !exists("ssh-keygen") {
        packages::install("Testing tunnels", &["openssh-client"])?;
    }
    if std::env::var_os("SHEAF_TEST_SSHD").is_some() || Path::new(INSTALLED).is_file() || unpacked(place).is_some() {
        return Ok(());
    }
    if !exists("apt-get") {
        return fail("Testing tunnels needs `sshd`: install what your system calls that, then run this again.");
    }
    let root = root(place);
    create_dir_all(&root).while_trying("make a folder for sshd")?;
    packages::download(&PACKAGES, &root)?;
    for file in read_dir(&root).while_trying("unpack sshd")?.flatten().map(|entry| entry.path()) {
        if file.extension().is_some_and(|ending| ending == "deb") {
            run(program("dpkg-deb").arg("-x").arg(&file).arg(&root))?;
        }
    }
    match unpacked(place) {
        Some(_) => Ok(()),
        None => fail("the package `openssh-server` has no sshd in it."),
    }
}

/// Where it is unpacked, for the tests' variable.
pub fn unpacked(place: &Place) -> Option<PathBuf> {
    Some(root(place)).filter(|root| root.join("usr/sbin/sshd").is_file())
}

fn root(place: &Place) -> PathBuf {
    place.cached("sshd")
}
