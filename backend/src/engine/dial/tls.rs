//! TLS on an open link, in the four modes a person chooses from.
//!
//! Invariant: nothing is verified less than its mode says. `Encrypt` verifies no certificate and says so; every other mode does.
//! Signatures of the handshake are checked in every mode.

mod end_point;
pub mod identity;
mod words;

pub use words::refusal;

use super::{DialError, Link};
use crate::engine::Target;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use shared::wire::connection::{Tls, TlsMode};
use shared::wire::secrets::Secret;
use std::sync::Arc;

/// What a connection asks of TLS.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    tls: Tls,
    key: Option<Secret>,
}

impl Terms {
    /// Of a target.
    pub fn of(target: &Target) -> Self {
        Self { tls: target.fields.tls.clone().unwrap_or_default(), key: target.secrets.tls_key.clone() }
    }

    /// Any TLS at all.
    pub fn asks(&self) -> bool {
        self.tls.mode != TlsMode::Off
    }
}

/// Starts TLS on `link`. The public authorities are taken where the terms name none.
pub async fn client(link: Link, host: &str, terms: &Terms) -> Result<Link, DialError> {
    client_bound(link, host, terms).await.map(|(link, _)| link)
}

/// The same, and what a sign-in over it can be bound to.
pub async fn client_bound(link: Link, host: &str, terms: &Terms) -> Result<(Link, Option<Vec<u8>>), DialError> {
    let fault = |reason: String| DialError::Tls { host: host.to_owned(), reason };
    let identity = match &terms.tls.certificate {
        Some(certificate) => Some(identity::read(certificate, terms.key.as_ref()).map_err(DialError::Identity)?),
        None => None,
    };
    let config = config(terms.tls.mode, terms.tls.ca.as_deref(), identity).map_err(fault)?;
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let name = ServerName::try_from(bare.to_owned()).map_err(|error| fault(error.to_string()))?;
    let stream = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, link).await;
    let stream = stream.map_err(|error| match refusal(&error) {
        Some(words) => DialError::Refusal(words),
        None => fault(words::reason(&error)),
    })?;
    let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let bound_to = certificate.and_then(|certificate| end_point::of(certificate));
    Ok((Box::new(stream), bound_to))
}

fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

fn config(mode: TlsMode, ca: Option<&str>, identity: Option<SingleCertAndKey>) -> Result<ClientConfig, String> {
    let provider = Arc::new(provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let algorithms = provider.signature_verification_algorithms;
    let verifier: Arc<dyn ServerCertVerifier> = match mode {
        TlsMode::Off | TlsMode::Encrypt => Arc::new(Weaker { check: Check::Nobody, algorithms }),
        TlsMode::VerifyAuthority => Arc::new(Weaker { check: Check::AnyName(authority(ca, provider)?), algorithms }),
        TlsMode::VerifyName => authority(ca, provider)?,
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    match identity {
        None => Ok(builder.with_no_client_auth()),
        Some(identity) => Ok(builder.with_client_cert_resolver(Arc::new(identity))),
    }
}

fn authority(ca: Option<&str>, provider: Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, String> {
    let mut roots = RootCertStore::empty();
    match ca {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate = certificate.map_err(|error| format!("the authority's certificate is not PEM: {error}"))?;
                roots.add(certificate).map_err(|error| format!("the authority's certificate is not usable: {error}"))?;
            }
            if roots.is_empty() {
                return Err("the authority's text holds no certificate".to_owned());
            }
        }
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(|error| error.to_string())
}

/// Who checks the certificate.
#[derive(Debug)]
enum Check {
    /// Any certificate will do.
    Nobody,
    /// The authority must be right; the name need not be.
    AnyName(Arc<WebPkiServerVerifier>),
}

/// A check that is weaker than the usual one, in the certificate alone: signatures of the handshake are checked as ever.
#[derive(Debug)]
struct Weaker {
    check: Check,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Weaker {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Check::AnyName(inner) = &self.check else { return Ok(ServerCertVerified::assertion()) };
        // webpki checks the path before the name, so a complaint about the name means that the path is good.
        match inner.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
