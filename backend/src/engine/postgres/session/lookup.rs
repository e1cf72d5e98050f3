//! What the server's catalog says about a result's types and tables, asked once for each and then remembered.
//!
//! Invariant: types that are built in cost nothing; others one round trip the first time a session meets them, while the portal is
//! parked. Where columns come from is asked in the flight that ends the statement, so it never delays a page; what sessions learn of
//! that they share, and so a session's first flight asks which server it is, and sets what not every server knows. Names are bound.

use super::{Block, Event, Portal, PostgresSession, Reach, Said, Sink, TextRow, bind_texts};
use crate::engine::postgres::catalog::{self, Part};
use crate::engine::postgres::errors::not_sent;
use crate::engine::postgres::origins;
use crate::engine::{CancelHandle, EngineError};
use bytes::BytesMut;
use postgres_protocol::message::frontend;

/// A portal beside the statement's own.
const ASIDE: &str = "sheaf";

/// No other start of any server has the same answer.
const STARTED: &str = "SELECT pg_catalog.pg_postmaster_start_time()::pg_catalog.text, pg_catalog.pg_backend_pid()";

/// A server that computes notices within two seconds that we are gone; since [`WATCHES_SINCE`], and on systems that can tell.
const WATCH: &str = "SET client_connection_check_interval = '2s'";

/// The same where the process is the one that the key names: nothing is left behind in a process that a pooler lends to others too.
const WATCH_OWN: &str = "SELECT pg_catalog.set_config('client_connection_check_interval', '2s', false) \
    WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) ";

const WATCHES_SINCE: u32 = 14;

const TYPES: &str = "SELECT pg_catalog.format_type(a.o, a.m) \
    FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) WITH ORDINALITY AS a(o, m, n) \
    ORDER BY a.n";

const ORIGINS: &str = "SELECT a.t, a.n, s.nspname, c.relname, f.attname \
    FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int2[])) AS a(t, n) \
    JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.t \
    JOIN pg_catalog.pg_namespace s ON s.oid OPERATOR(pg_catalog.=) c.relnamespace \
    JOIN pg_catalog.pg_attribute f ON f.attrelid OPERATOR(pg_catalog.=) a.t AND f.attnum OPERATOR(pg_catalog.=) a.n";

impl PostgresSession {
    /// Asks one part of the catalog.
    pub(super) async fn ask_catalog(&mut self, part: &Part, answers: &mut catalog::Answers) -> Result<(), EngineError> {
        // First of all: what is asked for from here on is about this.
        self.canceller.forget();
        self.expect_idle().await?;
        let written = self.write_introduction().and_then(|()| catalog::write_questions(part, &mut self.wire.output));
        written.map_err(|error| not_sent(&error.into()))?;
        self.send().await?;
        self.read_introduction().await?;
        let numbers = part.numbers();
        let mut take = |question, row| {
            if let Some(number) = numbers.get(question) {
                answers.take(*number, row);
            }
        };
        self.ask(1, &mut take).await
    }

    /// Before a session's first question of any kind, in the same flight: which server it is, and that it shall watch the link.
    pub(super) fn write_introduction(&mut self) -> std::io::Result<()> {
        if self.whose.is_none() {
            return Ok(());
        }
        let process = self.canceller.process().filter(|_| self.major().is_some_and(|major| major >= WATCHES_SINCE) && !self.pooled);
        match process {
            Some(process) => frontend::query(&format!("{STARTED}; {WATCH_OWN}{process}"), &mut self.wire.output),
            None => frontend::query(STARTED, &mut self.wire.output),
        }
    }

    /// Behind a reset, in the same flight, where the session had it: the server is to watch the link again. How many more answers come.
    pub(super) fn write_watch(&mut self) -> std::io::Result<usize> {
        match self.watched {
            true => frontend::query(WATCH, &mut self.wire.output).map(|()| 1),
            false => Ok(0),
        }
    }

    /// Takes the answer to that. A server that does not tell shares nothing.
    pub(super) async fn read_introduction(&mut self) -> Result<(), EngineError> {
        let Some(whose) = self.whose.take() else { return Ok(()) };
        let mut rows = Vec::with_capacity(2);
        let mut said = |said| match said {
            Said::Row(row) if rows.len() < 2 => rows.push(row.into_iter()),
            _ => {}
        };
        let refused = self.until_ready(Sink::Aside, &mut said).await?;
        let mut rows = rows.into_iter();
        let mut first = rows.next().into_iter().flatten();
        let (started, process) = (first.next().flatten(), first.next().flatten());
        self.watched = rows.next().is_some() && refused.is_none();
        if refused.is_some_and(|fields| fields.is_cancel()) && self.canceller.was_asked() {
            // It was meant for what comes behind.
            let _ = self.canceller.cancel().await;
        }
        // Between this process and the server's stands somebody who gives out keys of his own.
        self.pooled |= process
            .and_then(|process| process.parse().ok())
            .is_some_and(|process: u32| self.canceller.process().is_some_and(|known| known != process));
        if let Some(started) = started {
            self.names.origins = origins::of(&whose, &started);
        }
        Ok(())
    }

    /// Learns the names of these types. The statement's portal is not disturbed; while it still sends rows nothing is asked.
    pub(super) async fn look_up_types(&mut self, missing: Vec<(u32, i32)>) -> Result<(), EngineError> {
        match &self.statement {
            Some(statement) if statement.portal != Portal::Running && statement.reach != Reach::EndAndSync => {}
            // Behind its Sync there is no portal to ask beside: its end comes first.
            Some(statement) if statement.portal == Portal::Complete => return self.look_up_types_behind(&missing).await,
            _ => return Ok(()),
        }
        write_types(&missing, &mut self.wire.output).map_err(|error| self.lose(&error.into()))?;
        let names = self.ask_aside().await?.into_iter().map(|row| row.into_iter().next().flatten());
        self.names.origins.learn_types(missing.into_iter().zip(names).filter_map(|(key, name)| Some((key, name?))));
        Ok(())
    }

    async fn look_up_types_behind(&mut self, missing: &[(u32, i32)]) -> Result<(), EngineError> {
        let end = self.until_ready(Sink::Nowhere, &mut |_| {}).await?;
        let may_ask = end.is_none() && self.block != Block::Failed;
        if let Some(statement) = &mut self.statement {
            statement.end = Some(end);
        }
        if may_ask { self.look_up_types_late(missing).await } else { Ok(()) }
    }

    /// Sends a question in a portal beside the statement's, which is parked, and takes its rows.
    pub(super) async fn ask_aside(&mut self) -> Result<Vec<TextRow>, EngineError> {
        self.send().await?;
        self.sink = Sink::Aside;
        let closed = loop {
            match self.event().await {
                Ok(Event::Closed) => break Ok(()),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        };
        self.sink = Sink::Statement;
        closed.map(|()| std::mem::take(&mut self.aside))
    }

    /// The same once the statement is over, for a later one.
    pub(super) async fn look_up_types_late(&mut self, missing: &[(u32, i32)]) -> Result<(), EngineError> {
        write_types(missing, &mut self.wire.output).map_err(|error| self.lose(&error.into()))?;
        frontend::sync(&mut self.wire.output);
        let mut names = Vec::new();
        self.ask(1, &mut |_, row| names.push(row.into_iter().next().flatten())).await?;
        self.names.origins.learn_types(missing.iter().zip(names).filter_map(|(key, name)| Some((*key, name?))));
        Ok(())
    }

    /// Takes the answer to [`write_origins`]. Tables that are gone have no origin.
    pub(super) async fn read_origins(&mut self, wanted: usize) -> Result<(), EngineError> {
        let mut rows = Vec::new();
        let mut said = |said| {
            if let (Said::Row(row), true) = (said, rows.len() < wanted) {
                rows.push(row);
            }
        };
        // A refusal leaves the origins unknown, as they were.
        self.until_ready(Sink::Aside, &mut said).await?;
        self.names.origins.learn(rows.iter().filter_map(|row| {
            let [Some(table), Some(attribute), Some(schema), Some(relation), Some(column)] = row.as_slice() else { return None };
            let place = (table.parse().ok()?, attribute.parse().ok()?);
            Some((place, format!("{schema}.{relation}.{column}")))
        }));
        Ok(())
    }
}

fn write_types(types: &[(u32, i32)], out: &mut BytesMut) -> std::io::Result<()> {
    let (oids, modifiers) = (array(types.iter().map(|(oid, _)| oid)), array(types.iter().map(|(_, modifier)| modifier)));
    write_aside(TYPES, &[Some(&oids), Some(&modifiers)], out)
}

/// A question in a portal beside the statement's.
pub fn write_aside(sql: &str, values: &[Option<&str>], out: &mut BytesMut) -> std::io::Result<()> {
    frontend::parse("", sql, [], out)?;
    bind_texts(ASIDE, values, out)?;
    frontend::execute(ASIDE, 0, out)?;
    frontend::close(b'P', ASIDE, out)?;
    frontend::flush(out);
    Ok(())
}

/// Asks where columns come from, behind a Sync, and ends with a Sync of its own.
pub fn write_origins(columns: &[(u32, i16)], out: &mut BytesMut) -> std::io::Result<()> {
    frontend::parse("", ORIGINS, [], out)?;
    let (tables, attributes) = (array(columns.iter().map(|(table, _)| table)), array(columns.iter().map(|(_, attribute)| attribute)));
    bind_texts("", &[Some(&tables), Some(&attributes)], out)?;
    frontend::execute("", 0, out)?;
    frontend::sync(out);
    Ok(())
}

/// Numbers as the text of an array.
fn array(numbers: impl Iterator<Item = impl ToString>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    format!("{{{}}}", numbers.join(","))
}
