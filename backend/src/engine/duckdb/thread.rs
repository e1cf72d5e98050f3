//! The session's thread: it owns the connection and the result that is being read.
//!
//! Invariant: of a result no more is pulled than one of DuckDB's batches (2,048 rows) beyond what was handed out. Start at
//! [`Connected::serve`].

use super::columns::{Columns, Instants};
use super::database::{Shared, literal};
use super::place::Place;
use super::signals::Signals;
use super::statement::{Facts, facts};
use super::{catalog, database, error};
use crate::engine::worker::Inbox;
use crate::engine::{Bound, EngineError, Fetched, Finished, Started};
use adbc_core::error::{Error, Result as AdbcResult};
use adbc_core::{Connection as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedStatement};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::Catalog;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Where an answer goes.
type Reply<T> = oneshot::Sender<Result<T, EngineError>>;
type Reader = Box<dyn RecordBatchReader + Send>;

/// What the session asks of its thread.
pub enum Command {
    /// See [`crate::engine::Session::execute`].
    Execute(String, Reply<Started>),
    /// See [`crate::engine::Session::fetch`].
    Fetch(Bound, Reply<Fetched>),
    /// See [`crate::engine::Session::finish`].
    Finish(Reply<Finished>),
    /// See [`crate::engine::Session::catalog`].
    Catalog(Reply<Catalog>),
    /// See [`crate::engine::Session::reset`].
    Reset(Reply<()>),
}

/// A session with an open file. Fields are dropped in their order: the result before its connection before its database.
pub struct Connected {
    reading: Option<Reading>,
    connection: ManagedConnection,
    /// For questions of Sheaf's own while a result is open.
    aside: Option<ManagedConnection>,
    shared: Arc<Shared>,
    place: Place,
    version: String,
    touched: bool,
    in_transaction: bool,
    /// Whether one is open may have changed since it was last asked.
    unsure: bool,
    rows_affected: Option<u64>,
}

impl Connected {
    /// Opens the file and a session.
    pub fn open(place: Place) -> Result<Self, EngineError> {
        let shared = Shared::of(&place)?;
        let mut connection = shared.connect()?;
        let version = first_text(&mut connection, "SELECT version()").unwrap_or_default();
        Ok(Self {
            reading: None,
            connection,
            aside: None,
            shared,
            place,
            version,
            touched: false,
            in_transaction: false,
            unsure: false,
            rows_affected: None,
        })
    }

    /// The library's name and version.
    pub fn server(&self) -> String {
        format!("DuckDB {}", self.version.trim_start_matches('v'))
    }

    /// Answers commands until the session is dropped.
    pub fn serve(mut self, signals: &Signals, inbox: &mut Inbox<Command>) {
        while let Some(command) = inbox.wait() {
            match command {
                Command::Execute(sql, reply) => drop(reply.send(self.execute(&sql, signals))),
                Command::Fetch(bound, reply) => drop(reply.send(self.fetch(bound, signals))),
                Command::Finish(reply) => drop(reply.send(Ok(self.finish()))),
                Command::Catalog(reply) => {
                    self.reading = None;
                    let read = catalog::read(&mut self.connection, &self.place.name());
                    drop(reply.send(read.map_err(|e| error::of_statement(&e.message, "", signals.stopped()))));
                }
                Command::Reset(reply) => drop(reply.send(self.reset())),
            }
        }
    }

    fn execute(&mut self, sql: &str, signals: &Signals) -> Result<Started, EngineError> {
        self.reading = None;
        self.rows_affected = None;
        self.unsure |= facts(sql).transaction;
        let started = self.start(sql, signals);
        if started.is_err() {
            self.settle_transaction();
        }
        started
    }

    /// Asks whether a transaction is open, where the last statement may have changed that.
    fn settle_transaction(&mut self) {
        if std::mem::take(&mut self.unsure) {
            self.in_transaction = is_in_transaction(&mut self.connection);
        }
    }

    fn start(&mut self, sql: &str, signals: &Signals) -> Result<Started, EngineError> {
        let facts = facts(sql);
        check(&facts, sql)?;
        if !facts.some {
            return Ok(Started { schema: None });
        }
        self.touched |= facts.touches;
        let fault = |e: &Error| error::of_statement(&e.message, sql, signals.stopped());
        let mut statement = self.connection.new_statement().map_err(|e| fault(&e))?;
        signals.attach(statement.get_cancel_handle());
        statement.set_sql_query(sql).map_err(|e| fault(&e))?;
        if signals.stopped() {
            return Err(error::of_statement("INTERRUPT Error: Interrupted!", sql, true));
        }
        let reader = statement.execute().map_err(|e| fault(&e))?;
        let mut reading = Reading::new(reader, statement, sql.to_owned());
        if let Some(count) = reading.answer_without_rows(&facts, signals)? {
            self.rows_affected = count;
            return Ok(Started { schema: None });
        }
        let schema = reading.columns.schema();
        reading.look_ahead(signals)?;
        self.reading = Some(reading);
        Ok(Started { schema: Some(schema) })
    }

    fn fetch(&mut self, bound: Bound, signals: &Signals) -> Result<Fetched, EngineError> {
        let Some(reading) = &mut self.reading else {
            return Err(EngineError::idle(Problem::new(ErrorCode::Internal, "No statement is being read.")));
        };
        let (shared, aside) = (&self.shared, &mut self.aside);
        let fetched = reading.fetch(bound, signals, |zone, instants| {
            if aside.is_none() {
                *aside = Some(shared.connect()?);
            }
            let Some(connection) = aside else { return Ok(Instants::new()) };
            texts_of(connection, zone, instants)
        });
        if fetched.is_err() {
            self.reading = None;
        }
        fetched
    }

    fn finish(&mut self) -> Finished {
        self.reading = None;
        self.settle_transaction();
        Finished { rows_affected: self.rows_affected.take(), in_transaction: self.in_transaction }
    }

    /// A new connection forgets everything that was the session's: settings, temporary tables, an open transaction.
    fn reset(&mut self) -> Result<(), EngineError> {
        self.reading = None;
        if self.touched {
            self.aside = None;
            self.connection = self.shared.connect()?;
            self.touched = false;
            self.in_transaction = false;
            self.unsure = false;
        }
        Ok(())
    }
}

fn check(facts: &Facts, sql: &str) -> Result<(), EngineError> {
    let refuse = |message: &str, at: usize| {
        let mut problem = Problem::new(ErrorCode::Rejected, message);
        problem.position = u32::try_from(at).ok();
        Err(EngineError::idle(problem))
    };
    if let Some(at) = sql.find('\0') {
        return refuse("The text has a NUL character, where DuckDB would stop reading it.", at);
    }
    if let Some(second) = facts.second {
        return refuse("One statement at a time: another one follows the first.", second);
    }
    facts.refused.map_or(Ok(()), |(message, at)| refuse(message, at))
}

/// A result that is being read.
struct Reading {
    reader: Reader,
    _statement: ManagedStatement,
    sql: String,
    columns: Columns,
    /// The zone that instants are written in.
    zone: Option<String>,
    /// Pulled from DuckDB and not handed out.
    held: Option<RecordBatch>,
}

impl Reading {
    fn new(reader: Reader, statement: ManagedStatement, sql: String) -> Self {
        let schema = reader.schema();
        Self { reader, _statement: statement, sql, columns: Columns::of(&schema), zone: zone_of(&schema), held: None }
    }

    /// For a statement that answers without rows: reads it to its end; the rows it changed. `None` where the answer is rows.
    fn answer_without_rows(&mut self, facts: &Facts, signals: &Signals) -> Result<Option<Option<u64>>, EngineError> {
        let schema = self.reader.schema();
        let [field] = schema.fields().as_ref() else {
            return Ok(schema.fields().is_empty().then_some(None));
        };
        if facts.rows {
            return Ok(None);
        }
        match (field.name().as_str(), field.data_type()) {
            ("Success", DataType::Boolean | DataType::Int8) | ("Count", DataType::Int64) => {}
            _ => return Ok(None),
        }
        let mut count = None;
        while let Some(batch) = self.pull(signals)? {
            let counted = batch.column(0).as_primitive_opt::<Int64Type>().filter(|values| values.len() == 1);
            count = counted.and_then(|values| u64::try_from(values.value(0)).ok());
        }
        Ok(Some(count.filter(|_| facts.counts)))
    }

    /// The next of DuckDB's batches that has rows.
    fn pull(&mut self, signals: &Signals) -> Result<Option<RecordBatch>, EngineError> {
        loop {
            if signals.stopped() {
                return Err(error::of_statement("INTERRUPT Error: Interrupted!", &self.sql, true));
            }
            match self.reader.next() {
                None => return Ok(None),
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => return Ok(Some(batch)),
                Some(Err(e)) => return Err(error::of_statement(&words_of(&e), &self.sql, signals.stopped())),
            }
        }
    }

    fn look_ahead(&mut self, signals: &Signals) -> Result<(), EngineError> {
        if self.held.is_none() {
            self.held = self.pull(signals)?;
        }
        Ok(())
    }

    fn fetch(
        &mut self,
        bound: Bound,
        signals: &Signals,
        texts: impl FnOnce(&str, &std::collections::BTreeSet<i64>) -> Result<Instants, EngineError>,
    ) -> Result<Fetched, EngineError> {
        let Some(batch) = self.held.take() else {
            return Ok(Fetched { batch: RecordBatch::new_empty(self.columns.schema()), more: false });
        };
        let rows = rows_within(&batch, bound);
        let taken = batch.slice(0, rows);
        if rows < batch.num_rows() {
            self.held = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        let instants = self.columns.instants(&taken);
        let instants = match &self.zone {
            Some(zone) if !instants.is_empty() => texts(zone, &instants)?,
            _ => Instants::new(),
        };
        let converted = self
            .columns
            .convert(&taken, &instants)
            .map_err(|e| EngineError::idle(Problem::new(ErrorCode::Internal, format!("The page could not be made: {e}"))))?;
        self.look_ahead(signals)?;
        Ok(Fetched { batch: converted, more: self.held.is_some() })
    }
}

/// As many rows as the bound lets through: one at least.
fn rows_within(batch: &RecordBatch, bound: Bound) -> usize {
    let mut rows = batch.num_rows().min(bound.rows).max(1);
    while rows > 1 && bytes_of(&batch.slice(0, rows)) > bound.bytes {
        rows = rows.div_ceil(2);
    }
    rows
}

fn bytes_of(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}

/// DuckDB's own words in an error of its stream.
fn words_of(e: &ArrowError) -> String {
    match e {
        ArrowError::CDataInterface(words) | ArrowError::ComputeError(words) => words.clone(),
        ArrowError::ExternalError(inner) => match inner.downcast_ref::<Error>() {
            Some(adbc) => adbc.message.clone(),
            None => inner.to_string(),
        },
        other => other.to_string(),
    }
}

fn zone_of(schema: &SchemaRef) -> Option<String> {
    fn of(kind: &DataType) -> Option<String> {
        match kind {
            DataType::Timestamp(_, zone) => zone.as_deref().map(str::to_owned),
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) | DataType::Map(item, _) => {
                of(item.data_type())
            }
            DataType::Struct(fields) => fields.iter().find_map(|field| of(field.data_type())),
            DataType::Union(fields, _) => fields.iter().find_map(|(_, field)| of(field.data_type())),
            _ => None,
        }
    }
    schema.fields().iter().find_map(|field| of(field.data_type()))
}

/// The texts of instants in a zone, by DuckDB itself: it has the zone data.
fn texts_of(connection: &mut ManagedConnection, zone: &str, instants: &std::collections::BTreeSet<i64>) -> Result<Instants, EngineError> {
    let fault = |e: Error| error::of_statement(&e.message, "", false);
    database::run(connection, &format!("SET TimeZone = {}", literal(zone))).map_err(fault)?;
    let list = instants.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT v, CAST(make_timestamptz(v) AS VARCHAR) FROM unnest([{list}]::BIGINT[]) t(v)");
    let mut texts = Instants::new();
    for batch in rows_of(connection, &sql).map_err(fault)? {
        let (Some(keys), Some(words)) = (batch.column(0).as_primitive_opt::<Int64Type>(), batch.column(1).as_string_opt::<i32>()) else {
            continue;
        };
        texts.extend((0..batch.num_rows()).map(|row| (keys.value(row), words.value(row).to_owned())));
    }
    Ok(texts)
}

/// All batches of a statement of Sheaf's own.
pub fn rows_of(connection: &mut ManagedConnection, sql: &str) -> AdbcResult<Vec<RecordBatch>> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    Ok(statement.execute()?.collect::<Result<Vec<_>, _>>()?)
}

fn first_text(connection: &mut ManagedConnection, sql: &str) -> Option<String> {
    let batches = rows_of(connection, sql).ok()?;
    let column = batches.first()?.columns().first()?.as_string_opt::<i32>()?.clone();
    (!column.is_empty()).then(|| column.value(0).to_owned())
}

/// DuckDB does not say whether a transaction is open. Within one every statement has the same transaction number; outside, each has
/// its own. One that was broken off takes no statement, so an error means there is one.
fn is_in_transaction(connection: &mut ManagedConnection) -> bool {
    let mut number = || -> AdbcResult<Option<u64>> {
        let batches = rows_of(connection, "SELECT txid_current()::UBIGINT")?;
        let first = batches.first().and_then(|batch| batch.column(0).as_primitive_opt::<UInt64Type>().cloned());
        Ok(first.filter(|numbers| !numbers.is_empty()).map(|numbers| numbers.value(0)))
    };
    match (number(), number()) {
        (Ok(one), Ok(other)) => one == other,
        _ => true,
    }
}
