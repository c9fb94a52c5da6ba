//! Which addresses may be called: public ones, and what the configuration allows. Pure.
//!
//! The tables are IANA's special-purpose registries, read strictly: an IPv6 address is
//! public only within 2000::/3, and an address that stands for another (mapped, translated,
//! tunnelled) is never public, since what it leads to is decided elsewhere.

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hookledger_shared::config::HttpSink;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// What is special about an address that is not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// `0.0.0.0/8` and `::`: this host, on many systems.
    Unspecified,
    /// This machine.
    Loopback,
    /// RFC 1918, and unique local in IPv6.
    Private,
    /// Carriers' own, RFC 6598; clouds use it within.
    CarrierGrade,
    /// This link; clouds' metadata services live there.
    LinkLocal,
    /// Protocols' own assignments.
    Protocol,
    /// For documentation.
    Documentation,
    /// For measuring networks.
    Benchmark,
    /// Many hosts at once.
    Multicast,
    /// Not in use, and the broadcast address.
    Reserved,
    /// Stands for an IPv4 address behind a translator or tunnel.
    Translated,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::CarrierGrade => "an address within a carrier's network",
            Self::LinkLocal => "a link-local address",
            Self::Protocol => "an address of a protocol's own",
            Self::Documentation => "an address for documentation",
            Self::Benchmark => "an address for benchmarks",
            Self::Multicast => "a multicast address",
            Self::Reserved => "a reserved address",
            Self::Translated => "an address that is translated to another",
        })
    }
}

const fn v4(a: u8, b: u8, c: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), length)
}

const fn v6(a: u16, b: u16, c: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length)
}

const SPECIAL_V4: [(Ipv4Net, Special); 16] = [
    (v4(0, 0, 0, 8), Special::Unspecified),
    (v4(10, 0, 0, 8), Special::Private),
    (v4(100, 64, 0, 10), Special::CarrierGrade),
    (v4(127, 0, 0, 8), Special::Loopback),
    (v4(169, 254, 0, 16), Special::LinkLocal),
    (v4(172, 16, 0, 12), Special::Private),
    (v4(192, 0, 0, 24), Special::Protocol),
    (v4(192, 0, 2, 24), Special::Documentation),
    (v4(192, 88, 99, 24), Special::Translated),
    (v4(192, 168, 0, 16), Special::Private),
    (v4(198, 18, 0, 15), Special::Benchmark),
    (v4(198, 51, 100, 24), Special::Documentation),
    (v4(203, 0, 113, 24), Special::Documentation),
    (v4(224, 0, 0, 4), Special::Multicast),
    (v4(240, 0, 0, 4), Special::Reserved),
    // Azure's platform address, which answers from within any of its machines.
    (
        Ipv4Net::new_assert(Ipv4Addr::new(168, 63, 129, 16), 32),
        Special::Protocol,
    ),
];

const LOOPBACK_V6: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128);

/// In this order: the first that contains an address names it.
const SPECIAL_V6: [(Ipv6Net, Special); 14] = [
    (
        Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 128),
        Special::Unspecified,
    ),
    (LOOPBACK_V6, Special::Loopback),
    // IPv4-compatible, and everything else that begins with 96 zero bits.
    (v6(0, 0, 0, 96), Special::Translated),
    (v6(0x64, 0xff9b, 0, 96), Special::Translated),
    (v6(0x64, 0xff9b, 1, 48), Special::Translated),
    // Teredo.
    (v6(0x2001, 0, 0, 32), Special::Translated),
    (v6(0x2001, 0, 0, 23), Special::Protocol),
    (v6(0x2001, 0xdb8, 0, 32), Special::Documentation),
    // 6to4.
    (v6(0x2002, 0, 0, 16), Special::Translated),
    (v6(0x3fff, 0, 0, 20), Special::Documentation),
    (v6(0xfc00, 0, 0, 7), Special::Private),
    (v6(0xfe80, 0, 0, 10), Special::LinkLocal),
    // Site-local, given up but still routed by some.
    (v6(0xfec0, 0, 0, 10), Special::Private),
    (v6(0xff00, 0, 0, 8), Special::Multicast),
];

/// All that is handed out as public in IPv6.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 0, 3);

/// What is special about `address`; none when it is public.
#[must_use]
pub fn special(address: IpAddr) -> Option<Special> {
    // A mapped address *is* its IPv4 address: the system connects there.
    match address.to_canonical() {
        IpAddr::V4(ip) => {
            let found = SPECIAL_V4.iter().find(|(network, _)| network.contains(&ip));
            found.map(|(_, special)| *special)
        }
        IpAddr::V6(ip) => {
            let found = SPECIAL_V6.iter().find(|(network, _)| network.contains(&ip));
            let unknown = || (!GLOBAL_V6.contains(&ip)).then_some(Special::Reserved);
            found.map(|(_, special)| *special).or_else(unknown)
        }
    }
}

/// Why `address` may not be called: it is special and in none of the `allowed` networks.
#[must_use]
pub fn refused(address: IpAddr, allowed: &[IpNet]) -> Option<Special> {
    let special = special(address)?;
    let address = address.to_canonical();
    let listed = allowed.iter().any(|network| network.contains(&address));
    (!listed).then_some(special)
}

/// What a sink may call beside public addresses.
#[derive(Debug, Clone)]
pub(super) struct AllowedAddresses(Vec<IpNet>);

impl AllowedAddresses {
    /// What is allow-listed, and this machine when the URL itself names it.
    pub(super) fn of(http: &HttpSink) -> Self {
        let mut networks = http.allow_private.clone();
        if http.names_this_machine() {
            networks.push(v4(127, 0, 0, 8).into());
            networks.push(LOOPBACK_V6.into());
        }
        Self(networks)
    }

    /// Nothing else.
    #[cfg(test)]
    pub(super) fn public_only() -> Self {
        Self(Vec::new())
    }

    /// These, too.
    #[cfg(test)]
    pub(super) fn and(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().collect())
    }

    pub(super) fn refuses(&self, address: IpAddr) -> Option<Special> {
        refused(address, &self.0)
    }

    /// The same for a host written in numbers, which no resolver ever sees.
    pub(super) fn refuses_host(&self, url: &Url) -> Option<(IpAddr, Special)> {
        let address = match url.host()? {
            Host::Ipv4(ip) => IpAddr::V4(ip),
            Host::Ipv6(ip) => IpAddr::V6(ip),
            Host::Domain(_) => return None,
        };
        Some((address, self.refuses(address)?))
    }
}
