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

    /// Asks for the whole catalog.
    pub async fn catalog(&mut self, connection: &str) -> Result<CatalogAnswer, BenchError> {
        self.ask_catalog(Request::get(&format!("/api/v1/connections/{connection}/catalog"))).await
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

    async fn send(&mut self, request: Request) -> Result<Response, BenchError> {
        self.client.send(request.bearer(&self.bearer)).await.map_err(BenchError::io("sheaf"))
    }
}
