//! Who we are: mysql_native_password, caching_sha2_password, client_ed25519, and the password in clear where nobody can listen.
//!
//! Invariant: the password leaves readable only over TLS or a Unix socket, and encrypted by a key that the server itself named only
//! within this machine; it stands in no message of an error.

use crate::engine::EngineError;
use crate::engine::mysql::wire::Reader;
use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::client_ed25519::ClientEd25519;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use mysql_common::auth::plugins::{ChallengeResponsePlugin, Context};
use shared::problem::ErrorCode;
use shared::wire::secrets::Secret;

const NATIVE: &[u8] = b"mysql_native_password";
const SHA2: &[u8] = b"caching_sha2_password";
const ED25519: &[u8] = b"client_ed25519";
const CLEAR: &[u8] = b"mysql_clear_password";

/// Who else may read what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// TLS.
    Encrypted,
    /// A Unix socket.
    Local,
    /// TCP within this machine.
    Loopback,
    /// Everybody on the way.
    None,
}

/// The conversation so far.
pub struct SignIn<'a> {
    password: &'a [u8],
    privacy: Privacy,
    plugin: Vec<u8>,
    nonce: Vec<u8>,
    key_asked: bool,
}

/// What a message is answered with, if with anything.
type Answer = Result<Option<Vec<u8>>, EngineError>;

impl<'a> SignIn<'a> {
    /// Before the server's first word. No password is an empty one.
    pub fn new(password: Option<&'a Secret>, privacy: Privacy) -> Self {
        let password = password.map(|password| password.reveal().as_bytes()).unwrap_or_default();
        Self { password, privacy, plugin: Vec::new(), nonce: Vec::new(), key_asked: false }
    }

    /// The way of proving that is used now.
    pub fn plugin(&self) -> &[u8] {
        &self.plugin
    }

    /// The first proof, for the plugin that the server likes best; one it can ask us to change.
    pub fn start(&mut self, plugin: &[u8], nonce: &[u8]) -> Result<Vec<u8>, EngineError> {
        self.plugin = if plugin == SHA2 { SHA2.to_vec() } else { NATIVE.to_vec() };
        self.nonce = nonce.to_vec();
        Ok(self.prove()?.unwrap_or_default())
    }

    /// The server wants another plugin.
    pub fn switch(&mut self, message: &[u8]) -> Answer {
        let mut reader = Reader::new(message);
        let _ = reader.u8();
        self.plugin = reader.c_bytes().to_vec();
        let nonce = reader.rest();
        self.nonce = nonce.strip_suffix(&[0]).unwrap_or(nonce).to_vec();
        self.key_asked = false;
        self.prove()
    }

    fn prove(&self) -> Answer {
        Ok(Some(match self.plugin.as_slice() {
            NATIVE => scramble_native(self.nonce(20)?, self.password).map(Vec::from).unwrap_or_default(),
            SHA2 => {
                let nonce = self.nonce(20)?.first_chunk().ok_or_else(short)?;
                scramble_sha256(nonce, self.password).map(Vec::from).unwrap_or_default()
            }
            ED25519 => {
                let signed = ClientEd25519::default().run(Known(self), self.nonce(32)?).map_err(|error| fault(&error.to_string()))?;
                signed.data().unwrap_or_default().to_vec()
            }
            CLEAR if matches!(self.privacy, Privacy::Encrypted | Privacy::Local) => self.in_clear(),
            CLEAR => return Err(fault("the server asks for the password in clear, which needs TLS: turn it on in the connection")),
            other => {
                let name = String::from_utf8_lossy(other).into_owned();
                return Err(fault(&format!("the server asks for `{name}`, a way of signing in that Sheaf does not have")));
            }
        }))
    }

    /// caching_sha2_password goes on where the server does not know the hash yet.
    pub fn go_on(&mut self, message: &[u8]) -> Answer {
        if self.plugin != SHA2 {
            return Err(fault("the server does not keep to the order of signing in"));
        }
        match (message.get(1), self.privacy) {
            (Some(3), _) if message.len() == 2 => Ok(None),
            (Some(4), Privacy::Encrypted | Privacy::Local) if message.len() == 2 => Ok(Some(self.in_clear())),
            (Some(4), Privacy::Loopback) if message.len() == 2 && !self.key_asked => {
                self.key_asked = true;
                Ok(Some(vec![2]))
            }
            (Some(4), _) if message.len() == 2 => {
                Err(fault("the server needs the password itself this time, which needs TLS: turn it on in the connection"))
            }
            _ if self.key_asked => {
                self.key_asked = false;
                let nonce = self.nonce(20)?;
                let masked: Vec<u8> = self.in_clear().iter().zip(nonce.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
                let key = message.get(1..).unwrap_or_default();
                mysql_common::crypto::encrypt(&masked, key).map(Some).map_err(|error| fault(&error.to_string()))
            }
            _ => Err(fault("the server does not keep to the order of signing in")),
        }
    }

    fn in_clear(&self) -> Vec<u8> {
        [self.password, &[0]].concat()
    }

    fn nonce(&self, bytes: usize) -> Result<&[u8], EngineError> {
        self.nonce.get(..bytes).ok_or_else(short)
    }
}

struct Known<'a>(&'a SignIn<'a>);

impl Context for Known<'_> {
    fn pass(&self) -> &[u8] {
        self.0.password
    }

    fn is_ipc_transport(&self) -> bool {
        self.0.privacy == Privacy::Local
    }

    fn is_tls_transport(&self) -> bool {
        self.0.privacy == Privacy::Encrypted
    }

    fn scramble(&self) -> &[u8] {
        &self.0.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

fn short() -> EngineError {
    fault("the server's challenge is too short")
}

fn fault(message: &str) -> EngineError {
    EngineError::not_sent(ErrorCode::AuthenticationFailed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8] = b"12345678901234567890";

    #[test]
    fn the_password_leaves_readable_only_where_nobody_listens() {
        let password = Secret::new("secret");
        for (privacy, leaves) in [(Privacy::Encrypted, true), (Privacy::Local, true), (Privacy::Loopback, false), (Privacy::None, false)] {
            let mut sign_in = SignIn::new(Some(&password), privacy);
            assert_eq!(sign_in.start(SHA2, NONCE).unwrap().len(), 32);
            assert_eq!(sign_in.go_on(&[1, 3]).unwrap(), None);
            let whole = sign_in.go_on(&[1, 4]);
            assert_eq!(whole.as_ref().is_ok_and(|answer| answer.as_deref() == Some(b"secret\0")), leaves, "{privacy:?}");
            let clear = sign_in.switch(b"\xfemysql_clear_password\0");
            assert_eq!(clear.is_ok(), leaves, "{privacy:?}");
        }
        let mut sign_in = SignIn::new(Some(&password), Privacy::None);
        sign_in.start(SHA2, NONCE).unwrap();
        assert!(sign_in.go_on(&[1, 4]).unwrap_err().problem.message.contains("TLS"));
    }

    #[test]
    fn what_the_server_asks_for_out_of_order_is_refused() {
        let password = Secret::new("secret");
        let mut sign_in = SignIn::new(Some(&password), Privacy::Loopback);
        assert!(sign_in.start(NATIVE, b"short").is_err());
        assert_eq!(sign_in.start(b"unknown", NONCE).unwrap().len(), 20);
        assert!(sign_in.go_on(&[1, 4]).is_err());
        assert!(sign_in.switch(b"\xfedialog\0").unwrap_err().problem.message.contains("`dialog`"));
        assert!(sign_in.switch(b"\xfeclient_ed25519\0short").is_err());
        let nonce = [b"\xfeclient_ed25519\0".as_slice(), &[7; 32], &[0]].concat();
        assert_eq!(sign_in.switch(&nonce).unwrap().unwrap().len(), 64);
        assert_eq!(SignIn::new(None, Privacy::None).start(NATIVE, NONCE).unwrap(), b"", "no password, no proof");
    }
}
