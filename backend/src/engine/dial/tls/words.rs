//! What went wrong with a certificate, in words for a person who set the connection up.

use rustls::{AlertDescription, CertificateError, Error};

/// What a server says of our certificate, in a sentence. By TLS 1.3 it says so only after the handshake, to whoever reads next.
pub fn refusal(error: &std::io::Error) -> Option<&'static str> {
    let Some(Error::AlertReceived(alert)) = error.get_ref()?.downcast_ref::<Error>() else { return None };
    match alert {
        AlertDescription::CertificateRequired => Some("The server asks for a client certificate, and the connection has none."),
        AlertDescription::CertificateExpired => Some("The server refuses the client certificate: it has expired, or is not valid yet."),
        AlertDescription::CertificateRevoked => Some("The server refuses the client certificate: it was revoked."),
        AlertDescription::UnknownCA => Some("The server refuses the client certificate: it does not know the authority that signed it."),
        AlertDescription::BadCertificate | AlertDescription::UnsupportedCertificate | AlertDescription::CertificateUnknown => {
            Some("The server refuses the client certificate.")
        }
        _ => None,
    }
}

/// Why TLS failed; what rustls says itself where there are no better words.
pub fn reason(error: &std::io::Error) -> String {
    let own = error.get_ref().and_then(|error| error.downcast_ref::<Error>());
    match own {
        Some(Error::InvalidCertificate(fault)) => of_certificate(fault).map_or_else(|| error.to_string(), str::to_owned),
        _ => error.to_string(),
    }
}

fn of_certificate(fault: &CertificateError) -> Option<&'static str> {
    Some(match fault {
        CertificateError::UnknownIssuer => "the server's certificate is signed by no authority that the connection trusts",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is for another name"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "the server's certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "the server's certificate is not valid yet",
        CertificateError::Revoked => "the server's certificate was revoked",
        CertificateError::BadEncoding => "the server's certificate can't be read",
        CertificateError::BadSignature => "the server's certificate is not signed by the authority that it names",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the server's certificate is not one for servers"
        }
        // webpki's own words for it have no name in rustls.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "the server shows an authority's own certificate, which can't stand for a server: it needs one that the authority signed"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::OtherError;
    use std::io;
    use std::sync::Arc;

    #[test]
    fn a_certificate_that_is_refused_is_spoken_of_in_words() {
        let reason_of = |fault| reason(&io::Error::other(Error::InvalidCertificate(fault)));
        assert_eq!(
            reason_of(CertificateError::UnknownIssuer),
            "the server's certificate is signed by no authority that the connection trusts"
        );
        let own = CertificateError::Other(OtherError(Arc::new(io::Error::other("CaUsedAsEndEntity"))));
        assert!(reason_of(own).starts_with("the server shows an authority's own certificate"));
        assert_eq!(reason_of(CertificateError::UnhandledCriticalExtension), "invalid peer certificate: UnhandledCriticalExtension");
        assert_eq!(reason(&io::Error::other("cut")), "cut");
    }
}
