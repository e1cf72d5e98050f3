//! Runs: one execution of one statement.

use crate::ids::{ConnectionId, RunId, SessionId, WindowId};
use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// `POST /api/v1/runs`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    /// Where to run it.
    pub connection: ConnectionId,
    /// The console; without it any session from the pool, reset after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// One statement, sent as it stands.
    pub sql: String,
    /// Values for the statement's parameters, in the order in which the database counts them ([`crate::sql::parameters`]): null, true
    /// or false, a number, or text. They are kept as they were written, since a JSON number may have more digits than 64 bits hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<serde_json::Value>))]
    pub params: Vec<Box<RawValue>>,
    /// Rows of a page: 1,000 unless told, 10,000 at most. Wide rows make it smaller; `Sheaf-Page-Rows` tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_rows: Option<u32>,
    /// The window whose event stream keeps the run alive; without it the run lives 30 minutes after its last use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowId>,
    /// The client's own random name for this start, so that it can be cancelled before the answer tells the run's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// `manual` needs a `session`, and changes nothing on a read-only connection.
    #[serde(default)]
    pub transaction: TransactionMode,
}

/// When what a console's statements change is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransactionMode {
    /// As the database has it: each statement by itself, unless a statement has opened a transaction.
    #[default]
    Auto,
    /// When it is committed: a transaction is opened before the first statement that needs one, by a statement of its own, and stays
    /// open until `COMMIT` or `ROLLBACK`. A statement that opened one and was refused leaves none behind.
    Manual,
}

/// What a console's session has open after a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransactionState {
    /// No transaction.
    #[default]
    None,
    /// A transaction.
    Open,
    /// A transaction that has failed: all it takes is its own end, and `COMMIT` rolls it back (PostgreSQL, DuckDB).
    Failed,
}

impl TransactionState {
    /// Of a session that has one open or not, failed or not.
    pub fn of(open: bool, failed: bool) -> Self {
        match (open, failed) {
            (false, _) => Self::None,
            (true, false) => Self::Open,
            (true, true) => Self::Failed,
        }
    }

    /// There is one to end.
    pub fn is_open(self) -> bool {
        self != Self::None
    }
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The database works, or rows are being read.
    Running,
    /// More rows wait in the database.
    Paused,
    /// Every row is here.
    Done,
    /// The database said no.
    Rejected,
    /// Stopped on request; what was read stays.
    Cancelled,
    /// What is here is right, the rest will not come.
    Partial,
    /// The link was lost after sending: what the statement did is not known.
    Unknown,
}

impl RunState {
    /// No further change will come.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Running | Self::Paused)
    }
}

/// `POST /api/v1/sessions/{connection}/{session}`: a window that was loaded anew takes its console over.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AdoptSession {
    /// The window whose event stream keeps the session alive from now on.
    pub window: WindowId,
    /// The window that the same page was before it was loaded anew: where the console lives by that one still, its end is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<WindowId>,
}

/// Where a console's session stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionStatus {
    /// What it has open.
    pub transaction: TransactionState,
    /// The run whose statement is still at work on it, and which the window has taken over with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunStatus>,
    /// The text of that statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// Another window that is open has the console: nothing was taken over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
}

/// One column of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ColumnInfo {
    /// As the database names it; may repeat, may be empty.
    pub name: String,
    /// The database's own name of the type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// `schema.table.column` where the engine tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// `GET /api/v1/runs/{id}`, and each line of the event stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunStatus {
    /// The run.
    pub id: RunId,
    /// Where it stands.
    pub state: RunState,
    /// Its columns, once known; empty for a statement without rows.
    pub columns: Vec<ColumnInfo>,
    /// Rows of each page but the last.
    pub page_rows: u32,
    /// Rows that are in the spool.
    pub rows_ready: u64,
    /// Rows of the whole result, once known.
    pub total_rows: Option<u64>,
    /// Rows a statement changed.
    pub rows_affected: Option<u64>,
    /// What the database said beside the result, in order.
    pub notices: Vec<Notice>,
    /// Milliseconds of work until the state above (still counting while it runs; the time a result waits for its reader is not in it).
    pub elapsed_ms: f64,
    /// The cause of `rejected`, `partial` and `unknown`; of `cancelled` the words of the database, where it said any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// The server is reading to the end.
    #[serde(default)]
    pub reading_to_end: bool,
    /// Another result of the same statement follows, or may: `POST /api/v1/runs/{id}/next` gives it.
    #[serde(default)]
    pub further: bool,
    /// What the session has open after this statement; while it runs, what it had before.
    #[serde(default)]
    pub transaction: TransactionState,
    /// The client's own name for the start, so that news of a run are known before the answer tells its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// One message of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notice {
    /// `NOTICE`, `WARNING`, … as the database says.
    pub severity: String,
    /// Its words.
    pub message: String,
}
