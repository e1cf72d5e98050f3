//! A server is who it was before, or nothing is told to it.

use crate::setting::{connect, key, postgres, refusal, ssh, sshd, tunnels, value};
use backend::engine::Target;
use shared::problem::ErrorCode;
use shared::wire::connection::Ssh;
use std::path::Path;
use std::process::Command;

fn from(folder: &Path, host_key: Option<String>) -> Target {
    let ssh = Ssh { host_key, ..ssh(sshd()) };
    Target { tunnels: tunnels(folder), ..postgres(ssh, key(sshd(), "ed25519")) }
}

/// A line for the server at its port.
fn line(host_key: &str) -> String {
    format!("[127.0.0.1]:{} {host_key}\n", sshd().port)
}

/// A key that is not the server's.
fn another_key() -> String {
    std::fs::read_to_string(sshd().folder.join("stranger.pub")).unwrap().trim().to_owned()
}

#[tokio::test]
async fn an_unknown_key_is_shown_trusted_once_and_known_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let told = refusal(&from(folder.path(), None)).await.problem;
    assert_eq!((told.code, told.field.as_deref()), (ErrorCode::UnknownHostKey, Some("ssh.host")), "{told}");
    let shown = told.host_key.unwrap();
    assert_eq!((shown.host.as_str(), shown.port, shown.jump), ("127.0.0.1", sshd().port, false));
    assert_eq!((shown.algorithm.as_str(), shown.fingerprint.as_str()), ("ssh-ed25519", sshd().fingerprint().as_str()));
    let own = folder.path().join("known_hosts");
    assert!(!own.exists(), "nothing is learnt by looking");

    let mut session = connect(&from(folder.path(), Some(shown.fingerprint))).await.unwrap();
    assert_eq!(value(session.as_mut(), "select 1").await, "1");
    let learnt = std::fs::read_to_string(&own).unwrap();
    assert!(sshd().host_key().starts_with(learnt.trim().split_once(' ').unwrap().1), "{learnt}");
    connect(&from(folder.path(), None)).await.unwrap();
    assert_eq!(std::fs::read_to_string(&own).unwrap(), learnt, "once");
}

#[tokio::test]
async fn a_person_s_own_file_knows_hosts_plain_and_hashed_and_is_never_written() {
    for hashed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let persons = folder.path().join("the_persons");
        std::fs::write(&persons, line(&sshd().host_key())).unwrap();
        if hashed {
            assert!(Command::new("ssh-keygen").arg("-qHf").arg(&persons).status().unwrap().success());
            assert!(std::fs::read_to_string(&persons).unwrap().starts_with("|1|"));
        }
        let before = std::fs::read(&persons).unwrap();
        connect(&from(folder.path(), None)).await.unwrap();
        assert_eq!(std::fs::read(&persons).unwrap(), before);
        assert!(!folder.path().join("known_hosts").exists());
    }
}

#[tokio::test]
async fn a_changed_key_is_refused_loudly_and_never_offered() {
    for (file, text) in [
        ("known_hosts", line(&another_key())),
        ("the_persons", line(&another_key())),
        ("the_persons", format!("@revoked * {}\n{}", sshd().host_key(), line(&sshd().host_key()))),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(file), &text).unwrap();
        // Also where the connection trusts what is shown: a file that knows better wins.
        for trusted in [None, Some(sshd().fingerprint())] {
            let told = refusal(&from(folder.path(), trusted)).await.problem;
            assert_eq!((told.code, told.host_key), (ErrorCode::ChangedHostKey, None), "{}", told.message);
            assert!(told.message.contains("Somebody may be listening in between"), "{}", told.message);
            assert!(text.contains("@revoked") || told.message.contains(file), "{}", told.message);
        }
        assert_eq!(std::fs::read_to_string(folder.path().join(file)).unwrap(), text);
    }
    let folder = tempfile::tempdir().unwrap();
    let told = refusal(&from(folder.path(), Some("SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned()))).await.problem;
    assert_eq!((told.code, told.host_key), (ErrorCode::ChangedHostKey, None), "{}", told.message);
}
