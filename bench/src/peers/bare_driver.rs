//! The floor of a first page: a portal of `tokio-postgres`, 1,001 rows of it, every value read once.

use crate::BenchError;
use futures_util::TryStreamExt as _;
use std::hint::black_box;
use std::time::Instant;
use tokio_postgres::types::{FromSql, Type};
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

    /// Reads every value of a result of the fixture once: milliseconds, rows, the sum of the first column.
    pub async fn read_all(&self, sql: &str) -> Result<(f64, u64, u64), BenchError> {
        let failed = |e| BenchError::failed("the bare driver", e);
        let started = Instant::now();
        let rows = self.0.query_raw(sql, std::iter::empty::<i32>()).await.map_err(failed)?;
        futures_util::pin_mut!(rows);
        let (mut count, mut sum) = (0, 0);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            sum += u64::from(row.get::<_, i32>(0).unsigned_abs());
            black_box((row.get::<_, i32>(1), row.get::<_, &str>(4), row.get::<_, Option<&str>>(5)));
            // The driver has no number type of its own for these two; their bytes are what a reader of it would start from.
            black_box((row.get::<_, Raw<'_>>(2).0, row.get::<_, std::time::SystemTime>(3)));
            count += 1;
        }
        Ok((started.elapsed().as_secs_f64() * 1_000.0, count, sum))
    }
}

/// A value's bytes, whatever its type.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
