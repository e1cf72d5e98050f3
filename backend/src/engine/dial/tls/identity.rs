//! Who we are to a server that asks for a certificate: PEM texts, read and held together.
//!
//! Invariant: nothing of a private key stands in any message of an error; a key is never taken without the certificate it fits.

use super::end_point::element;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use shared::wire::secrets::{Secret, SecretKind};

/// What is wrong with a certificate or its key; each is one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No certificate in the text, or a broken one.
    #[error("The client certificate can't be read: {0}.")]
    Certificate(String),
    /// The key is held by nobody.
    #[error("The key of the client certificate is not known to this server process: it must be given.")]
    NoKey,
    /// A passphrase would be needed.
    #[error(
        "The key of the client certificate is encrypted, and Sheaf can't ask for its passphrase: give it as `openssl pkey -in KEYFILE` prints it."
    )]
    Encrypted,
    /// A key of another world.
    #[error("The key of the client certificate is an SSH key; a key for TLS is needed (PEM: PKCS#8, PKCS#1 or SEC1).")]
    Ssh,
    /// No key in the text, or a broken one.
    #[error("The key of the client certificate can't be read: {0}.")]
    Key(String),
    /// Each is good, but not for the other.
    #[error("The key does not belong to the client certificate.")]
    Mismatch,
}

impl Fault {
    /// The field that it is about.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Certificate(_) => "tls.certificate",
            Self::NoKey | Self::Encrypted | Self::Ssh | Self::Key(_) | Self::Mismatch => SecretKind::TlsKey.name(),
        }
    }
}

const SEQUENCE: u8 = 0x30;

/// Reads both, and sees that they fit.
pub fn read(certificate: &str, key: Option<&Secret>) -> Result<SingleCertAndKey, Fault> {
    let chain = read_chain(certificate)?;
    let key = read_key(key.ok_or(Fault::NoKey)?.reveal())?;
    let unusable = |_| Fault::Key("its kind is not one that TLS uses here (RSA, ECDSA, Ed25519)".to_owned());
    let key = super::provider().key_provider.load_private_key(key).map_err(unusable)?;
    // Compared by the bytes: certificates of version 1, as `openssl x509 -req` makes them, are read by no parser at hand.
    let fits = |public: &[u8]| chain.first().is_some_and(|first| first.windows(public.len()).any(|part| part == public));
    if key.public_key().is_some_and(|public| !fits(public.as_ref())) {
        return Err(Fault::Mismatch);
    }
    Ok(CertifiedKey::new(chain, key).into())
}

/// Whether a certificate can be used, and its key, if that is at hand: for a connection that is saved.
pub fn check(certificate: &str, key: Option<&Secret>) -> Result<(), Fault> {
    match key {
        Some(_) => read(certificate, key).map(drop),
        None => read_chain(certificate).map(drop),
    }
}

fn read_chain(text: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|_| Fault::Certificate("its text is not PEM".to_owned()))?;
    let Some(first) = chain.first() else {
        return Err(Fault::Certificate("its text holds no certificate (PEM, from -----BEGIN CERTIFICATE-----)".to_owned()));
    };
    match element(first, SEQUENCE) {
        Some((_, [])) => Ok(chain),
        _ => Err(Fault::Certificate("it is no certificate of X.509".to_owned())),
    }
}

fn read_key(text: &str) -> Result<PrivateKeyDer<'static>, Fault> {
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(Fault::Encrypted);
    }
    if text.contains("BEGIN OPENSSH PRIVATE KEY") {
        return Err(Fault::Ssh);
    }
    // The cause is not shown: it may quote the text.
    PrivateKeyDer::from_pem_slice(text.as_bytes())
        .map_err(|_| Fault::Key("its text holds no private key (PEM: PKCS#8, PKCS#1 or SEC1)".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_told_by_its_kind_and_never_shown() {
        for (text, fault) in [
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nplanted\n-----END ENCRYPTED PRIVATE KEY-----\n", Some(Fault::Encrypted)),
            ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\nplanted\n", Some(Fault::Encrypted)),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nplanted\n-----END OPENSSH PRIVATE KEY-----\n", Some(Fault::Ssh)),
            ("-----BEGIN PRIVATE KEY-----\nplanted!\n-----END PRIVATE KEY-----\n", None),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", None),
            ("planted", None),
            ("", None),
        ] {
            let told = read_key(text).unwrap_err();
            assert!(!told.to_string().contains("planted"), "{told}");
            assert_eq!(told.field(), "tls_key");
            match fault {
                Some(fault) => assert_eq!(told, fault),
                None => assert!(matches!(told, Fault::Key(_)), "{told:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_certificate_is_told() {
        for text in ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\n!\n"] {
            let told = check(text, None).unwrap_err();
            assert_eq!(told.field(), "tls.certificate", "{text}: {told}");
        }
    }
}
