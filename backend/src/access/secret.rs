//! Random secrets, and what is kept of them.
//!
//! Invariant: only the SHA-256 of a secret is ever stored; hashes are compared in constant time; a secret prints as `[redacted]`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// 32 random bytes from the operating system, as base64url.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A new one. Fails where the operating system has no randomness to give.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(format!("no randomness from the operating system: {e}")))?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The text to hand out, once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What may be kept of it.
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(&self.0)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// The SHA-256 of a secret. Deliberately without `PartialEq`: see [`SecretHash::matches`].
#[derive(Clone, Copy, Debug)]
pub struct SecretHash(pub [u8; 32]);

impl SecretHash {
    /// Of the text as it was presented.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Equality in constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// Lower-case hexadecimal, for a file's name.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A new unguessable identifier of 128 bits, in hexadecimal.
pub fn random_id() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(format!("no randomness from the operating system: {e}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_differ_and_do_not_print() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!(one.reveal().len(), 43);
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(format!("{one:?}"), "[redacted]");
    }

    #[test]
    fn a_hash_matches_its_own_secret_only() {
        let secret = Secret::random().unwrap();
        assert!(secret.hash().matches(&SecretHash::of(secret.reveal())));
        assert!(!secret.hash().matches(&SecretHash::of("another")));
        assert_eq!(secret.hash().hex().len(), 64);
    }
}
