//! What a sign-in is bound to, so that nobody who ends the TLS in between can pass it on: the hash of the server's certificate.
//! Source: RFC 5929, "tls-server-end-point"; the hash is that of the certificate's own signature, and SHA-256 where that is MD5 or SHA-1.
//!
//! Invariant: pure; a certificate that is not understood binds nothing, and is no error.

use sha2::{Digest, Sha256, Sha384, Sha512};

/// `*WithRSAEncryption` without its last number.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// `ecdsa-with-*` without its last numbers.
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];

/// Of a certificate in DER.
pub fn of(certificate: &[u8]) -> Option<Vec<u8>> {
    let (whole, _) = element(certificate, 0x30)?;
    let (_signed, rest) = element(whole, 0x30)?;
    let (algorithm, _) = element(rest, 0x30)?;
    let (oid, _) = element(algorithm, 0x06)?;
    let kind = oid.strip_prefix(RSA).or_else(|| oid.strip_prefix(ECDSA))?;
    match kind {
        // MD5, SHA-1 and SHA-256 with RSA; SHA-1 and SHA-256 with ECDSA.
        [4 | 5 | 11 | 1] | [3, 2] => Some(Sha256::digest(certificate).to_vec()),
        [12] | [3, 3] => Some(Sha384::digest(certificate).to_vec()),
        [13] | [3, 4] => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// The content of the first element, if it is of this kind, and what follows it.
pub(super) fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let [first, length, rest @ ..] = der else { return None };
    if *first != tag {
        return None;
    }
    let (length, rest) = match usize::from(*length) {
        short @ 0..=0x7f => (short, rest),
        long => {
            let (bytes, rest) = rest.split_at_checked(long & 0x7f).filter(|(bytes, _)| (1..=4).contains(&bytes.len()))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(oid: &[u8]) -> Vec<u8> {
        let sequence = |content: &[u8]| [&[0x30, u8::try_from(content.len()).unwrap()], content].concat();
        let oid = [&[0x06, u8::try_from(oid.len()).unwrap()], oid].concat();
        sequence(&[sequence(b"signed"), sequence(&oid)].concat())
    }

    #[test]
    fn the_hash_is_that_of_the_signature_and_never_weaker_than_sha_256() {
        for (family, kind, length) in [
            (RSA, &[5_u8][..], Some(32)),
            (RSA, &[11], Some(32)),
            (RSA, &[12], Some(48)),
            (RSA, &[13], Some(64)),
            (RSA, &[10], None),
            (ECDSA, &[3, 2], Some(32)),
            (ECDSA, &[3, 3], Some(48)),
            (ECDSA, &[3, 4], Some(64)),
        ] {
            let der = certificate(&[family, kind].concat());
            assert_eq!(of(&der).map(|hash| hash.len()), length, "{kind:?}");
        }
        assert_eq!(of(&certificate(&[0x2b, 0x65, 0x70])), None);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let whole = certificate(&[RSA, &[11]].concat());
        for end in 0..whole.len() {
            assert_eq!(of(&whole[..end]), None);
        }
        assert_eq!(of(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(of(&[0x30, 0x80]), None);
    }
}
