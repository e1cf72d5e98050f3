//! MySQL and MariaDB: a small wire of our own.
//!
//! Why our own: a result is parked in its own stream, with a window so narrow that a page moves little more than its own rows; the
//! server's text of each value is kept as it came; and the socket is opened by `dial` (docs/decisions/0007-mysql.md has the figures).
//! Invariant: the text is sent as it stands, in one COM_QUERY or COM_STMT_PREPARE, neither of which can hold more than one statement; no file of this machine is ever sent;
//! the password is never printed. Start at [`session::MysqlSession`].

mod binary;
mod cancel;
mod catalog;
mod connect;
mod decode;
mod errors;
mod permit;
mod session;
mod types;
mod wire;

pub use connect::WINDOW_BYTES;

use super::{Engine, EngineError, Session, Target};
use async_trait::async_trait;
use shared::wire::connection::EngineKind;

/// MySQL and MariaDB.
#[derive(Debug)]
pub struct Mysql;

#[async_trait]
impl Engine for Mysql {
    fn kind(&self) -> EngineKind {
        EngineKind::Mysql
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(session::MysqlSession::open(target).await?))
    }
}
