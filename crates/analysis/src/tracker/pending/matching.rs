//! Which of the known connections a flow that waits belongs to: by keys and sequence numbers, tokens, or its data.

use super::{Decision, Pending, tcp};
use crate::tracker::flows::address;
use crate::tracker::known::{Connections, Known, MOST_ALIKE};
use crate::tracker::subflow::{Addresses, Kind as SubflowKind, Subflow, View};
use tables::Direction;
use wire::Flags;
use wire::mptcp::DataNumber;

/// A host that translates addresses shows a packet twice within this time.
const COPY_NANOS: u64 = 10_000_000;

impl Pending {
    /// The connection that this flow shows once more: from the other end, or behind a NAT on the same host.
    ///
    /// Keys are random. Sequence numbers, which are all there is where one end saw no key, need not be: simulators begin all
    /// at 0, so that many connections may fit; then addresses tell them apart, and they name none at its own site.
    pub(super) fn seen_elsewhere(&self, known: &Known, connections: &Connections, client_is_low: bool) -> Option<u32> {
        let identity = self.identity(client_is_low)?;
        let addresses = identity.addresses;
        let has_key = |index: u32| {
            let connection = connections[index as usize].as_ref().expect("known");
            connection.identity.is_some_and(|identity| identity.key.is_some())
        };
        let candidates = known.alike(&identity).filter_map(|(by_key, index)| {
            if !by_key && identity.key.is_some() && has_key(index) {
                return None;
            }
            let connection = connections[index as usize].as_ref().expect("known");
            let subflow = connection.subflows.first()?;
            let apart = (self.first().at - connection.first.at).unsigned_abs();
            let fits = by_key && apart <= COPY_NANOS || !connection.sees(subflow, self.key.site);
            let alike = |other: Addresses| {
                u8::from(other.client == addresses.client) + u8::from(other.server == addresses.server)
            };
            fits.then(|| ((by_key, subflow.addresses().map(alike).max()), index))
        });
        candidates.max_by_key(|(alike, _)| *alike).map(|(_, index)| index)
    }

    /// The connection that the same SYN began at the other end, where one end has no answer to it that the other has.
    ///
    /// Its number is random, but for those of simulators: then addresses tell.
    pub(super) fn asked_elsewhere(&self, known: &Known, connections: &Connections) -> Option<u32> {
        let client_is_low = self.opener_is_low();
        let opened = self.opened(client_is_low)?;
        let (is_answered, addresses) = (self.identity(client_is_low).is_some(), self.addresses(client_is_low));
        let candidates = || {
            known.opened_so(opened).filter(|&index| {
                let connection = connections[index as usize].as_ref().expect("known");
                !(is_answered && connection.identity.is_some())
                    && connection.subflows.first().is_some_and(|first| !connection.sees(first, self.key.site))
            })
        };
        let has_addresses = |index: &u32| {
            let first = connections[*index as usize].as_ref().and_then(|connection| connection.subflows.first());
            first.is_some_and(|first| first.addresses().any(|other| other == addresses))
        };
        let mut others = candidates().filter(|_| opened.0 != 0);
        candidates().find(has_addresses).or_else(|| others.next().filter(|_| others.next().is_none()))
    }

    /// The join that the same SYN asked for where it left, of which a middlebox took the option away.
    pub(super) fn bare_join(&self, known: &Known, connections: &Connections) -> Option<(u32, usize)> {
        let client_is_low = self.opener_is_low();
        let ((number, server), ends) = (self.opened(client_is_low)?, self.addresses(client_is_low));
        known.between(server, ends.client.port()).find_map(|index| {
            let connection = connections[index as usize].as_ref().expect("known");
            let is_same = |view: &View| {
                let from = view.addresses;
                (from.server, from.client.port()) == (server, ends.client.port())
                    && view.sequences[Direction::Up as usize].base() == Some(number.wrapping_add(1))
                    && (number != 0 || from == ends)
            };
            let mut subflows = connection.subflows.iter().enumerate().rev().take(MOST_ALIKE);
            let (subflow, _) = subflows.find(|(_, subflow)| {
                subflow.kind == SubflowKind::Join
                    && subflow.opener == Direction::Up
                    && !connection.sees(subflow, self.key.site)
                    && subflow.views.iter().flatten().any(|view| is_same(view))
            })?;
            Some((index, subflow))
        })
    }

    pub(super) fn by_token(&self, known: &Known, connections: &Connections, token: u32, nonce: u32) -> Decision {
        let Some((index, owner)) = known.of_token(token) else { return Decision::Wait };
        let connection = connections[index as usize].as_ref().expect("known");
        // The token is its receiver's: who sends it is the other side. A join with the first SYN can name no key but its
        // sender's: that one goes to where the connection began.
        let to = address(if self.first_from_low { self.key.high } else { self.key.low });
        let mut begun_at = connection.subflows.first().into_iter().flat_map(|subflow| subflow.addresses());
        let early = owner == Direction::Up && begun_at.any(|ends| ends.server == to);
        let opener = if early { owner } else { owner.reverse() };
        let client_is_low = (opener == Direction::Up) == self.first_from_low;
        let subflow = connection.joins.get(&(opener, nonce)).copied();
        let subflow = subflow.filter(|&subflow| self.is_same_join(&connection.subflows[subflow], opener));
        Decision::Join { connection: index, subflow, client_is_low, opener, kind: SubflowKind::Join }
    }

    /// Whether this shows a join that another 4-tuple shows: at the other end, or behind a NAT on the same host, which
    /// leaves sequence numbers as they are. A flood repeats token and random number too, but not at once, or often.
    fn is_same_join(&self, subflow: &Subflow, opener: Direction) -> bool {
        const MOST_COPIES: u32 = 3;
        let mut here = subflow.views.iter().flatten().filter(|view| view.site == self.key.site);
        here.next().is_none_or(|view| {
            let (first, syn) = (self.first(), tcp(&self.packets[0].1));
            subflow.copies < MOST_COPIES
                && (first.at - view.first.at).unsigned_abs() <= COPY_NANOS
                && view.sequences[opener as usize].base() == Some(syn.seq.wrapping_add(1))
        })
    }

    /// A data sequence number near a known connection's.
    pub(super) fn by_data(&self, known: &Known, connections: &Connections) -> Decision {
        let near = self.packets.iter().zip(&self.options).find_map(|((from_low, _), shown)| {
            let dss = shown.dss?;
            let data = dss.mapping.map(|mapping| (mapping.data_seq, true));
            let ack = dss.data_ack.map(|number| (number, false));
            data.into_iter().chain(ack).find_map(|(number, sends)| {
                let DataNumber::Long(number) = number else { return None };
                let (connection, direction) = known.near(number, connections)?;
                let sender_is_low = *from_low == sends;
                Some((connection, (direction == Direction::Up) == sender_is_low))
            })
        });
        let Some((index, client_is_low)) = near else { return Decision::Wait };
        let connection = connections[index as usize].as_ref().expect("known");
        let addresses = self.addresses(client_is_low);
        let subflow = connection.subflows.iter().position(|subflow| {
            subflow.addresses().any(|other| other == addresses) && !connection.sees(subflow, self.key.site)
        });
        let opener = match self.options[0].join {
            Some(_) if self.opener_is_low() != client_is_low => Direction::Down,
            _ => Direction::Up,
        };
        let kind = if self.options[0].join.is_some() { SubflowKind::Join } else { SubflowKind::Unknown };
        Decision::Join { connection: index, subflow, client_is_low, opener, kind }
    }

    /// The connection of a subflow that these packets, from a client's other address, go on from: as after a NAT's rebinding.
    pub(super) fn by_numbers(&self, known: &Known, connections: &Connections) -> Option<u32> {
        let Addresses { client, server } = self.addresses(self.first_from_low);
        let first = tcp(&self.packets[0].1);
        known.between(server, client.port()).find(|&index| {
            let connection = connections[index as usize].as_ref().expect("known");
            let views = connection.subflows.iter().rev().take(MOST_ALIKE).flat_map(|subflow| &subflow.views).flatten();
            self.lacks_beginning(index, connections)
                && views.filter(|view| view.site == self.key.site).any(|view| {
                    let ends = view.addresses;
                    let [up, down] = &view.sequences;
                    (ends.server, ends.client.port()) == (server, client.port())
                        && ends.client != client
                        && up.may_go_on_with(first.seq)
                        && (!first.flags.has(Flags::ACK) || down.may_go_on_with(first.ack))
                })
        })
    }
}
