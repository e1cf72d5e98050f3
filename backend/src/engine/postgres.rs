//! PostgreSQL: a small wire of our own on `postgres-protocol`'s messages.
//!
//! Why our own: the first page of any statement, and every next one, in one round trip, moving no more than its own rows, without
//! BEGIN, a cursor or a change of the text (docs/decisions/0003-postgres-portal.md has the figures).
//! Invariant: the text is sent as it stands; every column comes as the server's own text; the password is never printed.
//! Start at [`session::PostgresSession`].

mod cancel;
mod catalog;
mod connect;
mod decode;
mod errors;
mod origins;
mod session;
mod types;
mod wire;

use super::{Engine, EngineError, Session, Target};
use async_trait::async_trait;
use shared::wire::connection::EngineKind;

/// PostgreSQL.
#[derive(Debug)]
pub struct Postgres;

#[async_trait]
impl Engine for Postgres {
    fn kind(&self) -> EngineKind {
        EngineKind::Postgres
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Session>, EngineError> {
        let mut session = session::PostgresSession::new(connect::connect(target).await?);
        if target.fields.read_only {
            session.check_role().await?;
        }
        Ok(Box::new(session))
    }
}
