//! Which addresses Sheaf connects to, whoever asks.
//!
//! Invariant: pure. An address is judged by where it leads, not by how it is written: every form that carries an IPv4 address inside
//! an IPv6 one is unwrapped first. What a name resolves to is judged address by address; one that is refused refuses the name.

mod rules;

pub use rules::{Policy, Protocol, Refusal, Rule};

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// For whom the server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One person on his own machine, who may reach what his machine reaches.
    #[default]
    Local,
    /// Several people: nothing of the server's own machine and its private networks.
    Team,
}

/// The address that is reached in the end.
pub fn unwrapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => carried(v6).map_or(address, IpAddr::V4),
    }
}

/// Whether nothing may be connected to there, but by a rule that allows it.
fn refuses(address: IpAddr, mode: Mode) -> bool {
    let is_private = match unwrapped(address) {
        IpAddr::V4(v4) => is_private_v4(v4),
        IpAddr::V6(v6) => is_private_v6(v6),
    };
    is_never_reached(address) || (mode == Mode::Team && is_private)
}

/// Whether nothing is connected to there in any mode, whatever is allowed.
fn is_never_reached(address: IpAddr) -> bool {
    match unwrapped(address) {
        IpAddr::V4(v4) => refuses_v4(v4),
        IpAddr::V6(v6) => refuses_v6(v6),
    }
}

/// The IPv4 address inside: mapped, compatible, NAT64 (RFC 6052 and, as its /96s, RFC 8215), 6to4, Teredo, ISATAP.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let last = || {
        let [.., a, b, c, d] = address.octets();
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        // `::` and `::1` are addresses of their own.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] => Some(last()),
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] | [0x64, 0xff9b, 1, ..] => Some(last()),
        [0x2002, high, low, ..] => Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))),
        // Teredo hides the client's address by turning its bits over.
        [0x2001, 0, .., high, low] => Some(Ipv4Addr::from_bits(!(u32::from(high) << 16 | u32::from(low)))),
        [_, _, _, _, 0 | 0x200, 0x5efe, _, _] => Some(last()),
        _ => None,
    }
}

/// Of no host, of many hosts, or a cloud's metadata service.
fn refuses_v4(address: Ipv4Addr) -> bool {
    let metadata = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];
    let [first, ..] = address.octets();
    // 0.0.0.0/8 is this very host; from 240.0.0.0 on nothing is anybody's.
    first == 0 || first >= 240 || address.is_multicast() || address.is_link_local() || metadata.contains(&address)
}

fn refuses_v6(address: Ipv6Addr) -> bool {
    let metadata = matches!(
        address.segments(),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] | [0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe]
    );
    address.is_unspecified() || address.is_multicast() || address.is_unicast_link_local() || metadata
}

/// Loopback, private, shared with a provider (CGNAT), or for benchmarks.
fn is_private_v4(address: Ipv4Addr) -> bool {
    let shared = matches!(address.octets(), [100, 64..=127, ..] | [198, 18 | 19, ..] | [192, 0, 0, _]);
    address.is_loopback() || address.is_private() || shared
}

/// Loopback, unique-local, or the site-local of old.
fn is_private_v6(address: Ipv6Addr) -> bool {
    let [first, ..] = address.segments();
    address.is_loopback() || address.is_unique_local() || first & 0xffc0 == 0xfec0
}

/// An address written out, in any form that a resolver takes without asking anybody: also `0x7f.1`, `017700000001` and `2130706433`.
pub fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    let without_zone = bare.split_once('%').map_or(bare, |(address, _)| address);
    without_zone.parse::<Ipv6Addr>().map(IpAddr::V6).ok().or_else(|| number(bare).map(IpAddr::V4))
}

/// One to four numbers, decimal, octal or hexadecimal; the last fills what is left.
fn number(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = text.split('.').map(part).collect::<Option<_>>()?;
    let (last, firsts) = parts.split_last()?;
    let left = 4_u32.checked_sub(u32::try_from(firsts.len()).ok()?).filter(|left| *left > 0)?;
    let fits = u64::from(*last) < 1 << (8 * left) && firsts.iter().all(|part| *part < 256);
    let bits = firsts.iter().fold(0_u32, |bits, part| bits << 8 | part).checked_shl(8 * left).unwrap_or(0);
    fits.then(|| Ipv4Addr::from_bits(bits | last))
}

fn part(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("0x") {
        Some("") => Some(0),
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if lower.len() > 1 && lower.starts_with('0') => u32::from_str_radix(&lower, 8).ok(),
        None => lower.parse().ok(),
    }
    .filter(|_| !lower.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_that_address() {
        for (host, address) in [
            ("127.0.0.1", "127.0.0.1"),
            ("127.1", "127.0.0.1"),
            ("127.0.1", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("0X7F000001", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("017700000001", "127.0.0.1"),
            ("0251.0376.0251.0376", "169.254.169.254"),
            ("2852039166", "169.254.169.254"),
            ("169.254.43518", "169.254.169.254"),
            ("169.254.169.254.", "169.254.169.254"),
            ("0", "0.0.0.0"),
            ("[::1]", "::1"),
            ("[fe80::1%eth0]", "fe80::1"),
            ("fe80::1%1", "fe80::1"),
        ] {
            assert_eq!(literal(host), Some(address.parse().unwrap()), "{host}");
        }
        for name in ["localhost", "db.example", "1.2.3.4.5", "256.1.1.1", "127.0x", "1e3", "4294967296", "", ".", "+1", "09", "1.2.3.256"] {
            let told = literal(name);
            assert!(told.is_none() || name == "127.0x", "{name}: {told:?}");
        }
    }

    #[test]
    fn an_address_is_judged_by_where_it_leads() {
        for (form, inside) in [
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("::10.0.0.1", "10.0.0.1"),
            ("::ffff:0:10.0.0.1", "10.0.0.1"),
            ("64:ff9b::10.0.0.1", "10.0.0.1"),
            ("64:ff9b:1::10.0.0.1", "10.0.0.1"),
            ("2002:a00:1::", "10.0.0.1"),
            ("2001:0:1:2:3:4:f5ff:fffe", "10.0.0.1"),
            ("2001:db8::200:5efe:10.0.0.1", "10.0.0.1"),
            ("::1", "::1"),
            ("::", "::"),
            ("2001:db8::1", "2001:db8::1"),
        ] {
            assert_eq!(unwrapped(form.parse().unwrap()), inside.parse::<IpAddr>().unwrap(), "{form}");
        }
    }

    #[test]
    fn a_team_s_server_keeps_to_the_public_network_and_a_person_s_own_does_not() {
        for text in ["127.0.0.1", "127.255.0.9", "::1", "10.1.2.3", "172.16.0.1", "192.168.0.9", "100.64.0.1", "fd00::1", "fec0::1"] {
            assert!(!refuses(text.parse().unwrap(), Mode::Local), "{text}");
            assert!(refuses(text.parse().unwrap(), Mode::Team), "{text}");
        }
        for text in ["192.0.2.1", "8.8.8.8", "2001:db8::1", "2002:808:808::1"] {
            assert!(!refuses(text.parse().unwrap(), Mode::Team), "{text}");
        }
    }
}
