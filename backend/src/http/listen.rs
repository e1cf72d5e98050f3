//! Takes clients' connections and serves HTTP/1.1 on them, each within bounds: a request's headers in ten seconds and 16 KiB, an idle
//! connection 75 s, so many connections at once.
//!
//! hyper has one time for "the next headers are complete", idle or not. So that gets the long time, and [`Watched`] the short one: it
//! runs from the first byte of a request to the moment the service is called.

use axum::Router;
use axum::extract::Request;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use shared::limits::{CLIENT_CONNECTIONS_MAX, HEADER_BYTES_MAX, HEADER_SECONDS_MAX, KEEP_ALIVE_SECONDS, URI_BYTES_MAX};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

/// How long connections may take to end when the server ends.
const DRAIN: Duration = Duration::from_secs(5);
/// A little over what the gate allows, so that the gate answers, with all its headers, and hyper only cuts off what is far over.
const BUFFER_BYTES: usize = 2 * (HEADER_BYTES_MAX + URI_BYTES_MAX);
/// Waiting after the system refused a connection (out of descriptors): it will not get better at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stopping`, then lets open requests finish for a while.
pub async fn serve(listeners: Vec<TcpListener>, router: Router, stopping: CancellationToken) {
    let slots = Arc::new(Semaphore::new(CLIENT_CONNECTIONS_MAX));
    let connections = TaskTracker::new();
    for listener in listeners {
        let accepting = accept(listener, router.clone(), stopping.clone(), slots.clone(), connections.clone());
        connections.spawn(accepting);
    }
    stopping.cancelled().await;
    connections.close();
    if tokio::time::timeout(DRAIN, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "connections were cut off");
    }
}

async fn accept(listener: TcpListener, router: Router, stopping: CancellationToken, slots: Arc<Semaphore>, connections: TaskTracker) {
    loop {
        // With no slot free, the next client waits in the system's queue.
        let next = async { (slots.clone().acquire_owned().await, listener.accept().await) };
        let (slot, accepted) = tokio::select! {
            next = next => next,
            () = stopping.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = serve_connection(stream, router.clone(), stopping.clone());
                connections.spawn(async move {
                    connection.await;
                    drop(slot);
                });
            }
            Err(cause) => {
                tracing::warn!(%cause, "a connection could not be taken");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve_connection(stream: TcpStream, router: Router, stopping: CancellationToken) {
    if let Err(cause) = stream.set_nodelay(true) {
        tracing::debug!(%cause, "no TCP_NODELAY");
    }
    let between_requests = Arc::new(AtomicBool::new(true));
    let io = TokioIo::new(Watched { stream, between_requests: between_requests.clone(), deadline: None });
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        between_requests.store(false, Ordering::Release);
        let (router, between_requests) = (router.clone(), between_requests.clone());
        async move {
            let response = router.oneshot(request.map(axum::body::Body::new) as Request).await;
            between_requests.store(true, Ordering::Release);
            response
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(KEEP_ALIVE_SECONDS)).max_buf_size(BUFFER_BYTES);
    let mut connection = std::pin::pin!(builder.serve_connection(io, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(cause) = ended {
        tracing::debug!(%cause, "a connection ended early");
    }
}

/// A connection that ends when a request's headers take too long.
struct Watched {
    stream: TcpStream,
    /// No request is being served: bytes that arrive begin one.
    between_requests: Arc<AtomicBool>,
    /// Runs while headers arrive.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.between_requests.load(Ordering::Acquire) {
            self.deadline = None;
        }
        self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready())
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.is_late(cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before && self.deadline.is_none() && self.between_requests.load(Ordering::Acquire) {
            let end = Instant::now() + Duration::from_secs(HEADER_SECONDS_MAX);
            self.deadline = Some(Box::pin(tokio::time::sleep_until(end)));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
