//! A session's thread in DuckDB's process: it owns the connection and the result that is being read.
//!
//! Invariant: of a result no more is pulled than one of DuckDB's batches (2,048 rows) beyond what was handed out. Start at
//! [`Connected::answer`].

use super::columns::{Columns, Instants};
use super::database::{Shared, interrupt_of, literal};
use super::rows_file::OwnNames;
use super::statement::{Facts, Shown, facts, shown};
use super::{bind, catalog, database, error, transaction};
use crate::engine::worker::desk::{Command, Outcome};
use crate::engine::worker::messages::{Done, Rows};
use crate::engine::worker::signals::Signals;
use crate::engine::{Bound, EngineError, Fate, Fetched, Finished, Param, refusals};
use adbc_core::error::{Error, Result as AdbcResult};
use adbc_core::{Connection as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedStatement};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::TransactionState;
use std::sync::Arc;

type Reader = Box<dyn RecordBatchReader + Send>;

/// A session with the open file. Fields are dropped in their order: the result before its connection before its database.
pub struct Connected {
    reading: Option<Reading>,
    connection: ManagedConnection,
    /// For questions of Sheaf's own while a result is open.
    aside: Option<ManagedConnection>,
    shared: Arc<Shared>,
    signals: Arc<Signals>,
    touched: bool,
    transaction: TransactionState,
    /// What there is of a transaction may have changed since it was last asked.
    unsure: bool,
    /// The last text may have changed something.
    ran: bool,
    rows_affected: Option<u64>,
}

impl Connected {
    /// A session.
    pub fn new(shared: Arc<Shared>, signals: Arc<Signals>) -> Result<Self, EngineError> {
        let connection = shared.connect()?;
        Ok(Self {
            reading: None,
            connection,
            aside: None,
            shared,
            signals,
            touched: false,
            transaction: TransactionState::None,
            unsure: false,
            ran: false,
            rows_affected: None,
        })
    }

    /// The library's name and version.
    pub fn server(&mut self) -> String {
        let version = first_text(&mut self.connection, "SELECT version()").unwrap_or_default();
        format!("DuckDB {}", version.trim_start_matches('v'))
    }

    /// Does what is asked. A statement that failed has ended: nothing is left that a stop could be for.
    pub fn answer(&mut self, command: Command) -> Outcome {
        let is_statement = matches!(command, Command::Execute(..) | Command::Fetch(_));
        let begins = matches!(command, Command::Execute(..));
        self.ran &= !begins;
        let outcome = match command {
            Command::Execute(sql, params, bound) => self.execute(&sql, &params, bound),
            Command::Fetch(bound) => self.fetch(bound).map(|fetched| (Done::Fetched(Rows { more: fetched.more }), Some(fetched.batch))),
            Command::Finish => self.finish().map(|finished| (Done::Finished(finished), None)),
            Command::Catalog(ask) => {
                self.reading = None;
                let read = catalog::read(&mut self.connection, self.shared.name(), &ask);
                let stopped = self.signals.stopped();
                self.signals.end();
                read.map(|catalog| (Done::Catalog(catalog), None)).map_err(|e| error::of_statement(&e.message, "", stopped))
            }
            Command::Reset => self.reset().map(|()| (Done::Reset, None)),
        };
        outcome.map_err(|e| {
            if e.problem.message.starts_with(error::PERMISSION)
                && let Some(words) = self.beyond_use()
            {
                // A text that can't have changed anything may run elsewhere.
                return error::beyond_use(&words, if begins && !self.ran { Fate::NotSent } else { Fate::Unknown });
            }
            if is_statement {
                self.give_up();
                // In a transaction some failures end it, and some don't.
                self.unsure |= self.transaction != TransactionState::None;
                self.settle_transaction();
            }
            e
        })
    }

    /// What it has of a transaction, as of the last answer.
    pub fn transaction(&self) -> TransactionState {
        self.transaction
    }

    /// Reads no more of the result.
    pub fn give_up(&mut self) {
        self.reading = None;
        self.signals.end();
    }

    fn execute(&mut self, sql: &str, params: &[Param], bound: Bound) -> Outcome {
        self.reading = None;
        self.rows_affected = None;
        self.unsure |= facts(sql).transaction;
        if !self.start(sql, params)? {
            let ended = Some(self.finish()?);
            return Ok((Done::Started { rows: None, ended }, None));
        }
        let first = self.fetch(bound)?;
        let ended = if first.more { None } else { Some(self.finish()?) };
        Ok((Done::Started { rows: Some(Rows { more: first.more }), ended }, Some(first.batch)))
    }

    /// Asks what there is of a transaction, where that may have changed.
    fn settle_transaction(&mut self) {
        if std::mem::take(&mut self.unsure) {
            self.transaction = transaction::of(&mut self.connection);
        }
    }

    /// Whether rows are to be read.
    fn start(&mut self, sql: &str, params: &[Param]) -> Result<bool, EngineError> {
        let facts = facts(sql);
        check(&facts, sql)?;
        let values = bind::values(sql, params)?;
        if !facts.some {
            return Ok(false);
        }
        let shown = if values.is_none() { self.shown(sql) } else { None };
        if let Some(shown) = &shown
            && self.show_file(shown, sql)?
        {
            return Ok(true);
        }
        self.touched |= facts.touches;
        self.shared.prepare(&facts, sql, &self.signals)?;
        let signals = &self.signals;
        let fault = |e: &Error| error::of_statement(&e.message, sql, signals.stopped());
        let mut statement = self.connection.new_statement().map_err(|e| fault(&e))?;
        signals.attach(interrupt_of(&statement));
        statement.set_sql_query(sql).map_err(|e| fault(&e))?;
        if let Some(values) = values {
            statement.bind(values).map_err(|e| fault(&e))?;
        }
        if signals.stopped() {
            return Err(error::of_statement("INTERRUPT Error: Interrupted!", sql, true));
        }
        self.ran = facts.touches;
        let reader = statement.execute().map_err(|e| fault(&e))?;
        let names = shown.and_then(|shown| self.shared.own_names(&shown));
        let mut reading = Reading::new(Box::new(reader), Some(statement), sql.to_owned()).called(names);
        if let Some(count) = reading.answer_without_rows(&facts, signals)? {
            self.rows_affected = count;
            return Ok(false);
        }
        reading.look_ahead(signals)?;
        self.reading = Some(reading);
        Ok(true)
    }

    /// What a text shows as it stands, where that is also what it means in this session.
    fn shown(&self, sql: &str) -> Option<Shown> {
        shown(sql).filter(|_| !self.touched && self.transaction != TransactionState::Failed)
    }

    /// Begins to read an Arrow file as it stands, where that is what is shown.
    fn show_file(&mut self, shown: &Shown, sql: &str) -> Result<bool, EngineError> {
        let signals = &self.signals;
        let pieces = self.shared.shown(shown, signals).map_err(|e| error::of_statement(&e.message, sql, signals.stopped()))?;
        let Some(pieces) = pieces else { return Ok(false) };
        let mut reading = Reading::new(Box::new(pieces), None, sql.to_owned()).called(self.shared.own_names(shown));
        reading.look_ahead(signals)?;
        self.reading = Some(reading);
        Ok(true)
    }

    fn fetch(&mut self, bound: Bound) -> Result<Fetched, EngineError> {
        let Some(reading) = &mut self.reading else {
            return Err(EngineError::idle(Problem::new(ErrorCode::Internal, "No statement is being read.")));
        };
        let (shared, aside) = (&self.shared, &mut self.aside);
        reading.fetch(bound, &self.signals, |zone, instants| {
            if aside.is_none() {
                *aside = Some(shared.connect()?);
            }
            let Some(connection) = aside else { return Ok(Instants::new()) };
            texts_of(connection, zone, instants)
        })
    }

    fn finish(&mut self) -> Result<Finished, EngineError> {
        self.give_up();
        self.settle_transaction();
        if self.transaction == TransactionState::Failed
            && let Some(words) = self.beyond_use()
        {
            return Err(error::beyond_use(&words, Fate::Unknown));
        }
        Ok(Finished { rows_affected: self.rows_affected.take(), in_transaction: self.transaction != TransactionState::None })
    }

    /// A log that may not be written makes DuckDB refuse every statement there is, for good; its words.
    fn beyond_use(&mut self) -> Option<String> {
        let refused = rows_of(&mut self.connection, "SELECT 1", &[]).err()?;
        refused.message.starts_with(error::PERMISSION).then_some(refused.message)
    }

    /// A new connection forgets everything that was the session's: settings, temporary tables, an open transaction.
    fn reset(&mut self) -> Result<(), EngineError> {
        self.reading = None;
        if self.touched {
            self.aside = None;
            self.connection = self.shared.connect()?;
            self.touched = false;
            self.transaction = TransactionState::None;
            self.unsure = false;
        }
        Ok(())
    }
}

fn check(facts: &Facts, sql: &str) -> Result<(), EngineError> {
    if let Some(at) = sql.find('\0') {
        return Err(refusals::at("The text has a NUL character, where DuckDB would stop reading it.", at));
    }
    if let Some(second) = facts.second {
        return Err(refusals::second_statement(second));
    }
    facts.refused.map_or(Ok(()), |(message, at)| Err(refusals::at(message, at)))
}

/// A result that is being read.
struct Reading {
    reader: Reader,
    _statement: Option<ManagedStatement>,
    sql: String,
    columns: Columns,
    /// The zone that instants are written in.
    zone: Option<String>,
    /// Pulled from DuckDB and not handed out.
    held: Option<RecordBatch>,
}

impl Reading {
    fn new(reader: Reader, statement: Option<ManagedStatement>, sql: String) -> Self {
        let schema = reader.schema();
        Self { reader, _statement: statement, sql, columns: Columns::of(&schema), zone: zone_of(&schema), held: None }
    }

    /// With the names that the file itself has.
    fn called(mut self, names: Option<OwnNames>) -> Self {
        self.columns = self.columns.called(names);
        self
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
        let rows = bound.rows_of(&batch);
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
    for batch in rows_of(connection, &sql, &[]).map_err(fault)? {
        let (Some(keys), Some(words)) = (batch.column(0).as_primitive_opt::<Int64Type>(), batch.column(1).as_string_opt::<i32>()) else {
            continue;
        };
        texts.extend((0..batch.num_rows()).map(|row| (keys.value(row), words.value(row).to_owned())));
    }
    Ok(texts)
}

/// All batches of a statement of Sheaf's own.
pub fn rows_of(connection: &mut ManagedConnection, sql: &str, values: &[String]) -> AdbcResult<Vec<RecordBatch>> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    if let Some(row) = bind::texts(values) {
        statement.bind(row)?;
    }
    Ok(statement.execute()?.collect::<Result<Vec<_>, _>>()?)
}

fn first_text(connection: &mut ManagedConnection, sql: &str) -> Option<String> {
    let batches = rows_of(connection, sql, &[]).ok()?;
    let column = batches.first()?.columns().first()?.as_string_opt::<i32>()?.clone();
    (!column.is_empty()).then(|| column.value(0).to_owned())
}
