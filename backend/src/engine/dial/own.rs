//! The listeners of this very process: Sheaf never connects to itself as to a database.

use super::policy::unwrapped;
use std::net::SocketAddr;
use std::sync::{PoisonError, RwLock};

static PORTS: RwLock<Vec<u16>> = RwLock::new(Vec::new());

/// This process listens on this port of the loopback addresses.
pub fn note(port: u16) {
    PORTS.write().unwrap_or_else(PoisonError::into_inner).push(port);
}

/// Whether this process answers at that address.
pub fn is_own(address: &SocketAddr) -> bool {
    let port = address.port();
    unwrapped(address.ip()).is_loopback() && PORTS.read().unwrap_or_else(PoisonError::into_inner).contains(&port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_port_is_own_on_every_loopback_address_and_nowhere_else() {
        note(9);
        for (address, expected) in [
            ("127.0.0.1:9", true),
            ("127.9.9.9:9", true),
            ("[::1]:9", true),
            ("[::ffff:127.0.0.1]:9", true),
            ("[64:ff9b::127.0.0.1]:9", true),
            ("127.0.0.1:10", false),
            ("192.0.2.1:9", false),
        ] {
            assert_eq!(is_own(&address.parse().unwrap()), expected, "{address}");
        }
    }
}
