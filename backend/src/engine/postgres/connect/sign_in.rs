//! Who we are: trust, password in clear, md5, SCRAM-SHA-256, which over TLS is bound to the server's certificate.
//!
//! Invariant: the password leaves in no other form than the server asked for, and stands in no message of an error. With SCRAM the
//! server must prove that it knows the password before it counts as signed in.

use crate::engine::EngineError;
use crate::engine::postgres::wire::{Reader, WireError};
use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::frontend;
use shared::problem::ErrorCode;
use shared::wire::secrets::Secret;

/// The conversation so far.
pub struct SignIn<'a> {
    user: &'a str,
    password: Option<&'a Secret>,
    /// The hash of the server's certificate, over TLS.
    bound_to: Option<Vec<u8>>,
    stage: Stage,
}

enum Stage {
    Start,
    Password,
    ScramFirst(Box<ScramSha256>),
    ScramFinal(Box<ScramSha256>),
    ScramProved,
    Done,
}

impl<'a> SignIn<'a> {
    /// Before the server's first word.
    pub fn new(user: &'a str, password: Option<&'a Secret>, bound_to: Option<Vec<u8>>) -> Self {
        Self { user, password, bound_to, stage: Stage::Start }
    }

    /// The server said yes.
    pub fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// What to send back to one authentication message, if anything.
    pub fn answer(&mut self, body: &[u8]) -> Result<Option<BytesMut>, EngineError> {
        let mut reader = Reader::new(body);
        let kind = reader.u32().map_err(|error| fault(&error.to_string()))?;
        let stage = std::mem::replace(&mut self.stage, Stage::Start);
        let mut out = BytesMut::new();
        self.stage = match (kind, stage) {
            (0, Stage::Start | Stage::Password | Stage::ScramProved) => {
                self.stage = Stage::Done;
                return Ok(None);
            }
            (3, Stage::Start) => self.in_clear(&mut out)?,
            (5, Stage::Start) => self.md5(reader.array().map_err(|error| fault(&error.to_string()))?, &mut out)?,
            (10, Stage::Start) => self.scram_start(reader, &mut out)?,
            (11, Stage::ScramFirst(mut scram)) => {
                scram.update(reader.rest()).map_err(|error| fault(&error.to_string()))?;
                frontend::sasl_response(scram.message(), &mut out).map_err(|error| fault(&error.to_string()))?;
                Stage::ScramFinal(scram)
            }
            (12, Stage::ScramFinal(mut scram)) => {
                scram.finish(reader.rest()).map_err(|_| fault("the server did not prove that it knows the password"))?;
                self.stage = Stage::ScramProved;
                return Ok(None);
            }
            (2 | 6 | 7 | 8 | 9, _) => return Err(fault("the server asks for Kerberos, GSSAPI or SSPI, which Sheaf does not have")),
            _ => return Err(fault("the server does not keep to the order of signing in")),
        };
        Ok(Some(out))
    }

    fn known_password(&self) -> Result<&'a [u8], EngineError> {
        match self.password {
            Some(password) => Ok(password.reveal().as_bytes()),
            None => Err(EngineError::not_sent(ErrorCode::PasswordNeeded, format!("The server asks for the password of {}", self.user))),
        }
    }

    fn in_clear(&self, out: &mut BytesMut) -> Result<Stage, EngineError> {
        frontend::password_message(self.known_password()?, out).map_err(|_| fault("a zero byte can't be in a password"))?;
        Ok(Stage::Password)
    }

    fn md5(&self, salt: [u8; 4], out: &mut BytesMut) -> Result<Stage, EngineError> {
        let hash = md5_hash(self.user.as_bytes(), self.known_password()?, salt);
        frontend::password_message(hash.as_bytes(), out).map_err(|error| fault(&error.to_string()))?;
        Ok(Stage::Password)
    }

    fn scram_start(&mut self, mut mechanisms: Reader<'_>, out: &mut BytesMut) -> Result<Stage, EngineError> {
        let password = self.known_password()?;
        let (mut offered, mut offered_bound) = (false, false);
        loop {
            let name = mechanisms.c_bytes().map_err(|error: WireError| fault(&error.to_string()))?;
            match name {
                b"" => break,
                name => {
                    offered |= name == SCRAM_SHA_256.as_bytes();
                    offered_bound |= name == SCRAM_SHA_256_PLUS.as_bytes();
                }
            }
        }
        let (mechanism, binding) = match self.bound_to.take() {
            Some(hash) if offered_bound => (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)),
            // Told to the server, which knows whether somebody in between took its better offer away.
            Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        };
        if !offered && mechanism == SCRAM_SHA_256 {
            return Err(fault("the server offers no way of signing in that Sheaf has (SCRAM-SHA-256 is asked for)"));
        }
        let scram = ScramSha256::new(password, binding);
        frontend::sasl_initial_response(mechanism, scram.message(), out).map_err(|error| fault(&error.to_string()))?;
        Ok(Stage::ScramFirst(Box::new(scram)))
    }
}

fn fault(message: &str) -> EngineError {
    EngineError::not_sent(ErrorCode::AuthenticationFailed, message)
}
