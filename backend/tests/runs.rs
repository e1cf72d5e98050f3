//! Runs over the real engines: what a script engine can't show.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "runs/dropped.rs"]
mod dropped;
#[path = "runs/mysql.rs"]
mod mysql;
#[path = "runs/postgres.rs"]
mod postgres;
#[path = "runs/races.rs"]
mod races;
#[path = "runs/sqlite.rs"]
mod sqlite;
#[path = "runs/transactions.rs"]
mod transactions;

use arrow_array::RecordBatch;
use backend::access::{Action, Grant, Principal, authorize};
use backend::engine::{Target, engine};
use backend::runs::{Begun, Runs, RunsConfig, StoredPage};
use futures_util::StreamExt;
use serde_json::value::RawValue;
use shared::format::format_cell;
use shared::ids::{ConnectionId, RunId, SessionId, WindowId};
use shared::problem::Problem;
use shared::wire::run::{RunStatus, StartRun, TransactionMode};

pub struct House {
    pub runs: Runs,
    pub grant: Grant,
    pub target: Target,
    pub spool: tempfile::TempDir,
}

pub fn house(target: Target) -> House {
    backend::engine::worker::process::start_from(env!("CARGO_BIN_EXE_sheaf").into());
    let spool = tempfile::tempdir().unwrap();
    let mut config = RunsConfig::new(spool.path().join("spool"));
    config.disk_free_min = 0;
    config.memory_per_run = 1024 * 1024;
    House { runs: Runs::new(config, engine), grant: authorize(&Principal::LocalOwner, Action::Run), target, spool }
}

impl House {
    pub async fn run(&self, sql: &str, console: Option<&str>) -> Result<Begun, Problem> {
        self.run_with(sql, serde_json::json!([]), console).await
    }

    /// By a caller without a window: the run is closed when he vanishes before its first page.
    pub async fn run_alone(&self, sql: &str, console: Option<&str>) -> Result<Begun, Problem> {
        let request = StartRun { window: None, ..request(sql, serde_json::json!([]), console) };
        self.runs.start(&self.grant, self.target.clone(), request).await
    }

    /// With values for the statement's parameters.
    pub async fn run_with(&self, sql: &str, params: serde_json::Value, console: Option<&str>) -> Result<Begun, Problem> {
        self.run_as(TransactionMode::Auto, sql, params, console).await
    }

    /// With its transactions ended by hand, or not.
    pub async fn run_as(
        &self,
        mode: TransactionMode,
        sql: &str,
        params: serde_json::Value,
        console: Option<&str>,
    ) -> Result<Begun, Problem> {
        let request = StartRun { transaction: mode, ..request(sql, params, console) };
        self.runs.start(&self.grant, self.target.clone(), request).await
    }

    pub async fn page(&self, id: &RunId, n: u32) -> Result<StoredPage, Problem> {
        self.runs.page(&self.grant, id, n).await
    }

    /// The first status of a run of the window that is so.
    pub async fn until(&self, is: impl Fn(&RunStatus) -> bool) -> RunStatus {
        let mut events = Box::pin(self.runs.watch(&self.grant, WindowId("w".to_owned())));
        loop {
            let status = events.next().await.unwrap();
            if is(&status) {
                return status;
            }
        }
    }
}

fn request(sql: &str, params: serde_json::Value, console: Option<&str>) -> StartRun {
    StartRun {
        connection: ConnectionId("c".to_owned()),
        session: console.map(|name| SessionId(name.to_owned())),
        sql: sql.to_owned(),
        params: params.as_array().unwrap().iter().map(|value| RawValue::from_string(value.to_string()).unwrap()).collect(),
        page_rows: None,
        window: Some(WindowId("w".to_owned())),
        token: None,
        transaction: TransactionMode::Auto,
    }
}

/// Bytes that a socket takes in ahead of its reader, where so many were asked for: by the system's own word.
pub fn receive_window(asked: u32) -> u64 {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(asked).unwrap();
    u64::from(socket.recv_buffer_size().unwrap())
}

pub fn read(page: &StoredPage) -> RecordBatch {
    shared::page::decode(page.bytes.to_vec()).unwrap()
}

pub fn cell(page: &StoredPage, row: usize, column: usize) -> String {
    let batch = read(page);
    let field = batch.schema_ref().field(column).clone();
    format_cell(batch.column(column).as_ref(), &field, row).text().unwrap_or_default().into_owned()
}
