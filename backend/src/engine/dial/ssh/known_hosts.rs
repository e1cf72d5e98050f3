//! By which keys SSH servers are known: the person's own `known_hosts`, which is only read, and Sheaf's own file beside it.
//! Source: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT".
//!
//! Invariant: a key counts as known only if a line for that very host and port names it. A host that is known by any other key has
//! changed; it is never taken for a new one. A revoked key is refused whatever else is written.

use hmac::{Hmac, KeyInit, Mac};
use russh::keys::ssh_key::known_hosts::{Entry, HostPatterns, Marker};
use russh::keys::{Algorithm, PublicKey};
use sha1::Sha1;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// SSH's own port, which is left out in these files.
const PORT: u16 = 22;

/// What the files say of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the host's.
    Known,
    /// The host is in none of them.
    Unknown,
    /// The host has another one, by that line of that file.
    Changed(Option<(PathBuf, usize)>),
    /// It was given up.
    Revoked,
}

/// The files.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts {
    /// Sheaf's own, which may not be there yet.
    own: Option<PathBuf>,
    /// Those that are only read.
    others: Vec<PathBuf>,
}

impl KnownHosts {
    /// Of Sheaf's own file and those that are only read.
    pub fn new(own: PathBuf, others: Vec<PathBuf>) -> Self {
        Self { own: Some(own), others }
    }

    fn texts(&self) -> impl Iterator<Item = (&Path, String)> {
        let files = self.own.iter().chain(&self.others).map(PathBuf::as_path);
        // A file that can't be read knows nobody.
        files.filter_map(|file| Some((file, String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned())))
    }

    /// Whether that is the key of that host.
    pub fn judge(&self, host: &str, port: u16, key: &PublicKey) -> Verdict {
        let mut verdict = Verdict::Unknown;
        for (file, text) in self.texts() {
            match judge(&text, host, port, key) {
                Judged::Revoked => return Verdict::Revoked,
                Judged::Known => verdict = Verdict::Known,
                Judged::Changed(line) if verdict == Verdict::Unknown => verdict = Verdict::Changed(Some((file.to_owned(), line))),
                Judged::Changed(_) | Judged::Unknown => {}
            }
        }
        verdict
    }

    /// The kinds of keys that the host is known by: they are asked for first.
    pub fn kinds(&self, host: &str, port: u16) -> Vec<Algorithm> {
        let names = names(host, port);
        let of_text = |text: &str| entries(text).map(|(_, entry)| entry).collect::<Vec<_>>();
        let known = self.texts().flat_map(|(_, text)| of_text(&text)).filter(|entry| entry.marker().is_none());
        known
            .filter(|entry| names.iter().any(|name| is_of(entry.host_patterns(), name)))
            .map(|entry| entry.public_key().algorithm())
            .collect()
    }

    /// Writes a host's key down in Sheaf's own file.
    pub fn learn(&self, host: &str, port: u16, key: &PublicKey) -> io::Result<()> {
        let Some(own) = &self.own else { return Ok(()) };
        let mut options = std::fs::OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(own)?;
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() {
            file.read_exact(&mut last)?;
        }
        let plain = PublicKey::new(key.key_data().clone(), "").to_openssh().map_err(io::Error::other)?;
        let name = names(host, port).into_iter().next().unwrap_or_default();
        let line = format!("{}{name} {plain}\n", if last == [b'\n'] { "" } else { "\n" });
        file.write_all(line.as_bytes())
    }
}

enum Judged {
    Known,
    Unknown,
    Changed(usize),
    Revoked,
}

/// How a host may be written; its own way first. As in OpenSSH, a key that is known without the port will do as well.
fn names(host: &str, port: u16) -> Vec<String> {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    if port == PORT { vec![host] } else { vec![format!("[{host}]:{port}"), host] }
}

fn judge(text: &str, host: &str, port: u16, key: &PublicKey) -> Judged {
    let names = names(host, port);
    let mut judged = Judged::Unknown;
    for (line, entry) in entries(text) {
        let of = |name: &String| is_of(entry.host_patterns(), name);
        let is_same = entry.public_key().key_data() == key.key_data();
        match entry.marker() {
            Some(Marker::Revoked) if is_same && names.iter().any(of) => return Judged::Revoked,
            Some(_) => {}
            None if is_same && names.iter().any(of) => judged = Judged::Known,
            None if !is_same && names.first().is_some_and(of) && matches!(judged, Judged::Unknown) => judged = Judged::Changed(line),
            None => {}
        }
    }
    judged
}

/// Each line that can be read, with its number from 1.
fn entries(text: &str) -> impl Iterator<Item = (usize, Entry)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
    lines.filter_map(|(at, line)| {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        Some((at + 1, line.parse().ok()?))
    })
}

fn is_of(patterns: &HostPatterns, name: &str) -> bool {
    match patterns {
        HostPatterns::HashedName { salt, hash } => {
            let Ok(mut hmac) = Hmac::<Sha1>::new_from_slice(salt) else { return false };
            hmac.update(name.as_bytes());
            hmac.verify_slice(hash).is_ok()
        }
        HostPatterns::Patterns(patterns) => {
            let matches = |pattern: &str| fits(pattern.to_ascii_lowercase().as_bytes(), name.as_bytes());
            let is_excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!')).any(matches);
            !is_excluded && patterns.iter().any(|pattern| matches(pattern))
        }
    }
}

/// `*` is any text, `?` any character.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if fits(rest, name) => true,
        (Some((b'*', _)), Some((_, name))) => fits(pattern, name),
        (Some((one, pattern)), Some((other, name))) if *one == b'?' || one == other => fits(pattern, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    const OTHER: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA6rWI3G2sz07DnfFlrouTcysQlj2P+jpNSOEWD9OJ3X";
    const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=";

    fn key(text: &str) -> PublicKey {
        text.parse().unwrap()
    }

    fn told(text: &str, host: &str, port: u16) -> String {
        match judge(text, host, port, &key(ONE)) {
            Judged::Known => "known".to_owned(),
            Judged::Unknown => "unknown".to_owned(),
            Judged::Revoked => "revoked".to_owned(),
            Judged::Changed(line) => format!("changed at {line}"),
        }
    }

    /// `db.example` at port 2222, as `ssh-keygen -H` writes it.
    fn hashed(name: &str) -> String {
        use base64::Engine as _;
        let base64 = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
        let salt = [7; 20];
        let mut hmac = Hmac::<Sha1>::new_from_slice(&salt).unwrap();
        hmac.update(name.as_bytes());
        format!("|1|{}|{}", base64(&salt), base64(&hmac.finalize().into_bytes()))
    }

    #[test]
    fn a_key_is_judged_by_the_lines_of_its_host() {
        for (text, host, port, expected) in [
            (format!("db.example {ONE}"), "db.example", 22, "known"),
            (format!("DB.example,10.0.0.1\t{ONE} a comment"), "db.EXAMPLE", 22, "known"),
            (format!("db.example {ONE}"), "other.example", 22, "unknown"),
            (format!("# db.example {OTHER}\n\ndb.example {OTHER}"), "db.example", 22, "changed at 3"),
            (format!("db.example {OTHER}\ndb.example {ONE}"), "db.example", 22, "known"),
            (format!("db.example {ECDSA}"), "db.example", 22, "changed at 1"),
            (format!("[db.example]:2222 {ONE}"), "db.example", 2222, "known"),
            (format!("[db.example]:2222 {ONE}"), "db.example", 22, "unknown"),
            (format!("[db.example]:2222 {OTHER}\ndb.example {ONE}"), "db.example", 2222, "known"),
            (format!("db.example {OTHER}"), "db.example", 2222, "unknown"),
            (format!("[::1]:2222 {ONE}"), "::1", 2222, "known"),
            (format!("[::1]:2222 {ONE}"), "[::1]", 2222, "known"),
            (format!("*.example {ONE}"), "db.example", 22, "known"),
            (format!("d?.example {ONE}"), "db.example", 22, "known"),
            (format!("*.example,!db.example {ONE}"), "db.example", 22, "unknown"),
            (format!("{} {ONE}", hashed("db.example")), "db.example", 22, "known"),
            (format!("{} {OTHER}", hashed("[db.example]:2222")), "db.example", 2222, "changed at 1"),
            (format!("{} {ONE}", hashed("db.example")), "other.example", 22, "unknown"),
            (format!("@revoked * {ONE}\ndb.example {ONE}"), "db.example", 22, "revoked"),
            (format!("db.example {ONE}\n@revoked db.example {ONE}"), "db.example", 22, "revoked"),
            (format!("@cert-authority *.example {ONE}"), "db.example", 22, "unknown"),
            ("db.example ssh-ed25519 broken\nnonsense\n\u{0}\n".to_owned(), "db.example", 22, "unknown"),
            (String::new(), "db.example", 22, "unknown"),
        ] {
            assert_eq!(told(&text, host, port), expected, "{text} for {host}:{port}");
        }
    }

    #[test]
    fn what_is_learnt_is_known_and_the_other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (folder.path().join("own"), folder.path().join("other"));
        std::fs::write(&other, format!("db.example {OTHER}")).unwrap();
        let known = KnownHosts::new(own.clone(), vec![other.clone(), folder.path().join("missing")]);
        assert_eq!(known.judge("db.example", 22, &key(ONE)), Verdict::Changed(Some((other.clone(), 1))));
        assert_eq!(known.judge("new.example", 2222, &key(ONE)), Verdict::Unknown);
        known.learn("new.example", 2222, &key(&format!("{ONE} a comment"))).unwrap();
        std::fs::write(&own, std::fs::read_to_string(&own).unwrap().trim_end()).unwrap();
        known.learn("another.example", 22, &key(OTHER)).unwrap();
        assert_eq!(std::fs::read_to_string(&own).unwrap(), format!("[new.example]:2222 {ONE}\nanother.example {OTHER}\n"));
        assert_eq!(known.judge("new.example", 2222, &key(ONE)), Verdict::Known);
        assert_eq!(known.judge("new.example", 2222, &key(OTHER)), Verdict::Changed(Some((own.clone(), 1))));
        assert_eq!(known.kinds("new.example", 2222), [Algorithm::Ed25519]);
        assert_eq!(std::fs::read_to_string(&other).unwrap(), format!("db.example {OTHER}"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
