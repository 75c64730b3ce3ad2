//! Which connection a new flow belongs to.

use super::conversation::Conversation;
use super::identity::{Header, Id};
use super::{Datagram, Datagrams};
use crate::tracker::flows::Key;
use crate::tracker::signs::is_unforwarded;
use tables::Direction;
use wire::quic::Quic;

/// A path that data goes over now had a datagram so soon ago.
const RECENT_NANOS: i64 = 1_000_000_000;

impl Datagrams {
    /// The same flow at another site: its conversation and path, and whether the lower end is the client.
    pub(super) fn elsewhere(&self, key: Key, datagram: &Datagram, sites: u32) -> Option<(u32, u32, bool)> {
        let lacking = |(conversation, path): (u32, u32)| {
            self.conversations[conversation as usize].as_ref().filter(|one| one.lacks(path as usize, key.site))
        };
        if sites < 2 {
            return None;
        }
        // Under the same addresses.
        let others = (0..sites).filter(|&site| site != key.site);
        let mut flows = others.filter_map(|site| self.flows.get(&Key { site, ..key }));
        if let Some(flow) = flows.find(|flow| !self.begins_anew(**flow, &datagram.header)) {
            return Some((flow.conversation, flow.path, flow.low_is_client));
        }
        // Behind a NAT: what it begins with passed there, too, or has the same connection IDs.
        let digest = datagram.glimpse.digest();
        if let Some(&(conversation, path)) = self.openings.get(&digest)
            && let Some(one) = lacking((conversation, path))
            && let Some(sent_by_client) = one.sender_of(path as usize, digest)
        {
            return Some((conversation, path, sent_by_client == datagram.from_low));
        }
        let Header::Long { destination, source, .. } = datagram.header else { return None };
        let conversation = [destination, source].iter().find_map(|id| self.ids.get(id).copied())?;
        let sent_by_client = lacking((conversation, 0))?.is_of_client((destination, source));
        Some((conversation, 0, sent_by_client == datagram.from_low))
    }

    /// The QUIC connection that a new flow goes on with, and whether the lower end is its client.
    pub(super) fn same_connection(&self, key: Key, datagram: &Datagram) -> Option<(u32, bool)> {
        let number = match datagram.header {
            Header::Long { version: 1.., destination, source } => self.known(&[destination, source], key.site)?,
            // A connection ID that a long header named: behind a NAT that forgot it, a client goes on with the one that it has.
            Header::Short { destination } => match self.named(destination, key.site) {
                Some(number) => number,
                None => return self.only_one(key, datagram),
            },
            _ => return None,
        };
        let low_is_client = if self.is_server(number, key.site, key.high) {
            true
        } else {
            !self.is_server(number, key.site, key.low) && datagram.from_low
        };
        Some((number, low_is_client))
    }

    fn named(&self, bytes: &[u8], site: u32) -> Option<u32> {
        let lengths = (1..=Quic::MOST_ID).filter(|len| self.lengths >> len & 1 == 1);
        lengths.filter_map(|len| bytes.get(..len)).find_map(|id| self.known(&[Id::new(id)], site))
    }

    /// A connection that one of these IDs names and that the site has shown.
    fn known(&self, ids: &[Id], site: u32) -> Option<u32> {
        let numbers = ids.iter().filter_map(|id| self.ids.get(id).copied());
        numbers.into_iter().find(|&number| self.at_site(number, site).is_some())
    }

    /// Later connection IDs are encrypted where they are given. But a flow that begins with no long header is a path of a
    /// connection that was there before: the only one of its server; else the only one with the client's port, as a socket
    /// has it on all interfaces, or with its address; else the only one that had a datagram just now.
    fn only_one(&self, key: Key, datagram: &Datagram) -> Option<(u32, bool)> {
        let at = datagram.observation.at;
        [(key.high, key.low, true), (key.low, key.high, false)].into_iter().find_map(
            |(server, client, low_is_client)| {
                let of_server = self.servers.get(&(key.site, server))?.iter();
                let live: Vec<(u32, &Conversation)> = of_server
                    .filter_map(|&number| Some((number, self.at_site(number, key.site).filter(|one| one.is_live(at))?)))
                    .collect();
                let only = |is_it: &dyn Fn(&Conversation) -> bool| {
                    let mut chosen = live.iter().filter(|(_, one)| is_it(one));
                    chosen.next().filter(|_| chosen.next().is_none()).map(|(number, _)| *number)
                };
                let number = only(&|_| true)
                    .or_else(|| only(&|one| one.clients(key.site, server).any(|end| end.1 == client.1)))
                    .or_else(|| only(&|one| one.clients(key.site, server).any(|end| end.0 == client.0)))
                    .or_else(|| only(&|one| at - one.last.at <= RECENT_NANOS))?;
                Some((number, low_is_client))
            },
        )
    }

    /// The only connection of its server that captures of other interfaces show, and the client's end of it: where each
    /// interface has a capture of its own, those of its further paths begin with no long header. The client is where its
    /// datagrams were not forwarded.
    pub(super) fn other_interface(&self, key: Key, datagram: &Datagram, sites: u32) -> Option<(u32, usize, bool)> {
        let (server, low_is_client) = if datagram.from_low { (key.high, true) } else { (key.low, false) };
        let Datagram { observation, header: Header::Short { .. }, .. } = datagram else { return None };
        if !is_unforwarded(observation.frame.ip.ttl) {
            return None;
        }
        let mut numbers: Vec<u32> =
            (0..sites).filter_map(|site| self.servers.get(&(site, server))).flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut found = numbers.into_iter().filter_map(|number| {
            let one = self.conversations[number as usize].as_ref()?;
            let is_open = one.is_live(observation.at) && !one.knows(key.site);
            let end = [0, 1].into_iter().find(|&end| one.near(end) == Some(Direction::Up));
            Some((number, end.filter(|_| is_open)?, low_is_client))
        });
        found.next().filter(|_| found.next().is_none())
    }

    fn at_site(&self, number: u32, site: u32) -> Option<&Conversation> {
        self.conversations[number as usize].as_deref().filter(|one| one.knows(site))
    }

    fn is_server(&self, number: u32, site: u32, end: (u128, u16)) -> bool {
        self.servers.get(&(site, end)).is_some_and(|numbers| numbers.contains(&number))
    }
}
