//! Connections by what names them: tokens, keys, sequence numbers, data sequence numbers.

use super::connection::Connection;
use super::identity::{Identity, Names, Opened, SequenceNumbers};
use super::subflow::{Addresses, Subflow};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::net::SocketAddr;
use tables::Direction;

/// Upper halves of data sequence numbers under which a connection is known at most.
const MOST_HALVES: usize = 8;

/// Of connections by one name so many are looked at: names are random, but for those of simulators and attackers.
pub(super) const MOST_ALIKE: usize = 64;

/// Data sequence numbers of 64 bits this near to each other belong to one connection: by chance they would once in 2³³.
const NEAR: u64 = 1 << 30;

/// The connections that are not over, by index.
pub(super) type Connections = [Option<Box<Connection>>];

/// Connections by what names them.
#[derive(Default)]
pub(super) struct Known {
    /// By token; the direction is that of the data of the token's owner.
    tokens: FxHashMap<u32, (u32, Direction)>,
    /// By the server's key, and by the sequence numbers of the SYN/ACK.
    keys: FxHashMap<u64, BTreeSet<u32>>,
    sequence_numbers: FxHashMap<SequenceNumbers, BTreeSet<u32>>,
    /// By those and both addresses.
    numbers_and_addresses: FxHashMap<(SequenceNumbers, Addresses), BTreeSet<u32>>,
    /// By the first SYN.
    opened: FxHashMap<Opened, BTreeSet<u32>>,
    /// By the server's end of a subflow, and the client's port.
    ends: FxHashMap<(SocketAddr, u16), BTreeSet<u32>>,
    /// By the upper halves of data sequence numbers.
    halves: FxHashMap<u32, BTreeSet<(u32, Direction)>>,
}

impl Known {
    /// A flow found its connection.
    pub(super) fn add(&mut self, index: u32, connection: &mut Connection, names: Names) {
        if connection.subflows.len() == 1
            && connection.identity.is_none()
            && let Some(identity) = names.identity
        {
            connection.identity = Some(identity);
            self.name(index, &identity);
        }
        if connection.subflows.len() == 1
            && connection.opened.is_none()
            && let Some(opened) = names.opened
        {
            connection.opened = Some(opened);
            self.opened.entry(opened).or_default().insert(index);
        }
        if let Some(token) = connection.tokens[Direction::Down as usize] {
            self.tokens.insert(token, (index, Direction::Down));
        }
        let Addresses { client, server } = names.addresses;
        self.ends.entry((server, client.port())).or_default().insert(index);
    }

    /// Connections that such a SYN began: the latest.
    pub(super) fn opened_so(&self, opened: Opened) -> impl Iterator<Item = u32> {
        self.opened.get(&opened).into_iter().flatten().rev().take(MOST_ALIKE).copied()
    }

    /// Connections of which a subflow goes from a client's port to a server: the latest.
    pub(super) fn between(&self, server: SocketAddr, client_port: u16) -> impl Iterator<Item = u32> {
        self.ends.get(&(server, client_port)).into_iter().flatten().rev().take(MOST_ALIKE).copied()
    }

    /// A connection learned its keys or moved on in its data sequence numbers.
    pub(super) fn update(&mut self, index: u32, connection: &mut Connection) {
        if !std::mem::take(&mut connection.has_news) {
            return;
        }
        for direction in Direction::BOTH {
            let d = direction as usize;
            if let Some(token) = connection.tokens[d] {
                self.tokens.insert(token, (index, direction));
            }
            if let Some(half) = connection.spaces[d].upper_half()
                && connection.known_halves[d] != Some(half)
            {
                connection.known_halves[d] = Some(half);
                let listed = (half, direction);
                if connection.listed_halves.contains(&listed) {
                    continue;
                }
                if connection.listed_halves.len() == MOST_HALVES {
                    self.unlist(index, connection.listed_halves.remove(0));
                }
                connection.listed_halves.push(listed);
                self.halves.entry(half).or_default().insert((index, direction));
            }
        }
    }

    /// The connection of a token, and the direction that its owner sends in.
    pub(super) fn of_token(&self, token: u32) -> Option<(u32, Direction)> {
        self.tokens.get(&token).copied()
    }

    pub(super) fn forget(&mut self, index: u32, connection: &Connection) {
        for token in connection.tokens.iter().flatten() {
            if self.tokens.get(token).is_some_and(|(known, _)| *known == index) {
                self.tokens.remove(token);
            }
        }
        connection.listed_halves.iter().for_each(|&listed| self.unlist(index, listed));
        for Addresses { client, server } in connection.subflows.iter().flat_map(Subflow::addresses) {
            unname(&mut self.ends, (server, client.port()), index);
        }
        if let Some(opened) = connection.opened {
            unname(&mut self.opened, opened, index);
        }
        if let Some(identity) = connection.identity {
            let Identity { key, sequence_numbers, addresses } = identity;
            unname(&mut self.sequence_numbers, sequence_numbers, index);
            unname(&mut self.numbers_and_addresses, (sequence_numbers, addresses), index);
            if let Some(key) = key {
                unname(&mut self.keys, key, index);
            }
        }
    }

    fn name(&mut self, index: u32, identity: &Identity) {
        let Identity { key, sequence_numbers, addresses } = *identity;
        self.sequence_numbers.entry(sequence_numbers).or_default().insert(index);
        self.numbers_and_addresses.entry((sequence_numbers, addresses)).or_default().insert(index);
        if let Some(key) = key {
            self.keys.entry(key).or_default().insert(index);
        }
    }

    /// Connections that share a name with this one: by key or not, and which. Those with its addresses come last.
    pub(super) fn alike(&self, identity: &Identity) -> impl Iterator<Item = (bool, u32)> {
        let Identity { key, sequence_numbers, addresses } = *identity;
        let of = |found: Option<&BTreeSet<u32>>| {
            found.into_iter().flatten().rev().take(MOST_ALIKE).copied().collect::<Vec<_>>()
        };
        let by_key = of(key.and_then(|key| self.keys.get(&key)));
        let by_numbers = of(self.sequence_numbers.get(&sequence_numbers));
        let by_both = of(self.numbers_and_addresses.get(&(sequence_numbers, addresses)));
        let by_key = by_key.into_iter().map(|index| (true, index));
        by_key.chain(by_numbers.into_iter().chain(by_both).map(|index| (false, index)))
    }

    fn unlist(&mut self, index: u32, (half, direction): (u32, Direction)) {
        unname(&mut self.halves, half, (index, direction));
    }

    /// The connection whose data sequence numbers are near, and the direction of that data.
    pub(super) fn near(&self, number: u64, connections: &Connections) -> Option<(u32, Direction)> {
        let half = (number >> 32) as u32;
        [half, half.wrapping_add(1), half.wrapping_sub(1)].iter().find_map(|half| {
            self.halves.get(half)?.iter().rev().take(MOST_ALIKE).copied().find(|&(index, direction)| {
                let connection = connections[index as usize].as_ref().expect("known");
                connection.spaces[direction as usize].distance(number).is_some_and(|distance| distance < NEAR)
            })
        })
    }
}

/// What a name stood for is gone.
fn unname<N: Eq + Hash, T: Ord>(names: &mut FxHashMap<N, BTreeSet<T>>, name: N, gone: T) {
    if let Some(known) = names.get_mut(&name) {
        known.remove(&gone);
        if known.is_empty() {
            names.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(number: u32) -> Identity {
        let client = ([10, 0, (number >> 8) as u8, number as u8], 5000).into();
        let addresses = Addresses { client, server: ([10, 255, 0, 1], 443).into() };
        Identity { key: Some(7), sequence_numbers: (0, 0), addresses }
    }

    /// Simulators begin all sequence numbers at 0, and an attacker may repeat keys: however many connections share
    /// them, few are looked at, and the one with the same addresses is among them.
    #[test]
    fn few_of_many_alike_are_looked_at() {
        let mut known = Known::default();
        (0..20_000).for_each(|number| known.name(number, &identity(number)));
        for number in [0, 9_999, 19_999] {
            let alike: Vec<_> = known.alike(&identity(number)).collect();
            assert!(alike.len() <= 3 * MOST_ALIKE, "{}", alike.len());
            assert!(alike.contains(&(false, number)));
        }
    }
}
