//! Any statement at all goes the same way.

use crate::cluster::clusters;
use crate::setting::{run, session, value};

#[tokio::test]
async fn a_query_gives_its_rows() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        assert!(session.server().starts_with("PostgreSQL "), "{}", session.server());
        let (batch, finished) = run(session.as_mut(), "select 1 as one, 'zwei' as two, null::int as three").await.unwrap();
        assert_eq!(batch.unwrap().num_rows(), 1);
        assert_eq!(finished.rows_affected, None);
        assert!(!finished.in_transaction);
        assert_eq!(value(session.as_mut(), "show server_encoding").await, "UTF8");
        session.close().await;
    }
}
