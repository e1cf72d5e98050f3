//! A plain HTTP client on one connection: it sends the headers it is told and no others but `Host`.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper_util::rt::TokioIo;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// One kept-alive connection.
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

/// What to send. The headers of an honest script (`X-Sheaf-Client`) stand in it unless removed.
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, whole.
    pub body: Bytes,
}

impl Request {
    /// A request of a method to a path.
    pub fn new(method: &str, path: &str) -> Self {
        let headers = vec![("X-Sheaf-Client".to_owned(), "test/1".to_owned())];
        Self { method: method.to_owned(), path: path.to_owned(), headers, body: Vec::new() }
    }

    /// A GET.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// A POST.
    pub fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    /// Adds a header, or another one of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes every header of this name away.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        self
    }

    /// Signs the request.
    pub fn bearer(self, bearer: &str) -> Self {
        self.header("Authorization", &format!("Bearer {bearer}"))
    }

    /// A body as it is.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// A JSON body with its content type.
    pub fn json(self, value: &serde_json::Value) -> Self {
        self.header("Content-Type", "application/json").body(value.to_string())
    }
}

impl Response {
    /// A header's value, empty without it.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON, `null` where it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Client {
    /// Opens the connection.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(Self { sender, host: address.to_string() })
    }

    /// Sends and reads the whole answer. `Host` is the address unless the request names another (or several).
    pub async fn send(&mut self, request: Request) -> io::Result<Response> {
        let mut message = hyper::Request::builder().method(request.method.as_str()).uri(&request.path);
        if !request.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case("host")) {
            message = message.header("Host", &self.host);
        }
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?;
            message = message.header(name, HeaderValue::from_bytes(value.as_bytes()).map_err(io::Error::other)?);
        }
        let message = message.body(Full::new(Bytes::from(request.body))).map_err(io::Error::other)?;
        self.sender.ready().await.map_err(io::Error::other)?;
        let (head, body) = self.sender.send_request(message).await.map_err(io::Error::other)?.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        Ok(Response { status: head.status.as_u16(), headers: head.headers, body })
    }
}
