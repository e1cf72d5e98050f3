//! Five hundred requests whose caller vanishes somewhere on their way, at places drawn from a seed: whoever comes next to the same
//! console or pool gets his own rows, in no transaction, with nothing left of the one before (reliability.md T12, R10).

use super::{House, cell, house};
use backend::engine::Target;
use shared::problem::ErrorCode;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::Secrets;
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

fn at(kind: EngineKind, port: u16, user: &str, database: &str) -> House {
    let mut fields = ConnectionFields::new("test", kind);
    fields.host = Some("127.0.0.1".to_owned());
    fields.port = Some(port);
    fields.user = Some(user.to_owned());
    fields.database = Some(database.to_owned());
    house(Target::new(fields, Secrets::default()))
}

/// Polls a start so many times and forgets it. Without a window nobody could find the run again, so it is closed.
async fn drop_after(house: &House, sql: &str, console: Option<&str>, polls: u64) {
    let mut start = Box::pin(house.run_alone(sql, console));
    for _ in 0..polls {
        if futures_util::poll!(start.as_mut()).is_ready() {
            return;
        }
        // Lets sockets and actors get on, as a server would.
        tokio::task::yield_now().await;
    }
}

/// A caller who stays. Where the console or the pool is still at work for one who vanished he is told so, and asks again.
async fn own_row(house: &House, mark: &str, console: Option<&str>) -> String {
    for _ in 0..1_000_000 {
        match house.run_alone(&format!("SELECT '{mark}'"), console).await {
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

async fn nobody_gets_anothers_rows(house: House, statements: &[&str], seed: u64) {
    let mut draw = Draw(seed);
    for n in 0..DROPPED {
        let console = [None, Some("k0"), Some("k1")][draw.below(3) as usize];
        let sql = statements[draw.below(statements.len() as u64) as usize].replace("MARK", &n.to_string());
        drop_after(&house, &sql, console, draw.below(40)).await;
        if n % STAYS_AFTER == 0 {
            let mark = format!("own {n}");
            assert_eq!(own_row(&house, &mark, console).await, mark, "seed {seed}, after {n}: {sql}");
        }
    }
    house.runs.shut_down().await;
    assert_eq!((house.runs.census().sessions, house.runs.census().active), (0, 0));
}

#[tokio::test]
async fn on_postgresql_the_next_one_gets_his_own_rows() {
    let statements = [
        "select MARK as other, repeat('x', 200) from generate_series(1, 50000)",
        "select MARK as other",
        "select MARK / 0",
        "select pg_sleep(0.002), MARK as other",
        "create temp table if not exists t_MARK as select MARK as other",
        "values (MARK), (MARK)",
    ];
    for cluster in clusters() {
        nobody_gets_anothers_rows(at(EngineKind::Postgres, cluster.port, "postgres", "postgres"), &statements, 12).await;
    }
}

#[tokio::test]
async fn on_mariadb_the_next_one_gets_his_own_rows() {
    let statements = [
        "select MARK as other, repeat('x', 200), seq from seq_1_to_50000",
        "select MARK as other",
        "select no_such_column_MARK",
        "select sleep(0.002), MARK as other",
        "create temporary table if not exists t_MARK as select MARK as other",
    ];
    nobody_gets_anothers_rows(at(EngineKind::Mysql, mariadb().port, "root", "shop"), &statements, 13).await;
}
