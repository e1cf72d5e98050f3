//! What a query does beside giving rows, when its rest is not wanted.
//!
//! A portal that is closed half way leaves a query's functions called for the rows that were read, and no others: half of what was asked for.
//! Invariant: outside of a transaction of the user's, what a query has written is kept whole or not at all. Before the rest is given up the
//! server is asked, while the portal is parked, whether a volatile function is among those that the text calls; then the query is run to its
//! end without its rows being kept, and whoever gives it up may find that too long and cancel it. What the text does not show (behind a view,
//! an operator, a domain, a policy) meets a [`GUARD`] in the flight that closes the portal: it fails where something was written, which undoes it.

use super::lookup::write_aside;
use super::way::{is_mere_query, unknown_calls};
use super::{Event, Portal, PostgresSession, Reach, Sink, Statement};
use crate::engine::EngineError;
use crate::engine::postgres::errors::Fields;
use postgres_protocol::message::frontend;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::Notice;

/// Fails where the transaction has a number, which the server gives it with its first change; NULL otherwise. Its failure is known by
/// [`Fields::is_of_guard`].
pub const GUARD: &str = "SELECT ('acted ' OPERATOR(pg_catalog.||) pg_catalog.txid_current_if_assigned()::pg_catalog.text)::pg_catalog.int4";

/// Whether one of the functions of these names is volatile. Those of the server's own are left out that are so only because no two calls
/// give the same, or because they take time.
const ACTS: &str = "SELECT EXISTS (SELECT FROM pg_catalog.pg_proc p \
    WHERE p.proname OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.name[]) \
    AND p.provolatile OPERATOR(pg_catalog.=) 'v'::pg_catalog.\"char\" \
    AND (p.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid OR NOT p.proname OPERATOR(pg_catalog.=) ANY \
    ('{clock_timestamp,gen_random_uuid,pg_sleep,pg_sleep_for,pg_sleep_until,random_normal,timeofday,uuidv4,uuidv7}'::pg_catalog.name[])))";

const UNDONE: &str =
    "It changed something beside giving rows, and its rest was given up: all of it was undone, so that nothing is left half done.";

impl PostgresSession {
    /// Before a statement is ended of which not all rows were read: what it may do beside is done for all of them.
    pub(super) async fn complete_effects(&mut self) -> Result<(), EngineError> {
        let Some(statement) = self.statement.as_ref().filter(|statement| self.may_be_half_done(statement)) else { return Ok(()) };
        let called = unknown_calls(&statement.sql);
        if called.is_empty() {
            return Ok(());
        }
        self.reach_its_rest().await?;
        let rests = self.statement.as_ref().is_some_and(|statement| statement.portal == Portal::Suspended);
        if rests && self.is_any_volatile(&called).await? { self.run_to_the_end().await } else { Ok(()) }
    }

    /// Rows are left behind a row limit, where something may have been written. Without a limit the server runs to the end, or a cancel
    /// undoes all of it.
    fn may_be_half_done(&self, statement: &Statement) -> bool {
        statement.reach == Reach::Page && statement.portal != Portal::Complete && !self.read_only
    }

    /// Whether a statement that is ended now needs the guard: it is a query of which rows are left, in no transaction but its own.
    pub(super) fn needs_guard(&self, statement: &Statement) -> bool {
        self.may_be_half_done(statement) && !self.in_transaction() && is_mere_query(&statement.sql)
    }

    /// What the failure of a statement that was ended means; with the guard behind it, perhaps that.
    pub(super) fn refusal_at_end(&self, fields: Fields, guarded: bool, sql: &str) -> EngineError {
        if guarded && fields.is_of_guard() {
            return EngineError::idle(Problem::new(ErrorCode::Rejected, UNDONE));
        }
        self.refusal_of(fields, sql)
    }

    /// Up to the rows that were asked for last, of which the last may be on their way.
    async fn reach_its_rest(&mut self) -> Result<(), EngineError> {
        while self.statement.as_ref().is_some_and(|statement| statement.portal == Portal::Running) {
            match self.event().await? {
                Event::Suspended => self.suspended(),
                Event::Complete(tag) => self.completed(tag),
                _ => {}
            }
        }
        Ok(())
    }

    async fn is_any_volatile(&mut self, called: &[String]) -> Result<bool, EngineError> {
        write_aside(ACTS, &[Some(&array(called))], &mut self.wire.output).map_err(|error| self.lose(&error.into()))?;
        let rows = self.ask_aside().await?;
        // A server that does not say has to be taken at its worst.
        Ok(rows.first().and_then(|row| row.first()).is_none_or(|acts| acts.as_deref() != Some("f")))
    }

    async fn run_to_the_end(&mut self) -> Result<(), EngineError> {
        frontend::execute("", 0, &mut self.wire.output).map_err(|error| self.lose(&error.into()))?;
        frontend::flush(&mut self.wire.output);
        if let Some(statement) = &mut self.statement {
            statement.portal = Portal::Running;
        }
        self.send().await?;
        self.sink = Sink::Nowhere;
        let end = loop {
            match self.event().await {
                Ok(Event::Complete(tag)) => break Ok(tag),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        };
        self.sink = Sink::Statement;
        end.map(|tag| {
            let message = "The rest of the rows was given up; what the functions of the query do beside was done for all of them.";
            self.notices.push(Notice { severity: "NOTICE".to_owned(), message: message.to_owned() });
            self.completed(tag);
        })
    }
}

/// Names as the text of an array.
fn array(names: &[String]) -> String {
    let quoted = names.iter().map(|name| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")));
    format!("{{{}}}", quoted.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_name_stands_in_an_array() {
        assert_eq!(super::array(&["f".to_owned(), "a \"b\" \\ {c}, d".to_owned()]), r#"{"f","a \"b\" \\ {c}, d"}"#);
    }
}
