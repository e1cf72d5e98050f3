//! The server's first message, and what this end asks for.
//!
//! Invariant: what is asked for stands in [`WANTED`] and nowhere else; LOCAL INFILE and several statements in one text are not in it.

use crate::engine::mysql::connect::Agreed;
use crate::engine::mysql::wire::{Reader, WireError};

const LONG_PASSWORD: u64 = 1;
const LONG_FLAG: u64 = 1 << 2;
const CONNECT_WITH_DB: u64 = 1 << 3;
const PROTOCOL_41: u64 = 1 << 9;
const SSL: u64 = 1 << 11;
const TRANSACTIONS: u64 = 1 << 13;
const SECURE_CONNECTION: u64 = 1 << 15;
const MULTI_RESULTS: u64 = 1 << 17;
const PLUGIN_AUTH: u64 = 1 << 19;
const CONNECT_ATTRS: u64 = 1 << 20;
const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
const DEPRECATE_EOF: u64 = 1 << 24;
/// MariaDB's own, in the upper half.
const EXTENDED_TYPES: u64 = 1 << 35;

/// All that is ever asked for, as far as the server has it.
const WANTED: u64 = LONG_PASSWORD
    | LONG_FLAG
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | MULTI_RESULTS
    | PLUGIN_AUTH
    | CONNECT_ATTRS
    | PLUGIN_AUTH_LENENC
    | DEPRECATE_EOF
    | EXTENDED_TYPES;
/// Without these there is no talking.
const NEEDED: u64 = PROTOCOL_41 | SECURE_CONNECTION;

/// utf8mb4_general_ci, which every server knows; `SET NAMES` gives the server's own default of utf8mb4 afterwards.
const COLLATION: u8 = 45;
const PACKET_BYTES_MAX: u32 = 1 << 30;

/// What the server says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Its version, e.g. `8.0.36` or `10.11.6-MariaDB`.
    pub version: String,
    /// Its number of this session.
    pub id: u32,
    /// Twenty bytes to prove a password with.
    pub nonce: Vec<u8>,
    /// How it would like that.
    pub plugin: Vec<u8>,
    offered: u64,
}

impl Greeting {
    /// Reads protocol 10.
    pub fn read(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        if reader.u8()? != 10 {
            return Err(WireError::Protocol("this is not a server of MySQL or MariaDB".to_owned()));
        }
        let version = String::from_utf8_lossy(reader.c_bytes()).into_owned();
        let id = reader.u32()?;
        let mut nonce = reader.bytes(8)?.to_vec();
        reader.u8()?;
        let low = reader.u16()?;
        let _collation = reader.u8()?;
        let _status = reader.u16()?;
        let high = reader.u16()?;
        let nonce_bytes = usize::from(reader.u8()?);
        reader.bytes(6)?;
        let own = reader.u32()?;
        let mut offered = u64::from(low) | u64::from(high) << 16;
        // MariaDB clears the first bit to say that its own are meant, and so does who answers it.
        if offered & LONG_PASSWORD == 0 {
            offered |= u64::from(own) << 32;
        }
        if offered & NEEDED != NEEDED {
            return Err(WireError::Protocol("the server is too old".to_owned()));
        }
        let more = reader.bytes(nonce_bytes.saturating_sub(8).max(13))?;
        nonce.extend_from_slice(more.strip_suffix(&[0]).unwrap_or(more));
        let plugin = reader.c_bytes().to_vec();
        // A version that old clients would not understand is hidden behind one that they do.
        let version = version.strip_prefix("5.5.5-").map(str::to_owned).unwrap_or(version);
        Ok(Self { version, id, nonce, plugin, offered })
    }

    /// It can do TLS.
    pub fn offers_tls(&self) -> bool {
        self.offered & SSL != 0
    }

    /// What both ends have.
    pub fn agreed(&self) -> Agreed {
        let both = self.offered & WANTED;
        Agreed { ends_with_ok: both & DEPRECATE_EOF != 0, extended_types: both & EXTENDED_TYPES != 0 }
    }

    /// The short form that asks for TLS.
    pub fn tls_request(&self, with_database: bool) -> Vec<u8> {
        self.head(SSL, with_database)
    }

    fn head(&self, extra: u64, with_database: bool) -> Vec<u8> {
        let database = if with_database { CONNECT_WITH_DB } else { 0 };
        let asked = (self.offered & WANTED) | extra | database;
        let [b0, b1, b2, b3, b4, b5, b6, b7] = asked.to_le_bytes();
        let mut out = vec![b0, b1, b2, b3];
        out.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
        out.push(COLLATION);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&[b4, b5, b6, b7]);
        out
    }

    /// Who we are. `proof` is what the plugin made of the password.
    pub fn response(&self, user: &str, database: Option<&str>, proof: &[u8], plugin: &[u8]) -> Vec<u8> {
        let mut out = self.head(0, database.is_some());
        out.extend_from_slice(user.as_bytes());
        out.push(0);
        // A proof is shorter than 251 bytes: one byte of length in both forms.
        out.push(u8::try_from(proof.len()).unwrap_or_default());
        out.extend_from_slice(proof);
        if let Some(database) = database {
            out.extend_from_slice(database.as_bytes());
            out.push(0);
        }
        if self.offered & PLUGIN_AUTH != 0 {
            out.extend_from_slice(plugin);
            out.push(0);
        }
        if self.offered & CONNECT_ATTRS != 0 {
            let mut attributes = Vec::new();
            for word in ["program_name", "sheaf", "_client_name", "sheaf"] {
                attributes.push(u8::try_from(word.len()).unwrap_or_default());
                attributes.extend_from_slice(word.as_bytes());
            }
            out.push(u8::try_from(attributes.len()).unwrap_or_default());
            out.extend_from_slice(&attributes);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL_FILES: u64 = 1 << 7;
    const MULTI_STATEMENTS: u64 = 1 << 16;

    fn greeting(version: &str, low: u32, own: u32) -> Vec<u8> {
        let mut body = vec![10];
        body.extend(version.as_bytes());
        body.push(0);
        body.extend(77_u32.to_le_bytes());
        body.extend(b"12345678\0");
        let [l0, l1, h0, h1] = low.to_le_bytes();
        body.extend([l0, l1, 45, 2, 0, h0, h1, 21]);
        body.extend([0; 6]);
        body.extend(own.to_le_bytes());
        body.extend(b"901234567890\0caching_sha2_password\0");
        body
    }

    #[test]
    fn a_greeting_of_mysql_8_is_read_and_nothing_dangerous_is_asked_for() {
        let read = Greeting::read(&greeting("8.0.36", 0xffff_ffff, 0)).unwrap();
        assert_eq!((read.version.as_str(), read.id, read.nonce.len()), ("8.0.36", 77, 20));
        assert_eq!(read.plugin, b"caching_sha2_password");
        assert_eq!(read.agreed(), Agreed { ends_with_ok: true, extended_types: false });
        let response = read.response("ann", Some("shop"), &[1; 32], &read.plugin);
        let asked = u64::from(u32::from_le_bytes(response[..4].try_into().unwrap()));
        assert_eq!(asked & (LOCAL_FILES | MULTI_STATEMENTS | SSL), 0);
        assert_ne!(asked & MULTI_RESULTS, 0);
        assert_eq!(read.tls_request(true).len(), 32);
    }

    #[test]
    fn mariadb_tells_more_of_types_and_its_version_without_the_disguise() {
        let read = Greeting::read(&greeting("5.5.5-10.11.6-MariaDB", 0xffff_fffe, 0xff)).unwrap();
        assert_eq!(read.version, "10.11.6-MariaDB");
        assert_eq!(read.agreed(), Agreed { ends_with_ok: true, extended_types: true });
    }

    #[test]
    fn a_greeting_cut_short_is_a_fault_never_a_panic() {
        let whole = greeting("8.0.36", 0xffff_ffff, 0);
        for cut in 0..whole.len() - 23 {
            assert!(Greeting::read(&whole[..cut]).is_err(), "{cut}");
        }
        assert!(Greeting::read(b"SSH-2.0").is_err());
    }
}
