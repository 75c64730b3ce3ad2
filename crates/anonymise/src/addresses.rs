//! Prefix-preserving addresses (Xu, Fan, Ammar, Moon: Prefix-preserving IP address anonymization, 2002): two addresses
//! that share their first n bits share exactly n afterwards.
//!
//! Ranges with a meaning of their own stay in themselves, so that a private address remains one and no other becomes one;
//! the bits at which the way to such a range forks are kept.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Secret;

/// Ranges of IPv4 that keep their prefix (RFC 6890), and whether all of an address in them is kept.
const V4: [(u32, u32, bool); 9] = [
    (0x0000_0000, 8, true),   // this host
    (0x0a00_0000, 8, false),  // private
    (0x6440_0000, 10, false), // shared: carriers' NAT
    (0x7f00_0000, 8, true),   // loopback
    (0xa9fe_0000, 16, false), // link-local
    (0xac10_0000, 12, false), // private
    (0xc0a8_0000, 16, false), // private
    (0xe000_0000, 4, true),   // multicast
    (0xf000_0000, 4, true),   // reserved, broadcast
];

/// The same of IPv6 (RFC 4291 §2.4).
const V6: [(u128, u32, bool); 6] = [
    (0, 127, true),                 // unspecified and loopback
    (0xffff << 32, 96, false),      // IPv4-mapped
    (0x0064_ff9b << 96, 96, false), // NAT64 (RFC 6052)
    (0xfc00 << 112, 7, false),      // unique local
    (0xfe80 << 112, 10, false),     // link-local
    (0xff00 << 112, 8, true),       // multicast
];

/// Multicast that is made of unicast: after GLOP's (RFC 3180) and that of prefixes (RFC 6034) stand networks.
const V4_DERIVED: [u32; 2] = [0xe900_0000, 0xea00_0000];
/// Solicited nodes (RFC 4291 §2.7.1), in which the last 24 bits are a host's, and information of nodes (RFC 4620 §4),
/// in which they are those of a hash of its name.
const V6_DERIVED: [u128; 2] = [0xff02 << 112 | 0x1_ff00_0000, 0xff02 << 112 | 0x2_ff00_0000];

/// What addresses become.
#[derive(Default)]
pub(crate) struct Addresses(HashMap<IpAddr, IpAddr>);

impl Addresses {
    /// The address instead of this one.
    pub fn of(&mut self, secret: &Secret, address: IpAddr) -> IpAddr {
        *self.0.entry(address).or_insert_with(|| match address {
            IpAddr::V4(address) => IpAddr::V4(v4(secret, address)),
            IpAddr::V6(address) => IpAddr::V6(v6(secret, address)),
        })
    }
}

fn v4(secret: &Secret, address: Ipv4Addr) -> Ipv4Addr {
    let upper = |prefix: u32| u128::from(prefix) << 96;
    let bits = upper(address.to_bits());
    let derived = V4_DERIVED.map(|prefix| (upper(prefix), 8, false));
    let bits = match derived.iter().find(|&&(prefix, len, _)| shares(prefix, bits, len)) {
        Some(&range) => mapped(secret, "IPv4", bits, 32, &[range]),
        None => mapped(secret, "IPv4", bits, 32, &V4.map(|(prefix, len, all)| (upper(prefix), len, all))),
    };
    Ipv4Addr::from_bits((bits >> 96) as u32)
}

fn v6(secret: &Secret, address: Ipv6Addr) -> Ipv6Addr {
    // An IPv4 address inside becomes what it becomes elsewhere.
    let bits = address.to_bits();
    if V6[1..3].iter().any(|&(prefix, len, _)| shares(prefix, bits, len)) {
        let inside = v4(secret, Ipv4Addr::from_bits(bits as u32));
        return Ipv6Addr::from_bits(bits >> 32 << 32 | u128::from(inside.to_bits()));
    }
    let known = V6_DERIVED.iter().find(|&&prefix| shares(prefix, bits, 104));
    // Groups that are not assigned for good (RFC 4291 §2.7) hold networks (RFC 3306) or what somebody chose.
    let chosen = address.is_multicast() && bits >> 116 & 0xf != 0;
    let bits = match known {
        Some(&prefix) => mapped(secret, "IPv6", bits, 128, &[(prefix, 104, false)]),
        None if chosen => mapped(secret, "IPv6", bits, 128, &[(bits, 16, false)]),
        None => mapped(secret, "IPv6", bits, 128, &V6),
    };
    Ipv6Addr::from_bits(bits)
}

/// Each bit turned or not, as the bits before it decide. Addresses stand in the upper bits.
fn mapped(secret: &Secret, family: &str, address: u128, bits: u32, ranges: &[(u128, u32, bool)]) -> u128 {
    if ranges.iter().any(|&(prefix, len, all)| all && shares(prefix, address, len)) {
        return address;
    }
    (0..bits).fold(address, |result, at| {
        let forks = ranges.iter().any(|&(prefix, len, _)| at < len && shares(prefix, address, at));
        let before = address & !(u128::MAX >> at);
        let mut input = before.to_be_bytes().to_vec();
        input.push(at as u8);
        let turned = !forks && secret.draw(family, &input)[0] & 1 == 1;
        result ^ if turned { 1 << (127 - at) } else { 0 }
    })
}

/// Whether the first `len` bits are the same.
fn shares(a: u128, b: u128, len: u32) -> bool {
    (a ^ b).leading_zeros() >= len
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(a: u32, b: u32) -> u32 {
        (a ^ b).leading_zeros()
    }

    #[test]
    fn prefixes_are_kept_exactly() {
        let secret = Secret::new(b"a secret of tests");
        let mut numbers =
            vec![0xcb00_7101_u32, 0xcb00_7102, 0xcb00_71ff, 0xcb01_0000, 0x0808_0808, 0x0a01_0203, 0x0a01_0204];
        // Knuth's multiplicative hash: addresses from everywhere.
        numbers.extend((1..60_u32).map(|i| i.wrapping_mul(2_654_435_761)));
        let ranged = |number: u32| v4(&secret, Ipv4Addr::from_bits(number)).to_bits();
        for &a in &numbers {
            for &b in &numbers {
                let kept = |number: u32| V4.iter().any(|&(prefix, len, all)| all && common(prefix, number) >= len);
                if !kept(a) && !kept(b) {
                    assert_eq!(common(a, b), common(ranged(a), ranged(b)), "{a:08x} {b:08x}");
                }
            }
        }
    }

    #[test]
    fn ranges_stay_in_themselves() {
        let secret = Secret::new(b"a secret of tests");
        for number in (1..300_u32).map(|i| i.wrapping_mul(2_654_435_761)).chain([0x0a00_0001, 0xc0a8_0001, 0x6440_0001])
        {
            let result = v4(&secret, Ipv4Addr::from_bits(number)).to_bits();
            let derived = V4_DERIVED.iter().any(|&prefix| common(prefix, number) >= 8);
            for (prefix, len, all) in V4 {
                let (before, after) = (common(prefix, number) >= len, common(prefix, result) >= len);
                assert_eq!(before, after, "{number:08x} {result:08x}");
                assert!(!(before && all) || derived || number == result);
            }
        }
        let v6 = |text: &str| v6(&secret, text.parse().unwrap());
        assert_eq!(v6("::1").to_string(), "::1");
        assert_eq!(v6("ff02::1").to_string(), "ff02::1");
        assert!(v6("fe80::1234").is_unicast_link_local() && v6("fd00::1").is_unique_local());
        for kept in ["ff02::1", "ff02::fb", "ff05::1:3"] {
            assert_eq!(v6(kept).to_string(), kept);
        }
        assert_ne!(v6("2001:db8::1"), "2001:db8::1".parse::<Ipv6Addr>().unwrap());
        let inside = v4(&secret, Ipv4Addr::new(203, 0, 113, 1));
        assert_eq!(v6("::ffff:203.0.113.1").to_ipv4_mapped(), Some(inside));
    }

    #[test]
    fn multicast_tells_no_address_that_it_is_made_of() {
        let secret = Secret::new(b"a secret of tests");
        let parsed = |text: &str| text.parse::<Ipv6Addr>().unwrap().to_bits();
        let v6 = |text: &str| v6(&secret, text.parse().unwrap()).to_bits();
        // Of so many hosts or networks, as many become others, under the prefix that says what they are.
        for (kind, len) in [("ff02::1:ff", 104), ("ff02::2:ff", 104), ("ff3e:40:2001:db8:", 16), ("ff15::", 16)] {
            let groups = (0x12..0x52)
                .map(|host: u32| format!("{kind}{}{host:02x}:{:x}", if len == 16 { ":" } else { "" }, host * 0x0301));
            let groups: Vec<_> = groups.map(|group| group.replace(":::", "::")).collect();
            let results: std::collections::HashSet<_> = groups.iter().map(|group| v6(group)).collect();
            assert_eq!(results.len(), groups.len(), "{kind}");
            for group in &groups {
                assert!(shares(parsed(group), v6(group), len), "{group}");
                assert_ne!(parsed(group), v6(group), "{group}");
            }
        }
        for group in [Ipv4Addr::new(233, 252, 0, 1), Ipv4Addr::new(234, 203, 0, 113)] {
            let result = v4(&secret, group);
            assert!(result.octets()[0] == group.octets()[0] && result != group, "{group} {result}");
        }
    }
}
