//! The fields of a connection as a person types them, and what they amount to. Pure but for the signals it is read from.

use shared::wire::connection::{Connection, ConnectionFields, ConnectionInput, EngineKind, Tls, TlsMode};
use shared::wire::secrets::{Secret, Secrets};

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Name.
    pub name: String,
    /// Engine.
    pub engine: EngineKind,
    /// File of an embedded engine.
    pub path: String,
    /// Host.
    pub host: String,
    /// Port.
    pub port: String,
    /// Database.
    pub database: String,
    /// User.
    pub user: String,
    /// Password; empty means none, or the one that is held.
    pub password: String,
    /// TLS.
    pub tls: TlsMode,
    /// PEM text of an authority.
    pub ca: String,
    /// PEM text of the client's own certificate.
    pub certificate: String,
    /// PEM text of its key; empty means none, or the one that is held.
    pub tls_key: String,
    /// Only reading.
    pub read_only: bool,
    /// Colour.
    pub color: Option<u8>,
}

/// A field and what is wrong with it.
pub type Fault = (&'static str, &'static str);

impl Draft {
    /// Nothing typed yet.
    pub fn new() -> Self {
        Self {
            name: String::new(),
            engine: EngineKind::Sqlite,
            path: String::new(),
            host: "localhost".to_owned(),
            port: usual_port(EngineKind::Postgres).to_owned(),
            database: "postgres".to_owned(),
            user: "postgres".to_owned(),
            password: String::new(),
            tls: TlsMode::Off,
            ca: String::new(),
            certificate: String::new(),
            tls_key: String::new(),
            read_only: false,
            color: None,
        }
    }

    /// A saved connection's.
    pub fn of(connection: &Connection) -> Self {
        let fields = connection.fields.clone();
        let tls = fields.tls.unwrap_or_default();
        Self {
            name: fields.name,
            engine: fields.engine,
            path: fields.path.unwrap_or_default(),
            host: fields.host.unwrap_or_default(),
            port: fields.port.map(|port| port.to_string()).unwrap_or_default(),
            database: fields.database.unwrap_or_default(),
            user: fields.user.unwrap_or_default(),
            password: String::new(),
            tls: tls.mode,
            ca: tls.ca.unwrap_or_default(),
            certificate: tls.certificate.unwrap_or_default(),
            tls_key: String::new(),
            read_only: fields.read_only,
            color: fields.color,
        }
    }

    /// What is missing or wrong, field by field.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.name.trim().is_empty() {
            faults.push(("name", "A name is needed"));
        }
        match self.engine {
            EngineKind::Sqlite | EngineKind::Duckdb if self.path.trim().is_empty() => {
                faults.push(("path", "The path of a database file is needed"))
            }
            EngineKind::Sqlite | EngineKind::Duckdb if !is_whole(self.path.trim()) => {
                faults.push(("path", "The whole path is needed, from the root: /home/me/shop.sqlite"));
            }
            EngineKind::Postgres | EngineKind::Mysql => {
                if self.host.trim().is_empty() {
                    faults.push(("host", "A host name or address is needed"));
                }
                if !self.port.trim().is_empty() && !self.port.trim().parse::<u16>().is_ok_and(|port| port > 0) {
                    faults.push(("port", "A number from 1 to 65535"));
                }
            }
            EngineKind::Sqlite | EngineKind::Duckdb => {}
        }
        faults
    }

    /// What is sent.
    pub fn input(&self) -> ConnectionInput {
        let text = |value: &str| Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        let network = !matches!(self.engine, EngineKind::Sqlite | EngineKind::Duckdb);
        let over = |value: Option<String>| value.filter(|_| network);
        let secret = |value: &str| Some(value).filter(|value| network && !value.is_empty()).map(Secret::new);
        let verifies = matches!(self.tls, TlsMode::VerifyName | TlsMode::VerifyAuthority);
        let certificate = text(&self.certificate).filter(|_| self.tls != TlsMode::Off);
        let tls_key = secret(&self.tls_key).filter(|_| network && certificate.is_some());
        let tls = Tls { mode: self.tls, ca: text(&self.ca).filter(|_| verifies), certificate };
        ConnectionInput {
            fields: ConnectionFields {
                name: self.name.trim().to_owned(),
                engine: self.engine,
                path: text(&self.path).filter(|_| !network),
                host: over(text(&self.host)),
                port: self.port.trim().parse().ok().filter(|_| network),
                database: over(text(&self.database)),
                user: over(text(&self.user)),
                tls: (network && self.tls != TlsMode::Off).then_some(tls),
                read_only: self.read_only,
                color: self.color,
            },
            secrets: Secrets { password: secret(&self.password), tls_key },
        }
    }

    /// Makes a change; a name that came from the other fields follows them.
    pub fn change(&mut self, act: impl FnOnce(&mut Self)) {
        let (before, suggested) = (self.name.clone(), self.suggested_name());
        act(self);
        if !before.is_empty() && before == suggested && self.name == before {
            self.name = self.suggested_name();
        }
    }

    /// Takes another engine; a port that was the usual one stays the usual one.
    pub fn choose(&mut self, engine: EngineKind) {
        if [EngineKind::Postgres, EngineKind::Mysql].map(usual_port).contains(&self.port.trim()) && engine != EngineKind::Sqlite {
            self.port = usual_port(engine).to_owned();
        }
        self.engine = engine;
    }

    /// A name from the other fields, for one that was not typed.
    pub fn suggested_name(&self) -> String {
        match self.engine {
            EngineKind::Sqlite | EngineKind::Duckdb => self.path.rsplit(['/', '\\']).next().unwrap_or("").to_owned(),
            EngineKind::Postgres | EngineKind::Mysql if self.database.trim().is_empty() => self.host.trim().to_owned(),
            EngineKind::Postgres | EngineKind::Mysql => format!("{} on {}", self.database.trim(), self.host.trim()),
        }
    }
}

/// A path from the root, as Unix or Windows writes it: the server may run on either.
fn is_whole(path: &str) -> bool {
    let drive = path.as_bytes();
    path.starts_with('/') || path.starts_with("\\\\") || matches!(drive, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// The port a server of this engine usually listens at.
fn usual_port(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Sqlite | EngineKind::Duckdb => "",
        EngineKind::Postgres => "5432",
        EngineKind::Mysql => "3306",
    }
}

impl Default for Draft {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fields_of_the_engine_are_sent() {
        let draft = Draft { name: " Shop ".to_owned(), path: "/data/shop.sqlite".to_owned(), password: "x".to_owned(), ..Draft::new() };
        let input = draft.input();
        assert_eq!((input.fields.name.as_str(), input.fields.host, input.fields.port, input.secrets.password), ("Shop", None, None, None));
        let input = Draft { engine: EngineKind::Postgres, ..draft }.input();
        assert_eq!((input.fields.path, input.fields.port, input.secrets.password), (None, Some(5432), Some(Secret::new("x"))));
    }

    #[test]
    fn a_suggested_name_follows_and_a_typed_one_stays() {
        let mut draft = Draft { name: "a.sqlite".to_owned(), path: "/data/a.sqlite".to_owned(), ..Draft::new() };
        draft.change(|draft| draft.path = "/data/b.sqlite".to_owned());
        assert_eq!(draft.name, "b.sqlite");
        draft.change(|draft| draft.name = "Shop".to_owned());
        draft.change(|draft| draft.path = "/data/c.sqlite".to_owned());
        assert_eq!(draft.name, "Shop");
    }

    #[test]
    fn a_file_is_named_by_its_whole_path() {
        let fault = |path: &str| Draft { name: "n".to_owned(), path: path.to_owned(), ..Draft::new() }.faults();
        assert!(["/data/shop.sqlite", "C:\\data\\shop.sqlite", "\\\\host\\shop.sqlite"].iter().all(|path| fault(path).is_empty()));
        let faulty = |path: &&str| fault(path).iter().any(|(field, _)| *field == "path");
        assert!(["shop.sqlite", "./shop.sqlite", "~/shop.sqlite", "C:shop.sqlite", ""].iter().all(faulty));
    }

    #[test]
    fn each_fault_names_its_field() {
        let fields = |draft: Draft| draft.faults().into_iter().map(|(field, _)| field).collect::<Vec<_>>();
        assert_eq!(fields(Draft::new()), ["name", "path"]);
        let network =
            Draft { name: "n".to_owned(), engine: EngineKind::Postgres, host: String::new(), port: "70000".to_owned(), ..Draft::new() };
        assert_eq!(fields(network), ["host", "port"]);
    }
}
