//! Stopping: a statement ends when it is asked to, and no other does.

use super::support::{Db, PAGE, one};
use backend::engine::Fate;
use shared::problem::ErrorCode;

const ENDLESS: &str = "SELECT count(*) FROM range(100000000) a(x), range(100000) b(y) WHERE x * y = -7";

#[tokio::test]
async fn a_statement_is_stopped_again_and_again() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    let handle = session.cancel_handle();
    for round in 0..20 {
        let (stopped, ()) = tokio::join!(session.execute(ENDLESS, PAGE), async {
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            handle.cancel().await.unwrap();
        });
        let refused = stopped.err().unwrap();
        assert!(refused.cancelled && refused.fate == Fate::Idle && refused.problem.code == ErrorCode::Cancelled, "{refused:?}");
        handle.cancel().await.unwrap();
        assert_eq!(one(&mut session, "SELECT 1").await, [["1"]]);
    }
}

#[tokio::test]
async fn a_stop_between_fetches_ends_the_result_and_nothing_after_it() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    for _ in 0..200 {
        session.execute("SELECT * FROM range(10000000)", PAGE).await.unwrap();
        session.fetch(PAGE).await.unwrap();
        let handle = session.cancel_handle();
        let stop = tokio::spawn(async move { handle.cancel().await });
        // The request is made now, and goes on beside what follows.
        tokio::task::yield_now().await;
        session.finish().await.unwrap();
        assert_eq!(one(&mut session, "SELECT sum(range) FROM range(1000)").await, [["499500"]]);
        stop.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_session_that_is_dropped_lets_its_file_go() {
    let db = Db::new(&[]);
    let mut session = db.session().await;
    let handle = session.cancel_handle();
    let (_, ()) = tokio::join!(session.execute(ENDLESS, PAGE), async { handle.cancel().await.unwrap() });
    session.close().await;
    assert_eq!(one(&mut db.read_only().await, "SELECT 1").await, [["1"]]);
}
