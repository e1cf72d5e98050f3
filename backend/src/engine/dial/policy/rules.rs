//! What a policy is made of: for whom the server is, at which ports what is reached, and what is allowed besides.
//!
//! Invariant: pure, and judged per address: what a name leads to counts, not the name. A rule that allows lifts what team mode refuses
//! (private networks, odd ports); it never lifts what is refused in every mode.

use super::{Mode, is_never_reached, literal, refuses, unwrapped};
use std::net::IpAddr;

/// What is spoken with whoever is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// PostgreSQL's protocol.
    Postgres,
    /// That of MySQL and MariaDB.
    Mysql,
    /// SSH: a server on the way.
    Ssh,
}

/// The ports at which a protocol is spoken where several people share the server, each with its reason. One that is not here would let a
/// person knock at whatever else listens in the network; it needs a rule.
const PORTS: &[(Protocol, u16, &str)] = &[
    (Protocol::Postgres, 5432, "PostgreSQL's own"),
    (Protocol::Postgres, 5433, "the second cluster of a machine, as Debian counts them"),
    (Protocol::Postgres, 6432, "PgBouncer's own"),
    (Protocol::Postgres, 6543, "the pooler of hosted databases"),
    (Protocol::Mysql, 3306, "MySQL's and MariaDB's own"),
    (Protocol::Mysql, 3307, "the second server of a machine, and proxies of clouds"),
    (Protocol::Mysql, 4000, "TiDB's own"),
    (Protocol::Mysql, 6033, "ProxySQL's own"),
    (Protocol::Mysql, 6446, "MySQL Router, to write"),
    (Protocol::Mysql, 6447, "MySQL Router, to read"),
    // Not 33060: that is MySQL's X protocol, which Sheaf does not speak.
    (Protocol::Ssh, 22, "SSH's own"),
    (Protocol::Ssh, 2222, "the usual other one, of bastions and containers"),
];

impl Protocol {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Ssh => "SSH",
        }
    }

    /// It is usually reached at that port.
    fn is_at(self, port: u16) -> bool {
        PORTS.iter().any(|(protocol, usual, _)| *protocol == self && *usual == port)
    }
}

/// Why a place is not connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing of Sheaf's is there for anybody, or not for somebody who shares the server.
    Address(IpAddr),
    /// The protocol is not spoken at that port.
    Port(u16, Protocol),
}

/// A place that is allowed although team mode would refuse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    place: Place,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// By its name as it is asked for, in lower case and without a dot at the end.
    Host(String),
    /// By the bits in front of an address.
    Net(IpAddr, u8),
}

impl Rule {
    /// `db.internal:5432`, `10.1.2.3:5432`, `10.0.0.0/8:5432`, `[fd00::/8]:5432`. The error is one sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let unreadable = || format!("{text} is not HOST:PORT or NETWORK/BITS:PORT.");
        let (place, port) = text.trim().rsplit_once(':').ok_or_else(unreadable)?;
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(unreadable)?;
        let bare = place.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(place);
        let place = match (bare.split_once('/'), literal(bare)) {
            (Some((address, bits)), _) => {
                let (address, bits) = (address.parse::<IpAddr>().ok(), bits.parse().ok());
                let (Some(address), Some(bits)) = (address, bits) else { return Err(unreadable()) };
                if bits > width(address) {
                    return Err(unreadable());
                }
                Place::Net(address, bits)
            }
            (None, Some(address)) => Place::Net(unwrapped(address), width(unwrapped(address))),
            (None, None) if is_name(bare) => Place::Host(normal(bare)),
            _ => return Err(unreadable()),
        };
        Ok(Self { place, port })
    }

    /// Whether it names that place; of a server behind a tunnel the address may not be known here.
    fn names(&self, host: &str, address: Option<IpAddr>, port: u16) -> bool {
        self.port == port
            && match &self.place {
                Place::Host(name) => *name == normal(host),
                Place::Net(net, bits) => address.is_some_and(|address| begins_alike(unwrapped(address), *net, *bits)),
            }
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

fn normal(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn begins_alike(address: IpAddr, net: IpAddr, bits: u8) -> bool {
    let bits = u32::from(bits);
    match (address, net) {
        (IpAddr::V4(address), IpAddr::V4(net)) => bits == 0 || (address.to_bits() ^ net.to_bits()) >> (32 - bits) == 0,
        (IpAddr::V6(address), IpAddr::V6(net)) => bits == 0 || (address.to_bits() ^ net.to_bits()) >> (128 - bits) == 0,
        _ => false,
    }
}

/// Where a server connects to, and where not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    mode: Mode,
    allowed: Vec<Rule>,
}

impl Policy {
    /// Of a server for these people, with what is allowed besides.
    pub fn new(mode: Mode, allowed: Vec<Rule>) -> Self {
        Self { mode, allowed }
    }

    /// Whether sockets of this machine are reached: whoever connects to one is who Sheaf runs as.
    pub fn allows_sockets(&self) -> bool {
        self.mode == Mode::Local
    }

    /// Judges an address that `host` leads to.
    pub fn judge(&self, host: &str, address: IpAddr, port: u16, protocol: Protocol) -> Result<(), Refusal> {
        let is_allowed = self.allowed.iter().any(|rule| rule.names(host, Some(address), port));
        if is_never_reached(address) || (refuses(address, self.mode) && !is_allowed) {
            return Err(Refusal::Address(address));
        }
        self.judge_port(is_allowed, port, protocol)
    }

    /// Judges a place that another server looks up and connects to. Private networks are what tunnels are for; what is refused in every
    /// mode is refused there as well, as far as it is written out.
    pub fn judge_far(&self, host: &str, port: u16, protocol: Protocol) -> Result<(), Refusal> {
        let address = literal(host);
        if let Some(address) = address.filter(|address| is_never_reached(*address)) {
            return Err(Refusal::Address(address));
        }
        self.judge_port(self.allowed.iter().any(|rule| rule.names(host, address, port)), port, protocol)
    }

    fn judge_port(&self, is_allowed: bool, port: u16, protocol: Protocol) -> Result<(), Refusal> {
        match self.mode == Mode::Local || is_allowed || protocol.is_at(port) {
            true => Ok(()),
            false => Err(Refusal::Port(port, protocol)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(rules: &[&str]) -> Policy {
        Policy::new(Mode::Team, rules.iter().map(|rule| Rule::read(rule).unwrap()).collect())
    }

    fn judged(policy: &Policy, host: &str, address: &str, port: u16) -> Result<(), Refusal> {
        policy.judge(host, address.parse().unwrap(), port, Protocol::Postgres)
    }

    #[test]
    fn each_usual_port_is_of_one_service_and_has_its_reason() {
        for (at, (protocol, port, reason)) in PORTS.iter().enumerate() {
            assert!(!reason.is_empty() && PORTS[at + 1..].iter().all(|(_, other, _)| other != port), "{port}");
            assert!(
                [Protocol::Postgres, Protocol::Mysql, Protocol::Ssh].iter().all(|other| other.is_at(*port) == (other == protocol)),
                "{port}"
            );
        }
    }

    #[test]
    fn a_team_s_server_reaches_a_service_at_its_usual_ports_only_and_a_person_s_own_at_all() {
        let public = "192.0.2.1";
        for port in [1, 21, 80, 443, 3306, 5431, 5434, 6379, 8080, 9200, 11211, 22, 65535] {
            assert_eq!(judged(&team(&[]), "db", public, port), Err(Refusal::Port(port, Protocol::Postgres)));
            assert_eq!(judged(&Policy::default(), "db", public, port), Ok(()));
            assert!(
                team(&[]).judge_far("db", port, Protocol::Postgres).is_err()
                    && Policy::default().judge_far("db", port, Protocol::Ssh).is_ok()
            );
        }
        for (protocol, ports) in
            [(Protocol::Postgres, &[5432, 5433, 6432, 6543][..]), (Protocol::Mysql, &[3306, 3307, 4000]), (Protocol::Ssh, &[22, 2222])]
        {
            for port in ports {
                assert_eq!(team(&[]).judge("db", public.parse().unwrap(), *port, protocol), Ok(()));
                assert_eq!(team(&[]).judge_far("10.0.0.1", *port, protocol), Ok(()));
            }
        }
        assert!(team(&[]).judge("db", public.parse().unwrap(), 33060, Protocol::Mysql).is_err(), "another protocol");
    }

    #[test]
    fn a_rule_allows_its_place_at_its_port_and_nothing_else() {
        let policy = team(&["db.internal:5432", "10.0.0.0/8:5432", "[fd00::/8]:5440", "192.0.2.7:8080", "172.16.0.1/32:5432"]);
        for (host, address, port) in [
            ("db.internal", "192.168.0.1", 5432),
            ("DB.Internal.", "127.0.0.1", 5432),
            ("x", "10.255.0.1", 5432),
            ("x", "::ffff:10.0.0.1", 5432),
            ("x", "fd12::1", 5440),
            ("x", "192.0.2.7", 8080),
            ("x", "172.16.0.1", 5432),
        ] {
            assert_eq!(judged(&policy, host, address, port), Ok(()), "{host} {address} {port}");
        }
        for (host, address, port) in [
            ("db.internal", "192.168.0.1", 5433),
            ("db.internal.evil.example", "192.168.0.1", 5432),
            ("x", "11.0.0.1", 5440),
            ("x", "10.0.0.1", 5433),
            ("x", "192.168.0.1", 5432),
            ("x", "fc00::1", 5440),
            ("x", "172.16.0.2", 5432),
            ("x", "192.0.2.8", 8080),
        ] {
            assert!(judged(&policy, host, address, port).is_err(), "{host} {address} {port}");
        }
    }

    #[test]
    fn no_rule_allows_what_is_refused_in_every_mode() {
        let policy = team(&["0.0.0.0/0:5432", "[::/0]:5432", "metadata:5432", "169.254.169.254:5432"]);
        for address in ["169.254.169.254", "0.0.0.0", "224.0.0.1", "fd00:ec2::254", "fe80::1", "::", "::ffff:169.254.169.254"] {
            assert_eq!(judged(&policy, "metadata", address, 5432), Err(Refusal::Address(address.parse().unwrap())), "{address}");
            assert!(policy.judge_far(address, 5432, Protocol::Postgres).is_err(), "{address}");
        }
        assert_eq!(judged(&policy, "x", "127.0.0.1", 5432), Ok(()), "but this machine it does");
    }

    #[test]
    fn what_is_no_rule_is_one_sentence() {
        for text in
            ["", "db", "db:", "db:0", "db:99999", ":5432", "10.0.0.0/33:1", "[fd00::/129]:1", "a b:1", "10.0.0.0/x:1", "db/8:1", "fd00::"]
        {
            assert_eq!(Rule::read(text), Err(format!("{text} is not HOST:PORT or NETWORK/BITS:PORT.")), "{text}");
        }
    }
}
