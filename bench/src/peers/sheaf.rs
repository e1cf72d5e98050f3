//! The release as a script would use it.

use crate::BenchError;
use e2e::http::{Client, Request, Response};
use e2e::server::Server;
use shared::wire::catalog::Catalog;
use std::time::{Duration, Instant};

/// A signed-in client on one kept-alive connection.
pub struct Api {
    client: Client,
    bearer: String,
}

/// An answer to a question for the catalog.
pub struct CatalogAnswer {
    /// Milliseconds to its last byte.
    pub ms: f64,
    /// Bytes of its body.
    pub bytes: usize,
    /// What it says.
    pub catalog: Catalog,
}

impl Api {
    /// Exchanges the launch code.
    pub async fn sign_in(server: &Server) -> Result<Self, BenchError> {
        let bearer = server.sign_in().await.map_err(BenchError::io("sign-in"))?;
        Ok(Self { client: server.client().await.map_err(BenchError::io("sheaf"))?, bearer })
    }

    /// The id of the first connection.
    pub async fn connection(&mut self) -> Result<String, BenchError> {
        let answer = self.send(Request::get("/api/v1/connections")).await?;
        let id = answer.json().pointer("/0/id").and_then(|id| id.as_str()).map(str::to_owned);
        id.ok_or_else(|| BenchError::WrongAnswer(answer.text()))
    }

    /// Milliseconds from the request to the last byte of page 0; then the run is closed. Checks state and page size.
    pub async fn first_page(&mut self, connection: &str, sql: &str, page_rows: u32) -> Result<f64, BenchError> {
        let body = serde_json::json!({ "connection": connection, "session": "bench", "sql": sql });
        let request = Request::post("/api/v1/runs").header("Accept", "application/vnd.apache.arrow.stream").json(&body);
        // A run is two requests. Sheaf would hold what comes faster than this, and that is not what is measured.
        tokio::time::sleep(Duration::from_secs(2) / shared::limits::REQUESTS_PER_SECOND).await;
        let started = Instant::now();
        let answer = self.send(request).await?;
        let ms = started.elapsed().as_secs_f64() * 1_000.0;
        let facts = (answer.status, answer.header("Sheaf-State"), answer.header("Sheaf-Page-Rows"));
        if facts != (200, "more", page_rows.to_string().as_str()) {
            return Err(BenchError::WrongAnswer(format!("{facts:?}: {}", answer.text())));
        }
        let path = format!("/api/v1/runs/{}", answer.header("Sheaf-Run"));
        self.send(Request::new("DELETE", &path)).await?;
        Ok(ms)
    }

    /// Asks for the catalog: of a large database that is its names.
    pub async fn catalog(&mut self, connection: &str) -> Result<CatalogAnswer, BenchError> {
        self.ask_catalog(Request::get(&format!("/api/v1/connections/{connection}/catalog"))).await
    }

    /// Asks for what is in these schemas.
    pub async fn catalog_schemas(&mut self, connection: &str, schemas: &[&str]) -> Result<CatalogAnswer, BenchError> {
        let wanted = serde_json::json!({ "schemas": schemas });
        self.ask_catalog(Request::post(&format!("/api/v1/connections/{connection}/catalog/schemas")).json(&wanted)).await
    }

    /// Asks for what has changed since an earlier answer.
    pub async fn catalog_changes(&mut self, connection: &str, since: &Catalog) -> Result<CatalogAnswer, BenchError> {
        let known = serde_json::to_value(since.known()).map_err(|e| BenchError::failed("the catalog", e))?;
        self.ask_catalog(Request::post(&format!("/api/v1/connections/{connection}/catalog/changes")).json(&known)).await
    }

    async fn ask_catalog(&mut self, request: Request) -> Result<CatalogAnswer, BenchError> {
        let started = Instant::now();
        let answer = self.send(request).await?;
        let ms = started.elapsed().as_secs_f64() * 1_000.0;
        let catalog = serde_json::from_slice(&answer.body).map_err(|_| BenchError::WrongAnswer(answer.text()))?;
        Ok(CatalogAnswer { ms, bytes: answer.body.len(), catalog })
    }

    /// The same principal on another connection.
    pub async fn beside(&self, server: &Server) -> Result<Self, BenchError> {
        Ok(Self { client: server.client().await.map_err(BenchError::io("sheaf"))?, bearer: self.bearer.clone() })
    }

    /// Runs a statement without rows on a console.
    pub async fn run(&mut self, connection: &str, console: &str, sql: &str) -> Result<(), BenchError> {
        let body = serde_json::json!({ "connection": connection, "session": console, "sql": sql });
        let request = Request::post("/api/v1/runs").header("Accept", "application/vnd.apache.arrow.stream").json(&body);
        let answer = self.send(request).await?;
        if answer.status == 204 { Ok(()) } else { Err(BenchError::WrongAnswer(format!("{sql}: {}", answer.text()))) }
    }

    /// Starts a statement, cancels it over `canceller` after `delay`; milliseconds from the cancel to the end of the answer that was
    /// waited for: the run's first page, or a page far behind it. Checks that it is one of a cancelled run.
    pub async fn cancelled(
        &mut self,
        canceller: &mut Self,
        connection: &str,
        sql: &str,
        reads_on: bool,
        token: &str,
        delay: Duration,
    ) -> Result<f64, BenchError> {
        // At the pace that Sheaf keeps everybody to; three requests a try.
        tokio::time::sleep(Duration::from_secs(4) / shared::limits::REQUESTS_PER_SECOND).await;
        let body = serde_json::json!({ "connection": connection, "session": "bench", "sql": sql, "token": token });
        let start = Request::post("/api/v1/runs").header("Accept", "application/vnd.apache.arrow.stream").json(&body);
        let mut cancel = format!("/api/v1/runs/by-token/{token}/cancel");
        let mut waited_for = start.clone();
        if reads_on {
            let first = self.send(start).await?;
            let run = first.header("Sheaf-Run").to_owned();
            cancel = format!("/api/v1/runs/{run}/cancel");
            waited_for = Request::get(&format!("/api/v1/runs/{run}/pages/40000"));
        }
        let waiting = async {
            let answer = self.send(waited_for).await?;
            Ok::<_, BenchError>((answer, Instant::now()))
        };
        let cancelling = async {
            tokio::time::sleep(delay).await;
            let begun = Instant::now();
            let answer = canceller.send(Request::post(&cancel)).await?;
            if answer.status == 202 { Ok(begun) } else { Err(BenchError::WrongAnswer(format!("{sql}: {}", answer.text()))) }
        };
        let (waited, begun) = tokio::join!(waiting, cancelling);
        let (begun, (answer, ended)) = (begun?, waited?);
        if answer.json().pointer("/code").and_then(|code| code.as_str()) != Some("cancelled") {
            return Err(BenchError::WrongAnswer(format!("{sql}: {} {}", answer.status, answer.text())));
        }
        Ok(ended.duration_since(begun).as_secs_f64() * 1_000.0)
    }

    async fn send(&mut self, request: Request) -> Result<Response, BenchError> {
        self.client.send(request.bearer(&self.bearer)).await.map_err(BenchError::io("sheaf"))
    }
}
