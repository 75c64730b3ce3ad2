//! A UDP flow, or a QUIC connection with all its paths: what passed, by path, direction and end.

use super::Datagram;
use super::clocks::Clocks;
use super::crossing::{Crossing, Passed};
use super::identity::{Header, Id};
use crate::Options;
use crate::event::{Data, FlowEvent, Kind, Seen};
use crate::metrics::{Metric, OfDatagrams};
use crate::tracker::flows::{Key, address};
use crate::tracker::signs::Signs;
use crate::tracker::subflow::Addresses;
use std::net::IpAddr;
use tables::Direction;
use wire::{Ecn, Observation, Time};

pub(in crate::tracker) struct Conversation {
    pub(super) is_quic: bool,
    pub(super) first: Seen,
    pub(super) last: Seen,
    pub(super) paths: Vec<Path>,
    pub(super) ends: [Option<End>; 2],
    /// Between the ends' clocks, where both were captured.
    pub(super) clocks: Option<Clocks>,
    pub(super) keys: Vec<Key>,
    pub(super) quic: Quic,
}

/// What long headers said.
#[derive(Default)]
pub(super) struct Quic {
    pub(super) version: u32,
    /// The IDs that client and server gave themselves.
    pub(super) ids: [Option<Id>; 2],
    /// The one that the client gave the server first.
    pub(super) original: Option<Id>,
}

/// What one end saw.
pub(super) struct End {
    /// Of its host: several where each interface has a capture of its own.
    pub(super) sites: Vec<u32>,
    pub(super) first: Seen,
    pub(super) metrics: OfDatagrams,
    pub(super) last: [Option<Time>; 2],
}

/// A pair of addresses.
#[derive(Default)]
pub(super) struct Path {
    pub(super) views: [Option<Box<View>>; 2],
    /// Where both ends were captured, by direction.
    pub(super) crossings: [Option<Box<Crossing>>; 2],
}

/// A path as one end sees it; by direction.
pub(super) struct View {
    pub(super) addresses: Addresses,
    pub(super) first: Seen,
    pub(super) last: Seen,
    pub(super) signs: Signs,
    pub(super) datagrams: [u64; 2],
    pub(super) bytes: [u64; 2],
    pub(super) largest: u32,
    /// When the first long header passed.
    pub(super) long: [Option<Time>; 2],
    /// Copies on other interfaces of the host.
    pub(super) repeats: u64,
    recent: [Option<Recent>; RECENT],
    next: usize,
}

#[derive(Clone, Copy)]
struct Recent {
    digest: u64,
    seen: Seen,
    direction: Option<wire::CaptureDirection>,
}

/// One packet on several interfaces of a host (`-i any`) shows so soon, with so few between.
const RECENT: usize = 8;
const REPEAT_NANOS: i64 = 10_000_000;
/// A QUIC connection without a packet for longer is over, as likely as not.
const LIVE_NANOS: i64 = 60_000_000_000;

impl Conversation {
    pub(super) fn new(first: &Observation, is_quic: bool, (several_sites, one_clock): (bool, bool)) -> Self {
        let seen = Seen::of(first);
        Conversation {
            is_quic,
            first: seen,
            last: seen,
            paths: Vec::new(),
            ends: [None, None],
            clocks: several_sites.then(|| Clocks::new(one_clock)),
            keys: Vec::new(),
            quic: Quic::default(),
        }
    }

    /// Datagrams that passed, at the end that saw more.
    pub(super) fn datagrams(&self) -> u64 {
        let at = |end: usize| {
            let views = self.paths.iter().filter_map(move |path| path.views[end].as_deref());
            views.map(|view| view.datagrams.iter().sum::<u64>()).sum::<u64>()
        };
        at(0).max(at(1))
    }

    /// Whether a site has shown it.
    pub(super) fn knows(&self, site: u32) -> bool {
        self.end_of(site).is_some()
    }

    /// The clients' endpoints with which a site has shown this server's.
    pub(super) fn clients(&self, site: u32, server: (u128, u16)) -> impl Iterator<Item = (u128, u16)> {
        let keys = self.keys.iter().filter(move |key| key.site == site);
        keys.map(move |key| if key.low == server { key.high } else { key.low })
    }

    fn end_of(&self, site: u32) -> Option<usize> {
        self.ends.iter().position(|end| end.as_ref().is_some_and(|end| end.sites.contains(&site)))
    }

    /// The end at which a site stands, or may stand if it has shown nothing.
    fn end_for(&self, site: u32) -> Option<usize> {
        self.end_of(site).or_else(|| self.ends.iter().position(Option::is_none))
    }

    /// Whether it may go on, elsewhere.
    pub(super) fn is_live(&self, at: Time) -> bool {
        at - self.last.at < LIVE_NANOS
    }

    /// Whether a site has no view of the path, and could have one.
    pub(super) fn lacks(&self, path: usize, site: u32) -> bool {
        self.end_for(site).zip(self.paths.get(path)).is_some_and(|(end, path)| path.views[end].is_none())
    }

    /// Whether the client sent what passed the other end of the path.
    pub(super) fn sender_of(&self, path: usize, digest: u64) -> Option<bool> {
        let crossings = &self.paths[path].crossings;
        let waits = |direction: Direction| {
            crossings[direction as usize].as_ref().is_some_and(|crossing| crossing.is_waiting(digest))
        };
        Direction::BOTH.into_iter().find(|&direction| waits(direction)).map(|direction| direction == Direction::Up)
    }

    /// Whether a long header with these IDs is the client's.
    pub(super) fn is_of_client(&self, (destination, source): (Id, Id)) -> bool {
        let [client, server] = self.quic.ids;
        Some(destination) != client && Some(source) != server
    }

    pub(super) fn add_path(&mut self) -> u32 {
        self.paths.push(Path::default());
        (self.paths.len() - 1) as u32
    }

    /// Adds a site's view of a path; none where two sites show it already. Gives the end at which the site stands.
    pub(super) fn add_view(
        &mut self,
        path: usize,
        key: Key,
        low_is_client: bool,
        (observation, options): (&Observation, &Options),
    ) -> Option<usize> {
        let seen = Seen::of(observation);
        let end = self.end_for(key.site)?;
        self.ends[end].get_or_insert_with(|| End {
            sites: vec![key.site],
            first: seen,
            metrics: OfDatagrams::new(options, seen.at),
            last: [None; 2],
        });
        let [low, high] = [key.low, key.high].map(address);
        let (client, server) = if low_is_client { (low, high) } else { (high, low) };
        let view = &mut self.paths[path].views[end];
        if view.is_some() {
            return None;
        }
        *view = Some(Box::new(View {
            addresses: Addresses { client, server },
            first: seen,
            last: seen,
            signs: Signs::default(),
            datagrams: [0; 2],
            bytes: [0; 2],
            largest: 0,
            long: [None; 2],
            repeats: 0,
            recent: [None; RECENT],
            next: 0,
        }));
        if seen.at < self.first.at {
            self.first = seen;
        }
        Some(end)
    }

    /// Takes what a long header says.
    pub(super) fn long_header(&mut self, by: Direction, version: u32, (destination, source): (Id, Id)) {
        if version != 0 {
            self.quic.version = version;
        }
        if by == Direction::Up {
            self.quic.original.get_or_insert(destination);
            self.quic.ids[0].get_or_insert(source);
        } else if version != 0 {
            // A server that asks the client to try again gives itself another.
            self.quic.ids[1] = Some(source);
        }
    }

    /// Takes a datagram; gives how many have passed its path at this end, in both directions.
    pub(super) fn datagram(
        &mut self,
        &Datagram { observation, glimpse, ref header, .. }: &Datagram,
        (path, index): (usize, usize),
        direction: Direction,
        several_views: bool,
    ) -> u64 {
        let (seen, d, bytes) = (Seen::of(observation), direction as usize, observation.frame.payload.len);
        let Path { views, crossings } = &mut self.paths[path];
        let view = views[index].as_deref_mut().expect("the end has a view");
        let offset = view.bytes[d];
        if !view.take(observation, glimpse.digest(), direction, several_views) {
            return u64::MAX;
        }
        if self.is_quic && matches!(header, Header::Long { .. }) {
            view.long[d].get_or_insert(seen.at);
        }
        let passed = view.datagrams.iter().sum();
        self.last = if seen.at > self.last.at { seen } else { self.last };
        let end = self.ends[index].as_mut().expect("a view's");
        end.last[d] = Some(seen.at);
        let data = Data {
            bytes,
            packets: 1,
            new_bytes: bytes,
            marked: observation.frame.ip.ecn() == Ecn::CongestionExperienced,
            offset: offset as i64,
            ..Data::default()
        };
        let arrived = u64::from(bytes);
        for kind in
            [Kind::Packet, Kind::Data(data), Kind::Arrived { bytes: arrived }, Kind::Progress { bytes: arrived }]
        {
            end.metrics.on(&FlowEvent { seen, subflow: path, direction, kind });
        }
        if let Some(clocks) = &mut self.clocks {
            let crossing = crossings[d].get_or_insert_default();
            if let Some(apart) = crossing.passed(index, Passed { digest: glimpse.digest(), at: seen.at, bytes }) {
                clocks.crossed((path, direction), apart);
            }
        }
        passed
    }
}

impl View {
    /// Whether it has passed for the first time.
    fn take(&mut self, observation: &Observation, digest: u64, direction: Direction, several_views: bool) -> bool {
        let seen = Seen::of(observation);
        if several_views {
            let is_copy = self.recent.iter().flatten().any(|other| {
                other.digest == digest
                    && (other.seen.point != seen.point || other.direction != observation.direction)
                    && seen.at - other.seen.at <= REPEAT_NANOS
            });
            if is_copy {
                self.repeats += 1;
                return false;
            }
            self.recent[self.next] = Some(Recent { digest, seen, direction: observation.direction });
            self.next = (self.next + 1) % RECENT;
        }
        self.last = seen;
        self.signs.packet(direction, observation.frame.ip.ttl, observation.direction);
        self.datagrams[direction as usize] += 1;
        self.bytes[direction as usize] += u64::from(observation.frame.payload.len);
        self.largest = self.largest.max(observation.frame.payload.len);
        true
    }

    /// Both ends are one host.
    pub(super) fn is_one_host(&self) -> bool {
        let Addresses { client, server } = self.addresses;
        client.ip() == server.ip() || [client, server].iter().any(|end| IpAddr::is_loopback(&end.ip()))
    }
}
