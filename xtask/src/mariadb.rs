//! The MariaDB server on this machine, for tests that start their own. Only its programs: no service comes with these packages.

use crate::failure::Outcome;
use crate::packages;
use crate::place::Place;
use std::path::Path;

/// Where Debian keeps each program.
const PROGRAMS: [&str; 3] = ["/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db", "/usr/bin/mariadb"];

/// Installs the server where none is there.
pub fn ensure(_place: &Place) -> Outcome<()> {
    // Whoever names a folder has them there.
    if std::env::var_os("SHEAF_TEST_MARIADB_BIN").is_some() || PROGRAMS.iter().all(|program| Path::new(program).is_file()) {
        return Ok(());
    }
    packages::install("Testing against MariaDB", &["mariadb-server-core", "mariadb-client-core"])
}
