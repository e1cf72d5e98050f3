//! Certificates for tests, made by the machine's own `openssl`: an authority, a server of it, and clients good and bad.
//!
//! All of them are PEM files in one folder. A client's certificate names the database user [`CLIENT`].

use crate::keeper::{give, run};
use std::path::Path;
use std::process::Command;

/// Whom the clients' certificates name.
pub const CLIENT: &str = "cert_user";

/// Makes them all; false where there is no `openssl`. The server's is for the name `localhost`, not for the address.
///
/// | file | what it is |
/// |---|---|
/// | `ca.crt` | the authority |
/// | `server.crt`, `server.key` | of the server, which may read them |
/// | `client.crt`, `client.key` | good; the key as PKCS#8, and as `client.sec1.key` |
/// | `rsa.crt`, `rsa.key` | good, with RSA; the key as PKCS#8, and as `rsa.pkcs1.key` |
/// | `client.locked.key` | the client's key, encrypted |
/// | `expired.crt` | of the client's key, ended yesterday |
/// | `stranger.crt`, `stranger.key` | of another authority |
pub fn make(folder: &Path) -> bool {
    if Command::new("openssl").arg("version").output().is_err() {
        return false;
    }
    std::fs::write(folder.join("leaf.ext"), "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n").unwrap();
    authority(folder, "ca");
    authority(folder, "foreign");
    sign(folder, "server", "localhost", EC, "ca");
    sign(folder, "client", CLIENT, EC, "ca");
    sign(folder, "rsa", CLIENT, "rsa:2048", "ca");
    sign(folder, "stranger", CLIENT, EC, "foreign");
    let at = |name: &str| folder.join(name).display().to_string();
    openssl(&format!(
        "x509 -req -days -1 -in {} -CA {} -CAkey {} -out {}",
        at("client.csr"),
        at("ca.crt"),
        at("ca.key"),
        at("expired.crt")
    ));
    openssl(&format!("ec -in {} -out {}", at("client.key"), at("client.sec1.key")));
    openssl(&format!("rsa -traditional -in {} -out {}", at("rsa.key"), at("rsa.pkcs1.key")));
    openssl(&format!("pkcs8 -topk8 -passout pass:locked -in {} -out {}", at("client.key"), at("client.locked.key")));
    run(Command::new("chmod").args(["600", &at("server.key")]));
    for file in ["server.key", "server.crt", "ca.crt"] {
        give(&folder.join(file));
    }
    true
}

/// The text of one of those files; none where they could not be made.
pub fn read(folder: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(name)).ok()
}

const EC: &str = "ec -pkeyopt ec_paramgen_curve:prime256v1";

fn openssl(arguments: &str) {
    run(Command::new("openssl").args(arguments.split(' ')));
}

fn authority(folder: &Path, name: &str) {
    let at = |ending: &str| folder.join(format!("{name}.{ending}")).display().to_string();
    openssl(&format!("req -x509 -newkey {EC} -nodes -days 30 -subj /CN={name} -keyout {} -out {}", at("key"), at("crt")));
}

fn sign(folder: &Path, name: &str, subject: &str, key: &str, authority: &str) {
    let at = |name: &str, ending: &str| folder.join(format!("{name}.{ending}")).display().to_string();
    openssl(&format!("req -new -newkey {key} -nodes -subj /CN={subject} -keyout {} -out {}", at(name, "key"), at(name, "csr")));
    let signer = format!("-CA {} -CAkey {} -CAcreateserial", at(authority, "crt"), at(authority, "key"));
    let extensions = folder.join("leaf.ext").display().to_string();
    openssl(&format!("x509 -req -days 30 -in {} {signer} -extfile {extensions} -out {}", at(name, "csr"), at(name, "crt")));
}
