//! How statements end before their time: refused, cancelled, given up.

use super::engines::{PAGE, Subject, assert_usable, bound, done, pages, read, row, tried};
use backend::engine::{EngineError, Fate, Session};
use shared::problem::ErrorCode;
use std::cell::Cell;

pub async fn an_error_leaves_the_session_usable(subject: &Subject) {
    let mut session = subject.session().await;
    done(session.as_mut(), "CREATE TEMPORARY TABLE keyed(n INTEGER PRIMARY KEY)").await;
    done(session.as_mut(), "INSERT INTO keyed VALUES (1)").await;
    for sql in [
        "SELEC 1",
        "SELECT 'é', (1",
        "SELECT * FROM nothing_here",
        "SELECT nothing FROM keyed",
        "INSERT INTO keyed VALUES (2), (1)",
        "SELECT nothing(1, 2, 3)",
        "INSERT INTO keyed VALUES (2, 3)",
    ] {
        let error = tried(session.as_mut(), sql).await.unwrap_err();
        assert_eq!((error.fate, error.cancelled, error.problem.code), (Fate::Idle, false, ErrorCode::Rejected), "{sql}: {error:?}");
        assert!(!error.problem.message.trim().is_empty(), "{sql}");
        assert!(error.problem.position.is_none_or(|at| sql.is_char_boundary(at as usize)), "{sql}: {error:?}");
        assert_usable(session.as_mut()).await;
    }
    assert_eq!(read(session.as_mut(), "SELECT n FROM keyed").await, [row(["1"])], "what failed has no effect");
}

pub async fn an_error_behind_the_first_page_comes_with_its_page(subject: &Subject) {
    let mut session = subject.numbered(90_000).await;
    let sql = format!("SELECT i, {} FROM numbered", subject.sql.fails_at.replace("{n}", "89500"));
    session.execute(&sql, PAGE).await.unwrap();
    let mut seen = 0;
    let error = loop {
        match session.fetch(PAGE).await {
            Ok(page) => seen += page.batch.num_rows(),
            Err(error) => break error,
        }
    };
    assert!((1_000..89_500).contains(&seen), "{seen}");
    assert_eq!((error.fate, error.cancelled, error.problem.code), (Fate::Idle, false, ErrorCode::Rejected), "{error:?}");
    assert_usable(session.as_mut()).await;
}

/// Asks a statement to stop until it does: a server forgets what comes as the statement begins.
async fn stopped(session: &mut dyn Session, sql: &str) -> EngineError {
    let handle = session.cancel_handle();
    let ended = Cell::new(false);
    let statement = async {
        let result = tried(session, sql).await;
        ended.set(true);
        result
    };
    let asking = async {
        while !ended.get() {
            handle.cancel().await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(statement, asking).0.unwrap_err()
}

pub async fn an_endless_statement_is_cancelled_and_the_session_takes_the_next(subject: &Subject) {
    let mut session = subject.session().await;
    for _ in 0..5 {
        let error = stopped(session.as_mut(), subject.sql.runaway).await;
        assert_eq!((error.fate, error.cancelled), (Fate::Idle, true), "{error:?}");
        assert_usable(session.as_mut()).await;
    }
}

pub async fn a_cancel_where_nothing_runs_harms_nothing(subject: &Subject) {
    let mut session = subject.session().await;
    let before = session.cancel_handle();
    before.cancel().await.unwrap();
    assert_usable(session.as_mut()).await;
    for _ in 0..5 {
        before.cancel().await.unwrap();
        session.cancel_handle().cancel().await.unwrap();
        assert_usable(session.as_mut()).await;
    }
    session.close().await;
    // Of a session that is gone: an error or not, but no more.
    let _ = before.cancel().await;
}

/// Whether a database has anything to stop there is its own matter.
pub async fn a_cancel_while_rows_wait_meets_nothing_else(subject: &Subject) {
    let mut session = subject.session().await;
    for _ in 0..5 {
        session.execute(subject.sql.endless, bound(10)).await.unwrap();
        assert!(session.fetch(bound(10)).await.unwrap().more);
        session.cancel_handle().cancel().await.unwrap();
        if let Err(error) = session.finish().await {
            assert_eq!((error.fate, error.cancelled), (Fate::Idle, true), "{error:?}");
        }
        assert_usable(session.as_mut()).await;
    }
}

pub async fn a_result_is_given_up_half_way(subject: &Subject) {
    let mut session = subject.numbered(5_000).await;
    for read in 0..3 {
        session.execute("SELECT i, label FROM numbered ORDER BY i", bound(10)).await.unwrap();
        for _ in 0..read {
            assert!(session.fetch(bound(10)).await.unwrap().more);
        }
        session.finish().await.unwrap();
        assert_usable(session.as_mut()).await;
    }
    // And it can be asked for again, whole.
    let (pages, _) = pages(session.as_mut(), "SELECT i FROM numbered", PAGE).await.unwrap();
    assert_eq!(pages.iter().map(|page| page.batch.num_rows()).sum::<usize>(), 5_000);
}
