//! A server without a socket, and requests to it.

use arrow_array::RecordBatch;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use backend::access::launch::LaunchCodes;
use backend::access::pace::{Pace, Rate};
use backend::access::sign_ins::SignIns;
use backend::access::throttle::Throttle;
use backend::app::{App, Clock, Parts};
use backend::connections::Connections;
use backend::http;
use backend::runs::{Runs, RunsConfig};
use backend::store::Store;
use serde_json::Value;
use shared::problem::Problem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

pub const HOST: &str = "127.0.0.1:7432";

/// A server, its data folder and its clock.
pub struct Server {
    pub app: App,
    pub router: Router,
    pub now: Arc<AtomicU64>,
    pub data: PathBuf,
}

/// What came back.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Server {
    /// A server on a folder; another one on the same folder is that server after a restart.
    pub async fn start(data: &Path) -> Self {
        // Tests ask faster than any person.
        let endless = Rate { burst: u32::MAX, every: Duration::ZERO };
        Self::start_with(data, Pace::new(endless, endless, Duration::ZERO)).await
    }

    /// The same, at a pace.
    pub async fn start_with(data: &Path, pace: Pace) -> Self {
        backend::engine::worker::process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
        let now = Arc::new(AtomicU64::new(1_000_000));
        let clock = Clock::of({
            let now = now.clone();
            move || now.load(Ordering::Relaxed)
        });
        let store = Store::open(data).await.unwrap();
        let parts = Parts {
            port: 7432,
            connections: Connections::load(store.clone(), data, Vec::new()).await.unwrap(),
            launch_codes: LaunchCodes::open(&data.join("launch")).unwrap(),
            sign_ins: SignIns::new(store.sign_ins().await.unwrap()),
            store,
            throttle: Throttle::default(),
            pace,
            runs: Runs::new(RunsConfig::new(data.join("spool")), backend::engine::engine),
            clock,
            stopping: CancellationToken::new(),
            last_report: 0.into(),
        };
        let app = App::new(parts);
        Self { router: http::router(app.clone()), app, now, data: data.to_owned() }
    }

    /// Sends a request as it is.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    pub async fn sign_in(&self) -> Client<'_> {
        let code = self.app.launch_codes.issue(self.app.clock.now()).unwrap();
        let answer = self.send(post("/api/v1/sign-in/launch", &serde_json::json!({"code": code.reveal()}))).await;
        assert_eq!(answer.status, 200);
        Client { server: self, bearer: answer.json()["bearer"].as_str().unwrap().to_owned() }
    }
}

/// A client that is signed in.
pub struct Client<'s> {
    pub server: &'s Server,
    pub bearer: String,
}

impl Client<'_> {
    pub async fn send(&self, mut request: Request<Body>) -> Answer {
        request.headers_mut().insert("authorization", format!("Bearer {}", self.bearer).parse().unwrap());
        self.server.send(request).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path, Body::empty())).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(post(path, body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(request("DELETE", path, Body::empty())).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        let mut request = post(path, body);
        *request.method_mut() = axum::http::Method::PATCH;
        self.send(request).await
    }

    /// A connection to a new SQLite file that these statements made; its id.
    pub async fn sqlite(&self, setup: &str) -> String {
        let file = self.server.data.join(format!("{}.sqlite", self.server.app.connections.list().await.len()));
        rusqlite::Connection::open(&file).unwrap().execute_batch(setup).unwrap();
        let answer = self.post("/api/v1/connections", &serde_json::json!({"name": "test", "engine": "sqlite", "path": file})).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Starts a run and asks for Arrow.
    pub async fn run(&self, body: &Value) -> Answer {
        let mut request = post("/api/v1/runs", body);
        request.headers_mut().insert("accept", shared::page::MEDIA_TYPE.parse().unwrap());
        self.send(request).await
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The problem of an error; its form is checked.
    pub fn problem(&self, status: u16) -> Problem {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem: Problem = serde_json::from_slice(&self.body).unwrap();
        assert!(problem.request_id.is_some() && !problem.message.is_empty());
        problem
    }

    pub fn page(&self) -> RecordBatch {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.header("content-type"), shared::page::MEDIA_TYPE);
        assert_eq!(self.header("sheaf-page-crc32"), format!("{:08x}", crc32fast::hash(&self.body)));
        shared::page::decode(self.body.clone()).unwrap()
    }
}

/// A request that comes through the gate.
pub fn request(method: &str, path: &str, body: Body) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header("host", HOST).header("x-sheaf-client", "test/1");
    request.body(body).unwrap()
}

pub fn post(path: &str, body: &Value) -> Request<Body> {
    post_text(path, body.to_string())
}

/// The same of a JSON text as it stands.
pub fn post_text(path: &str, text: String) -> Request<Body> {
    let mut request = request("POST", path, Body::empty());
    request.headers_mut().insert("content-type", "application/json".parse().unwrap());
    request.headers_mut().insert("content-length", text.len().into());
    *request.body_mut() = Body::from(text);
    request
}
