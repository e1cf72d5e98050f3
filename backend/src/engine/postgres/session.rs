//! One session: a statement is a portal that is read as far as it is asked for.
//! Source: PostgreSQL documentation, "Extended Query".
//!
//! Parse, Bind, Describe, Execute with a row limit and Flush leave in one flight; Sync comes only at the end, so the unnamed portal
//! stays open without a BEGIN. Invariant: after an error with `Fate::Idle` and after `finish` the server waits for the next
//! statement; after anything else the session is marked broken and sends nothing more.
//! Start at `execute`; what the server says meanwhile is read in [`flow`].

mod effects;
mod flow;
mod give_up;
mod lookup;
mod messages;
mod reading;
mod role;
mod way;

use super::cancel::Canceller;
use super::catalog::{self, Part};
use super::connect::Connected;
use super::decode::{self, Reading};
use super::errors::{Fields, Notices, lost, not_sent};
use super::origins::Whose;
use super::types::{Layout, Names};
use super::wire::{Wire, WireError};
use crate::engine::catalog::CatalogAsk;
use crate::engine::notices::{asks_to_roll_back, rolled_back};
use crate::engine::rows::Rows;
use crate::engine::{Bound, CancelHandle, EngineError, Fetched, Finished, Param, Session, Started};
use async_trait::async_trait;
use flow::{Block, Event, Said, Sink, rows_affected};
use messages::{row_limit, text_of};
use way::{Reach, is_mere_query, reach_of};

pub use flow::TextRow;
pub use messages::{bind_texts, write_query};
use postgres_protocol::message::frontend;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use shared::wire::connection::EngineKind;
use shared::wire::run::Notice;
use std::collections::HashMap;
use std::sync::Arc;

/// A live session.
pub struct PostgresSession {
    wire: Wire,
    server: String,
    settings: HashMap<String, String>,
    notices: Notices,
    canceller: Arc<Canceller>,
    names: Names,
    /// Until the server has said which one it is.
    whose: Option<Whose>,
    read_only: bool,
    block: Block,
    /// A pooler stands between, which lends a server's process for a transaction only.
    pooled: bool,
    /// The server looks after the link while it computes.
    watched: bool,
    broken: bool,
    statement: Option<Statement>,
    sink: Sink,
    /// Rows of a question of Sheaf's own, until they are taken.
    aside: Vec<TextRow>,
}

/// The statement that is under way.
struct Statement {
    sql: String,
    /// How many values came with it.
    given: usize,
    layout: Option<Layout>,
    rows: Rows,
    portal: Portal,
    reach: Reach,
    /// CommandComplete's, once it came.
    tag: Option<String>,
    /// Its end was read already, and was refused or was not.
    end: Option<Option<Fields>>,
    /// Sheaf said no to it (COPY); the server's answer to that is not for the person.
    refused: Option<Problem>,
}

/// Bytes of a result that are read on behind a pooler, so that it has its server back: larger ones keep it until they are read.
const POOLED_BYTES: usize = 4 * 1024 * 1024;

/// Where the last Execute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Portal {
    /// Its answer is under way.
    Running,
    /// It brought as many rows as were asked for; more may wait.
    Suspended,
    /// It brought the last row.
    Complete,
}

impl PostgresSession {
    /// Over a link that is signed in.
    pub fn new(connected: Connected) -> Self {
        let version = connected.settings.get("server_version").map(String::as_str).unwrap_or_default();
        let server = format!("PostgreSQL {}", version.split(' ').next().unwrap_or_default()).trim_end().to_owned();
        Self {
            wire: connected.wire,
            server,
            settings: connected.settings,
            notices: connected.notices,
            canceller: Arc::new(Canceller::new(connected.route, connected.key)),
            names: Names::default(),
            whose: Some(connected.whose),
            read_only: connected.read_only,
            block: Block::Idle,
            pooled: connected.pooled,
            watched: false,
            broken: false,
            statement: None,
            sink: Sink::Statement,
            aside: Vec::new(),
        }
    }

    fn in_transaction(&self) -> bool {
        self.block != Block::Idle
    }

    /// The server's version, as far as the first dot.
    fn major(&self) -> Option<u32> {
        self.settings.get("server_version")?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// The session waits for a statement, and the server is still there.
    async fn expect_idle(&mut self) -> Result<(), EngineError> {
        if self.broken || self.statement.is_some() {
            return Err(EngineError::not_sent(ErrorCode::Internal, "the session is not ready for a statement"));
        }
        self.look_for_news().await
    }

    /// Sends what lies in the output; the statement counts as sent from here on.
    async fn send(&mut self) -> Result<(), EngineError> {
        let sent = self.wire.send().await;
        sent.map_err(|error| self.lose(&error))
    }

    /// The link is of no further use.
    fn lose(&mut self, error: &WireError) -> EngineError {
        self.broken = true;
        self.statement = None;
        lost(error)
    }

    /// Behind a BEGIN, the server leaves out all that follows up to the Sync where it refuses that.
    fn write_statement(&mut self, begin: Option<&str>, (sql, params): (&str, &[Param]), rows: usize, reach: Reach) -> std::io::Result<()> {
        let out = &mut self.wire.output;
        if let Some(begin) = begin {
            write_query(begin, out)?;
        }
        frontend::parse("", sql, [], out)?;
        let texts: Vec<Option<String>> = params.iter().map(text_of).collect();
        bind_texts("", &texts.iter().map(Option::as_deref).collect::<Vec<_>>(), out)?;
        frontend::describe(b'P', "", out)?;
        frontend::execute("", if reach == Reach::Page { row_limit(rows) } else { 0 }, out)?;
        match reach {
            Reach::Page | Reach::End => frontend::flush(out),
            Reach::EndAndSync => {
                if self.read_only {
                    write_query(reading::UNDO, out)?;
                }
                frontend::sync(out);
            }
        }
        Ok(())
    }

    /// The end of a statement, and in the same flight the question where its columns come from.
    fn write_close(&mut self, reach: Reach, tag: Option<&str>, guarded: bool, origins: &[(u32, i16)]) -> std::io::Result<()> {
        let out = &mut self.wire.output;
        if reach != Reach::EndAndSync {
            frontend::close(b'P', "", out)?;
            if guarded {
                write_query(effects::GUARD, out)?;
            }
            if self.read_only {
                write_query(reading::last_word(tag), out)?;
            }
            frontend::sync(out);
        }
        if !origins.is_empty() {
            lookup::write_origins(origins, out)?;
        }
        Ok(())
    }

    async fn start(&mut self, begin: Option<&str>, (sql, params): (&str, &[Param]), bound: Bound) -> Result<Started, EngineError> {
        // First of all: what is asked for from here on is about this.
        self.canceller.forget();
        self.expect_idle().await?;
        let rows = bound.rows.max(1);
        let reach = reach_of(sql, rows, self.pooled, self.read_only, self.in_transaction() || (begin.is_some() && !self.read_only));
        let written = self.write_introduction().and_then(|()| self.write_statement(begin, (sql, params), rows.saturating_add(1), reach));
        if written.is_err() {
            self.wire.output.clear();
            return Err(EngineError::idle(Problem::new(ErrorCode::Rejected, "PostgreSQL takes no text with a zero byte in it")));
        }
        self.statement = Some(Statement {
            sql: sql.to_owned(),
            given: params.len(),
            layout: None,
            rows: Rows::default(),
            portal: Portal::Running,
            reach,
            tag: None,
            end: None,
            refused: None,
        });
        self.send().await?;
        self.read_introduction().await?;
        self.answer(begin.is_none(), bound).await
    }

    /// Until the columns are known, or there are none and the statement is complete.
    async fn answer(&mut self, mut begun: bool, bound: Bound) -> Result<Started, EngineError> {
        loop {
            match self.event().await? {
                Event::Complete(_) if !begun => {
                    begun = true;
                    if !self.read_only {
                        self.block = Block::Open;
                    }
                }
                Event::Columns(columns) => {
                    let missing = self.names.missing_types(&columns);
                    if !missing.is_empty() {
                        self.set_layout(Layout::new(columns.clone(), &self.names));
                        self.gather(bound).await?;
                        self.look_up_types(missing).await?;
                    }
                    let layout = Layout::new(columns, &self.names);
                    let schema = Some(Arc::clone(&layout.schema));
                    self.set_layout(layout);
                    return Ok(Started { schema });
                }
                Event::Complete(tag) => {
                    if let Some(problem) = self.refusal() {
                        return Err(self.recover(EngineError::idle(problem)).await);
                    }
                    self.completed(tag);
                    return Ok(Started { schema: None });
                }
                _ => {}
            }
        }
    }

    fn set_layout(&mut self, layout: Layout) {
        if let Some(statement) = &mut self.statement {
            statement.layout = Some(layout);
        }
    }

    fn refusal(&mut self) -> Option<Problem> {
        self.statement.as_mut().and_then(|statement| statement.refused.take())
    }

    fn completed(&mut self, tag: String) {
        if let Some(statement) = &mut self.statement {
            statement.portal = Portal::Complete;
            statement.tag = Some(tag);
        }
    }

    /// Reads until the next batch and one row over are here, or the last row is; how many rows the batch has.
    async fn gather(&mut self, bound: Bound) -> Result<usize, EngineError> {
        let mut known = 0;
        let mut cut = None;
        loop {
            let Some(statement) = &mut self.statement else { return Ok(0) };
            let held = statement.rows.len();
            if known != held {
                known = held;
                cut = cut.or_else(|| statement.rows.reaching(bound.bytes));
            }
            let count = bound.rows.max(1).min(cut.unwrap_or(usize::MAX)).min(held);
            let reads_on = self.pooled && statement.reach == Reach::EndAndSync && statement.rows.byte_len() < POOLED_BYTES;
            if (held > count && !reads_on) || statement.portal == Portal::Complete {
                return Ok(count);
            }
            if statement.portal == Portal::Suspended {
                let wanted = wanted_rows(&statement.rows, bound);
                statement.portal = Portal::Running;
                frontend::execute("", row_limit(wanted), &mut self.wire.output).map_err(|error| self.lose(&error.into()))?;
                frontend::flush(&mut self.wire.output);
                self.send().await?;
            }
            match self.event().await? {
                Event::Suspended => self.suspended(),
                Event::Complete(tag) => self.completed(tag),
                _ => {}
            }
        }
    }

    fn suspended(&mut self) {
        if let Some(statement) = &mut self.statement {
            statement.portal = Portal::Suspended;
        }
    }

    fn reading(&self) -> Reading {
        Reading {
            iso_dates: self.settings.get("DateStyle").is_some_and(|style| style.starts_with("ISO")),
            postgres_intervals: self.settings.get("IntervalStyle").is_some_and(|style| style == "postgres"),
            shortest_floats: self.major().is_some_and(|major| major >= 12),
        }
    }
}

/// Rows to ask for so that the bound is reached with one row over, going by the rows that are here.
fn wanted_rows(rows: &Rows, bound: Bound) -> usize {
    let by_rows = bound.rows.max(1).saturating_add(1).saturating_sub(rows.len()).max(1);
    match rows.byte_len().checked_div(rows.len()) {
        Some(average) if average > 0 => by_rows.min(bound.bytes.saturating_sub(rows.byte_len()) / average + 1),
        _ => by_rows,
    }
}

#[async_trait]
impl Session for PostgresSession {
    async fn execute(&mut self, sql: &str, bound: Bound) -> Result<Started, EngineError> {
        self.execute_with(sql, &[], bound).await
    }

    async fn execute_with(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        // One transaction a statement: the only form of "read only" that no statement can talk itself out of.
        self.check_reading(sql)?;
        let begin = self.read_only.then_some("BEGIN READ ONLY");
        self.start(begin, (sql, params), bound).await
    }

    async fn execute_in_transaction(&mut self, sql: &str, params: &[Param], bound: Bound) -> Result<Started, EngineError> {
        self.check_reading(sql)?;
        let begin = if self.read_only { "BEGIN READ ONLY" } else { "BEGIN" };
        self.start(Some(begin), (sql, params), bound).await
    }

    async fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        let count = self.gather(bound).await?;
        let reading = self.reading();
        let Some(Statement { layout: Some(layout), rows, .. }) = &mut self.statement else {
            return Err(EngineError {
                problem: Problem::new(ErrorCode::Internal, "there is no result to read"),
                ..lost(&WireError::Closed)
            });
        };
        match decode::batch(rows, count, layout, reading) {
            Ok(batch) => {
                rows.discard(count);
                Ok(Fetched { batch, more: rows.len() > 0 })
            }
            Err(error) => Err(self.lose(&error)),
        }
    }

    fn shows_before_its_end(&self) -> bool {
        self.statement.as_ref().is_some_and(|statement| is_mere_query(&statement.sql))
    }

    async fn finish(&mut self) -> Result<Finished, EngineError> {
        self.complete_effects().await?;
        let stopped = self.stop_sending().await;
        let Some(statement) = self.statement.take() else {
            return Ok(Finished { rows_affected: None, in_transaction: self.in_transaction() });
        };
        let guarded = self.needs_guard(&statement);
        let columns = statement.layout.map(|layout| layout.columns).unwrap_or_default();
        let wanted = if self.in_transaction() { Vec::new() } else { self.names.origins.missing(&columns) };
        self.write_close(statement.reach, statement.tag.as_deref(), guarded, &wanted).map_err(|error| self.lose(&error.into()))?;
        self.send().await?;
        let had_failed = self.block == Block::Failed;
        let (mut tag, mut open) = (statement.tag, statement.portal == Portal::Running);
        let mut said = |said| match said {
            Said::Complete(complete) if std::mem::take(&mut open) => tag = Some(complete),
            _ => {}
        };
        let failed = match statement.end {
            Some(end) => end,
            None => self.until_ready(Sink::Nowhere, &mut said).await?,
        };
        if !wanted.is_empty() {
            self.read_origins(wanted.len()).await?;
        }
        if self.read_only && self.in_transaction() {
            frontend::query("ROLLBACK", &mut self.wire.output).map_err(|error| self.lose(&error.into()))?;
            self.ask(1, &mut |_, _| {}).await?;
        }
        if tag.as_deref().is_some_and(|tag| tag.starts_with("ALTER ") || tag.starts_with("DROP ")) {
            self.names.forget();
        }
        if had_failed && tag.as_deref() == Some("ROLLBACK") && !asks_to_roll_back(&statement.sql, EngineKind::Postgres) {
            self.notices.push(rolled_back());
        }
        let undone = tag.as_deref().filter(|_| self.read_only).and_then(|tag| reading::undone(tag, !columns.is_empty()));
        let is_kept = undone.is_none();
        undone.into_iter().for_each(|notice| self.notices.push(notice));
        let unnamed = self.names.missing_types(&columns);
        if !unnamed.is_empty() && !self.in_transaction() {
            self.look_up_types_late(&unnamed).await?;
        }
        match failed.filter(|fields| !(stopped && fields.is_cancel())) {
            Some(fields) => Err(self.refusal_at_end(fields, guarded, &statement.sql)),
            None => Ok(Finished {
                rows_affected: tag.filter(|_| is_kept).and_then(|tag| rows_affected(&tag, !columns.is_empty())),
                in_transaction: self.in_transaction(),
            }),
        }
    }

    async fn drop_rest(&mut self) -> Result<bool, EngineError> {
        Ok(self.stop_and_leave().await)
    }

    async fn check(&mut self) -> Result<(), EngineError> {
        self.expect_idle().await?;
        frontend::sync(&mut self.wire.output);
        self.ask(1, &mut |_, _| {}).await
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.block != Block::Idle)
    }

    fn transaction_failed(&self) -> bool {
        self.block == Block::Failed
    }

    fn notices(&self) -> Option<Notices> {
        Some(self.notices.clone())
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        self.notices.take().notices
    }

    fn cancel_handle(&self) -> Arc<dyn CancelHandle> {
        Arc::<Canceller>::clone(&self.canceller)
    }

    async fn read_catalog(&mut self, ask: &CatalogAsk) -> Result<Catalog, EngineError> {
        let mut answers = catalog::Answers::default();
        self.ask_catalog(&Part::of(ask), &mut answers).await?;
        answers.settle(ask);
        if let (CatalogAsk::Since(_), Some((named, whole))) = (ask, answers.wanted()) {
            self.ask_catalog(&Part::Contents(named, whole), &mut answers).await?;
        }
        let (origins, types) = (answers.origins(), answers.types());
        if *ask == CatalogAsk::First {
            self.names.origins.replace(origins, types);
        } else {
            self.names.origins.learn_types(types);
            self.names.origins.learn(origins);
        }
        Ok(answers.into_catalog(ask))
    }

    async fn reset(&mut self) -> Result<(), EngineError> {
        self.expect_idle().await?;
        let mut readies = 1;
        if self.in_transaction() {
            readies = 2;
            frontend::query("ROLLBACK", &mut self.wire.output).map_err(|error| not_sent(&error.into()))?;
        }
        frontend::query("DISCARD ALL", &mut self.wire.output).map_err(|error| not_sent(&error.into()))?;
        readies += self.write_watch().map_err(|error| not_sent(&error.into()))?;
        self.ask(readies, &mut |_, _| {}).await
    }

    fn server(&self) -> &str {
        &self.server
    }

    async fn close(mut self: Box<Self>) {
        frontend::terminate(&mut self.wire.output);
        let _ = self.wire.send().await;
        self.wire.shut_down().await;
    }
}

#[cfg(test)]
mod tests;
