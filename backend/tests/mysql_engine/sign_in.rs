//! Who gets in, how, and what is said to who does not.

use crate::setting::{connect, target, value, with_password};
use shared::problem::ErrorCode;
use shared::wire::connection::{Tls, TlsMode};
use testing::mariadb::{PASSWORD, mariadb};

fn with_tls(mut target: backend::engine::Target, mode: TlsMode, host: &str, ca: Option<String>) -> backend::engine::Target {
    target.fields.tls = Some(Tls { mode, ca });
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
