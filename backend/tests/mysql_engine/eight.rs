//! MySQL 8.0, 8.4 and 9 by messages made for it; see `scripted`.

use crate::scripted::{DEPRECATE_EOF, NONCE, OFFERED, OK, Response, SSL, Talk, column, refusal, row, server};
use crate::setting::{PAGE, connect, rows, run, run_with, target, texts, with_password};
use backend::engine::{EngineError, Fate, Param, Session, Started};
use sha2::{Digest, Sha256};
use shared::page::TYPE_KEY;
use shared::problem::ErrorCode;
use shared::wire::connection::{Tls, TlsMode};
use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use testing::mariadb::mariadb;

const SHA2: &str = "caching_sha2_password";
const PASSWORD: &str = "pä55 word";

/// SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce), as the documentation has it.
fn proof() -> Vec<u8> {
    let once = Sha256::digest(PASSWORD.as_bytes());
    let thrice = Sha256::digest([&Sha256::digest(once)[..], NONCE].concat());
    once.iter().zip(thrice).map(|(a, b)| a ^ b).collect()
}

async fn sign_in(talk: &mut Talk, version: &str, offered: u32) {
    talk.greet(version, offered, SHA2).await;
    let response = Response::read(&talk.hear().await.unwrap());
    assert_eq!((response.user.as_str(), response.plugin.as_str()), ("ann", SHA2));
    assert_eq!(response.proof, proof());
    // Neither files of this machine nor several statements in one text.
    assert_eq!(response.flags & (1 << 7 | 1 << 16), 0);
    talk.say(&[1, 3]).await;
    talk.say(OK).await;
}

/// A session of a server that answers statements by their texts.
async fn speaking(offered: u32, answers: &[(&'static str, Vec<Vec<u8>>)]) -> Result<Box<dyn Session>, EngineError> {
    speaking_to("ann", false, offered, answers).await
}

async fn speaking_to(
    user: &str,
    read_only: bool,
    offered: u32,
    answers: &[(&'static str, Vec<Vec<u8>>)],
) -> Result<Box<dyn Session>, EngineError> {
    let answers: Arc<HashMap<&'static str, Vec<Vec<u8>>>> = Arc::new(answers.iter().cloned().collect());
    let port = server(move |mut talk| {
        let answers = Arc::clone(&answers);
        async move {
            sign_in(&mut talk, "9.1.0", offered).await;
            talk.serve(&answers).await;
        }
    })
    .await;
    let mut target = with_password(target(port, user), PASSWORD);
    target.fields.read_only = read_only;
    connect(&target).await
}

#[tokio::test]
async fn the_fast_path_of_caching_sha2_password_needs_no_tls() {
    for version in ["8.0.36", "8.4.3", "9.1.0-commercial"] {
        let port = server(move |mut talk| async move {
            sign_in(&mut talk, version, OFFERED).await;
            talk.serve(&HashMap::new()).await;
        })
        .await;
        let session = connect(&with_password(target(port, "ann"), PASSWORD)).await.unwrap();
        assert_eq!(session.server(), format!("MySQL {}", version.split('-').next().unwrap()));
    }
}

#[tokio::test]
async fn the_full_path_over_tls_sends_the_password_itself() {
    let folder = mariadb().folder.clone();
    if mariadb().authority().is_none() {
        return;
    }
    let port = server(move |mut talk| {
        let folder = folder.clone();
        async move {
            talk.greet("8.4.3", OFFERED | SSL, SHA2).await;
            let request = talk.hear().await.unwrap();
            assert_eq!((request.len(), u32::from_le_bytes(request[..4].try_into().unwrap()) & SSL), (32, SSL));
            talk.stream = Box::new(acceptor(&folder).accept(talk.stream).await.unwrap());
            let response = Response::read(&talk.hear().await.unwrap());
            assert_eq!(response.proof, proof());
            talk.say(&[1, 4]).await;
            assert_eq!(talk.hear().await.unwrap(), [PASSWORD.as_bytes(), &[0]].concat());
            talk.say(OK).await;
            talk.serve(&HashMap::new()).await;
        }
    })
    .await;
    let mut target = with_password(target(port, "ann"), PASSWORD);
    target.fields.tls = Some(Tls::new(TlsMode::Encrypt));
    connect(&target).await.unwrap();
}

fn acceptor(folder: &std::path::Path) -> tokio_rustls::TlsAcceptor {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let certificate = CertificateDer::from_pem_file(folder.join("server.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    tokio_rustls::TlsAcceptor::from(Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap()))
}

#[tokio::test]
async fn the_full_path_without_tls_encrypts_by_the_servers_key_within_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    let openssl = |arguments: &[&str]| Command::new("openssl").args(arguments).stderr(Stdio::null()).output();
    if openssl(&["genrsa", "-out", key.to_str().unwrap(), "2048"]).is_err() {
        return;
    }
    let public = openssl(&["rsa", "-in", key.to_str().unwrap(), "-pubout"]).unwrap().stdout;
    let (heard, mut told) = tokio::sync::mpsc::channel(1);
    let port = server(move |mut talk| {
        let (public, heard) = (public.clone(), heard.clone());
        async move {
            talk.greet("8.0.36", OFFERED, SHA2).await;
            talk.hear().await.unwrap();
            talk.say(&[1, 4]).await;
            assert_eq!(talk.hear().await.unwrap(), [2], "asks for the key");
            talk.say(&[&[1], public.as_slice()].concat()).await;
            heard.send(talk.hear().await.unwrap()).await.unwrap();
            talk.say(OK).await;
            talk.serve(&HashMap::new()).await;
        }
    })
    .await;
    connect(&with_password(target(port, "ann"), PASSWORD)).await.unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, told.recv().await.unwrap()).unwrap();
    let padding = "rsa_padding_mode:oaep";
    let shown = openssl(&["pkeyutl", "-decrypt", "-inkey", key.to_str().unwrap(), "-in", secret.to_str().unwrap(), "-pkeyopt", padding]);
    let masked = shown.unwrap().stdout;
    let clear: Vec<u8> = masked.iter().zip(NONCE.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    assert_eq!(clear, [PASSWORD.as_bytes(), &[0]].concat());
}

#[tokio::test]
async fn who_is_not_let_in_is_told_why_and_old_servers_are_told_apart() {
    for (message, code, sqlstate) in [
        (b"\xff\x10\x04Too many connections".to_vec(), ErrorCode::ConnectFailed, None),
        (refusal(1129, "HY000", "Host is blocked"), ErrorCode::ConnectFailed, Some("HY000")),
        (b"\x09old".to_vec(), ErrorCode::ConnectFailed, None),
    ] {
        let port = server(move |mut talk| {
            let message = message.clone();
            async move { talk.say(&message).await }
        })
        .await;
        let error = connect(&target(port, "ann")).await.err().unwrap();
        assert_eq!((error.fate, error.problem.code, error.problem.sqlstate.as_deref()), (Fate::NotSent, code, sqlstate));
    }
    let port = server(|mut talk| async move {
        talk.greet("8.4.3", OFFERED, SHA2).await;
        talk.hear().await.unwrap();
        talk.say(&refusal(1045, "28000", "Access denied for user 'ann'@'localhost' (using password: YES)")).await;
    })
    .await;
    let error = connect(&with_password(target(port, "ann"), "wrong")).await.err().unwrap();
    assert_eq!((error.problem.code, error.problem.sqlstate.as_deref()), (ErrorCode::AuthenticationFailed, Some("28000")));
}

/// A result of one row, with its end as the session agreed on it.
fn result(columns: &[Vec<u8>], values: Vec<u8>, offered: u32) -> Vec<Vec<u8>> {
    let eof = vec![0xfe, 0, 0, 2, 0];
    let with_ok = offered & DEPRECATE_EOF != 0;
    let mut messages = vec![vec![u8::try_from(columns.len()).unwrap()]];
    messages.extend(columns.iter().cloned());
    if !with_ok {
        messages.push(eof.clone());
    }
    messages.push(values);
    messages.push(if with_ok { vec![0xfe, 0, 0, 2, 0, 0, 0] } else { eof });
    messages
}

#[tokio::test]
async fn types_of_mysql_8_and_9_are_known_with_either_end_of_rows() {
    for offered in [OFFERED, OFFERED & !DEPRECATE_EOF] {
        let columns = [
            column("j", 245, 255, u32::MAX, 1 << 7, 0),
            column("v", 242, 63, 12, 1 << 7, 0),
            column("t", 253, 255, 80, 0, 0),
            column("b", 253, 309, 80, 0, 0),
            column("ja", 254, 303, 12, 0, 0),
            column("g", 255, 63, u32::MAX, 1 << 7, 0),
            column("e", 254, 255, 20, 1 << 8, 0),
        ];
        let values = row(&[
            Some(b"{\"a\": 1.0}"),
            Some(&[0, 0, 128, 63, 0, 0, 0, 192]),
            Some("ä".as_bytes()),
            None,
            Some(b"x"),
            Some(&[0; 4]),
            Some(b"small"),
        ]);
        let mut session = speaking(offered, &[("SELECT * FROM t", result(&columns, values, offered))]).await.unwrap();
        let batch = run(session.as_mut(), "SELECT * FROM t").await.unwrap().0.unwrap();
        let told: Vec<&str> = batch.schema_ref().fields().iter().map(|field| field.metadata()[TYPE_KEY].as_str()).collect();
        assert_eq!(told, ["JSON", "VECTOR", "VARCHAR(20)", "VARCHAR(20)", "CHAR(3)", "GEOMETRY", "ENUM"]);
        assert_eq!(texts(&batch), [["{\"a\": 1.0}", "0000803F000000C0", "ä", "NULL", "x", "00000000", "small"]]);
        assert_eq!(batch.schema().field(0).metadata()["ARROW:extension:name"], "arrow.json");
    }
}

#[tokio::test]
async fn rows_of_a_bound_statement_are_read_with_either_end_of_rows() {
    for offered in [OFFERED, OFFERED & !DEPRECATE_EOF] {
        let columns = [column("j", 245, 255, u32::MAX, 1 << 7, 0), column("d", 12, 63, 26, 0, 6), column("v", 242, 63, 4, 1 << 7, 0)];
        let mut prepared = vec![vec![0, 5, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0], column("?", 253, 63, 0, 0, 0)];
        let eof = (offered & DEPRECATE_EOF == 0).then(|| vec![0xfe, 0, 0, 2, 0]);
        prepared.extend(eof.clone());
        prepared.extend(columns.iter().cloned());
        prepared.extend(eof);
        let values = [&[0, 0b0000], [2].as_slice(), b"{}", &[11, 0xe8, 7, 2, 29, 1, 2, 3, 4, 0, 0, 0], &[4, 0, 0, 128, 63]].concat();
        let answers = [("prepare SELECT ?", prepared), ("execute", result(&columns, values, offered))];
        let mut session = speaking(offered, &answers).await.unwrap();
        let batch = run_with(session.as_mut(), "SELECT ?", &[Param::Text("x".to_owned())]).await.unwrap().0.unwrap();
        assert_eq!(texts(&batch), [["{}", "2024-02-29 01:02:03.000004", "0000803F"]]);
        assert!(run(session.as_mut(), "DO 1").await.is_ok(), "and the session goes on");
    }
}

/// The same of a result behind which others come, as a procedure gives them.
fn result_of_several(columns: &[Vec<u8>], values: Vec<u8>, offered: u32) -> Vec<Vec<u8>> {
    const MORE_RESULTS: u8 = 8;
    let mut messages = result(columns, values, offered);
    for end in messages.iter_mut().filter(|message| message.first() == Some(&0xfe)) {
        end[3] |= MORE_RESULTS;
    }
    messages
}

#[tokio::test]
async fn a_procedure_of_mysql_gives_all_its_results_with_either_end_of_rows() {
    for offered in [OFFERED, OFFERED & !DEPRECATE_EOF] {
        let number = |name: &str| [column(name, 3, 63, 11, 0, 0)];
        let text = [column("t", 253, 255, 80, 0, 0), column("e", 253, 255, 80, 0, 0)];
        let mut answers = result_of_several(&number("a"), row(&[Some(b"1")]), offered);
        answers.extend(result_of_several(&text, row(&[Some("ä".as_bytes()), None]), offered));
        answers.push(OK.to_vec());
        let mut session = speaking(offered, &[("CALL p()", answers.clone())]).await.unwrap();
        let mut seen = Vec::new();
        let mut started = Some(session.execute("CALL p()", PAGE).await.unwrap());
        while let Some(Started { schema: Some(_) }) = started {
            seen.push(texts(&session.fetch(PAGE).await.unwrap().batch).concat());
            started = session.next_result().await.unwrap();
        }
        assert_eq!(seen, [vec!["1"], vec!["ä", "NULL"]]);
        assert!(!session.has_further());
        session.finish().await.unwrap();
        assert_eq!(rows(session.as_mut(), "CALL p()").await, [["1"]], "the second is read away");
        assert!(run(session.as_mut(), "DO 1").await.is_ok(), "and the session goes on");
    }
}

#[tokio::test]
async fn words_and_counts_are_read_from_every_form_of_an_end() {
    let info = b"Rows matched: 3  Changed: 2  Warnings: 0";
    let counted = [&[40], info.as_slice()].concat();
    // What changed in the session stands behind the words, if the server tells it unasked.
    let tracked = [counted.as_slice(), &[6, 0, 4, 3, b'd', b'b', b'1']].concat();
    for (tail, status) in [(info.to_vec(), 2_u16), (counted, 2), (tracked, 0x4002)] {
        let done = [&[0, 2, 0], status.to_le_bytes().as_slice(), &[0, 0], &tail].concat();
        let mut session = speaking(OFFERED, &[("UPDATE t SET n = 1", vec![done])]).await.unwrap();
        let finished = run(session.as_mut(), "UPDATE t SET n = 1").await.unwrap().1;
        assert_eq!((finished.rows_affected, finished.in_transaction), (Some(2), false));
        assert_eq!(session.take_notices()[0].message, String::from_utf8_lossy(info));
    }
    let mut session =
        speaking(OFFERED, &[("SELECT 1/0", vec![refusal(3065, "HY000", "no")]), ("x", vec![b"\xff\x28\x04odd".to_vec()])]).await.unwrap();
    let error = run(session.as_mut(), "SELECT 1/0").await.unwrap_err();
    assert_eq!(
        (error.fate, error.problem.sqlstate.as_deref(), error.problem.detail.as_deref()),
        (Fate::Idle, Some("HY000"), Some("ERROR 3065"))
    );
    let error = run(session.as_mut(), "x").await.unwrap_err();
    assert_eq!((error.problem.sqlstate, error.problem.message.as_str()), (None, "odd"));
    // Ended by the server: 8.0.24 and later say so before they hang up.
    let mut session = speaking(OFFERED, &[("y", vec![refusal(4031, "HY000", "The client was disconnected")])]).await.unwrap();
    assert_eq!(run(session.as_mut(), "y").await.unwrap_err().fate, Fate::Unknown);
}

#[tokio::test]
async fn rights_that_roles_would_bring_are_asked_for_together() {
    let grants = |lines: &[&str]| {
        let mut messages = result(&[column("Grants", 253, 255, 4_096, 0, 0)], row(&[Some(lines[0].as_bytes())]), OFFERED);
        for (at, line) in lines.iter().enumerate().skip(1) {
            messages.insert(2 + at, row(&[Some(line.as_bytes())]));
        }
        messages
    };
    let own = grants(&["GRANT USAGE ON *.* TO `ann`@`%`", "GRANT `reader`@`%`,`clerk`@`%` TO `ann`@`%`"]);
    let question = "SHOW GRANTS FOR CURRENT_USER() USING `reader`@`%`, `clerk`@`%`";
    for (with_roles, refused) in [
        (grants(&["GRANT SELECT ON *.* TO `ann`@`%`"]), None),
        (grants(&["GRANT FILE ON *.* TO `ann`@`%`", "GRANT SYSTEM_USER,BACKUP_ADMIN ON *.* TO `ann`@`%`"]), Some("has FILE, SYSTEM_USER.")),
        (vec![refusal(1227, "42000", "Access denied")], Some("does not tell this one's rights: Access denied.")),
    ] {
        let answers = [
            ("SHOW GRANTS", own.clone()),
            (question, with_roles),
            ("SELECT 1", result(&[column("1", 8, 63, 1, 0, 0)], row(&[Some(b"1")]), OFFERED)),
        ];
        match (speaking_to("ann", true, OFFERED, &answers).await, refused) {
            (Ok(mut session), None) => assert_eq!(rows(session.as_mut(), "SELECT 1").await, [["1"]]),
            (Err(error), Some(words)) => {
                assert_eq!((error.problem.code, error.fate), (ErrorCode::ReadOnlyRefused, Fate::NotSent));
                assert!(error.problem.message.ends_with(words), "{}", error.problem.message);
            }
            (outcome, _) => panic!("{:?} instead of {refused:?}", outcome.err()),
        }
    }
}
