//! What passes through a tunnel: sessions, cancels, results that nobody reads, and tunnels that break.

use crate::setting::{PAGE, at, cluster, connect, key, maria, postgres, refusal, ssh, sshd, tunnels, value};
use backend::engine::{Bound, EngineError, Fate, Session, Target};
use shared::problem::ErrorCode;
use shared::wire::connection::{Ssh, SshJump, Tls, TlsMode};
use shared::wire::secrets::Secrets;
use std::time::Duration;
use testing::certificates;
use testing::relay::{Passed, Relay};
use testing::sshd::Sshd;

fn through(target: Target) -> (Target, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Target { tunnels: tunnels(folder.path()), ..target }, folder)
}

/// The same database without a tunnel, to look on.
async fn beside(target: &Target) -> Box<dyn Session> {
    let mut direct = Target::new(target.fields.clone(), Secrets::default());
    direct.fields.ssh = None;
    connect(&direct).await.unwrap()
}

/// A database, a statement that takes long, and one that tells how many such run.
fn both() -> [(Target, &'static str, &'static str); 2] {
    let secrets = || key(sshd(), "ed25519");
    [
        (
            postgres(ssh(sshd()), secrets()),
            "select pg_sleep(600) as tunnelled",
            "select count(*) from pg_stat_activity where state = 'active' and query = 'select pg_sleep(600) as tunnelled'",
        ),
        (
            maria(ssh(sshd()), secrets()),
            "SELECT SLEEP(600) AS tunnelled",
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query' AND INFO = 'SELECT SLEEP(600) AS tunnelled'",
        ),
    ]
}

#[tokio::test]
async fn twenty_cancels_go_through_the_tunnel_and_each_session_goes_on() {
    for (target, forever, running) in both() {
        let (target, _folder) = through(target);
        let mut session = connect(&target).await.unwrap();
        let mut watcher = beside(&target).await;
        for n in 0..20 {
            let handle = session.cancel_handle();
            let (stopped, ()) = tokio::join!(all_of(session.as_mut(), forever), async {
                while value(watcher.as_mut(), running).await == "0" {}
                handle.cancel().await.unwrap();
            });
            let error = stopped.unwrap_err();
            assert!(error.cancelled, "{n}: {error:?}");
            assert_eq!(value(session.as_mut(), "select 1").await, "1");
        }
        assert!(target.tunnels.open() <= 2, "one for data, one for all cancels: {}", target.tunnels.open());
        session.close().await;
    }
}

async fn all_of(session: &mut dyn Session, sql: &str) -> Result<usize, EngineError> {
    session.execute(sql, PAGE).await?;
    let mut rows = 0;
    loop {
        let fetched = session.fetch(PAGE).await?;
        rows += fetched.batch.num_rows();
        if !fetched.more {
            session.finish().await?;
            return Ok(rows);
        }
    }
}

#[tokio::test]
async fn a_result_that_nobody_reads_holds_up_no_other_session_and_no_cancel() {
    let wide = [
        "select n, repeat('x', 1000) from generate_series(1, 200000) n",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT REPEAT('x', 1000) FROM n a, n b",
    ];
    for ((target, ..), wide) in both().into_iter().zip(wide) {
        let (target, _folder) = through(target);
        let mut parked = connect(&target).await.unwrap();
        parked.execute(wide, Bound { rows: 10, bytes: 1 << 20 }).await.unwrap();
        assert!(parked.fetch(Bound { rows: 10, bytes: 1 << 20 }).await.unwrap().more);
        let mut other = connect(&target).await.unwrap();
        for _ in 0..5 {
            assert_eq!(value(other.as_mut(), "select 1").await, "1");
        }
        parked.cancel_handle().cancel().await.unwrap();
        parked.finish().await.unwrap();
        assert_eq!(value(parked.as_mut(), "select 1").await, "1");
    }
}

#[tokio::test]
async fn a_session_of_ssh_serves_the_next_link_and_is_closed_after_a_rest() {
    let (target, _folder) = through(postgres(ssh(sshd()), key(sshd(), "ed25519")));
    for _ in 0..3 {
        let mut session = connect(&target).await.unwrap();
        assert_eq!(value(session.as_mut(), "select 1").await, "1");
        session.close().await;
        assert_eq!(target.tunnels.open(), 1);
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    while target.tunnels.open() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_jump_host_leads_on_and_each_host_answers_for_its_own_key() {
    let far = Sshd::start();
    let jump = |host_key: Option<String>| {
        let Ssh { host, port, user, .. } = ssh(sshd());
        Some(SshJump { host, port, user, host_key })
    };
    let secrets = Secrets { ssh_key: Some(shared::wire::secrets::Secret::new(sshd().key("ed25519"))), ..Secrets::default() };
    // Both let the same key in.
    let authorized = far.folder.join("authorized_keys");
    std::fs::copy(sshd().folder.join("authorized_keys"), &authorized).unwrap();
    let (target, _folder) = through(postgres(Ssh { jump: jump(None), ..ssh(&far) }, secrets));
    let told = refusal(&target).await.problem;
    assert_eq!((told.code, told.field.as_deref()), (ErrorCode::UnknownHostKey, Some("ssh.jump.host")));
    assert!(told.host_key.as_ref().is_some_and(|key| key.jump && key.port == sshd().port && key.fingerprint == sshd().fingerprint()));

    let mut target = target;
    target.fields.ssh = Some(Ssh { jump: jump(Some(sshd().fingerprint())), host_key: None, ..ssh(&far) });
    let told = refusal(&target).await.problem;
    assert_eq!((told.code, told.field.as_deref()), (ErrorCode::UnknownHostKey, Some("ssh.host")));
    assert!(told.host_key.as_ref().is_some_and(|key| !key.jump && key.port == far.port && key.fingerprint == far.fingerprint()));

    target.fields.ssh = Some(Ssh { jump: jump(None), ..ssh(&far) });
    let mut session = connect(&target).await.unwrap();
    assert_eq!(value(session.as_mut(), "select 1").await, "1");
    session.cancel_handle().cancel().await.unwrap();
}

#[tokio::test]
async fn what_a_server_does_not_forward_is_told() {
    let closed = Sshd::start_with(&["AllowTcpForwarding no"]);
    let (target, _folder) = through(postgres(ssh(&closed), key(&closed, "ed25519")));
    let told = refusal(&target).await.problem;
    assert_eq!((told.code, told.field.as_deref()), (ErrorCode::ConnectFailed, Some("host")), "{told}");
    assert!(told.message.contains("does not allow a tunnel to 127.0.0.1:"), "{told}");

    let (mut target, _folder) = through(postgres(ssh(sshd()), key(sshd(), "ed25519")));
    target.fields.port = Some(1);
    let told = refusal(&target).await.problem;
    assert!(told.message.contains("can't connect to 127.0.0.1:1"), "{told}");
}

#[tokio::test]
async fn addresses_of_no_database_are_refused_at_the_far_end_too_and_nobody_is_asked() {
    let (mut target, _folder) = through(postgres(ssh(sshd()), key(sshd(), "ed25519")));
    for host in
        ["169.254.169.254", "0xa9fea9fe", "[fd00:ec2::254]", "64:ff9b::169.254.169.254", "0.0.0.0", "[::]", "fe80::1%1", "2852039166"]
    {
        target.fields.host = Some(host.to_owned());
        let told = refusal(&target).await.problem;
        assert!(told.message.contains("is not an address that Sheaf connects to"), "{host}: {told}");
        assert_eq!(target.tunnels.open(), 0);
    }
    // The first server is dialled by us, and so judged by what its name leads to.
    let mut metadata = ssh(sshd());
    metadata.host = "169.254.169.254".to_owned();
    target.fields.ssh = Some(metadata);
    target.fields.host = Some("db.example".to_owned());
    let told = refusal(&target).await.problem;
    assert_eq!((told.code, told.field.as_deref()), (ErrorCode::ConnectFailed, Some("ssh.host")), "{told}");
}

#[tokio::test]
async fn tls_inside_a_tunnel_keeps_the_database_s_name() {
    let authority = certificates::read(&cluster().folder, "ca.crt").expect("this test needs openssl");
    for (host, good) in [("localhost", true), ("127.0.0.1", false)] {
        let (mut target, _folder) = through(postgres(ssh(sshd()), key(sshd(), "ed25519")));
        target.fields.host = Some(host.to_owned());
        target.fields.tls = Some(Tls { ca: Some(authority.clone()), ..Tls::new(TlsMode::VerifyName) });
        match good {
            true => {
                let mut session = connect(&target).await.unwrap();
                assert_eq!(value(session.as_mut(), "select ssl from pg_stat_ssl where pid = pg_backend_pid()").await, "t");
            }
            false => assert!(refusal(&target).await.problem.message.contains("TLS with 127.0.0.1 failed")),
        }
    }
}

#[tokio::test]
async fn a_tunnel_cut_in_mid_result_loses_the_link_and_the_next_session_has_a_new_one() {
    let first = Relay::start(sshd().port, Duration::ZERO).await;
    let (target, _folder) = through(postgres(at(sshd(), first.port), key(sshd(), "ed25519")));
    let mut session = connect(&target).await.unwrap();
    session.execute("select n, repeat('x', 1000) from generate_series(1, 200000) n", PAGE).await.unwrap();
    assert!(session.fetch(PAGE).await.unwrap().more);
    first.cut();
    let error = loop {
        match session.fetch(PAGE).await {
            Ok(fetched) => assert!(fetched.more),
            Err(error) => break error,
        }
    };
    assert_eq!((error.fate, error.problem.code), (Fate::Unknown, ErrorCode::ConnectionLost), "{error:?}");
    assert!(error.problem.message.contains("the SSH tunnel was lost"), "{error:?}");
    // The session that died is not taken for one that rests.
    let told = refusal(&target).await.problem;
    assert_eq!(told.code, ErrorCode::ConnectFailed, "{told}");
    let mut target = target;
    target.fields.ssh = Some(ssh(sshd()));
    let mut again = connect(&target).await.unwrap();
    assert_eq!(value(again.as_mut(), "select 1").await, "1");
}

/// Until nothing passes any more: what the server pushes into a stream that nobody reads.
async fn come_to_rest(relay: &Relay) -> Passed {
    let mut all = relay.passed();
    let mut quiet = 0;
    while quiet < 5 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let more = relay.passed();
        quiet = if more.to_client == 0 { quiet + 1 } else { 0 };
        all.to_client += more.to_client;
    }
    all
}

#[tokio::test]
async fn a_parked_and_abandoned_result_moves_little_more_than_its_page() {
    let wide = [
        "select n, repeat('x', 250) from generate_series(1, 500000) n",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT a.i, REPEAT('x', 250) FROM n a, n b",
    ];
    for ((target, ..), wide) in both().into_iter().zip(wide) {
        let relay = Relay::narrow(sshd().port).await;
        let (mut target, _folder) = through(target);
        target.fields.ssh = Some(at(sshd(), relay.port));
        let mut session = connect(&target).await.unwrap();
        relay.passed();
        session.execute(wide, PAGE).await.unwrap();
        assert!(session.fetch(PAGE).await.unwrap().more);
        let parked = come_to_rest(&relay).await;
        println!("{:?}, parked after a page of 1,000 rows (258 kB): {parked:?}", target.fields.engine);
        assert!(parked.to_client <= 1_000_000, "{parked:?}");
        drop(session);
        let abandoned = come_to_rest(&relay).await;
        println!("{:?}, abandoned: {abandoned:?}", target.fields.engine);
        assert!(abandoned.to_client <= 500_000, "{abandoned:?}");
    }
}
