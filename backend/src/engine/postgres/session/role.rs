//! Whether a read-only connection can hold: a transaction that refuses writes does not stop whoever may write files or run programs.
//!
//! Invariant: it is asked before a session of a read-only connection is lent, and a role that could get around is refused by its reason.

use super::PostgresSession;
use crate::engine::EngineError;
use postgres_protocol::message::frontend;
use shared::problem::ErrorCode;

/// The reasons against the role that signed in, or NULL: what it is, and what it could become by `SET ROLE`. The functions read and write
/// files of the server's, and are nobody's unless they were granted.
const REASONS: &str = "SELECT pg_catalog.string_agg(CASE WHEN m.oid OPERATOR(pg_catalog.=) r.oid OR w.is_named THEN w.why \
        ELSE pg_catalog.concat('could become ', m.rolname, ', who ', w.why) END, ', ' \
        ORDER BY m.oid OPERATOR(pg_catalog.<>) r.oid, m.rolname) \
    FROM pg_catalog.pg_roles r \
    JOIN pg_catalog.pg_roles m ON m.oid OPERATOR(pg_catalog.=) r.oid \
        OR (NOT r.rolsuper AND pg_catalog.pg_has_role(r.oid, m.oid, 'MEMBER')) \
    CROSS JOIN LATERAL (SELECT m.rolname OPERATOR(pg_catalog.=) ANY \
        ('{pg_execute_server_program,pg_read_server_files,pg_write_server_files,pg_signal_backend}'::pg_catalog.name[]) AS is_named) n \
    CROSS JOIN LATERAL (SELECT n.is_named, CASE WHEN m.rolsuper THEN 'is a superuser' ELSE pg_catalog.concat_ws(', ', \
        CASE WHEN m.rolcreaterole THEN 'may create roles' END, \
        CASE WHEN m.rolreplication THEN 'may replicate' END, \
        CASE WHEN n.is_named THEN pg_catalog.concat('is a member of ', m.rolname) END, \
        (SELECT pg_catalog.string_agg(DISTINCT pg_catalog.concat('may call ', p.proname), ', ') FROM pg_catalog.pg_proc p \
            WHERE p.pronamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace AND p.proname OPERATOR(pg_catalog.=) ANY \
                ('{lo_export,lo_import,pg_file_rename,pg_file_unlink,pg_file_write,pg_read_binary_file,pg_read_file}'::pg_catalog.name[]) \
            AND p.proacl IS NOT NULL AND pg_catalog.has_function_privilege(m.oid, p.oid, 'EXECUTE'))) END AS why) w \
    WHERE r.rolname OPERATOR(pg_catalog.=) session_user AND w.why OPERATOR(pg_catalog.<>) ''";

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
