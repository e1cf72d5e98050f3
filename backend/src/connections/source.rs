//! A FILE or URL of the command line, as a temporary connection.

use super::Temporary;
use super::validate;
use crate::access::secret::SecretHash;
use crate::engine::duckdb;
use crate::engine::sqlite::own;
use shared::ids::ConnectionId;
use shared::wire::connection::{ConnectionFields, EngineKind, Tls, TlsMode};
use shared::wire::secrets::{Secret, Secrets};
use std::path::Path;
use tokio::sync::watch;
use url::Url;

/// What every SQLite file begins with; an empty file is one too.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// Reads one argument, for a server on the data folder `data`; the `Err` is one sentence for the terminal.
pub fn read(argument: &str, data: &Path) -> Result<Temporary, String> {
    let (fields, secrets) = match argument.split_once("://") {
        Some((scheme @ ("postgres" | "postgresql"), _)) => read_server(argument, scheme, EngineKind::Postgres)?,
        Some((scheme @ ("mysql" | "mariadb"), _)) => read_server(argument, scheme, EngineKind::Mysql)?,
        Some((scheme, _)) => {
            return Err(format!("{scheme}:// is not supported yet; a file of SQLite, a postgres:// or a mysql:// URL is."));
        }
        None => (read_file(Path::new(argument), data)?, Secrets::default()),
    };
    validate::check(&fields, &secrets).map_err(|problem| problem.message)?;
    let id = ConnectionId(format!("temporary-{:.16}", SecretHash::of(&identity(&fields)).hex()));
    Ok(Temporary { id, fields, secrets, making: None })
}

/// The sample database, which may still be being made.
pub fn sample(path: &Path, making: watch::Receiver<Option<Result<(), String>>>) -> Temporary {
    let path = Some(path.to_string_lossy().into_owned());
    let fields = ConnectionFields { path, ..ConnectionFields::new("Sample shop", EngineKind::Sqlite) };
    Temporary { id: ConnectionId("sample".to_owned()), fields, secrets: Secrets::default(), making: Some(making) }
}

/// What makes two sources the same; without the secret.
fn identity(fields: &ConnectionFields) -> String {
    format!("{:?} {:?} {:?} {:?} {:?} {:?}", fields.engine, fields.path, fields.host, fields.port, fields.database, fields.user)
}

fn read_file(path: &Path, data: &Path) -> Result<ConnectionFields, String> {
    use std::io::Read as _;
    let shown = path.display();
    let whole = std::fs::canonicalize(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("There is no file {shown}."),
        _ => format!("{shown} can't be opened: {error}."),
    })?;
    if !whole.is_file() {
        return Err(format!("{shown} is not a file."));
    }
    if own::is_of(&whole, &data.join(crate::store::FILE_NAME)) {
        return Err(format!("{shown} is Sheaf's own store; it is not a database to work on."));
    }
    let mut start = Vec::new();
    std::fs::File::open(&whole)
        .and_then(|file| file.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut start))
        .map_err(|error| format!("{shown} can't be read: {error}."))?;
    let engine = match duckdb::Form::of(&whole, &start) {
        _ if start == SQLITE_MAGIC => EngineKind::Sqlite,
        Some(_) => EngineKind::Duckdb,
        None if start.is_empty() => EngineKind::Sqlite,
        None => return Err(format!("{shown} is no database that Sheaf knows: not SQLite, DuckDB, Parquet, CSV, JSON or Arrow.")),
    };
    let text = whole.to_str().ok_or_else(|| format!("The path {shown} is not in UTF-8."))?;
    let name = whole.file_name().and_then(|name| name.to_str()).unwrap_or("database");
    Ok(ConnectionFields { path: Some(text.to_owned()), ..ConnectionFields::new(name, engine) })
}

fn read_server(argument: &str, scheme: &str, engine: EngineKind) -> Result<(ConnectionFields, Secrets), String> {
    // The argument itself is never shown: it may have a password in it.
    let url = Url::parse(argument).map_err(|error| format!("The {scheme}:// URL can't be read: {error}."))?;
    let part = |text: &str| decode(text).ok_or_else(|| format!("The {scheme}:// URL has a part that is not in UTF-8."));
    let host = match url.host_str() {
        None | Some("") => "localhost".to_owned(),
        Some(host) => part(host.trim_start_matches('[').trim_end_matches(']'))?,
    };
    let database = part(url.path().trim_start_matches('/'))?;
    let user = part(url.username())?;
    let password = url.password().map(part).transpose()?;
    let mut tls = None;
    for (name, value) in url.query_pairs() {
        match (name.as_ref(), value.as_ref()) {
            ("sslmode", mode) => tls = read_tls(mode)?,
            ("ssl-mode", mode) if engine == EngineKind::Mysql => tls = read_mysql_tls(mode)?,
            (other, _) => return Err(format!("The {scheme}:// URL has a setting `{other}` that Sheaf does not know.")),
        }
    }
    let name = if database.is_empty() { host.clone() } else { format!("{database} on {host}") };
    let fields = ConnectionFields {
        host: Some(host),
        port: url.port(),
        database: Some(database).filter(|text| !text.is_empty()),
        user: Some(user).filter(|text| !text.is_empty()),
        tls,
        ..ConnectionFields::new(name, engine)
    };
    Ok((fields, Secrets { password: password.map(Secret::new), ..Secrets::default() }))
}

fn read_tls(mode: &str) -> Result<Option<Tls>, String> {
    let mode = match mode {
        "disable" => TlsMode::Off,
        "require" => TlsMode::Encrypt,
        "verify-ca" => TlsMode::VerifyAuthority,
        "verify-full" => TlsMode::VerifyName,
        _ => return Err("The setting `sslmode` may be disable, require, verify-ca or verify-full.".to_owned()),
    };
    Ok(Some(Tls::new(mode)))
}

/// By the words of MySQL's own client.
fn read_mysql_tls(mode: &str) -> Result<Option<Tls>, String> {
    match mode {
        "DISABLED" => read_tls("disable"),
        "REQUIRED" => read_tls("require"),
        "VERIFY_CA" => read_tls("verify-ca"),
        "VERIFY_IDENTITY" => read_tls("verify-full"),
        _ => Err("The setting `ssl-mode` may be DISABLED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY.".to_owned()),
    }
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str) -> Result<Temporary, String> {
        super::read(argument, Path::new("/no/data"))
    }

    #[test]
    fn a_postgres_url_becomes_fields() {
        let read = read("postgres://ann:p%40ss%2F@db.example:5433/sh%20op?sslmode=verify-full").unwrap();
        assert_eq!(read.secrets.password, Some(Secret::new("p@ss/")));
        let fields = read.fields;
        assert_eq!((fields.host.as_deref(), fields.port), (Some("db.example"), Some(5433)));
        assert_eq!((fields.database.as_deref(), fields.user.as_deref()), (Some("sh op"), Some("ann")));
        assert_eq!(fields.tls.unwrap().mode, TlsMode::VerifyName);
        assert_eq!(fields.name, "sh op on db.example");
    }

    #[test]
    fn sockets_and_addresses_are_hosts_too() {
        assert_eq!(read("postgres://%2Fvar%2Frun/db").unwrap().fields.host.as_deref(), Some("/var/run"));
        assert_eq!(read("postgres://[::1]:5432/db").unwrap().fields.host.as_deref(), Some("::1"));
        assert_eq!(read("postgres:///db").unwrap().fields.host.as_deref(), Some("localhost"));
    }

    #[test]
    fn what_is_not_understood_is_told_and_never_with_the_password() {
        for (argument, word) in [
            ("postgres://u:secret@h/db?application_name=x", "application_name"),
            ("postgres://u:secret@h/db?sslmode=maybe", "sslmode"),
            ("postgres://u:secret@h:99999/db", "port"),
            ("oracle://u:secret@h/db", "oracle://"),
            ("/no/such/file.sqlite", "/no/such/file.sqlite"),
            ("/", "not a file"),
        ] {
            let told = read(argument).unwrap_err();
            assert!(told.contains(word) && !told.contains("secret"), "{argument}: {told}");
        }
    }

    #[test]
    fn a_file_is_what_it_begins_with_or_else_what_its_name_says() {
        let folder = tempfile::tempdir().unwrap();
        for (name, start, engine) in [
            ("a.csv", SQLITE_MAGIC, EngineKind::Sqlite),
            ("empty", b"", EngineKind::Sqlite),
            ("a.db", b"12345678DUCK\0\0\0\0", EngineKind::Duckdb),
            ("trips.parquet", b"PAR1", EngineKind::Duckdb),
            ("trips.ndjson", b"{}", EngineKind::Duckdb),
            ("trips.arrow", b"ARROW1\0\0", EngineKind::Duckdb),
            ("trips.arrows", b"\xff\xff\xff\xff", EngineKind::Duckdb),
            ("trips.feather", b"ARROW1\0\0", EngineKind::Duckdb),
            ("trips", b"ARROW1\0\0", EngineKind::Duckdb),
        ] {
            let file = folder.path().join(name);
            std::fs::write(&file, start).unwrap();
            assert_eq!(read(file.to_str().unwrap()).unwrap().fields.engine, engine, "{name}");
        }
    }

    #[test]
    fn a_file_that_is_no_database_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        std::fs::write(&file, "not a database, just some notes").unwrap();
        assert!(read(file.to_str().unwrap()).unwrap_err().contains("is no database that Sheaf knows"));
    }

    #[test]
    fn the_store_of_the_data_folder_is_told_by_every_name() {
        let data = tempfile::tempdir().unwrap();
        let at = |name: &str| data.path().join(name);
        std::fs::write(at("sheaf.sqlite"), SQLITE_MAGIC).unwrap();
        std::fs::write(at("sheaf.sqlite-wal"), "").unwrap();
        std::fs::hard_link(at("sheaf.sqlite"), at("hard.sqlite")).unwrap();
        std::fs::copy(at("sheaf.sqlite"), at("copy.sqlite")).unwrap();
        std::fs::create_dir(at("inner")).unwrap();
        for name in ["sheaf.sqlite", "sheaf.sqlite-wal", "hard.sqlite", "inner/../sheaf.sqlite"] {
            let path = at(name).display().to_string();
            let told = super::read(&path, data.path()).unwrap_err();
            assert_eq!(told, format!("{path} is Sheaf's own store; it is not a database to work on."));
            assert!(super::read(&path, &at("inner")).is_ok(), "the store of another data folder is a file like any other");
        }
        assert!(super::read(at("copy.sqlite").to_str().unwrap(), data.path()).is_ok());
    }

    #[test]
    fn the_same_file_is_the_same_connection_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.sqlite");
        std::fs::write(&file, "").unwrap();
        let (one, again) = (read(file.to_str().unwrap()).unwrap(), read(file.to_str().unwrap()).unwrap());
        assert_eq!(one.id, again.id);
        assert_eq!(one.fields.name, "shop.sqlite");
    }
}
