//! Whether fields make a connection. Each refusal is one sentence that names the field.
//!
//! Invariant: pure; nothing is opened or looked up here.

mod ways;

use crate::engine::dial::tls::identity;
use shared::problem::{ErrorCode, Problem};
use shared::wire::connection::{ConnectionFields, EngineKind, TlsMode};
use shared::wire::secrets::Secrets;

const NAME_CHARS_MAX: usize = 200;
const TEXT_BYTES_MAX: usize = 1_024;
const PATH_BYTES_MAX: usize = 4_096;
const CERTIFICATE_BYTES_MAX: usize = 64 * 1024;

/// Checks every field against the engine.
pub fn check(fields: &ConnectionFields, secrets: &Secrets) -> Result<(), Problem> {
    check_name(&fields.name)?;
    if fields.color.is_some_and(|color| color > 7) {
        return refuse("color", "The field `color` must be a whole number from 0 to 7.");
    }
    match fields.engine {
        EngineKind::Postgres => check_server(fields, secrets, "PostgreSQL"),
        EngineKind::Mysql => check_server(fields, secrets, "MySQL"),
        EngineKind::Sqlite => check_file(fields, secrets, "SQLite"),
        EngineKind::Duckdb => check_file(fields, secrets, "DuckDB"),
    }
}

fn check_name(name: &str) -> Result<(), Problem> {
    if name.trim().is_empty() {
        return refuse("name", "The connection needs a name.");
    }
    if name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        return refuse("name", format!("The field `name` may have {NAME_CHARS_MAX} characters, none of them a control character."));
    }
    Ok(())
}

fn check_file(fields: &ConnectionFields, secrets: &Secrets, engine: &str) -> Result<(), Problem> {
    let foreign = [
        ("host", fields.host.is_some()),
        ("port", fields.port.is_some()),
        ("database", fields.database.is_some()),
        ("user", fields.user.is_some()),
        ("tls", fields.tls.is_some()),
        ("ssh", fields.ssh.is_some()),
    ];
    let secret = || secrets.held().first().map(|kind| kind.name());
    if let Some(name) = foreign.iter().find(|(_, given)| *given).map(|(name, _)| *name).or_else(secret) {
        return refuse(name, format!("A {engine} connection has no field `{name}`: it is a file."));
    }
    match fields.path.as_deref() {
        None | Some("") => refuse("path", format!("A {engine} connection needs the path of its file.")),
        Some(path) if path.len() > PATH_BYTES_MAX || path.contains('\0') => refuse("path", "The field `path` is not the path of a file."),
        Some(path) if !std::path::Path::new(path).is_absolute() => {
            refuse("path", "The field `path` must be the whole path of the file, from the root of the file system.")
        }
        Some(_) => Ok(()),
    }
}

fn check_server(fields: &ConnectionFields, secrets: &Secrets, system: &str) -> Result<(), Problem> {
    if fields.path.is_some() {
        return refuse("path", format!("A {system} connection has no field `path`: it is a server."));
    }
    match fields.host.as_deref() {
        None => return refuse("host", format!("A {system} connection needs a host.")),
        Some(host) if host.trim().is_empty() => return refuse("host", format!("A {system} connection needs a host.")),
        Some(host) if host.contains("://") => return refuse("host", "The field `host` is a host name or an address, not a URL."),
        Some(host) if host.len() > TEXT_BYTES_MAX || host.chars().any(|c| c.is_whitespace() || c.is_control()) => {
            return refuse("host", "The field `host` must be one host name or address, without spaces.");
        }
        Some(_) => {}
    }
    if fields.port == Some(0) {
        return refuse("port", "The field `port` must be a whole number from 1 to 65535.");
    }
    for (name, value) in [("database", &fields.database), ("user", &fields.user)] {
        if value.as_ref().is_some_and(|text| text.len() > TEXT_BYTES_MAX || text.contains('\0')) {
            return refuse(name, format!("The field `{name}` is too long or has a null character."));
        }
    }
    check_tls(fields, secrets)?;
    ways::check(fields, secrets)
}

fn check_tls(fields: &ConnectionFields, secrets: &Secrets) -> Result<(), Problem> {
    let certificate = fields.tls.as_ref().and_then(|tls| tls.certificate.as_deref());
    if secrets.tls_key.is_some() && certificate.is_none() {
        return refuse("tls_key", "The field `tls_key` needs `tls.certificate`, the certificate that the key belongs to.");
    }
    let Some(tls) = &fields.tls else { return Ok(()) };
    if let Some(ca) = &tls.ca {
        if !matches!(tls.mode, TlsMode::VerifyName | TlsMode::VerifyAuthority) {
            return refuse("tls.ca", "The field `tls.ca` needs a `tls.mode` that verifies: verify-name or verify-authority.");
        }
        if ca.len() > CERTIFICATE_BYTES_MAX || !ca.contains("-----BEGIN CERTIFICATE-----") {
            return refuse("tls.ca", "The field `tls.ca` must be the text of a certificate (PEM).");
        }
    }
    let Some(certificate) = certificate else { return Ok(()) };
    if tls.mode == TlsMode::Off {
        return refuse("tls.certificate", "The field `tls.certificate` needs a `tls.mode` that encrypts.");
    }
    if certificate.len() > CERTIFICATE_BYTES_MAX {
        return refuse("tls.certificate", "The field `tls.certificate` is too long for a certificate.");
    }
    identity::check(certificate, secrets.tls_key.as_ref()).map_err(|fault| {
        let field = fault.field();
        Problem::new(ErrorCode::InvalidRequest, fault.to_string()).about(field)
    })
}

fn refuse(field: &str, message: impl Into<String>) -> Result<(), Problem> {
    Err(Problem::new(ErrorCode::InvalidRequest, message).about(field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::wire::connection::Tls;
    use shared::wire::secrets::{Secret, SecretKind};

    fn sqlite() -> ConnectionFields {
        ConnectionFields { path: Some("/data/shop.sqlite".to_owned()), ..ConnectionFields::new("shop", EngineKind::Sqlite) }
    }

    fn postgres() -> ConnectionFields {
        ConnectionFields { engine: EngineKind::Postgres, path: None, host: Some("db.example".to_owned()), ..sqlite() }
    }

    fn verdict(fields: ConnectionFields) -> Result<(), String> {
        check(&fields, &Secrets::default()).map_err(|problem| problem.message)
    }

    #[test]
    fn usual_connections_are_taken() {
        assert_eq!(verdict(sqlite()), Ok(()));
        assert_eq!(verdict(postgres()), Ok(()));
        assert_eq!(verdict(ConnectionFields { host: Some("/var/run/postgresql".to_owned()), ..postgres() }), Ok(()));
        assert_eq!(verdict(ConnectionFields { host: Some("::1".to_owned()), port: Some(65_535), ..postgres() }), Ok(()));
    }

    #[test]
    fn each_fault_is_told_by_its_field() {
        let text = |text: &str| Some(text.to_owned());
        let tls = |mode, ca: &str| Some(Tls { ca: Some(ca.to_owned()), ..Tls::new(mode) });
        let certificate = |mode, text: &str| Some(Tls { certificate: Some(text.to_owned()), ..Tls::new(mode) });
        let table: Vec<(ConnectionFields, &str)> = vec![
            (ConnectionFields { name: "  ".to_owned(), ..sqlite() }, "name"),
            (ConnectionFields { name: "a\nb".to_owned(), ..sqlite() }, "`name`"),
            (ConnectionFields { name: "n".repeat(201), ..sqlite() }, "`name`"),
            (ConnectionFields { color: Some(8), ..sqlite() }, "`color`"),
            (ConnectionFields { path: None, ..sqlite() }, "path"),
            (ConnectionFields { path: text(""), ..sqlite() }, "path"),
            (ConnectionFields { path: text("shop.sqlite"), ..sqlite() }, "`path`"),
            (ConnectionFields { path: text("/a\0b"), ..sqlite() }, "`path`"),
            (ConnectionFields { host: text("h"), ..sqlite() }, "`host`"),
            (ConnectionFields { port: Some(1), ..sqlite() }, "`port`"),
            (ConnectionFields { path: text("/a"), ..postgres() }, "`path`"),
            (ConnectionFields { host: None, ..postgres() }, "host"),
            (ConnectionFields { host: text(" "), ..postgres() }, "host"),
            (ConnectionFields { host: text("a b"), ..postgres() }, "`host`"),
            (ConnectionFields { host: text("postgres://h"), ..postgres() }, "`host`"),
            (ConnectionFields { port: Some(0), ..postgres() }, "`port`"),
            (ConnectionFields { user: text("a\0"), ..postgres() }, "`user`"),
            (ConnectionFields { tls: tls(TlsMode::Encrypt, "-----BEGIN CERTIFICATE-----"), ..postgres() }, "`tls.ca`"),
            (ConnectionFields { tls: tls(TlsMode::VerifyName, "no certificate"), ..postgres() }, "`tls.ca`"),
            (ConnectionFields { tls: certificate(TlsMode::Off, "-----BEGIN CERTIFICATE-----"), ..postgres() }, "`tls.certificate`"),
            (ConnectionFields { tls: certificate(TlsMode::Encrypt, "no certificate"), ..postgres() }, "client certificate"),
        ];
        for (fields, word) in table {
            let told = verdict(fields.clone()).unwrap_err();
            assert!(told.contains(word), "{fields:?}: {told}");
        }
        for kind in SecretKind::ALL {
            let mut secrets = Secrets::default();
            secrets.set(kind, Some(Secret::new("s")));
            let told = check(&sqlite(), &secrets).unwrap_err();
            assert_eq!(told.field.as_deref(), Some(kind.name()));
            assert!(told.message.contains(&format!("`{}`", kind.name())), "{told}");
        }
        let key = Secrets { tls_key: Some(Secret::new("s")), ..Secrets::default() };
        assert!(check(&postgres(), &key).unwrap_err().message.contains("`tls.certificate`"));
    }
}
