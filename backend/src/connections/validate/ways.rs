//! The way through SSH.

use super::{TEXT_BYTES_MAX, refuse};
use crate::engine::dial::ssh;
use shared::problem::Problem;
use shared::wire::connection::{ConnectionFields, SshMethod};
use shared::wire::secrets::{SecretKind, Secrets};

const KEY_BYTES_MAX: usize = 32 * 1024;

/// Checks the servers, and the secrets that are for them.
pub fn check(fields: &ConnectionFields, secrets: &Secrets) -> Result<(), Problem> {
    let method = fields.ssh.as_ref().map(|ssh| ssh.method);
    for kind in [SecretKind::SshPassword, SecretKind::SshKey, SecretKind::SshPassphrase] {
        if secrets.get(kind).is_some() && !method.is_some_and(|method| ssh::is_for(kind, method)) {
            let wanted = if kind == SecretKind::SshPassword { SshMethod::Password } else { SshMethod::Key };
            let name = format!("{wanted:?}").to_ascii_lowercase();
            return refuse(kind.name(), format!("The field `{}` needs `ssh.method` to be {name}.", kind.name()));
        }
    }
    let Some(ssh) = &fields.ssh else { return Ok(()) };
    if fields.host.as_deref().is_some_and(|host| host.starts_with('/')) {
        return refuse("host", "A Unix socket can't be reached through SSH: the field `host` must be a host name or an address.");
    }
    check_server("ssh", &ssh.host, ssh.port, &ssh.user, ssh.host_key.as_deref())?;
    if let Some(jump) = &ssh.jump {
        check_server("ssh.jump", &jump.host, jump.port, &jump.user, jump.host_key.as_deref())?;
    }
    match &secrets.ssh_key {
        Some(key) if key.reveal().len() > KEY_BYTES_MAX || !ssh::is_key(key) => {
            refuse("ssh_key", "The field `ssh_key` must be the text of a private key, as ssh-keygen writes it.")
        }
        _ => Ok(()),
    }
}

fn check_server(of: &str, host: &str, port: Option<u16>, user: &str, host_key: Option<&str>) -> Result<(), Problem> {
    let at = |name: &str| format!("{of}.{name}");
    let is_plain = |text: &str| text.len() <= TEXT_BYTES_MAX && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if host.is_empty() || !is_plain(host) || host.contains("://") || host.starts_with('/') {
        return refuse(&at("host"), format!("The field `{}` must be one host name or address.", at("host")));
    }
    if port == Some(0) {
        return refuse(&at("port"), format!("The field `{}` must be a whole number from 1 to 65535.", at("port")));
    }
    if user.is_empty() || user.len() > TEXT_BYTES_MAX || user.chars().any(char::is_control) {
        return refuse(&at("user"), format!("The field `{}` must be a user's name on that server.", at("user")));
    }
    match host_key {
        Some(key) if !key.starts_with("SHA256:") || key.len() > 64 || !is_plain(key) => {
            refuse(&at("host_key"), format!("The field `{}` must be a fingerprint, as ssh-keygen prints it: SHA256:….", at("host_key")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::wire::connection::{EngineKind, Ssh, SshJump};
    use shared::wire::secrets::Secret;

    fn ssh() -> Ssh {
        Ssh { host: "bastion.example".to_owned(), port: None, user: "ann".to_owned(), method: SshMethod::Key, jump: None, host_key: None }
    }

    fn verdict(ssh: Ssh, secrets: &Secrets) -> Result<(), String> {
        let fields = ConnectionFields { host: Some("db".to_owned()), ssh: Some(ssh), ..ConnectionFields::new("n", EngineKind::Postgres) };
        check(&fields, secrets).map_err(|problem| problem.field.unwrap_or_default())
    }

    #[test]
    fn each_fault_is_told_by_its_field() {
        let none = Secrets::default();
        assert_eq!(verdict(ssh(), &none), Ok(()));
        let jump = |host: &str| Some(SshJump { host: host.to_owned(), port: Some(22), user: "u".to_owned(), host_key: None });
        assert_eq!(verdict(Ssh { jump: jump("j"), host_key: Some("SHA256:abc".to_owned()), ..ssh() }, &none), Ok(()));
        for (ssh, field) in [
            (Ssh { host: String::new(), ..ssh() }, "ssh.host"),
            (Ssh { host: "a b".to_owned(), ..ssh() }, "ssh.host"),
            (Ssh { host: "ssh://h".to_owned(), ..ssh() }, "ssh.host"),
            (Ssh { host: "/socket".to_owned(), ..ssh() }, "ssh.host"),
            (Ssh { port: Some(0), ..ssh() }, "ssh.port"),
            (Ssh { user: String::new(), ..ssh() }, "ssh.user"),
            (Ssh { host_key: Some("MD5:aa".to_owned()), ..ssh() }, "ssh.host_key"),
            (Ssh { jump: jump(""), ..ssh() }, "ssh.jump.host"),
        ] {
            assert_eq!(verdict(ssh.clone(), &none), Err(field.to_owned()), "{ssh:?}");
        }
        let key = |text: &str| Secrets { ssh_key: Some(Secret::new(text)), ..Secrets::default() };
        assert_eq!(verdict(ssh(), &key("-----BEGIN OPENSSH PRIVATE KEY-----")), Ok(()));
        assert_eq!(verdict(ssh(), &key("no key")), Err("ssh_key".to_owned()));
        assert_eq!(
            verdict(Ssh { method: SshMethod::Agent, ..ssh() }, &key("-----BEGIN OPENSSH PRIVATE KEY-----")),
            Err("ssh_key".to_owned())
        );
        let password = Secrets { ssh_password: Some(Secret::new("p")), ..Secrets::default() };
        assert_eq!(verdict(ssh(), &password), Err("ssh_password".to_owned()));
        assert_eq!(verdict(Ssh { method: SshMethod::Password, ..ssh() }, &password), Ok(()));
        let fields =
            ConnectionFields { host: Some("/run".to_owned()), ssh: Some(ssh()), ..ConnectionFields::new("n", EngineKind::Postgres) };
        assert_eq!(check(&fields, &none).unwrap_err().field.as_deref(), Some("host"));
    }
}
