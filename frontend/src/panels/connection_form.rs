//! The fields of a connection as a person types them, and what they amount to. Pure but for the signals it is read from.

use shared::wire::connection::{Connection, ConnectionFields, ConnectionInput, EngineKind, Ssh, SshJump, SshMethod, Tls, TlsMode};
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
    /// Through an SSH server.
    pub tunnel: bool,
    /// The SSH server.
    pub ssh: Server,
    /// Through another one before.
    pub through_jump: bool,
    /// The SSH server before.
    pub jump: Server,
    /// How to sign in to both.
    pub method: SshMethod,
    /// SSH password; empty means none, or the one that is held.
    pub ssh_password: String,
    /// Text of the SSH key, likewise.
    pub ssh_key: String,
    /// Its passphrase, likewise.
    pub ssh_passphrase: String,
    /// Only reading.
    pub read_only: bool,
    /// Colour.
    pub color: Option<u8>,
}

/// An SSH server, as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Host.
    pub host: String,
    /// Port.
    pub port: String,
    /// User.
    pub user: String,
    /// The fingerprint of its key, once a person trusts it.
    pub trusted: Option<String>,
}

/// A field, by its name on the wire, and what is wrong with it.
pub type Fault = (&'static str, &'static str);

const PORT_FAULT: &str = "A number from 1 to 65535";

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
            tunnel: false,
            ssh: Server::new(),
            through_jump: false,
            jump: Server::new(),
            method: SshMethod::Key,
            ssh_password: String::new(),
            ssh_key: String::new(),
            ssh_passphrase: String::new(),
            read_only: false,
            color: None,
        }
    }

    /// A saved connection's.
    pub fn of(connection: &Connection) -> Self {
        let fields = connection.fields.clone();
        let tls = fields.tls.unwrap_or_default();
        let ssh = fields.ssh;
        let jump = ssh.as_ref().and_then(|ssh| ssh.jump.clone());
        Self {
            name: fields.name,
            engine: fields.engine,
            path: fields.path.unwrap_or_default(),
            host: fields.host.unwrap_or_default(),
            port: fields.port.map(|port| port.to_string()).unwrap_or_default(),
            database: fields.database.unwrap_or_default(),
            user: fields.user.unwrap_or_default(),
            tls: tls.mode,
            ca: tls.ca.unwrap_or_default(),
            certificate: tls.certificate.unwrap_or_default(),
            tunnel: ssh.is_some(),
            through_jump: jump.is_some(),
            method: ssh.as_ref().map_or(SshMethod::Key, |ssh| ssh.method),
            ssh: ssh.map_or_else(Server::new, |ssh| Server::of(ssh.host, ssh.port, ssh.user, ssh.host_key)),
            jump: jump.map_or_else(Server::new, |jump| Server::of(jump.host, jump.port, jump.user, jump.host_key)),
            read_only: fields.read_only,
            color: fields.color,
            ..Self::new()
        }
    }

    /// A server, not a file.
    pub fn is_network(&self) -> bool {
        !matches!(self.engine, EngineKind::Sqlite | EngineKind::Duckdb)
    }

    /// What is missing or wrong, field by field.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.name.trim().is_empty() {
            faults.push(("name", "A name is needed"));
        }
        if self.is_network() {
            if self.host.trim().is_empty() {
                faults.push(("host", "A host name or address is needed"));
            } else if self.tunnel && self.host.trim().starts_with('/') {
                faults.push(("host", "A Unix socket can't be reached through SSH"));
            }
            if !is_port(&self.port) {
                faults.push(("port", PORT_FAULT));
            }
            if self.tls != TlsMode::Off && !self.tls_key.trim().is_empty() && self.certificate.trim().is_empty() {
                faults.push(("tls.certificate", "The certificate of this key is needed"));
            }
            if self.tunnel {
                faults.extend(self.ssh.faults(["ssh.host", "ssh.port", "ssh.user"]));
            }
            if self.tunnel && self.through_jump {
                faults.extend(self.jump.faults(["ssh.jump.host", "ssh.jump.port", "ssh.jump.user"]));
            }
        } else if self.path.trim().is_empty() {
            faults.push(("path", "The path of a database file is needed"));
        } else if !is_whole(self.path.trim()) {
            faults.push(("path", "The whole path is needed, from the root: /home/me/shop.sqlite"));
        }
        faults
    }

    /// What is sent.
    pub fn input(&self) -> ConnectionInput {
        let network = self.is_network();
        let over = |value: Option<String>| value.filter(|_| network);
        ConnectionInput {
            fields: ConnectionFields {
                name: self.name.trim().to_owned(),
                engine: self.engine,
                path: text(&self.path).filter(|_| !network),
                host: over(text(&self.host)),
                port: self.port.trim().parse().ok().filter(|_| network),
                database: over(text(&self.database)),
                user: over(text(&self.user)),
                tls: (network && self.tls != TlsMode::Off).then(|| self.tls()),
                ssh: (network && self.tunnel).then(|| self.ssh()),
                read_only: self.read_only,
                color: self.color,
            },
            secrets: self.secrets(),
        }
    }

    fn tls(&self) -> Tls {
        let verifies = matches!(self.tls, TlsMode::VerifyName | TlsMode::VerifyAuthority);
        Tls { mode: self.tls, ca: text(&self.ca).filter(|_| verifies), certificate: text(&self.certificate) }
    }

    fn ssh(&self) -> Ssh {
        let Server { host, port, user, trusted } = self.ssh.clone();
        let jump = || SshJump {
            host: self.jump.host.trim().to_owned(),
            port: self.jump.port.trim().parse().ok(),
            user: self.jump.user.trim().to_owned(),
            host_key: self.jump.trusted.clone(),
        };
        Ssh {
            host: host.trim().to_owned(),
            port: port.trim().parse().ok(),
            user: user.trim().to_owned(),
            method: self.method,
            jump: self.through_jump.then(jump),
            host_key: trusted,
        }
    }

    /// Those that something asks for; they are sent as they were typed.
    fn secrets(&self) -> Secrets {
        let network = self.is_network();
        let secret = |value: &str, is_asked: bool| Some(value).filter(|value| network && is_asked && !value.is_empty()).map(Secret::new);
        let by = |method| self.tunnel && self.method == method;
        Secrets {
            password: secret(&self.password, true),
            tls_key: secret(&self.tls_key, self.tls != TlsMode::Off && !self.certificate.trim().is_empty()),
            ssh_password: secret(&self.ssh_password, by(SshMethod::Password)),
            ssh_key: secret(&self.ssh_key, by(SshMethod::Key)),
            ssh_passphrase: secret(&self.ssh_passphrase, by(SshMethod::Key)),
        }
    }

    /// Makes a change; a name that came from the other fields follows them, and trust in a server's key is trust in that server.
    pub fn change(&mut self, act: impl FnOnce(&mut Self)) {
        let before = self.clone();
        act(self);
        if !before.name.is_empty() && before.name == before.suggested_name() && self.name == before.name {
            self.name = self.suggested_name();
        }
        for (then, now) in [(&before.ssh, &mut self.ssh), (&before.jump, &mut self.jump)] {
            if (&then.host, &then.port) != (&now.host, &now.port) {
                now.trusted = None;
            }
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

impl Server {
    fn new() -> Self {
        Self { port: "22".to_owned(), ..Self::default() }
    }

    fn of(host: String, port: Option<u16>, user: String, trusted: Option<String>) -> Self {
        Self { host, port: port.unwrap_or(22).to_string(), user, trusted }
    }

    fn faults(&self, [host, port, user]: [&'static str; 3]) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.host.trim().is_empty() {
            faults.push((host, "The SSH server's name or address is needed"));
        }
        if !is_port(&self.port) {
            faults.push((port, PORT_FAULT));
        }
        if self.user.trim().is_empty() {
            faults.push((user, "Your name on that server is needed"));
        }
        faults
    }
}

fn text(value: &str) -> Option<String> {
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// A port, or none for the usual one.
fn is_port(text: &str) -> bool {
    text.trim().is_empty() || text.trim().parse::<u16>().is_ok_and(|port| port > 0)
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

    fn tunnelled() -> Draft {
        let ssh = Server { host: "bastion.example".to_owned(), user: "ann".to_owned(), ..Server::new() };
        let draft = Draft { name: "n".to_owned(), engine: EngineKind::Postgres, tunnel: true, ssh, ..Draft::new() };
        Draft { ssh_password: "p".to_owned(), ssh_key: "k".to_owned(), ssh_passphrase: "f".to_owned(), ..draft }
    }

    #[test]
    fn only_the_secrets_that_are_asked_for_are_sent() {
        let held = |draft: Draft| draft.input().secrets.held().into_iter().map(|kind| kind.name()).collect::<Vec<_>>();
        assert_eq!(held(tunnelled()), ["ssh_key", "ssh_passphrase"]);
        assert_eq!(held(Draft { method: SshMethod::Password, ..tunnelled() }), ["ssh_password"]);
        assert!(held(Draft { method: SshMethod::Agent, ..tunnelled() }).is_empty());
        assert!(held(Draft { tunnel: false, ..tunnelled() }).is_empty());
        assert!(held(Draft { engine: EngineKind::Sqlite, ..tunnelled() }).is_empty());
        assert!(held(Draft { tunnel: false, tls_key: "k".to_owned(), ..tunnelled() }).is_empty());
    }

    #[test]
    fn trust_in_a_key_ends_with_its_server() {
        let mut draft = tunnelled();
        draft.change(|draft| draft.ssh.trusted = Some("SHA256:x".to_owned()));
        draft.change(|draft| draft.ssh.user = "bob".to_owned());
        assert_eq!(draft.input().fields.ssh.unwrap().host_key.as_deref(), Some("SHA256:x"));
        draft.change(|draft| draft.ssh.host = "other.example".to_owned());
        assert_eq!(draft.ssh.trusted, None);
    }

    #[test]
    fn a_saved_tunnel_comes_back_as_it_was() {
        let draft =
            Draft { through_jump: true, jump: Server { host: "j".to_owned(), user: "u".to_owned(), ..Server::new() }, ..tunnelled() };
        let fields = draft.input().fields;
        let connection =
            Connection { id: shared::ids::ConnectionId("a".to_owned()), fields: fields.clone(), temporary: false, held: Vec::new() };
        assert_eq!(Draft::of(&connection).input().fields, fields);
        let faulty = Draft { jump: Server::default(), ssh: Server::default(), ..draft };
        let fields: Vec<_> = faulty.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["ssh.host", "ssh.user", "ssh.jump.host", "ssh.jump.user"]);
    }
}
