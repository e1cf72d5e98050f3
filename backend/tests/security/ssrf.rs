//! A server that connects where a person says is no way into what that person must not reach.

use backend::engine::dial::policy::Mode;
use backend::engine::dial::{Address, own};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
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

/// Opens, and says why not.
async fn refusal(host: &str, port: u16, mode: Mode) -> String {
    let address = Address::Net { host: host.to_owned(), port };
    match address.open_in(mode, WINDOW).await {
        Ok(_) => panic!("{host} was reached in {mode:?}"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn z19_no_form_of_a_refused_address_reaches_a_listener() {
    const { assert!(ALWAYS.len() + THIS_MACHINE.len() >= 60) }
    let (port, came) = listener().await;
    for mode in [Mode::Local, Mode::Team] {
        for host in ALWAYS {
            let told = refusal(host, port, mode).await;
            let judged = told.contains("is not an address that Sheaf connects to");
            assert!(judged || told.starts_with("there is no address"), "{host} in {mode:?}: {told}");
        }
    }
    for host in THIS_MACHINE {
        refusal(host, port, Mode::Team).await;
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
    // The listener is there, and the person of this machine may reach it.
    Address::Net { host: "127.0.0.1".to_owned(), port }.open_in(Mode::Local, WINDOW).await.unwrap();
}

#[tokio::test]
async fn z19_no_spelling_of_this_machine_leads_to_the_server_itself() {
    let (port, came) = listener().await;
    own::note(port);
    for host in THIS_MACHINE {
        refusal(host, port, Mode::Local).await;
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
}
