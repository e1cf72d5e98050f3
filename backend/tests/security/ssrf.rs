//! A server that connects where a person says is no way into what that person must not reach.

use async_trait::async_trait;
use backend::engine::dial::policy::{Mode, Policy, Protocol, Rule};
use backend::engine::dial::{Address, Dialer, Resolver, own};
use backend::engine::{Target, engine};
use shared::wire::connection::{ConnectionFields, EngineKind, Ssh, SshJump, SshMethod};
use shared::wire::secrets::{Secret, Secrets};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

const WINDOW: u32 = 128 * 1024;

/// Refused in every mode. Left to the system, those of the first group lead to a listener of this machine.
const ALWAYS: &[&str] = &[
    // This very host, by an address of no host.
    "0.0.0.0",
    "0",
    "00",
    "0x0",
    "0x00000000",
    "0.0",
    "0.0.0.0.",
    "000.000.000.000",
    "::",
    "[::]",
    "0:0:0:0:0:0:0:0",
    "::ffff:0.0.0.0",
    "[::ffff:0.0.0.0]",
    "0.1.2.3",
    // The metadata services of clouds, and all that is link-local.
    "169.254.169.254",
    "169.254.169.254.",
    "169.254.43518",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "025177524776",
    "169.254.0.1",
    "::ffff:169.254.169.254",
    "[::ffff:a9fe:a9fe]",
    "::169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::169.254.169.254",
    "2002:a9fe:a9fe::",
    "2002:a9fe:a9fe::1",
    "2001:0:1:2:3:4:5601:5601",
    "fd00:ec2::254",
    "[fd00:ec2::254]",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "fe80::1",
    "fe80::1%lo",
    "febf::1",
    // Nobody's, and everybody's.
    "224.0.0.1",
    "239.255.255.255",
    "ff02::1",
    "255.255.255.255",
    "240.0.0.1",
    "0xffffffff",
    "4294967295",
    // The same once more in forms that carry an address inside another, with zones, dots and brackets.
    "::ffff:0:169.254.169.254",
    "64:ff9b::0.0.0.0",
    "2002::",
    "2001:0:4136:e378:8000:63bf:5601:5601",
    "2001:db8::5efe:169.254.169.254",
    "2001:db8::200:5efe:a9fe:a9fe",
    "[fe80::1%25lo]",
    "169.254.169.254%lo",
    "[::]",
    "0251.254.169.254",
    "0xA9.254.0251.254",
    "169.16689662",
    "0xa9fe.43518",
];

/// What some resolvers take for an address of this machine, and Sheaf leads nowhere: other scripts' digits and dots, and no address at all.
const NO_ADDRESS: &[&str] = &[
    "１２７.０.０.１",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "169.254.169.254..",
    "127.0.0.1\u{0}.example",
    "127.0.0.1 ",
    "http://127.0.0.1",
    "127.0.0.1:5432",
    "user@127.0.0.1",
    "127.0.0.1/32",
    "127.0.0.1#x",
    "256.256.256.256",
    "[127.0.0.1",
    "",
];

/// Lead to this machine; refused where several people share the server, and in every mode where the server itself listens.
const THIS_MACHINE: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "127.9.9.9",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "::1",
    "[::1]",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "[::ffff:7f00:1]",
    "64:ff9b::127.0.0.1",
    "2002:7f00:1::",
    "0x7f.1",
    "0177.1",
    "0X7F.0X0.0X0.0X1",
    "127.0x1",
    "127.000.000.001",
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b:1::7f00:1",
    "2001:0:1:2:3:4:80ff:fffe",
    "2001:db8::5efe:127.0.0.1",
    "127.0.0.1%lo",
    "::1%lo",
    "[::1%25lo]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
];

/// Listens on both families, and counts whoever comes.
async fn listener() -> (u16, Arc<AtomicUsize>) {
    let came = Arc::new(AtomicUsize::new(0));
    let first = TcpListener::bind((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)).await.unwrap();
    let port = first.local_addr().unwrap().port();
    let second = TcpListener::bind((IpAddr::V6(Ipv6Addr::LOCALHOST), port)).await.ok();
    for one in [Some(first), second].into_iter().flatten() {
        let came = came.clone();
        tokio::spawn(async move {
            while one.accept().await.is_ok() {
                came.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    (port, came)
}

fn dialer(mode: Mode, rules: &[String]) -> Dialer {
    Dialer::new(Policy::new(mode, rules.iter().map(|rule| Rule::read(rule).unwrap()).collect()))
}

/// Opens, and says why not.
async fn refusal(dialer: &Dialer, host: &str, port: u16) -> String {
    let address = Address::Net { host: host.to_owned(), port };
    match dialer.open(&address, Protocol::Postgres, WINDOW).await {
        Ok(_) => panic!("{host} was reached by {dialer:?}"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn z19_no_form_of_a_refused_address_reaches_a_listener() {
    const { assert!(ALWAYS.len() >= 60 && THIS_MACHINE.len() + NO_ADDRESS.len() >= 50) }
    let (port, came) = listener().await;
    // What is allowed does not lift what is refused in every mode.
    let all = [format!("0.0.0.0/0:{port}"), format!("[::/0]:{port}")];
    for dialer in [dialer(Mode::Local, &[]), dialer(Mode::Team, &[]), dialer(Mode::Team, &all)] {
        for host in ALWAYS {
            let told = refusal(&dialer, host, port).await;
            let judged = told.contains("is not an address that Sheaf connects to");
            assert!(judged || told.starts_with("there is no address"), "{host} by {dialer:?}: {told}");
        }
        for host in NO_ADDRESS {
            refusal(&dialer, host, port).await;
        }
    }
    for host in THIS_MACHINE {
        let told = refusal(&dialer(Mode::Team, &[]), host, port).await;
        assert!(told.contains("is not an address") || told.starts_with("there is no address"), "{host}: {told}");
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
    // The listener is there, and the person of this machine may reach it, and so may whom a rule allows to.
    for dialer in [dialer(Mode::Local, &[]), dialer(Mode::Team, &all), dialer(Mode::Team, &[format!("127.0.0.1:{port}")])] {
        dialer.open(&Address::Net { host: "127.0.0.1".to_owned(), port }, Protocol::Postgres, WINDOW).await.unwrap();
    }
}

#[tokio::test]
async fn z19_no_spelling_of_this_machine_leads_to_the_server_itself() {
    let (port, came) = listener().await;
    own::note(port);
    let all = [format!("0.0.0.0/0:{port}"), format!("[::/0]:{port}"), format!("localhost:{port}")];
    for dialer in [dialer(Mode::Local, &[]), dialer(Mode::Team, &all)] {
        for host in THIS_MACHINE {
            refusal(&dialer, host, port).await;
        }
        let told = refusal(&dialer, "127.0.0.1", port).await;
        assert_eq!(told, format!("port {port} of this machine is Sheaf's own, and no database answers there"));
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn z19_a_team_s_server_knocks_at_no_port_that_is_none_of_the_service() {
    let (port, came) = listener().await;
    // Whatever it is, it is nobody's usual one: the address alone would be allowed.
    let told = refusal(&dialer(Mode::Team, &[]), "192.0.2.1", port).await;
    assert_eq!(told, format!("port {port} is none at which this server of Sheaf reaches PostgreSQL; its administrator can allow it"));
    let other_port = [format!("127.0.0.1:{}", port.checked_add(1).unwrap_or(1)), format!("10.0.0.0/8:{port}")];
    refusal(&dialer(Mode::Team, &other_port), "127.0.0.1", port).await;
    assert_eq!(came.load(Ordering::SeqCst), 0);
    let socket = Address::Socket("/nowhere/.s.PGSQL.5432".into());
    let told = dialer(Mode::Team, &[]).open(&socket, Protocol::Postgres, WINDOW).await.err().unwrap().to_string();
    assert_eq!(told, "a socket of the machine is reached only where Sheaf runs for one person");
}

/// Tells the same addresses for every name.
struct Told(Vec<IpAddr>);

#[async_trait]
impl Resolver for Told {
    async fn resolve(&self, _: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        Ok(self.0.iter().map(|address| SocketAddr::new(*address, port)).collect())
    }
}

#[tokio::test]
async fn z19_a_name_is_refused_for_any_one_of_its_addresses() {
    let (port, came) = listener().await;
    let mapped = IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let told = |addresses: &[&str]| -> Vec<IpAddr> { addresses.iter().map(|address| address.parse().unwrap()).collect() };
    for (mode, addresses) in [
        (Mode::Local, told(&["127.0.0.1", "169.254.169.254"])),
        (Mode::Local, told(&["169.254.169.254", "127.0.0.1"])),
        (Mode::Local, told(&["127.0.0.1", "::1", "127.0.0.1", "0.0.0.0"])),
        (Mode::Local, told(&["127.0.0.1", "64:ff9b::a9fe:a9fe"])),
        (Mode::Team, vec![here]),
        (Mode::Team, vec![mapped]),
        (Mode::Team, told(&["192.0.2.1", "127.0.0.1"])),
        (Mode::Team, told(&["127.0.0.1", "192.0.2.1"])),
        (Mode::Team, told(&["192.0.2.1", "10.0.0.1"])),
        (Mode::Team, told(&["2001:db8::1", "fd00::1"])),
    ] {
        let rules = ["192.0.2.0/24", "[2001:db8::/32]"].map(|net| Rule::read(&format!("{net}:{port}")).unwrap());
        let dialer = Dialer::asking(Policy::new(mode, rules.to_vec()), Arc::new(Told(addresses.clone())));
        let told = refusal(&dialer, "db.example", port).await;
        assert!(told.contains("is not an address that Sheaf connects to"), "{addresses:?}: {told}");
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
    // Asked for once: the address that was judged is the one that is connected to.
    let dialer = Dialer::asking(Policy::default(), Arc::new(Told(vec![here])));
    dialer.open(&Address::Net { host: "db.example".to_owned(), port }, Protocol::Postgres, WINDOW).await.unwrap();
}

/// The way through SSH to a database, over another server or not.
fn through(jump: Option<(&str, u16)>, ssh: (&str, u16), far: (&str, u16), dialer: Dialer) -> Target {
    let jump = jump.map(|(host, port)| SshJump { host: host.to_owned(), port: Some(port), user: "nobody".to_owned(), host_key: None });
    let ssh =
        Ssh { host: ssh.0.to_owned(), port: Some(ssh.1), user: "nobody".to_owned(), method: SshMethod::Password, jump, host_key: None };
    let fields = ConnectionFields {
        host: Some(far.0.to_owned()),
        port: Some(far.1),
        user: Some("nobody".to_owned()),
        ssh: Some(ssh),
        ..ConnectionFields::new("test", EngineKind::Postgres)
    };
    let secrets = Secrets { ssh_password: Some(Secret::new("x")), ..Secrets::default() };
    Target { dialer: Arc::new(dialer), ..Target::new(fields, secrets) }
}

#[tokio::test]
async fn z19_the_policy_is_of_every_server_on_the_way() {
    let (port, came) = listener().await;
    let here = ("127.0.0.1", port);
    let allowed = || dialer(Mode::Team, &[format!("127.0.0.1:{port}")]);
    let strict = || dialer(Mode::Team, &[]);
    let bad = "169.254.169.254";
    for (target, words) in [
        // The first server.
        (through(None, here, ("10.0.0.1", 5432), strict()), "is not an address"),
        (through(Some(here), ("10.0.0.2", 22), ("10.0.0.1", 5432), strict()), "is not an address"),
        (through(None, ("192.0.2.1", port), ("10.0.0.1", 5432), strict()), "reaches SSH"),
        (through(None, ("192.0.2.1", 5432), ("10.0.0.1", 5432), strict()), "reaches SSH"),
        // The second, which the first would connect to.
        (through(Some(here), (bad, 22), ("10.0.0.1", 5432), allowed()), bad),
        (through(Some(here), ("10.0.0.2", 25), ("10.0.0.1", 5432), allowed()), "reaches SSH"),
        // The database, which the last would connect to.
        (through(None, here, (bad, 5432), allowed()), bad),
        (through(None, here, ("64:ff9b::a9fe:a9fe", 5432), allowed()), "64:ff9b::a9fe:a9fe"),
        (through(None, here, ("10.0.0.1", 80), allowed()), "reaches PostgreSQL"),
        (through(Some(here), ("10.0.0.2", 22), ("db", 6379), allowed()), "reaches PostgreSQL"),
        // For one person, what is refused in every mode.
        (through(Some(here), (bad, 22), ("10.0.0.1", 5432), Dialer::default()), bad),
        (through(None, here, ("0x0", 5432), Dialer::default()), "0.0.0.0"),
    ] {
        let error = engine(EngineKind::Postgres).connect(&target).await.err().unwrap();
        assert!(error.problem.message.contains(words), "{words}: {}", error.problem.message);
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
}
