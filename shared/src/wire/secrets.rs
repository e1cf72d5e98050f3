//! The secrets of a connection. They travel from a client to the server, and never back.
//!
//! Invariant: none of them is ever printed: [`Secret`] shows itself as `[redacted]`; no answer of the API has one in it.

use serde::{Deserialize, Serialize};

/// A text that nobody but its receiver may read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself: for the place that needs it, and nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Which secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SecretKind {
    /// Of the database's user.
    Password,
    /// The private key of the client certificate, as PEM text.
    TlsKey,
    /// Of the SSH server's user.
    SshPassword,
    /// The private key for the SSH server, as text.
    SshKey,
    /// What opens that key.
    SshPassphrase,
}

impl SecretKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Password, Self::TlsKey, Self::SshPassword, Self::SshKey, Self::SshPassphrase];

    /// Its name in a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::TlsKey => "tls_key",
            Self::SshPassword => "ssh_password",
            Self::SshKey => "ssh_key",
            Self::SshPassphrase => "ssh_passphrase",
        }
    }
}

/// All secrets of one connection. Kept in memory of the server only (until it has a vault). In a PATCH, an absent or empty one means:
/// as before, if the way to the server is; null drops it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Secrets {
    /// Of the database's user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub password: Option<Secret>,
    /// The private key of `tls.certificate`, as PEM text (PKCS#8, PKCS#1 or SEC1), not encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub tls_key: Option<Secret>,
    /// Of the user on the SSH server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub ssh_password: Option<Secret>,
    /// The private key for the SSH server, as ssh-keygen writes it (or PKCS#8, PKCS#1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub ssh_key: Option<Secret>,
    /// What opens that key, where it is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub ssh_passphrase: Option<Secret>,
}

impl Secrets {
    /// One of them.
    pub fn get(&self, kind: SecretKind) -> Option<&Secret> {
        match kind {
            SecretKind::Password => self.password.as_ref(),
            SecretKind::TlsKey => self.tls_key.as_ref(),
            SecretKind::SshPassword => self.ssh_password.as_ref(),
            SecretKind::SshKey => self.ssh_key.as_ref(),
            SecretKind::SshPassphrase => self.ssh_passphrase.as_ref(),
        }
    }

    /// Puts one in, or takes it away.
    pub fn set(&mut self, kind: SecretKind, secret: Option<Secret>) {
        match kind {
            SecretKind::Password => self.password = secret,
            SecretKind::TlsKey => self.tls_key = secret,
            SecretKind::SshPassword => self.ssh_password = secret,
            SecretKind::SshKey => self.ssh_key = secret,
            SecretKind::SshPassphrase => self.ssh_passphrase = secret,
        }
    }

    /// Which of them are there.
    pub fn held(&self) -> Vec<SecretKind> {
        SecretKind::ALL.into_iter().filter(|kind| self.get(*kind).is_some()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Secrets {
        let mut secrets = Secrets::default();
        for kind in SecretKind::ALL {
            secrets.set(kind, Some(Secret::new("planted")));
        }
        secrets
    }

    #[test]
    fn every_kind_has_its_place_and_its_name() {
        assert_eq!(all().held(), SecretKind::ALL);
        let wire = serde_json::to_value(all()).unwrap();
        let names: Vec<_> = wire.as_object().unwrap().keys().cloned().collect();
        let mut expected = SecretKind::ALL.map(SecretKind::name).to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
        for kind in SecretKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    #[test]
    fn none_is_ever_printed() {
        let printed = format!("{:?} {:#?}", all(), all());
        assert!(!printed.contains("planted") && printed.contains("[redacted]"), "{printed}");
    }
}
