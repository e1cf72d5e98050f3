//! One request and its answer.

use super::damaged;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::problem::{ErrorCode, Problem};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestCache, RequestCredentials, RequestInit, RequestMode, Response};

/// What answers to a refused sign-in, and to a server that answers again.
type Answer = Rc<dyn Fn()>;

thread_local! {
    static BEARER: RefCell<Option<String>> = const { RefCell::new(None) };
    static REFUSED: RefCell<Option<Answer>> = const { RefCell::new(None) };
    static REACHED: RefCell<Option<Answer>> = const { RefCell::new(None) };
    static OUT_OF_REACH: Cell<bool> = const { Cell::new(false) };
}

/// Sets or forgets the bearer of all later requests.
pub fn set_bearer(bearer: Option<String>) {
    BEARER.with_borrow_mut(|held| *held = bearer);
}

/// A bearer is held (whether it is still good, the server tells).
pub fn signed_in() -> bool {
    BEARER.with_borrow(Option::is_some)
}

/// Called whenever the server refuses the bearer.
pub fn on_refused(react: impl Fn() + 'static) {
    REFUSED.with_borrow_mut(|held| *held = Some(Rc::new(react)));
}

/// Called by the first answer after one that did not come.
pub fn on_reached(react: impl Fn() + 'static) {
    REACHED.with_borrow_mut(|held| *held = Some(Rc::new(react)));
}

fn reached() {
    if OUT_OF_REACH.replace(false)
        && let Some(react) = REACHED.with_borrow(Clone::clone)
    {
        react();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

/// A request that is being put together.
pub(super) struct Ask<'a> {
    method: Method,
    path: String,
    accept: &'a str,
    body: Option<String>,
    abort: Option<&'a AbortSignal>,
}

impl<'a> Ask<'a> {
    pub(super) fn new(method: Method, path: &str) -> Self {
        Self { method, path: format!("/api/v1{path}"), accept: "application/json", body: None, abort: None }
    }

    pub(super) fn json(mut self, body: &impl Serialize) -> Result<Self, Problem> {
        self.body = Some(serde_json::to_string(body).map_err(|e| damaged(&e.to_string()))?);
        Ok(self)
    }

    pub(super) fn accept(mut self, media_type: &'a str) -> Self {
        self.accept = media_type;
        self
    }

    pub(super) fn abort(mut self, signal: Option<&'a AbortSignal>) -> Self {
        self.abort = signal;
        self
    }

    /// Sends it. An answer that is no success is a `Problem`.
    pub(super) async fn send(self) -> Result<Reply, Problem> {
        let init = self.init().map_err(|_| unreachable())?;
        let window = web_sys::window().ok_or_else(unreachable)?;
        let answer = JsFuture::from(window.fetch_with_str_and_init(&self.path, &init)).await;
        let response: Response = match answer.map(JsCast::dyn_into) {
            Ok(Ok(response)) => response,
            _ if self.abort.is_some_and(AbortSignal::aborted) => return Err(given_up()),
            _ => {
                OUT_OF_REACH.set(true);
                return Err(unreachable());
            }
        };
        reached();
        let reply = Reply { response };
        if reply.response.ok() { Ok(reply) } else { Err(reply.problem().await) }
    }

    fn init(&self) -> Result<RequestInit, JsValue> {
        let headers = Headers::new()?;
        headers.set("X-Sheaf-Client", "web/1")?;
        headers.set("Accept", self.accept)?;
        BEARER.with_borrow(|bearer| match bearer {
            Some(bearer) => headers.set("Authorization", &format!("Bearer {bearer}")),
            None => Ok(()),
        })?;
        let init = RequestInit::new();
        init.set_method(match self.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        });
        init.set_mode(RequestMode::SameOrigin);
        init.set_credentials(RequestCredentials::Omit);
        init.set_cache(RequestCache::NoStore);
        if let Some(body) = &self.body {
            headers.set("Content-Type", "application/json")?;
            init.set_body(&JsValue::from_str(body));
        }
        init.set_headers(&headers);
        init.set_signal(self.abort);
        Ok(init)
    }
}

/// An answer whose body is still to be read.
pub(super) struct Reply {
    response: Response,
}

impl Reply {
    pub(super) fn status(&self) -> u16 {
        self.response.status()
    }

    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name).ok().flatten()
    }

    pub(super) fn stream(&self) -> Option<web_sys::ReadableStream> {
        self.response.body()
    }

    /// The body; one that is shorter than it says is a Problem (a link that broke half way).
    pub(super) async fn bytes(&self) -> Result<Vec<u8>, Problem> {
        let promise = self.response.array_buffer().map_err(|_| cut_short())?;
        let buffer = JsFuture::from(promise).await.map_err(|_| cut_short())?;
        let bytes = js_sys::Uint8Array::new(&buffer).to_vec();
        let encoded = self.header("Content-Encoding").is_some();
        let told = self.header("Content-Length").and_then(|n| n.parse::<usize>().ok());
        if !encoded && told.is_some_and(|n| n != bytes.len()) {
            return Err(cut_short());
        }
        Ok(bytes)
    }

    pub(super) async fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(|e| damaged(&e.to_string()))
    }

    async fn problem(&self) -> Problem {
        let status = self.status();
        let said = match self.bytes().await {
            Ok(bytes) => serde_json::from_slice::<Problem>(&bytes).ok(),
            Err(_) => None,
        };
        let problem = said.unwrap_or_else(|| Problem::new(ErrorCode::Internal, format!("The server answered {status} without a reason")));
        if problem.code == ErrorCode::NotSignedIn
            && let Some(react) = REFUSED.with_borrow(Clone::clone)
        {
            react();
        }
        problem
    }
}

const UNREACHABLE: &str = "Sheaf's server does not answer";

fn unreachable() -> Problem {
    Problem::new(ErrorCode::Internal, UNREACHABLE)
}

/// No answer came at all.
pub fn is_unanswered(problem: &Problem) -> bool {
    problem.code == ErrorCode::Internal && problem.message == UNREACHABLE
}

fn cut_short() -> Problem {
    Problem::new(ErrorCode::Internal, "The server's answer was cut short")
}

pub(super) fn given_up() -> Problem {
    Problem::new(ErrorCode::Cancelled, "The request was given up")
}
