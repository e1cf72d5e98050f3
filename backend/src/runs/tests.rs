//! What a caller can rely on, against an engine that plays scripts. Time is the tests' own: nothing here sleeps for real.

mod cancelling;
mod consoles;
mod fake;
mod faults;
mod further;
mod holders;
mod leases;
mod random;
mod reading;
mod spooling;
mod starting;
mod transactions;

use super::{Begun, Runs, RunsConfig, StoredPage};
use crate::access::{Action, Grant, Principal, authorize};
use crate::engine::catalog::CatalogAsk;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use fake::{World, engines};
use shared::ids::{ConnectionId, RunId, SessionId, WindowId};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{RunState, RunStatus, StartRun, TransactionMode};
use std::sync::Arc;
use std::time::Duration;

/// One test's runs, databases and folder.
struct House {
    runs: Runs,
    world: Arc<World>,
    grant: Grant,
    folder: tempfile::TempDir,
}

fn house() -> House {
    house_with(|_| {})
}

fn house_with(change: impl FnOnce(&mut RunsConfig)) -> House {
    let folder = tempfile::tempdir().unwrap();
    let mut config = RunsConfig::new(folder.path().join("spool"));
    // The machine's own disk is nobody's business here.
    config.disk_free_min = 0;
    change(&mut config);
    House { runs: Runs::new(config, engines), world: World::new(), grant: authorize(&Principal::LocalOwner, Action::Run), folder }
}

fn ask(sql: &str) -> StartRun {
    StartRun {
        connection: ConnectionId("c1".to_owned()),
        session: None,
        sql: sql.to_owned(),
        params: Vec::new(),
        page_rows: None,
        window: None,
        token: None,
        transaction: TransactionMode::Auto,
    }
}

fn on_console(sql: &str, console: &str) -> StartRun {
    StartRun { session: Some(SessionId(console.to_owned())), ..ask(sql) }
}

fn in_window(sql: &str, window: &str) -> StartRun {
    StartRun { window: Some(WindowId(window.to_owned())), ..ask(sql) }
}

impl House {
    async fn start(&self, request: StartRun) -> Result<Begun, Problem> {
        self.runs.start(&self.grant, self.world.target(), request).await
    }

    async fn sql(&self, sql: &str) -> Begun {
        self.start(ask(sql)).await.unwrap()
    }

    /// A start on a task of its own.
    fn start_later(&self, request: StartRun) -> tokio::task::JoinHandle<Result<Begun, Problem>> {
        let (runs, grant, target) = (self.runs.clone(), self.grant.clone(), self.world.target());
        tokio::spawn(async move { runs.start(&grant, target, request).await })
    }

    fn page_later(&self, id: &RunId, n: u32) -> tokio::task::JoinHandle<Result<StoredPage, Problem>> {
        let (runs, grant, id) = (self.runs.clone(), self.grant.clone(), id.clone());
        tokio::spawn(async move { runs.page(&grant, &id, n).await })
    }

    async fn page(&self, id: &RunId, n: u32) -> Result<StoredPage, Problem> {
        self.runs.page(&self.grant, id, n).await
    }

    fn status(&self, id: &RunId) -> Result<RunStatus, Problem> {
        self.runs.status(&self.grant, id)
    }

    /// Milliseconds from then on at which cancel requests left.
    fn cancelled_after(&self, begun: tokio::time::Instant) -> Vec<u64> {
        let at = self.world.cancelled_at.lock().unwrap();
        at.iter().map(|at| u64::try_from((*at - begun).as_millis()).unwrap()).collect()
    }

    fn cancel(&self, id: &RunId) {
        self.runs.cancel(&self.grant, id).unwrap();
    }

    async fn close(&self, id: &RunId) {
        self.runs.close(&self.grant, id).await.unwrap();
    }

    /// Lets every task run until it waits for something.
    async fn settle(&self) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }

    /// Waits for a state; the time goes on meanwhile. However busy the machine is: what a spool writes comes by real time.
    async fn until(&self, id: &RunId, is: impl Fn(&RunStatus) -> bool) -> RunStatus {
        let begun = std::time::Instant::now();
        while begun.elapsed() < 60 * SECOND {
            let status = self.status(id).unwrap();
            if is(&status) {
                return status;
            }
            tokio::task::yield_now().await;
        }
        panic!("never came: {:?}", self.status(id));
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.folder.path().join("spool")).map_or(0, |entries| entries.count())
    }
}

fn rows_of(page: &StoredPage) -> Vec<i64> {
    batch_of(page).column(0).as_primitive::<Int64Type>().values().to_vec()
}

fn texts_of(page: &StoredPage) -> Vec<String> {
    batch_of(page).column(1).as_string::<i32>().iter().map(|text| text.unwrap().trim_end_matches('·').to_owned()).collect()
}

fn batch_of(page: &StoredPage) -> RecordBatch {
    shared::page::decode(page.bytes.to_vec()).unwrap()
}

fn numbers(from: i64, to: i64) -> Vec<i64> {
    (from..to).collect()
}

const SECOND: Duration = Duration::from_secs(1);
