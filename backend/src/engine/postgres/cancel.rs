//! Stops a running statement over a connection of its own.
//! Source: PostgreSQL documentation, "Canceling Requests in Progress".
//!
//! Invariant: it names the session, not the statement, so whoever calls it makes sure that the session still runs what is meant.
//! It returns only after the server has closed the request's connection: from then on no late signal of it can come.

use super::connect::{BackendKey, Route};
use crate::engine::{CancelHandle, EngineError};
use async_trait::async_trait;
use bytes::{BufMut, BytesMut};
use shared::limits::CONNECT_SECONDS_MAX;
use shared::problem::ErrorCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const CANCEL_REQUEST: u32 = 80_877_102;

/// The way to one session's cancel.
#[derive(Debug)]
pub struct Canceller {
    route: Route,
    key: Option<BackendKey>,
    asked: AtomicBool,
}

impl Canceller {
    /// For the session that was reached by `route`.
    pub fn new(route: Route, key: Option<BackendKey>) -> Self {
        Self { route, key, asked: AtomicBool::new(false) }
    }

    /// The number of the process that the key names.
    pub fn process(&self) -> Option<u32> {
        let (process, _) = self.key.as_ref()?.bytes.split_first_chunk::<4>()?;
        Some(u32::from_be_bytes(*process))
    }

    /// A new statement begins: what was asked before is not about it.
    pub fn forget(&self) {
        self.asked.store(false, Ordering::Release);
    }

    /// A cancel was asked for since.
    pub fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    async fn deliver(&self, key: &BackendKey) -> Result<(), EngineError> {
        let mut link = self.route.open_beside().await?;
        let mut request = BytesMut::new();
        request.put_u32(u32::try_from(8 + key.bytes.len()).unwrap_or(16));
        request.put_u32(CANCEL_REQUEST);
        request.extend_from_slice(&key.bytes);
        let broke = |error: std::io::Error| EngineError::not_sent(ErrorCode::ConnectFailed, format!("cancel could not be sent: {error}"));
        link.write_all(&request).await.map_err(broke)?;
        link.flush().await.map_err(broke)?;
        // The server answers nothing and closes; how it closes does not matter.
        let _ = link.read_u8().await;
        Ok(())
    }
}

#[async_trait]
impl CancelHandle for Canceller {
    async fn cancel(&self) -> Result<(), EngineError> {
        let Some(key) = &self.key else {
            return Err(EngineError::not_sent(ErrorCode::ConnectFailed, "this server gave out no key to cancel with"));
        };
        self.asked.store(true, Ordering::Release);
        match tokio::time::timeout(Duration::from_secs(CONNECT_SECONDS_MAX), self.deliver(key)).await {
            Ok(delivered) => delivered,
            Err(_) => Err(EngineError::not_sent(ErrorCode::ConnectFailed, "the server did not take the cancel request in time")),
        }
    }
}
