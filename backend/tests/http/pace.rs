use crate::support::{Server, request};
use axum::body::Body;
use backend::access::pace::{Pace, Rate};
use shared::problem::ErrorCode;
use std::time::Duration;

#[tokio::test]
async fn who_asks_too_fast_is_told_when_to_come_again_and_may_still_cancel() {
    let data = tempfile::tempdir().unwrap();
    let rate = |burst| Rate { burst, every: Duration::from_secs(3600) };
    let server = Server::start_with(data.path(), Pace::new(rate(2), rate(3), Duration::ZERO)).await;
    let client = server.sign_in().await;
    for _ in 0..3 {
        assert_eq!(client.get("/api/v1/connections").await.status, 200);
    }
    // Whatever it is, there or not.
    for path in ["/api/v1/connections", "/api/v1/runs/x", "/api/v1/nothing"] {
        let refused = client.get(path).await;
        assert!(refused.header("retry-after").parse::<u64>().unwrap() > 3_000, "{path}");
        let problem = refused.problem(429);
        assert_eq!(problem.code, ErrorCode::TooMany);
        assert!(problem.retry_after_ms.is_some());
    }
    // Pages and cells have their own pace.
    for path in ["/api/v1/runs/x/pages/0", "/api/v1/runs/x/cells/0/0"] {
        assert_eq!(client.get(path).await.status, 404, "{path}");
    }
    assert_eq!(client.get("/api/v1/runs/x/pages/0").await.status, 429);
    assert_eq!(client.send(request("POST", "/api/v1/runs/by-token/t/cancel", Body::empty())).await.status, 202);
    assert_eq!(client.send(request("POST", "/api/v1/runs/x/cancel", Body::empty())).await.status, 404);
    // Who is nobody is told that, and the interface itself is for everybody.
    assert_eq!(server.send(request("GET", "/api/v1/connections", Body::empty())).await.status, 401);
    assert_eq!(server.send(request("GET", "/", Body::empty())).await.status, 200);
}
