//! Being let in, and being told why not.

use crate::setting::{connect, target, value, with_password};
use backend::engine::{Fate, Target};
use shared::problem::ErrorCode;
use shared::wire::connection::{Tls, TlsMode};
use shared::wire::secrets::Secret;
use testing::certificates;
use testing::postgres::{PASSWORD, clusters};

async fn refusal(target: &Target) -> (ErrorCode, String) {
    let error = connect(target).await.err().expect("let in");
    assert_eq!(error.fate, Fate::NotSent);
    assert!(!["55 word", "not55it"].iter().any(|password| format!("{error:?}").contains(password)), "the password is in {error:?}");
    (error.problem.code, error.problem.message)
}

#[tokio::test]
async fn every_way_of_signing_in_works_and_refuses() {
    for cluster in clusters() {
        for user in ["scram_user", "md5_user", "clear_user"] {
            let target = target(cluster.port, user);
            let mut session = connect(&with_password(target.clone(), PASSWORD)).await.unwrap();
            assert_eq!(value(session.as_mut(), "select current_user").await, user);
            let (code, message) = refusal(&with_password(target.clone(), "not55it")).await;
            assert_eq!((code, message), (ErrorCode::AuthenticationFailed, format!("password authentication failed for user \"{user}\"")));
            assert_eq!(refusal(&target).await.0, ErrorCode::PasswordNeeded);
        }
        let (code, message) = refusal(&target(cluster.port, "nobody_user")).await;
        assert_eq!(code, ErrorCode::AuthenticationFailed);
        assert!(message.contains("pg_hba.conf rejects connection"), "{message}");
    }
}

#[tokio::test]
async fn a_session_has_its_safety_net_and_its_name() {
    for cluster in clusters() {
        let mut target = target(cluster.port, "postgres");
        target.fields.name = "Büro of a name that is far longer than any server cares to keep of it".to_owned();
        let mut session = connect(&target).await.unwrap();
        let session = session.as_mut();
        let name = value(session, "show application_name").await;
        assert_eq!(name, "sheaf/B?ro of a name that is far longer than any server cares t");
        let mut settings = vec![("lock_timeout", "10s"), ("idle_in_transaction_session_timeout", "10min")];
        if cluster.is_since(14) {
            settings.push(("client_connection_check_interval", "2s"));
        }
        for (setting, expected) in &settings {
            assert_eq!(value(session, &format!("show {setting}")).await, *expected);
            crate::setting::run(session, &format!("set {setting} = '1h'")).await.unwrap();
            assert_eq!(value(session, &format!("show {setting}")).await, "1h", "its user may set it otherwise");
        }
        session.reset().await.unwrap();
        for (setting, expected) in settings {
            assert_eq!(value(session, &format!("show {setting}")).await, expected, "and the next user has it again");
        }
    }
}

#[tokio::test]
async fn a_read_only_connection_refuses_a_role_that_can_get_around_it() {
    for cluster in clusters() {
        cluster.psql(
            "postgres",
            "drop role if exists runner; drop role if exists maker;
             create role runner login in role pg_execute_server_program, pg_signal_backend; create role maker login createrole replication;
             drop role if exists heir; create role heir login noinherit in role maker, runner;
             drop role if exists deputy; create role deputy login noinherit in role postgres;
             create role reader_of_files login;
             grant execute on function lo_export(oid, text), pg_read_file(text) to reader_of_files",
        );
        for (role, reason) in [
            ("postgres", "is a superuser"),
            ("runner", "is a member of pg_execute_server_program, is a member of pg_signal_backend"),
            ("maker", "may create roles, may replicate"),
            // What it is not it could become, by SET ROLE.
            (
                "heir",
                "could become maker, who may create roles, may replicate, is a member of pg_execute_server_program, \
                 is a member of pg_signal_backend",
            ),
            ("deputy", "could become postgres, who is a superuser"),
            ("reader_of_files", "may call lo_export, may call pg_read_file"),
        ] {
            let mut target = target(cluster.port, role);
            connect(&target).await.unwrap().close().await;
            target.fields.read_only = true;
            let (code, message) = refusal(&target).await;
            assert_eq!(code, ErrorCode::ReadOnlyRefused);
            assert_eq!(message, format!("A read-only connection needs a role that can't get around it, and this one {reason}."));
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    for cluster in clusters() {
        let mut absent = target(cluster.port, "postgres");
        absent.fields.database = Some("absent".to_owned());
        assert_eq!(refusal(&absent).await, (ErrorCode::ConnectFailed, "database \"absent\" does not exist".to_owned()));
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (code, message) = refusal(&target(nobody, "postgres")).await;
    assert_eq!(code, ErrorCode::ConnectFailed);
    assert!(message.starts_with(&format!("cannot connect to 127.0.0.1:{nobody}: ")), "{message}");
    let mut unnamed = target(nobody, "postgres");
    unnamed.fields.host = Some("169.254.169.254".to_owned());
    assert_eq!(refusal(&unnamed).await, (ErrorCode::ConnectFailed, "169.254.169.254 is not an address that Sheaf connects to".to_owned()));
}

#[tokio::test]
async fn a_server_of_another_kind_is_an_error_not_a_hang() {
    for answer in
        [b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), b"", b"R\0\0\0\x08\0\0\0\x63", b"Z\0\0\0\x05I", b"\xff\xff\xff\xff\xff\xff"]
    {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = [0; 1024];
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut asked).await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await;
        });
        let error = connect(&target(port, "postgres")).await.err().unwrap();
        assert!(matches!(error.problem.code, ErrorCode::ConnectFailed | ErrorCode::AuthenticationFailed), "{error:?}");
    }
}

#[tokio::test]
async fn a_unix_socket_is_a_host_that_is_a_folder() {
    for cluster in clusters() {
        let mut target = target(cluster.port, "postgres");
        target.fields.host = Some(cluster.folder.display().to_string());
        let mut session = connect(&target).await.unwrap();
        assert_eq!(value(session.as_mut(), "select inet_client_addr() is null").await, "t");
        target.fields.host = Some("/nowhere".to_owned());
        let (code, message) = refusal(&target).await;
        assert_eq!(code, ErrorCode::ConnectFailed);
        assert!(message.contains("/nowhere/.s.PGSQL."), "{message}");
    }
}

#[tokio::test]
async fn tls_verifies_what_its_mode_says() {
    for cluster in clusters() {
        let Some(authority) = cluster.authority() else {
            println!("no openssl here: TLS is not tried");
            return;
        };
        let asked = |host: &str, mode: TlsMode, ca: Option<String>| {
            let mut target = with_password(target(cluster.port, "tls_user"), PASSWORD);
            target.fields.host = Some(host.to_owned());
            target.fields.tls = Some(Tls { ca, ..Tls::new(mode) });
            target
        };
        let good = [
            asked("127.0.0.1", TlsMode::Encrypt, None),
            asked("127.0.0.1", TlsMode::VerifyAuthority, Some(authority.clone())),
            asked("localhost", TlsMode::VerifyName, Some(authority.clone())),
        ];
        for target in good {
            let mut session = connect(&target).await.unwrap();
            let ssl = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
            assert_eq!(value(session.as_mut(), ssl).await, "t");
            session.cancel_handle().cancel().await.unwrap();
            assert_eq!(value(session.as_mut(), "select 1").await, "1");
        }
        let bad = [
            asked("127.0.0.1", TlsMode::VerifyName, Some(authority.clone())),
            asked("127.0.0.1", TlsMode::VerifyAuthority, None),
            asked("localhost", TlsMode::VerifyName, None),
            asked("localhost", TlsMode::VerifyName, Some("no certificate".to_owned())),
        ];
        for target in bad {
            let (code, message) = refusal(&target).await;
            assert_eq!(code, ErrorCode::ConnectFailed);
            assert!(message.contains("TLS with "), "{message}");
        }
        assert_eq!(refusal(&asked("127.0.0.1", TlsMode::Off, None)).await.0, ErrorCode::AuthenticationFailed);
    }
}

#[tokio::test]
async fn a_client_certificate_lets_in_by_every_form_of_its_key_in_every_mode() {
    for cluster in clusters() {
        let read = |name: &str| certificates::read(&cluster.folder, name).expect("this test needs openssl");
        let authority = Some(read("ca.crt"));
        for (mode, host, ca) in [
            (TlsMode::Encrypt, "127.0.0.1", None),
            (TlsMode::VerifyAuthority, "127.0.0.1", authority.clone()),
            (TlsMode::VerifyName, "localhost", authority.clone()),
        ] {
            for (certificate, key) in
                [("client.crt", "client.key"), ("client.crt", "client.sec1.key"), ("rsa.crt", "rsa.key"), ("rsa.crt", "rsa.pkcs1.key")]
            {
                let mut target = with_password(target(cluster.port, certificates::CLIENT), PASSWORD);
                target.fields.host = Some(host.to_owned());
                target.fields.tls = Some(Tls { ca: ca.clone(), certificate: Some(read(certificate)), ..Tls::new(mode) });
                target.secrets.tls_key = Some(Secret::new(read(key)));
                let mut session = connect(&target).await.unwrap_or_else(|error| panic!("{mode:?} {key}: {error}"));
                let whose = "select client_dn from pg_stat_ssl where pid = pg_backend_pid()";
                assert_eq!(value(session.as_mut(), whose).await, "/CN=cert_user");
                // Cancel requests come by the same way.
                session.cancel_handle().cancel().await.unwrap();
                assert_eq!(value(session.as_mut(), "select 1").await, "1");
            }
        }
        let mut off = with_password(target(cluster.port, certificates::CLIENT), PASSWORD);
        off.fields.tls = Some(Tls::new(TlsMode::Off));
        assert_eq!(refusal(&off).await.0, ErrorCode::AuthenticationFailed);
    }
}

#[tokio::test]
async fn a_client_certificate_that_will_not_do_is_told_in_one_sentence() {
    for cluster in clusters() {
        let read = |name: &str| certificates::read(&cluster.folder, name).expect("this test needs openssl");
        let asked = |user: &str, certificate: Option<&str>, key: Option<&str>| {
            let mut target = with_password(target(cluster.port, user), PASSWORD);
            target.fields.tls = Some(Tls { certificate: certificate.map(read), ..Tls::new(TlsMode::Encrypt) });
            target.secrets.tls_key = key.map(|key| Secret::new(if key.ends_with(".key") { read(key) } else { key.to_owned() }));
            target
        };
        let cert_user = certificates::CLIENT;
        for (target, code, words) in [
            (asked(cert_user, None, None), ErrorCode::AuthenticationFailed, "connection requires a valid client certificate"),
            (asked("named_user", Some("client.crt"), Some("client.key")), ErrorCode::AuthenticationFailed, "named_user"),
            (asked(cert_user, Some("client.crt"), None), ErrorCode::PasswordNeeded, "not known to this server process"),
            (asked(cert_user, Some("client.crt"), Some("rsa.key")), ErrorCode::ConnectFailed, "does not belong to the client certificate"),
            (asked(cert_user, Some("client.crt"), Some("client.locked.key")), ErrorCode::ConnectFailed, "is encrypted"),
            (asked(cert_user, Some("client.crt"), Some("not a key")), ErrorCode::ConnectFailed, "holds no private key"),
            (asked(cert_user, Some("expired.crt"), Some("client.key")), ErrorCode::ConnectFailed, "it has expired"),
            (asked(cert_user, Some("stranger.crt"), Some("stranger.key")), ErrorCode::ConnectFailed, "does not know the authority"),
        ] {
            let (is, message) = refusal(&target).await;
            assert_eq!(is, code, "{message}");
            assert!(message.contains(words), "{message}");
        }
    }
}
