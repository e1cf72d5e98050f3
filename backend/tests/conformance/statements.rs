//! What is told of a statement, and what its text may look like.

use super::engines::{Subject, assert_usable, done, read, row, tried};
use backend::engine::{Fate, Session};
use shared::problem::ErrorCode;

pub async fn rows_that_changed_are_counted(subject: &Subject) {
    let mut session = subject.session().await;
    for (sql, affected) in [
        ("CREATE TEMPORARY TABLE counted(n INTEGER)", None),
        ("INSERT INTO counted VALUES (1), (2), (3)", Some(3)),
        ("UPDATE counted SET n = n + 10 WHERE n > 1", Some(2)),
        ("UPDATE counted SET n = 0 WHERE n = 99", Some(0)),
        ("DELETE FROM counted WHERE n = 99", Some(0)),
        ("SELECT n FROM counted", None),
        ("INSERT INTO counted SELECT n FROM counted", Some(3)),
        ("DELETE FROM counted", Some(6)),
    ] {
        assert_eq!(done(session.as_mut(), sql).await.rows_affected, affected, "{sql}");
    }
}

pub async fn a_transaction_is_told_from_its_beginning_to_its_end(subject: &Subject) {
    let mut session = subject.session().await;
    let session = session.as_mut();
    done(session, "CREATE TEMPORARY TABLE kept(n INTEGER)").await;
    for (sql, open) in [
        ("INSERT INTO kept VALUES (1)", false),
        ("BEGIN", true),
        ("INSERT INTO kept VALUES (2)", true),
        ("SELECT n FROM kept", true),
        ("ROLLBACK", false),
        ("SELECT n FROM kept", false),
        ("BEGIN", true),
        ("UPDATE kept SET n = 3", true),
        ("COMMIT", false),
    ] {
        assert_eq!(done(session, sql).await.in_transaction, open, "{sql}");
        assert!(session.in_transaction().is_none_or(|told| told == open), "{sql}");
        assert!(!session.transaction_failed());
    }
    assert_eq!(read(session, "SELECT n FROM kept").await, [row(["3"])]);
    // A refused statement outside of one opens none.
    assert!(tried(session, "SELECT nothing FROM kept").await.is_err());
    assert!(!session.in_transaction().unwrap_or(false));
    assert!(!done(session, "SELECT 1").await.in_transaction);
}

pub async fn comments_and_a_semicolon_at_the_end_do_no_harm(subject: &Subject) {
    let mut session = subject.session().await;
    for sql in [
        "SELECT 1;",
        "SELECT 1 ; \n ",
        "-- ünï; \n SELECT 1",
        "/* a; */ SELECT /* 'b */ 1 /* c */",
        "SELECT 1 -- the end",
        "SELECT 1; -- the end",
        "SELECT 1 /* ; */ ;",
        "\r\n\tSELECT\n1\n",
        "SELECT -- '\n1",
    ] {
        assert_eq!(read(session.as_mut(), sql).await, [row(["1"])], "{sql}");
    }
    assert_eq!(read(session.as_mut(), "SELECT ';', '--', '/*', 'a -- b; c' -- ;").await, [row([";", "--", "/*", "a -- b; c"])]);
    assert_eq!(done(session.as_mut(), "CREATE TEMPORARY TABLE remarked(n INTEGER); -- ;").await.rows_affected, None);
    assert_eq!(done(session.as_mut(), "/* ; */ INSERT INTO remarked VALUES (1) ; /* ; */").await.rows_affected, Some(1));
}

pub async fn an_empty_statement_is_done(subject: &Subject) {
    let mut session = subject.session().await;
    for sql in ["", "  \n", ";", "-- only a remark", "/* ; */ ;"] {
        let (rows, finished) = tried(session.as_mut(), sql).await.unwrap_or_else(|error| panic!("{sql:?}: {error:?}"));
        assert_eq!((rows.len(), finished.rows_affected, finished.in_transaction), (0, None, false), "{sql:?}");
    }
    assert_usable(session.as_mut()).await;
}

async fn refuses(session: &mut dyn Session, sql: &str) {
    let error = tried(session, sql).await.unwrap_err();
    assert_eq!((error.fate, error.cancelled, error.problem.code), (Fate::Idle, false, ErrorCode::Rejected), "{sql}: {error:?}");
}

pub async fn a_second_statement_is_refused_and_the_first_has_no_effect(subject: &Subject) {
    let mut session = subject.session().await;
    done(session.as_mut(), "CREATE TEMPORARY TABLE lonely(n INTEGER)").await;
    for sql in [
        "INSERT INTO lonely VALUES (1); SELECT 2",
        "SELECT 1; INSERT INTO lonely VALUES (2)",
        "INSERT INTO lonely VALUES (';'); /* x */ DROP TABLE lonely",
        "SELECT 1;; SELECT 2;",
    ] {
        refuses(session.as_mut(), sql).await;
        assert_usable(session.as_mut()).await;
    }
    assert_eq!(read(session.as_mut(), "SELECT count(*) FROM lonely").await, [row(["0"])]);
}

pub async fn a_reset_undoes_what_was_left(subject: &Subject) {
    let mut session = subject.session().await;
    done(session.as_mut(), "CREATE TEMPORARY TABLE passing(n INTEGER)").await;
    done(session.as_mut(), "BEGIN").await;
    done(session.as_mut(), "INSERT INTO passing VALUES (1)").await;
    session.reset().await.unwrap();
    assert!(!done(session.as_mut(), "SELECT 1").await.in_transaction);
    refuses(session.as_mut(), "SELECT n FROM passing").await;
    assert_usable(session.as_mut()).await;
}
