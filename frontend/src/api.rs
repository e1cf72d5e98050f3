//! The server, as functions: the only place with `fetch`.
//!
//! Invariant: each call gives its value or one [`Problem`]; a lost network is one too, said once and clearly. No call retries by itself.
//! The browser's storage, its random source and its timer stand here too ([`storage`], [`names`], [`timer`]): all that is outside the page.
//! The bearer is held here and goes nowhere but into the `Authorization` header.

mod body;
mod events;
mod fetch;
pub mod names;
pub mod storage;
pub mod timer;

pub use body::Lines;
pub use events::events;
pub use fetch::{is_unanswered, on_reached, on_refused, set_bearer, signed_in};

use arrow_array::RecordBatch;
use fetch::{Ask, Method};
use shared::ids::{ConnectionId, RunId, SessionId, WindowId};
use shared::page;
use shared::problem::{ErrorCode, Problem};
use shared::wire::catalog::{Catalog, KnownSchemas, WantedSchemas};
use shared::wire::connection::{Connection, ConnectionInput, Created, TestResult};
use shared::wire::run::{AdoptSession, RunState, RunStatus, SessionStatus, StartRun, TransactionState};
use shared::wire::sign_in::{LaunchRequest, LaunchResponse};
use web_sys::AbortSignal;

/// The answer to a run request.
pub enum RunAnswer {
    /// Page 0 and what its headers say.
    Rows {
        /// The run.
        id: RunId,
        /// Rows of each page but the last.
        page_rows: u32,
        /// Done, or more rows wait.
        state: RunState,
        /// Rows of the whole, where it is known.
        total_rows: Option<u64>,
        /// Page 0.
        batch: RecordBatch,
        /// What else the answer tells.
        told: Told,
    },
    /// The statement returns no rows.
    NoRows {
        /// The run.
        id: RunId,
        /// What else the answer tells.
        told: Told,
    },
}

/// What an answer tells of its run beside the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
    /// How long the statement took.
    pub elapsed_ms: Option<f64>,
    /// What its session has open.
    pub transaction: Option<TransactionState>,
    /// Rows it changed, where it changes rows.
    pub rows_affected: Option<u64>,
    /// The database said nothing more: there is nothing to ask the run's status for.
    pub is_all: bool,
    /// The statement has another result behind this one, or may have.
    pub further: bool,
    /// Its rows are all here, and how its query ends is not known yet.
    pub ending: bool,
}

/// Trades a launch code for the bearer.
pub async fn sign_in(code: &str) -> Result<String, Problem> {
    let body = LaunchRequest { code: code.to_owned() };
    let answer: LaunchResponse = Ask::new(Method::Post, "/sign-in/launch").json(&body)?.send().await?.json().await?;
    Ok(answer.bearer)
}

/// All connections.
pub async fn connections() -> Result<Vec<Connection>, Problem> {
    Ask::new(Method::Get, "/connections").send().await?.json().await
}

/// Saves a new connection.
pub async fn create_connection(input: &ConnectionInput) -> Result<ConnectionId, Problem> {
    let created: Created = Ask::new(Method::Post, "/connections").json(input)?.send().await?.json().await?;
    Ok(created.id)
}

/// Changes a connection.
pub async fn change_connection(id: &ConnectionId, input: &ConnectionInput) -> Result<(), Problem> {
    Ask::new(Method::Patch, &format!("/connections/{id}")).json(&as_a_whole(input)?)?.send().await?;
    Ok(())
}

/// What is empty now is to be removed; secrets that are not given stay.
fn as_a_whole(input: &ConnectionInput) -> Result<serde_json::Value, Problem> {
    let mut value = serde_json::to_value(input).map_err(|error| damaged(&error.to_string()))?;
    if let Some(object) = value.as_object_mut() {
        for name in ["path", "host", "port", "database", "user", "tls", "ssh", "color"] {
            object.entry(name).or_insert(serde_json::Value::Null);
        }
    }
    Ok(value)
}

/// Deletes a connection.
pub async fn delete_connection(id: &ConnectionId) -> Result<(), Problem> {
    Ask::new(Method::Delete, &format!("/connections/{id}")).send().await?;
    Ok(())
}

/// Tries a saved connection as it would be after a change; secrets that are not given are those that the server holds.
pub async fn test_connection(id: &ConnectionId, input: &ConnectionInput) -> Result<TestResult, Problem> {
    Ask::new(Method::Post, &format!("/connections/{id}/test")).json(&as_a_whole(input)?)?.send().await?.json().await
}

/// Tries the fields of one that is not saved.
pub async fn test_fields(input: &ConnectionInput) -> Result<TestResult, Problem> {
    Ask::new(Method::Post, "/connections/test").json(input)?.send().await?.json().await
}

/// Names, types and keys.
pub async fn catalog(id: &ConnectionId) -> Result<Catalog, Problem> {
    Ask::new(Method::Get, &format!("/connections/{id}/catalog")).send().await?.json().await
}

/// What is in these schemas, whole.
pub async fn catalog_schemas(id: &ConnectionId, wanted: &WantedSchemas) -> Result<Catalog, Problem> {
    Ask::new(Method::Post, &format!("/connections/{id}/catalog/schemas")).json(wanted)?.send().await?.json().await
}

/// What has changed of them: schemas that are as they are known come without their contents.
pub async fn catalog_changes(id: &ConnectionId, known: &KnownSchemas) -> Result<Catalog, Problem> {
    Ask::new(Method::Post, &format!("/connections/{id}/catalog/changes")).json(known)?.send().await?.json().await
}

/// Runs one statement. Its `token` names the run from the first moment, so that it can be cancelled before its first row.
pub async fn start_run(request: &StartRun) -> Result<RunAnswer, Problem> {
    let ask = Ask::new(Method::Post, "/runs").json(request)?.accept(page::MEDIA_TYPE);
    answer(&ask.send().await?).await
}

/// The next result of a run's statement, by a run of its own; what is left of the one before is read into the spool first.
pub async fn next_result(run: &RunId) -> Result<RunAnswer, Problem> {
    answer(&Ask::new(Method::Post, &format!("/runs/{run}/next")).accept(page::MEDIA_TYPE).send().await?).await
}

/// What a run came to that this page did not start, as [`start_run`] answers it: waits for its first page, or its end without one.
pub async fn answer_of(run: &RunId) -> Result<RunAnswer, Problem> {
    let batch = match page(run, 0, None).await {
        Ok(batch) => Some(batch),
        Err(problem) if problem.code == ErrorCode::PastTheEnd => None,
        Err(problem) => return Err(problem),
    };
    let RunStatus { id, state, page_rows, total_rows, rows_affected, elapsed_ms, further, transaction, .. } = run_status(run).await?;
    let told = Told {
        elapsed_ms: Some(elapsed_ms),
        transaction: Some(transaction),
        rows_affected,
        is_all: false,
        further,
        ending: state == RunState::Running && total_rows.is_some() && !further,
    };
    Ok(match batch {
        Some(batch) => RunAnswer::Rows { id, page_rows, state, total_rows, batch, told },
        None => RunAnswer::NoRows { id, told },
    })
}

async fn answer(reply: &fetch::Reply) -> Result<RunAnswer, Problem> {
    let header = |name: &str| reply.header(name);
    let id = RunId(header("Sheaf-Run").ok_or_else(|| damaged("the answer names no run"))?);
    if reply.status() == 204 {
        return Ok(RunAnswer::NoRows { id, told: told(reply, false) });
    }
    let page_rows = header("Sheaf-Page-Rows").and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    let page_rows = page_rows.ok_or_else(|| damaged("the answer does not tell its page size"))?;
    let total_rows = header("Sheaf-Total-Rows").and_then(|n| n.parse().ok());
    let is_here = header("Sheaf-State").as_deref() == Some("done");
    let told = told(reply, is_here && total_rows.is_none());
    let state = if is_here && !told.further { RunState::Done } else { RunState::Paused };
    let batch = decode(reply).await?;
    Ok(RunAnswer::Rows { id, page_rows, state, total_rows, batch, told })
}

/// What the headers tell; a run that ended without its last row has more to say.
fn told(reply: &fetch::Reply, cut_off: bool) -> Told {
    let transaction = match reply.header("Sheaf-Transaction").as_deref() {
        Some("none") => Some(TransactionState::None),
        Some("open") => Some(TransactionState::Open),
        Some("failed") => Some(TransactionState::Failed),
        _ => None,
    };
    let elapsed_ms = reply.header("Sheaf-Elapsed-Ms").and_then(|ms| ms.parse().ok());
    let is_all = !cut_off && elapsed_ms.is_some() && transaction.is_some() && reply.header("Sheaf-Notices").is_none();
    let rows_affected = reply.header("Sheaf-Rows-Affected").and_then(|n| n.parse().ok());
    Told {
        elapsed_ms,
        transaction,
        rows_affected,
        is_all,
        further: reply.header("Sheaf-Further").is_some(),
        ending: reply.header("Sheaf-State").as_deref() == Some("ending"),
    }
}

/// Page `n` of a run; waits until it is read.
pub async fn page(run: &RunId, n: u32, abort: Option<&AbortSignal>) -> Result<RecordBatch, Problem> {
    let ask = Ask::new(Method::Get, &format!("/runs/{run}/pages/{n}")).accept(page::MEDIA_TYPE).abort(abort);
    decode(&ask.send().await.map_err(closed)?).await
}

/// One whole cell, as bytes.
pub async fn cell(run: &RunId, row: u64, column: u32) -> Result<Vec<u8>, Problem> {
    Ask::new(Method::Get, &format!("/runs/{run}/cells/{row}/{column}")).accept("*/*").send().await.map_err(closed)?.bytes().await
}

/// Where a run stands.
pub async fn run_status(run: &RunId) -> Result<RunStatus, Problem> {
    Ask::new(Method::Get, &format!("/runs/{run}")).send().await?.json().await
}

/// The same once its statement has ended, or waits to be asked for more.
pub async fn settled(run: &RunId) -> Result<RunStatus, Problem> {
    Ask::new(Method::Get, &format!("/runs/{run}?settled=true")).send().await?.json().await
}

/// Reads the rest of a result into the spool; its progress comes by the event stream.
pub async fn read_to_end(run: &RunId) -> Result<(), Problem> {
    Ask::new(Method::Post, &format!("/runs/{run}/read-to-end")).send().await.map_err(closed)?;
    Ok(())
}

/// Stops a run.
pub async fn cancel(run: &RunId) -> Result<(), Problem> {
    Ask::new(Method::Post, &format!("/runs/{run}/cancel")).send().await?;
    Ok(())
}

/// Stops a run that has not answered yet.
pub async fn cancel_token(token: &str) -> Result<(), Problem> {
    Ask::new(Method::Post, &format!("/runs/by-token/{token}/cancel")).send().await?;
    Ok(())
}

/// Closes a run: its rows are gone, the database's side is free.
pub async fn close(run: &RunId) -> Result<(), Problem> {
    Ask::new(Method::Delete, &format!("/runs/{run}")).send().await?;
    Ok(())
}

/// Takes a console's database session over into this window, and what runs there, unless another window has it; nothing where there is no session.
/// `former` is the window that this page was before it was loaded anew.
pub async fn adopt_session(
    connection: &ConnectionId,
    session: &SessionId,
    window: WindowId,
    former: Option<WindowId>,
) -> Result<Option<SessionStatus>, Problem> {
    let ask = Ask::new(Method::Post, &format!("/sessions/{connection}/{session}")).json(&AdoptSession { window, former })?;
    match ask.send().await {
        Ok(reply) => reply.json().await.map(Some),
        Err(problem) if problem.code == ErrorCode::NotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// Ends a console's database session, unless another window than this has it.
pub async fn forget_session(connection: &ConnectionId, session: &SessionId, window: &WindowId) -> Result<(), Problem> {
    Ask::new(Method::Delete, &format!("/sessions/{connection}/{session}?window={window}")).send().await?;
    Ok(())
}

/// A run that this server never had (it was started anew since) is as closed as one that it has closed.
pub fn closed(problem: Problem) -> Problem {
    match problem.code {
        ErrorCode::NotFound => Problem::new(ErrorCode::Gone, "This result is closed; run the statement again"),
        _ => problem,
    }
}

async fn decode(reply: &fetch::Reply) -> Result<RecordBatch, Problem> {
    let checksum = reply.header("Sheaf-Page-Crc32");
    page::decode_checked(reply.bytes().await?, checksum.as_deref()).map_err(|e| damaged(&e.to_string()))
}

fn damaged(what: &str) -> Problem {
    Problem::new(ErrorCode::Internal, format!("The server's answer can't be read: {what}"))
}
