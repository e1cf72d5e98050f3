//! The floor of a first page: a portal of `tokio-postgres`, 1,001 rows of it, every value read once.

use crate::BenchError;
use std::time::Instant;
use tokio_postgres::{Client, NoTls};

/// Rows of a first page and the one that tells there are more.
const ROWS: i32 = 1_001;

/// A session that was in use before.
pub struct BareDriver(Client);

impl BareDriver {
    /// Connects; the connection's task ends with the client.
    pub async fn connect(url: &str) -> Result<Self, BenchError> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(|e| BenchError::failed("the bare driver", e))?;
        tokio::spawn(connection);
        Ok(Self(client))
    }

    /// Runs statements one after another.
    pub async fn prepare(&self, statements: &[&str]) -> Result<(), BenchError> {
        for statement in statements {
            self.0.batch_execute(statement).await.map_err(|e| BenchError::failed("the fixture", e))?;
        }
        Ok(())
    }

    /// Milliseconds from the bind to the last of 1,001 rows; BEGIN and COMMIT are outside. Checks the first and the last value.
    pub async fn first_page(&mut self, sql: &str) -> Result<f64, BenchError> {
        let failed = |e| BenchError::failed("the bare driver", e);
        let transaction = self.0.transaction().await.map_err(failed)?;
        let started = Instant::now();
        let portal = transaction.bind(sql, &[]).await.map_err(failed)?;
        let rows = transaction.query_portal(&portal, ROWS).await.map_err(failed)?;
        let ms = started.elapsed().as_secs_f64() * 1_000.0;
        let ids: Vec<i32> = rows.iter().map(|row| row.get(0)).collect();
        transaction.commit().await.map_err(failed)?;
        if ids.len() != 1_001 || ids.first() != Some(&1) || ids.last() != Some(&1_001) {
            return Err(BenchError::WrongAnswer(format!("{} rows of 1,001", ids.len())));
        }
        Ok(ms)
    }
}
