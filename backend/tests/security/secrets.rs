//! The secrets of connections go in and never come out: not by an answer, not by the log, not by a file.

use crate::support::{Client, Server};
use serde_json::{Map, Value, json};
use shared::wire::secrets::SecretKind;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use testing::certificates;
use tracing_subscriber::fmt::MakeWriter;

/// What every planted secret has in it.
const PLANTED: &str = "planted-5ecret";

/// Everything the log would tell.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// Listens to everything that this process tells, what libraries tell by other ways too.
fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| {
        let log = Log::default();
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).init();
        log
    })
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
    all
}

/// Fields of a network connection to nowhere, with something planted as every secret.
fn planted(certificate: &str, by_key: bool) -> Map<String, Value> {
    let mut fields = json!({"name": "pg", "engine": "postgres", "host": "127.0.0.1", "port": 1, "user": "ann"});
    for kind in SecretKind::ALL {
        fields[kind.name()] = json!(format!("{PLANTED} {}", kind.name()));
    }
    // The key must fit its certificate: what may follow it is planted.
    fields["tls"] = json!({"mode": "encrypt", "certificate": certificate});
    fields["ssh"] = json!({"host": "127.0.0.1", "port": 1, "user": "ann", "method": "key"});
    fields["ssh_key"] = json!(format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{PLANTED}\n-----END OPENSSH PRIVATE KEY-----\n"));
    fields.as_object_mut().unwrap().remove(if by_key { "ssh_password" } else { "ssh_key" });
    if !by_key {
        fields["ssh"]["method"] = json!("password");
        fields.as_object_mut().unwrap().remove("ssh_passphrase");
    }
    fields.as_object().unwrap().clone()
}

async fn held(client: &Client<'_>) -> Value {
    client.get("/api/v1/connections").await.json()[0]["held"].clone()
}

#[tokio::test]
async fn no_secret_is_in_an_answer_in_the_log_or_in_a_file() {
    let log = log();
    let pem = tempfile::tempdir().unwrap();
    assert!(certificates::make(pem.path()), "this test needs openssl");
    let certificate = certificates::read(pem.path(), "client.crt").unwrap();
    let key = certificates::read(pem.path(), "client.key").unwrap();
    let inner = key.lines().nth(1).unwrap().to_owned();
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let mut said = Vec::new();

    for by_key in [true, false] {
        // Refused as a whole, each for another reason.
        let fields = planted(&certificate, by_key);
        said.push(client.post("/api/v1/connections", &Value::Object(fields.clone())).await.text());
        for (name, value) in [("engine", json!("oracle")), ("color", json!(99)), ("engine", json!("sqlite")), ("surprise", json!(1))] {
            let mut fields = fields.clone();
            fields.insert(name.to_owned(), value);
            said.push(client.post("/api/v1/connections", &Value::Object(fields)).await.text());
        }
        // Taken, shown, tried, changed.
        let mut good = fields.clone();
        good.insert("tls_key".to_owned(), json!(format!("{key}{PLANTED}\n")));
        let made = client.post("/api/v1/connections", &Value::Object(good.clone())).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let path = format!("/api/v1/connections/{}", made.json()["id"].as_str().unwrap());
        assert_eq!(held(&client).await.as_array().unwrap().len(), if by_key { 4 } else { 3 });
        for text in [
            made.text(),
            client.get("/api/v1/connections").await.text(),
            client.post(&format!("{path}/test"), &json!({"name": "same"})).await.text(),
            client.post("/api/v1/connections/test", &Value::Object(good)).await.text(),
            client.patch(&path, &json!({"tls_key": PLANTED})).await.text(),
            client.patch(&path, &json!({"password": [PLANTED]})).await.text(),
            client.patch(&path, &json!({"name": "other"})).await.text(),
            client.get(&format!("{path}/catalog")).await.text(),
            client.run(&json!({"connection": made.json()["id"], "sql": "SELECT 1"})).await.text(),
            client.get("/api/v1/openapi.json").await.text(),
        ] {
            said.push(text);
        }
        assert_eq!(client.delete(&path).await.status, 204);
    }
    for text in &said {
        assert!(!text.contains(PLANTED) && !text.contains(&inner), "{text}");
    }
    server.app.store.close().await;
    let told = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(told.lines().count() > 3, "the log was not listened to");
    let leak = told.lines().find(|line| line.contains(PLANTED) || line.contains(&inner));
    assert_eq!(leak, None);
    let files = files(data.path());
    assert!(files.iter().any(|(name, _)| name.ends_with("sheaf.sqlite")));
    for (name, content) in files {
        let content = String::from_utf8_lossy(&content);
        assert!(!content.contains(PLANTED) && !content.contains(&inner), "{name}");
    }
}

#[tokio::test]
async fn a_key_goes_with_its_certificate_and_its_way() {
    let pem = tempfile::tempdir().unwrap();
    assert!(certificates::make(pem.path()), "this test needs openssl");
    let read = |name: &str| certificates::read(pem.path(), name).unwrap();
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let tls = json!({"mode": "verify-name", "certificate": read("client.crt")});
    let fields =
        json!({"name": "pg", "engine": "postgres", "host": "db.example", "tls": tls, "tls_key": read("client.key"), "password": "s"});
    let both = json!(["password", "tls_key"]);
    for (change, kept) in [
        (json!({"name": "other", "tls_key": ""}), both.clone()),
        (json!({"tls": {"mode": "verify-name"}}), json!(["password"])),
        (json!({"tls": {"mode": "encrypt", "certificate": read("client.crt")}}), json!([])),
        (json!({"host": "other.example"}), json!([])),
        (json!({"tls_key": null}), json!(["password"])),
        (json!({"ssh": {"host": "bastion.example", "user": "ann", "method": "key"}}), json!([])),
        (json!({"tls_key": read("client.sec1.key")}), both),
    ] {
        let made = client.post("/api/v1/connections", &fields).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let path = format!("/api/v1/connections/{}", made.json()["id"].as_str().unwrap());
        let changed = client.patch(&path, &change).await;
        assert_eq!(changed.status, 204, "{}", changed.text());
        assert_eq!(held(&client).await, kept, "{change}");
        assert_eq!(client.delete(&path).await.status, 204);
    }
    for (name, value, field, word) in [
        ("tls_key", read("rsa.key"), "tls_key", "does not belong"),
        ("tls_key", read("client.locked.key"), "tls_key", "encrypted"),
        ("tls_key", "no key".to_owned(), "tls_key", "no private key"),
    ] {
        let mut bad = fields.clone();
        bad[name] = json!(value);
        let told = client.post("/api/v1/connections", &bad).await.problem(400);
        assert_eq!(told.field.as_deref(), Some(field), "{told}");
        assert!(told.message.contains(word), "{told}");
    }
    // A new certificate for a key that is held must fit it as well.
    let made = client.post("/api/v1/connections", &fields).await;
    let path = format!("/api/v1/connections/{}", made.json()["id"].as_str().unwrap());
    let other = json!({"tls": {"mode": "verify-name", "certificate": read("rsa.crt")}});
    assert!(client.patch(&path, &other).await.problem(400).message.contains("does not belong"));
}

#[tokio::test]
async fn the_secrets_of_a_tunnel_stay_while_its_servers_and_their_users_stay() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let ssh = json!({"host": "bastion.example", "user": "ann", "method": "password", "jump": {"host": "jump.example", "user": "ann"}});
    let fields = json!({"name": "n", "engine": "mysql", "host": "db", "password": "s", "ssh": ssh, "ssh_password": "s"});
    let changed = |pointer: &str, value: Value| {
        let mut ssh = ssh.clone();
        match pointer.rsplit_once('/') {
            Some((parent, name)) => ssh.pointer_mut(parent).unwrap()[name] = value,
            None => unreachable!(),
        }
        json!({"ssh": ssh})
    };
    let (both, none) = (json!(["password", "ssh_password"]), json!([]));
    for (change, kept) in [
        (json!({"name": "other"}), both.clone()),
        (changed("/host_key", json!("SHA256:abc")), both.clone()),
        (changed("/jump/host_key", json!("SHA256:abc")), both),
        (changed("/method", json!("agent")), json!(["password"])),
        (changed("/host", json!("other.example")), none.clone()),
        (changed("/port", json!(2222)), none.clone()),
        (changed("/user", json!("bob")), none.clone()),
        (changed("/jump/host", json!("other.example")), none.clone()),
        (changed("/jump/user", json!("bob")), none.clone()),
        (changed("/jump", json!(null)), none.clone()),
        (json!({"ssh": null}), none),
    ] {
        let made = client.post("/api/v1/connections", &fields).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let path = format!("/api/v1/connections/{}", made.json()["id"].as_str().unwrap());
        let answer = client.patch(&path, &change).await;
        assert_eq!(answer.status, 204, "{change}: {}", answer.text());
        assert_eq!(held(&client).await, kept, "{change}");
        assert_eq!(client.delete(&path).await.status, 204);
    }
}
