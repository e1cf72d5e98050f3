//! Whether a read-only connection can hold: a transaction that refuses writes does not stop whoever may write files or run programs.
//!
//! Invariant: it is asked before a session of a read-only connection is lent, and a role that could get around is refused by its reason.

use super::PostgresSession;
use crate::engine::EngineError;
use postgres_protocol::message::frontend;
use shared::problem::ErrorCode;

/// The reasons against the role that signed in, or NULL.
const REASONS: &str = "SELECT CASE WHEN r.rolsuper THEN 'is a superuser' ELSE pg_catalog.concat_ws(', ', \
        CASE WHEN r.rolcreaterole THEN 'may create roles' END, \
        CASE WHEN r.rolreplication THEN 'may replicate' END, \
        (SELECT pg_catalog.string_agg('is a member of ' || m.rolname, ', ' ORDER BY m.rolname) FROM pg_catalog.pg_roles m \
            WHERE m.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_signal_backend') \
                AND pg_catalog.pg_has_role(r.oid, m.oid, 'MEMBER'))) END \
    FROM pg_catalog.pg_roles r WHERE r.rolname = session_user";

impl PostgresSession {
    /// Refuses a role for which "read only" is a word and no more.
    pub async fn check_role(&mut self) -> Result<(), EngineError> {
        frontend::query(REASONS, &mut self.wire.output).map_err(|error| self.lose(&error.into()))?;
        let mut reasons = None;
        self.ask(1, &mut |_, row| reasons = row.into_iter().next().flatten()).await?;
        match reasons.filter(|reasons| !reasons.is_empty()) {
            None => Ok(()),
            Some(reasons) => Err(EngineError::not_sent(
                ErrorCode::ReadOnlyRefused,
                format!("A read-only connection needs a role that can't get around it, and this one {reasons}."),
            )),
        }
    }
}
