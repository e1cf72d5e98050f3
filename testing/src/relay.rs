//! A relay between a client and a server on loopback that counts, delays and cuts.
//!
//! Invariant: bytes pass unchanged and in order. A delay is a delay, not a slowness: what is under way is pipelined.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// A running relay; dropped, it cuts everything.
pub struct Relay {
    /// Where it listens on 127.0.0.1.
    pub port: u16,
    counts: Arc<Counts>,
    cut: watch::Sender<bool>,
    stalled: watch::Sender<bool>,
}

/// How much a relay holds on its own.
#[derive(Clone, Copy, Debug)]
struct Holds {
    /// Pieces of 16 KiB under way; of a segment where it is narrow.
    pieces: usize,
    /// Its sockets are those of a network card, not of the loopback: small segments, small buffers.
    narrow: bool,
}

/// Bytes of a segment on an Ethernet.
const SEGMENT_BYTES: u32 = 1_448;
/// What a narrow relay has counted and its client has not received, at most: the pieces under way, and what the system keeps of its
/// sockets' few segments, twice as much as it was asked for.
pub const NARROW_BYTES: u64 = 3 * SEGMENT_BYTES as u64 + 2 * 2 * 4 * SEGMENT_BYTES as u64;

/// What passed.
#[derive(Default)]
struct Counts {
    to_server: AtomicU64,
    to_client: AtomicU64,
    flights: AtomicU64,
    client_speaks: AtomicBool,
}

/// What passed since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Bytes from the client.
    pub to_server: u64,
    /// Bytes from the server.
    pub to_client: u64,
    /// How often the client began to speak after the server had: round trips.
    pub flights: u64,
}

impl Relay {
    /// To a port of 127.0.0.1, each direction delayed by `delay`.
    pub async fn start(server_port: u16, delay: Duration) -> Self {
        Self::holding(server_port, delay, Holds { pieces: 64, narrow: false }).await
    }

    /// The same without delay, and with next to no room of its own: what a client does not read, the server soon can't send.
    pub async fn narrow(server_port: u16) -> Self {
        Self::holding(server_port, Duration::ZERO, Holds { pieces: 1, narrow: true }).await
    }

    async fn holding(server_port: u16, delay: Duration, holds: Holds) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (cut, is_cut) = watch::channel(false);
        let (stalled, is_stalled) = watch::channel(false);
        let counts = Arc::new(Counts::default());
        tokio::spawn(accept(listener, server_port, (delay, holds), Arc::clone(&counts), Ways { is_cut, is_stalled }));
        Self { port, counts, cut, stalled }
    }

    /// Counts since the last call.
    pub fn passed(&self) -> Passed {
        let take = |count: &AtomicU64| count.swap(0, Ordering::SeqCst);
        Passed { to_server: take(&self.counts.to_server), to_client: take(&self.counts.to_client), flights: take(&self.counts.flights) }
    }

    /// Lets nothing pass from now on, and closes nothing: a path that died.
    pub fn stall(&self) {
        let _ = self.stalled.send(true);
    }

    /// Closes every connection, now and later.
    pub fn cut(&self) {
        let _ = self.cut.send(true);
    }
}

/// Bytes that the system has taken over from the server at a port of 127.0.0.1 and that nobody has confirmed, once they are no longer more: what
/// a server has sent ahead of a reader who waits.
pub async fn sent_ahead(server_port: u16) -> u64 {
    let (mut last, mut same) = (0, 0);
    while same < 100 {
        tokio::task::yield_now().await;
        let now = unconfirmed(server_port);
        same = if now == last { same + 1 } else { 0 };
        last = now;
    }
    last
}

/// Of all its connections, as the system lists them: `sl local remote state tx:rx …`, numbers in hexadecimal.
fn unconfirmed(port: u16) -> u64 {
    let list = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let of_port = list.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let queued = of_port.filter(|fields| fields[1].ends_with(&format!(":{port:04X}"))).map(|fields| fields[4].split(':').next().unwrap());
    queued.map(|bytes| u64::from_str_radix(bytes, 16).unwrap()).sum()
}

async fn to_server(port: u16, holds: Holds) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    if holds.narrow {
        socket.set_recv_buffer_size(SEGMENT_BYTES * 4).unwrap();
        socket2::SockRef::from(&socket).set_tcp_mss(SEGMENT_BYTES).unwrap();
    }
    socket.connect(([127, 0, 0, 1], port).into()).await.unwrap()
}

async fn accept(listener: TcpListener, server_port: u16, (delay, holds): (Duration, Holds), counts: Arc<Counts>, mut ways: Ways) {
    loop {
        let client = tokio::select! {
            accepted = listener.accept() => accepted.unwrap().0,
            _ = ways.is_cut.changed() => return,
        };
        let server = to_server(server_port, holds).await;
        if holds.narrow {
            socket2::SockRef::from(&client).set_send_buffer_size(SEGMENT_BYTES as usize * 4).unwrap();
        }
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let up = Arc::clone(&counts);
        tokio::spawn(pump(from_client, to_server, (delay, holds), ways.clone(), move |bytes| {
            up.to_server.fetch_add(bytes, Ordering::SeqCst);
            if !up.client_speaks.swap(true, Ordering::SeqCst) {
                up.flights.fetch_add(1, Ordering::SeqCst);
            }
        }));
        let down = Arc::clone(&counts);
        tokio::spawn(pump(from_server, to_client, (delay, holds), ways.clone(), move |bytes| {
            down.to_client.fetch_add(bytes, Ordering::SeqCst);
            down.client_speaks.store(false, Ordering::SeqCst);
        }));
    }
}

/// What may happen to everything under way.
#[derive(Clone)]
struct Ways {
    is_cut: watch::Receiver<bool>,
    is_stalled: watch::Receiver<bool>,
}

/// Waits while nothing may pass; false once all is cut.
async fn goes_on(is_stalled: &mut watch::Receiver<bool>, is_cut: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        passes = is_stalled.wait_for(|stalled| !stalled) => passes.is_ok(),
        _ = is_cut.changed() => false,
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    (delay, holds): (Duration, Holds),
    Ways { mut is_cut, mut is_stalled }: Ways,
    count: impl Fn(u64) + Send + 'static,
) {
    // Bounded, so that a reader that stops makes the sender stop too.
    let (queue, mut queued) = mpsc::channel::<(Instant, Vec<u8>)>(holds.pieces);
    let mut writer_cut = is_cut.clone();
    tokio::spawn(async move {
        while let Some((due, bytes)) = queued.recv().await {
            tokio::time::sleep_until(due).await;
            let cut = *writer_cut.borrow_and_update();
            if cut || to.write_all(&bytes).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    });
    let mut buffer = vec![0; if holds.narrow { SEGMENT_BYTES as usize } else { 16 * 1024 }];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = is_cut.changed() => 0,
        };
        if read == 0 {
            return;
        }
        if !goes_on(&mut is_stalled, &mut is_cut).await {
            return;
        }
        count(read as u64);
        if queue.send((Instant::now() + delay, buffer[..read].to_vec())).await.is_err() {
            return;
        }
    }
}
