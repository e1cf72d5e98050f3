//! Sign-ins in the store: hashes and times.

use super::{Store, StoreError};
use crate::access::secret::SecretHash;
use crate::access::sign_ins::SignIn;
use sqlx::Row as _;

impl Store {
    /// Every sign-in that was kept.
    pub async fn sign_ins(&self) -> Result<Vec<SignIn>, StoreError> {
        let rows = sqlx::query("SELECT bearer_sha256, created_at, used_at FROM sign_in").fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                let hash: Vec<u8> = row.try_get(0)?;
                let hash = hash.try_into().map_err(|_| sqlx::Error::Decode("a hash of the wrong length".into()))?;
                let (created_at, used_at): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
                Ok(SignIn { hash: SecretHash(hash), created_at: created_at.unsigned_abs(), used_at: used_at.unsigned_abs() })
            })
            .collect()
    }

    /// Keeps a sign-in, or its new time of use.
    pub async fn keep_sign_in(&self, sign_in: &SignIn) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO sign_in (bearer_sha256, created_at, used_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (bearer_sha256) DO UPDATE SET used_at = max(used_at, excluded.used_at)",
        )
        .bind(sign_in.hash.0.as_slice())
        .bind(sign_in.created_at.cast_signed())
        .bind(sign_in.used_at.cast_signed())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Forgets a sign-in.
    pub async fn forget_sign_in(&self, sign_in: &SignIn) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sign_in WHERE bearer_sha256 = ?1").bind(sign_in.hash.0.as_slice()).execute(&self.pool).await?;
        Ok(())
    }
}
