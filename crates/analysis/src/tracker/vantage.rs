//! Which end a capture was taken at.
//!
//! A host answers at once what passes beside it, and its packets have crossed no router yet. Both are looked at over the
//! whole capture, address by address: one connection may show the contrary of what a hundred show.

use super::signs::Answers;
use super::subflow::{Subflow, View};
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use tables::Direction;
use wire::Time;

/// The end, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vantage {
    /// `Up`: the client sends from here.
    pub(super) sends: Direction,
    /// Share of the evidence, by the rule of succession: n that all agree leave a doubt of 1/(n + 2).
    pub(super) confidence: f64,
    /// Handshakes, acknowledgements, or packets of which the capture says the way, that say so.
    pub(super) samples: u64,
}

/// Of what a capture showed of addresses: (site, address).
#[derive(Debug, Default)]
pub(super) struct Hosts {
    known: FxHashMap<(u32, IpAddr), Evidence>,
    sites: u32,
}

/// What a capture showed of one address, beside those that it spoke with.
#[derive(Clone, Debug, Default)]
struct Evidence {
    /// Of handshakes, a bounded number of the first: when, how long it took to answer, and how long the other took.
    handshakes: Vec<(Time, u64, u64)>,
    /// Its own acknowledgements, and those of others that cannot have been delayed.
    own: Answers,
    of_others: Answers,
    /// Subflows on which only its packets, and only the others', had crossed no router.
    unforwarded: [u64; 2],
    /// Packets that the capture says left it or came to it; and that say the contrary.
    directions: [u64; 2],
}

/// Below this the capture may as well have been taken in the middle.
const LEAST_CONFIDENCE: f64 = 0.6;
/// The far side takes so many times as long.
const FARTHER: u64 = 4;
/// A handshake this long, and this lopsided, leaves no doubt.
const CLEAR_NANOS: u64 = 1_000_000;
/// Without handshakes a side is near that answered at least once so soon.
const NEAR_NANOS: u64 = 2_000_000;
/// A handshake counts as so many acknowledgements: hosts answer SYNs without waiting for anything.
const HANDSHAKE: u64 = 9;
/// So many acknowledgements of each side say something, and more than this no more than these.
const FEWEST_ANSWERS: u64 = 3;
const MOST_ANSWERS: u64 = 8;
const MOST_HANDSHAKES: usize = 64;
/// A verdict on so many handshakes will not change any more.
const SETTLED: u64 = 16 * HANDSHAKE;
const MOST_HOSTS: usize = 1 << 16;

impl Hosts {
    /// Takes what the subflows of a connection showed.
    pub(super) fn add(&mut self, subflows: &[Subflow]) {
        for subflow in subflows {
            subflow.views.iter().flatten().for_each(|view| self.add_view(subflow, view));
        }
    }

    fn add_view(&mut self, subflow: &Subflow, view: &View) {
        if is_one_host(view) {
            return;
        }
        let waits = view.handshake.waits().map(|(acceptor, opener)| match subflow.opener {
            Direction::Up => [opener, acceptor],
            Direction::Down => [acceptor, opener],
        });
        for side in Direction::BOTH {
            let host = host(view, side);
            if self.known.len() >= MOST_HOSTS && !self.known.contains_key(&host) {
                continue;
            }
            self.sites = self.sites.max(view.site + 1);
            let (own, other, signs) = (side as usize, side.reverse() as usize, &view.signs);
            let evidence = self.known.entry(host).or_default();
            if let Some(waits) = waits {
                evidence.add_handshake((view.first.at, waits[own], waits[other]));
            }
            evidence.own.merge(signs.answers[own]);
            evidence.of_others.merge(signs.prompt[other]);
            if let (Some(own), Some(other)) = (signs.is_unforwarded(side), signs.is_unforwarded(side.reverse()))
                && own != other
            {
                evidence.unforwarded[usize::from(other)] += 1;
            }
            evidence.directions[0] += signs.directions[own][0] + signs.directions[other][1];
            evidence.directions[1] += signs.directions[own][1] + signs.directions[other][0];
        }
    }

    /// The end at which the views from `end` of a connection's subflows were taken, by all that was seen of its hosts.
    pub(super) fn vantage(&self, subflows: &[Subflow], end: usize) -> Option<Vantage> {
        let [client, server] = Direction::BOTH.map(|side| self.nearness(subflows, end, side));
        match (client.confidence(), server.confidence()) {
            (Some(confidence), None) => Some(Vantage { sends: Direction::Up, confidence, samples: client.samples }),
            (None, Some(confidence)) => Some(Vantage { sends: Direction::Down, confidence, samples: server.samples }),
            // Both are near, as on one machine, or neither is.
            _ => None,
        }
    }

    /// Whether more of the capture would change nothing for a connection that was seen at these ends.
    pub(super) fn is_settled(&self, subflows: &[Subflow], ends: [bool; 2]) -> bool {
        (0..2).filter(|&end| ends[end]).all(|end| {
            let sides = Direction::BOTH.map(|side| self.nearness(subflows, end, side));
            sides.iter().any(|side| side.all >= SETTLED) && self.vantage(subflows, end).is_some()
        })
    }

    fn nearness(&self, subflows: &[Subflow], end: usize, side: Direction) -> Nearness {
        let views = subflows.iter().filter_map(|subflow| subflow.views[end].as_deref());
        let mut hosts: Vec<_> = views.filter(|view| !is_one_host(view)).map(|view| host(view, side)).collect();
        hosts.sort_unstable_by_key(|&(site, address)| (address, site));
        hosts.dedup();
        let pooled: Vec<_> = hosts.chunk_by(|a, b| a.1 == b.1).map(|sites| self.pooled(sites)).collect();
        Nearness::of(&pooled)
    }

    /// What these sites show of one address; where that is near, with what others show that are near it too. So it does not
    /// matter into how many files a capture was split.
    fn pooled(&self, hosts: &[(u32, IpAddr)]) -> Evidence {
        let mut sum = Evidence::default();
        hosts.iter().filter_map(|host| self.known.get(host)).for_each(|evidence| sum.merge(evidence));
        if Nearness::of(std::slice::from_ref(&sum)).confidence().is_some() {
            let others = (0..self.sites).map(|site| (site, hosts[0].1)).filter(|host| !hosts.contains(host));
            others
                .filter_map(|host| self.known.get(&host))
                .filter(|evidence| Nearness::of(std::slice::from_ref(*evidence)).confidence().is_some())
                .for_each(|evidence| sum.merge(evidence));
        }
        sum
    }
}

/// What says that a side is near.
#[derive(Clone, Copy, Debug, Default)]
struct Nearness {
    /// What says so, and all that says anything.
    near: u64,
    all: u64,
    samples: u64,
    /// Added for what was not seen: Laplace's rule of succession.
    doubt: u64,
}

impl Nearness {
    fn of(known: &[Evidence]) -> Nearness {
        if known.iter().any(|evidence| evidence.directions != [0; 2]) {
            // What the capture says leaves no doubt.
            let [near, far] =
                [0, 1].map(|direction: usize| known.iter().map(|evidence| evidence.directions[direction]).sum::<u64>());
            return Nearness { near, all: near + far, samples: near, doubt: 0 };
        }
        let mut sum = Nearness { doubt: 1, ..Nearness::default() };
        known.iter().for_each(|evidence| evidence.weigh(&mut sum));
        sum
    }

    /// How sure it is, where it is surer than not.
    fn confidence(&self) -> Option<f64> {
        let confidence = (self.near + self.doubt) as f64 / (self.all + 2 * self.doubt) as f64;
        (self.near > 0 && confidence >= LEAST_CONFIDENCE).then_some(confidence)
    }
}

impl Evidence {
    fn add_handshake(&mut self, handshake: (Time, u64, u64)) {
        let index = self.handshakes.partition_point(|known| *known <= handshake);
        if index < MOST_HANDSHAKES {
            self.handshakes.insert(index, handshake);
            self.handshakes.truncate(MOST_HANDSHAKES);
        }
    }

    fn merge(&mut self, other: &Evidence) {
        other.handshakes.iter().for_each(|handshake| self.add_handshake(*handshake));
        self.own.merge(other.own);
        self.of_others.merge(other.of_others);
        for index in 0..2 {
            self.unforwarded[index] += other.unforwarded[index];
            self.directions[index] += other.directions[index];
        }
    }

    /// Whether the side that was slow to answer SYNs acknowledges data sooner than the other one can be away: it is near, and was
    /// busy.
    fn is_contradicted(&self, own: u64, others: u64) -> bool {
        let slower = if own > others { self.own } else { self.of_others };
        let sooner = slower.least_nanos.is_some_and(|least| is_nearer(least, own.min(others)));
        sooner && slower.count >= FEWEST_ANSWERS
    }

    fn weigh(&self, sum: &mut Nearness) {
        let own = median(self.handshakes.iter().map(|(_, own, _)| *own));
        let others = median(self.handshakes.iter().map(|(_, _, others)| *others));
        if let (Some(own), Some(others)) = (own, others)
            && !self.is_contradicted(own, others)
        {
            sum.all += HANDSHAKE * self.handshakes.len() as u64;
            if is_nearer(own, others) {
                let nearer = self.handshakes.iter().filter(|(_, own, other)| own < other).count() as u64;
                sum.samples += nearer;
                sum.near += HANDSHAKE * nearer;
            }
        } else if let (Some(own), Some(others)) = (self.own.least_nanos, self.of_others.least_nanos) {
            let count = self.own.count.min(self.of_others.count);
            if count >= FEWEST_ANSWERS {
                sum.all += count.min(MOST_ANSWERS);
                if own <= NEAR_NANOS && is_nearer(own, others) {
                    sum.samples += count;
                    sum.near += count.min(MOST_ANSWERS);
                }
            }
        }
        let [own, others] = self.unforwarded;
        if own != others {
            sum.all += HANDSHAKE;
            if own > others {
                sum.near += HANDSHAKE;
                sum.samples += own;
            }
        }
    }
}

/// Whether a handshake leaves no doubt about who is near.
pub(super) fn is_clear(opener_nanos: u64, acceptor_nanos: u64) -> bool {
    let (least, most) = (opener_nanos.min(acceptor_nanos), opener_nanos.max(acceptor_nanos));
    most >= CLEAR_NANOS && is_nearer(least, most)
}

fn is_nearer(nanos: u64, others_nanos: u64) -> bool {
    others_nanos > 0 && nanos <= others_nanos / FARTHER
}

fn host(view: &View, side: Direction) -> (u32, IpAddr) {
    let address = if side == Direction::Up { view.addresses.client } else { view.addresses.server };
    (view.site, address.ip())
}

/// A host that speaks with itself is near and far.
fn is_one_host(view: &View) -> bool {
    view.addresses.client.ip() == view.addresses.server.ip()
}

fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = values.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}
