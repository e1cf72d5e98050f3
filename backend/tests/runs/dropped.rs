//! Five hundred requests whose caller vanishes somewhere on their way, at places drawn from a seed: whoever comes next to the same
//! console or pool gets his own rows, in no transaction, and whoever comes to the pool finds nothing that another left in a session
//! (reliability.md T12, R10).

use super::{House, cell, house};
use backend::engine::Target;
use shared::ids::RunId;
use shared::problem::ErrorCode;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::Secrets;
use std::task::Poll;
use testing::mariadb::mariadb;
use testing::postgres::clusters;

const DROPPED: u64 = 500;
/// After so many a caller stays, and looks at what he gets.
const STAYS_AFTER: u64 = 5;

/// A small generator (splitmix64): the seed of a failure is all it takes to see it again.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

pub fn at(kind: EngineKind, port: u16, user: &str, database: &str) -> House {
    let mut fields = ConnectionFields::new("test", kind);
    fields.host = Some("127.0.0.1".to_owned());
    fields.port = Some(port);
    fields.user = Some(user.to_owned());
    fields.database = Some(database.to_owned());
    house(Target::new(fields, Secrets::default()))
}

/// Over a file with next to nothing in it.
fn over(kind: EngineKind, path: &std::path::Path) -> House {
    let mut fields = ConnectionFields::new("test", kind);
    fields.path = Some(path.to_str().unwrap().to_owned());
    match kind {
        EngineKind::Sqlite => rusqlite::Connection::open(path).unwrap().execute_batch("create table own (a integer)").unwrap(),
        _ => std::fs::write(path, "a\n1\n").unwrap(),
    }
    house(Target::new(fields, Secrets::default()))
}

/// Polls a start so many times and forgets it. Without a window nobody could find the run again, so it is closed. One that answered
/// before is its caller's: he closes it, or stays in his console with it.
async fn drop_after(house: &House, sql: &str, console: Option<&str>, polls: u64) -> Option<RunId> {
    let mut start = Box::pin(house.run_alone(sql, console));
    for _ in 0..polls {
        if let Poll::Ready(answer) = futures_util::poll!(start.as_mut()) {
            let id = answer.ok()?.status.id;
            if console.is_none() {
                house.runs.close(&house.grant, &id).await.unwrap();
                return None;
            }
            return Some(id);
        }
        // Lets sockets and actors get on, as a server would.
        tokio::task::yield_now().await;
    }
    None
}

/// Until nothing is open any more, with an end to the patience.
async fn nothing_is_open(house: &House) {
    for _ in 0..1_000_000 {
        if house.runs.census().kept == 0 && house.runs.census().active == 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("runs of those who vanished are still open: {:?}", house.runs.census());
}

/// A caller who stays. Where the console or the pool is still at work for one who vanished he is told so, and asks again.
pub async fn own_row(house: &House, sql: &str, console: Option<&str>) -> String {
    for _ in 0..1_000_000 {
        match house.run_alone(sql, console).await {
            Ok(begun) => {
                let status = &begun.status;
                assert!(!status.transaction.is_open() && status.total_rows == Some(1), "{status:?}");
                house.runs.close(&house.grant, &status.id).await.unwrap();
                return cell(&begun.page0.unwrap(), 0, 0);
            }
            Err(problem) => assert_eq!(problem.code, ErrorCode::TooMany, "{problem:?}"),
        }
        tokio::task::yield_now().await;
    }
    panic!("the sessions are still in use by those who vanished");
}

/// What vanishing callers ask for (`MARK` is another number each time), and what one asks who looks for what they left.
struct Asked {
    statements: &'static [&'static str],
    /// How much of that the session has: 0.
    left: &'static str,
}

async fn nobody_gets_anothers_rows(house: House, asked: Asked, seed: u64) {
    let mut draw = Draw(seed);
    let mut answered = Vec::new();
    for n in 0..DROPPED {
        let console = [None, Some("k0"), Some("k1")][draw.below(3) as usize];
        let sql = asked.statements[draw.below(asked.statements.len() as u64) as usize].replace("MARK", &n.to_string());
        answered.extend(drop_after(&house, &sql, console, draw.below(40)).await);
        if n % STAYS_AFTER == 0 {
            let mark = format!("own {n}");
            assert_eq!(own_row(&house, &format!("select '{mark}'"), console).await, mark, "seed {seed}, after {n}: {sql}");
            assert_eq!(own_row(&house, asked.left, None).await, "0", "seed {seed}, after {n}: {sql}: in the pool");
        }
    }
    for id in &answered {
        house.runs.close(&house.grant, id).await.unwrap();
    }
    nothing_is_open(&house).await;
    println!("{} of {DROPPED} had their answer, the others vanished before", answered.len());
    house.runs.shut_down().await;
    assert_eq!((house.runs.census().sessions, house.runs.census().active), (0, 0));
}

#[tokio::test]
async fn on_postgresql_the_next_one_gets_his_own_rows() {
    let asked = || Asked {
        statements: &[
            "select MARK as other, repeat('x', 200) from generate_series(1, 50000)",
            "select MARK as other",
            "select MARK / 0",
            "select pg_sleep(0.002), MARK as other",
            "create temp table if not exists t_MARK as select MARK as other",
            "values (MARK), (MARK)",
        ],
        left: "select count(*) from pg_class where relnamespace = pg_my_temp_schema()",
    };
    for cluster in clusters() {
        nobody_gets_anothers_rows(at(EngineKind::Postgres, cluster.port, "postgres", "postgres"), asked(), 12).await;
    }
}

#[tokio::test]
async fn on_mariadb_the_next_one_gets_his_own_rows() {
    let asked = Asked {
        statements: &[
            "select MARK as other, repeat('x', 200), seq from seq_1_to_50000",
            "select MARK as other",
            "select no_such_column_MARK",
            "select sleep(0.002), MARK as other",
            "create temporary table if not exists t_MARK as select MARK as other",
            "set @left = MARK",
        ],
        // The server lists no temporary tables.
        left: "select @left is not null",
    };
    nobody_gets_anothers_rows(at(EngineKind::Mysql, mariadb().port, "root", "shop"), asked, 13).await;
}

#[tokio::test]
async fn on_sqlite_the_next_one_gets_his_own_rows() {
    let asked = Asked {
        statements: &[
            "with recursive n(i) as (values(0) union all select i + 1 from n limit 50000) select MARK as other, i from n",
            "select MARK as other",
            "select no_such_column_MARK",
            "with recursive n(i) as (values(0) union all select i + 1 from n limit 20000) select count(*), MARK from n",
            "create temp table if not exists t_MARK as select MARK as other",
            "values (MARK), (MARK)",
        ],
        left: "select count(*) from sqlite_temp_schema",
    };
    let folder = tempfile::tempdir().unwrap();
    nobody_gets_anothers_rows(over(EngineKind::Sqlite, &folder.path().join("dropped.db")), asked, 14).await;
}

#[tokio::test]
async fn on_duckdb_the_next_one_gets_his_own_rows() {
    let asked = Asked {
        statements: &[
            "select MARK as other, range from range(50000)",
            "select MARK as other",
            "select no_such_column_MARK",
            "select count(*), MARK from range(300000)",
            "create temp table if not exists t_MARK as select MARK as other",
            "values (MARK), (MARK)",
        ],
        left: "select count(*) from duckdb_tables() where temporary",
    };
    let folder = tempfile::tempdir().unwrap();
    nobody_gets_anothers_rows(over(EngineKind::Duckdb, &folder.path().join("dropped.csv")), asked, 15).await;
}
