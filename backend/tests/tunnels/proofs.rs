//! Being let in by an SSH server, and being told why not.

use crate::scripted::{PASSWORD, Scripted, Ways};
use crate::setting::{cluster, connect, key, postgres, refusal, ssh, sshd, tunnels, value};
use backend::engine::Target;
use backend::engine::dial::ssh::Tunnels;
use backend::engine::dial::ssh::known_hosts::KnownHosts;
use shared::problem::ErrorCode;
use shared::wire::connection::{Ssh, SshMethod};
use shared::wire::secrets::{Secret, Secrets};
use std::sync::Arc;
use testing::sshd::{Agent, PASSPHRASE};

fn with(secrets: Secrets) -> (Target, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Target { tunnels: tunnels(folder.path()), ..postgres(ssh(sshd()), secrets) }, folder)
}

fn passphrase(secrets: Secrets, text: &str) -> Secrets {
    Secrets { ssh_passphrase: Some(Secret::new(text)), ..secrets }
}

#[tokio::test]
async fn every_kind_of_key_lets_in() {
    for secrets in [
        key(sshd(), "ed25519"),
        key(sshd(), "ecdsa"),
        key(sshd(), "rsa"),
        passphrase(key(sshd(), "locked"), PASSPHRASE),
        passphrase(key(sshd(), "ed25519"), "not needed"),
    ] {
        let (target, _folder) = with(secrets);
        let mut session = connect(&target).await.unwrap();
        assert_eq!(value(session.as_mut(), "select current_user").await, "postgres");
    }
}

#[tokio::test]
async fn a_key_that_will_not_do_is_told_by_its_field() {
    let text = |text: &str| Secrets { ssh_key: Some(Secret::new(text)), ..Secrets::default() };
    for (secrets, code, field, words) in [
        (Secrets::default(), ErrorCode::PasswordNeeded, "ssh_key", "not known to this server process"),
        (key(sshd(), "locked"), ErrorCode::PasswordNeeded, "ssh_passphrase", "its passphrase is needed"),
        (passphrase(key(sshd(), "locked"), "wr0ng"), ErrorCode::AuthenticationFailed, "ssh_passphrase", "does not open"),
        (key(sshd(), "stranger"), ErrorCode::AuthenticationFailed, "ssh_key", "does not let"),
        (text("-----BEGIN OPENSSH PRIVATE KEY-----\nbroken"), ErrorCode::AuthenticationFailed, "ssh_key", "can't be read"),
        (text("no key at all"), ErrorCode::AuthenticationFailed, "ssh_key", "can't be read"),
    ] {
        let (target, _folder) = with(secrets);
        let told = refusal(&target).await.problem;
        assert_eq!((told.code, told.field.as_deref()), (code, Some(field)), "{told}");
        assert!(told.message.contains(words), "{told}");
    }
}

#[tokio::test]
async fn an_agent_signs_and_one_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Agent::start(&[sshd().folder.join("stranger"), sshd().folder.join("rsa"), sshd().folder.join("ed25519")]);
    let by = |socket: Option<std::path::PathBuf>| {
        let known = KnownHosts::new(folder.path().join("known_hosts"), Vec::new());
        let ssh = Ssh { method: SshMethod::Agent, ..ssh(sshd()) };
        Target { tunnels: Arc::new(Tunnels::new(known, socket)), ..postgres(ssh, Secrets::default()) }
    };
    let mut session = connect(&by(Some(agent.socket.clone()))).await.unwrap();
    assert_eq!(value(session.as_mut(), "select 1").await, "1");
    for (socket, words) in [(None, "SSH_AUTH_SOCK"), (Some(folder.path().join("nobody")), "can't be asked")] {
        let told = refusal(&by(socket)).await.problem;
        assert_eq!((told.code, told.field.as_deref()), (ErrorCode::ConnectFailed, Some("ssh.method")), "{told}");
        assert!(told.message.contains(words), "{told}");
    }
}

#[tokio::test]
async fn a_password_lets_in_directly_and_by_the_keyboard_and_answers_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let tunnels = tunnels(folder.path());
    for (ways, password, words) in [
        (Ways::Password, PASSWORD, None),
        (Ways::Keyboard, PASSWORD, None),
        (Ways::Password, "wr0ng", Some("does not let ann in")),
        (Ways::Keyboard, "wr0ng", Some("does not let ann in")),
        (Ways::KeyboardTwice, PASSWORD, Some("asks for more than a password")),
        (Ways::KeyboardAloud, PASSWORD, Some("asks for more than a password")),
        (Ways::PasswordAndMore, PASSWORD, Some("asks for publickey besides")),
    ] {
        let server = Scripted::start(ways, cluster().port).await;
        let ssh = Ssh {
            host: "127.0.0.1".to_owned(),
            port: Some(server.port),
            user: "ann".to_owned(),
            method: SshMethod::Password,
            jump: None,
            host_key: Some(server.fingerprint.clone()),
        };
        let secrets = Secrets { ssh_password: Some(Secret::new(password)), ..Secrets::default() };
        let target = Target { tunnels: tunnels.clone(), ..postgres(ssh, secrets) };
        match words {
            None => {
                let mut session = connect(&target).await.unwrap();
                assert_eq!(value(session.as_mut(), "select 1").await, "1");
            }
            Some(words) => {
                let told = refusal(&target).await.problem;
                assert_eq!(told.code, ErrorCode::AuthenticationFailed, "{told}");
                assert!(told.message.contains(words), "{ways:?}: {told}");
            }
        }
        assert!(server.heard_no_password_twice(), "{ways:?}");
    }
}
