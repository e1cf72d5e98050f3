//! Who gets in, how, and what is said to who does not.

use crate::setting::{connect, target, value, with_password};
use backend::engine::engine;
use shared::problem::ErrorCode;
use shared::wire::connection::{EngineKind, Tls, TlsMode};
use shared::wire::secrets::Secret;
use testing::certificates;
use testing::mariadb::{PASSWORD, mariadb};

fn with_tls(mut target: backend::engine::Target, mode: TlsMode, host: &str, ca: Option<String>) -> backend::engine::Target {
    target.fields.tls = Some(Tls { ca, ..Tls::new(mode) });
    target.fields.host = Some(host.to_owned());
    target
}

#[tokio::test]
async fn a_password_is_asked_for_judged_and_never_shown() {
    let port = mariadb().port;
    let missing = connect(&target(port, "native_user")).await.err().unwrap();
    assert_eq!(missing.problem.code, ErrorCode::PasswordNeeded);
    let wrong = connect(&with_password(target(port, "native_user"), "wr0ng")).await.err().unwrap();
    assert_eq!((wrong.problem.code, wrong.problem.sqlstate.as_deref()), (ErrorCode::AuthenticationFailed, Some("28000")));
    assert!(!format!("{wrong:?}").contains("wr0ng"));
    let mut session = connect(&with_password(target(port, "native_user"), PASSWORD)).await.unwrap();
    assert_eq!(value(session.as_mut(), "SELECT USER()").await, "native_user@127.0.0.1");
    assert!(session.server().starts_with("MariaDB "), "{}", session.server());
    session.close().await;
}

#[tokio::test]
async fn a_database_that_is_not_there_is_told() {
    let mut target = target(mariadb().port, "root");
    target.fields.database = Some("nowhere".to_owned());
    let error = connect(&target).await.err().unwrap();
    assert_eq!((error.problem.code, error.problem.detail.as_deref()), (ErrorCode::ConnectFailed, Some("ERROR 1049")));
}

#[tokio::test]
async fn who_takes_it_for_a_server_of_postgresql_is_told_what_it_is() {
    let plain = target(mariadb().port, "root");
    for target in [plain.clone(), with_tls(plain, TlsMode::Encrypt, "127.0.0.1", None)] {
        let error = engine(EngineKind::Postgres).connect(&target).await.err().unwrap();
        let told = (error.problem.code, error.problem.message.as_str());
        assert_eq!(
            told,
            (ErrorCode::ConnectFailed, "this is a server of MySQL or MariaDB, not of PostgreSQL; choose MySQL to connect to it")
        );
    }
}

/// The clock runs ahead by itself while nothing happens.
#[tokio::test]
async fn a_server_that_does_not_speak_first_is_perhaps_another_kind_of_server() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = target(listener.local_addr().unwrap().port(), "root");
    let (connected, _held) = tokio::join!(connect(&silent), async {
        let held = listener.accept().await.unwrap();
        tokio::time::pause();
        held
    });
    let problem = connected.err().unwrap().problem;
    assert_eq!(problem.code, ErrorCode::ConnectFailed);
    assert!(problem.message.starts_with("no greeting came within 10 seconds"), "{problem}");
    assert!(problem.message.ends_with("perhaps a server of another kind"), "{problem}");
}

#[tokio::test]
async fn tls_verifies_what_its_mode_says() {
    let server = mariadb();
    let Some(ca) = server.authority() else { return };
    let user = || with_password(target(server.port, "tls_user"), PASSWORD);
    assert!(connect(&user()).await.is_err(), "not in the clear");
    for (mode, host, ca, good) in [
        (TlsMode::Encrypt, "127.0.0.1", None, true),
        (TlsMode::VerifyAuthority, "127.0.0.1", Some(ca.clone()), true),
        (TlsMode::VerifyAuthority, "127.0.0.1", None, false),
        (TlsMode::VerifyName, "localhost", Some(ca.clone()), true),
        (TlsMode::VerifyName, "127.0.0.1", Some(ca), false),
    ] {
        let connected = connect(&with_tls(user(), mode, host, ca)).await;
        assert_eq!(connected.is_ok(), good, "{mode:?} {host}");
        if let Ok(mut session) = connected {
            assert_ne!(
                value(session.as_mut(), "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'")
                    .await,
                ""
            );
            assert_eq!(value(session.as_mut(), "SELECT REPEAT('x', 20000000) LIKE 'xxx%'").await, "1");
        }
    }
}

#[tokio::test]
async fn a_unix_socket_is_a_way_in() {
    let server = mariadb();
    let mut target = target(server.port, "root");
    target.fields.host = Some(server.socket().display().to_string());
    let mut session = connect(&target).await.unwrap();
    assert_eq!(value(session.as_mut(), "SELECT DATABASE()").await, "shop");
}

#[tokio::test]
async fn z17_a_field_is_no_place_for_settings_and_no_local_file_is_read() {
    let server = mariadb();
    let mut smuggled = target(server.port, "root");
    smuggled.fields.database = Some("shop?allowAllFiles=true".to_owned());
    assert!(connect(&smuggled).await.is_err(), "it is a name, and there is none such");
    let mut session = crate::setting::session().await;
    crate::setting::run(session.as_mut(), "CREATE OR REPLACE TABLE z17 (t TEXT)").await.unwrap();
    let error = crate::setting::run(session.as_mut(), "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE z17").await.unwrap_err();
    assert_eq!(error.problem.code, ErrorCode::Rejected);
    assert_eq!(value(session.as_mut(), "SELECT COUNT(*) FROM z17").await, "0");
}

#[tokio::test]
async fn a_client_certificate_lets_in_by_every_form_of_its_key_in_every_mode() {
    let server = mariadb();
    let read = |name: &str| certificates::read(&server.folder, name).expect("this test needs openssl");
    let authority = Some(read("ca.crt"));
    for (mode, host, ca) in [
        (TlsMode::Encrypt, "127.0.0.1", None),
        (TlsMode::VerifyAuthority, "127.0.0.1", authority.clone()),
        (TlsMode::VerifyName, "localhost", authority),
    ] {
        for (certificate, key) in
            [("client.crt", "client.key"), ("client.crt", "client.sec1.key"), ("rsa.crt", "rsa.key"), ("rsa.crt", "rsa.pkcs1.key")]
        {
            let mut target = with_tls(with_password(target(server.port, certificates::CLIENT), PASSWORD), mode, host, ca.clone());
            target.fields.tls.as_mut().unwrap().certificate = Some(read(certificate));
            target.secrets.tls_key = Some(Secret::new(read(key)));
            let mut session = connect(&target).await.unwrap_or_else(|error| panic!("{mode:?} {key}: {error}"));
            assert_eq!(value(session.as_mut(), "SELECT CURRENT_USER()").await, "cert_user@%");
        }
    }
    assert!(connect(&with_password(target(server.port, certificates::CLIENT), PASSWORD)).await.is_err(), "not in the clear");
}

#[tokio::test]
async fn a_client_certificate_that_will_not_do_is_told_in_one_sentence() {
    let server = mariadb();
    let read = |name: &str| certificates::read(&server.folder, name).expect("this test needs openssl");
    for (certificate, key, code, words) in [
        (None, None, ErrorCode::AuthenticationFailed, "Access denied"),
        (Some("client.crt"), None, ErrorCode::PasswordNeeded, "not known to this server process"),
        (Some("client.crt"), Some("rsa.key"), ErrorCode::ConnectFailed, "does not belong to the client certificate"),
        (Some("client.crt"), Some("client.locked.key"), ErrorCode::ConnectFailed, "is encrypted"),
        (Some("expired.crt"), Some("client.key"), ErrorCode::ConnectFailed, "it has expired"),
        (Some("stranger.crt"), Some("stranger.key"), ErrorCode::ConnectFailed, "does not know the authority"),
    ] {
        let mut target = with_password(target(server.port, certificates::CLIENT), PASSWORD);
        target.fields.tls = Some(Tls { certificate: certificate.map(read), ..Tls::new(TlsMode::Encrypt) });
        target.secrets.tls_key = key.map(|key| Secret::new(read(key)));
        let error = connect(&target).await.err().expect("let in");
        assert_eq!(error.problem.code, code, "{error}");
        assert!(error.problem.message.contains(words), "{error}");
    }
}
