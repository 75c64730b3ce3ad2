//! The order of observations that have the same time: by interface, and those of one interface as they stand in their file.
//!
//! A clock that steps slowly stamps a segment and its acknowledgement alike; only the file still knows which came first. How
//! interfaces stand to each other in a file says nothing (`dumpcap` writes them in turns), so that one file and a file
//! for each interface give the same order. Packets of one interface that lie in several files have lost theirs: addresses,
//! sequence and acknowledgement then decide.

use std::cmp::Ordering;
use std::net::IpAddr;

use wire::{L4, Observation, Point, seq};

/// Puts observations of one capture in order of time, those of one time in the order above.
pub fn sort(observations: &mut [Observation], points: &[Point]) {
    observations.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| by_interface(a, b, points)));
}

/// Orders two observations of one time, of different files.
pub(crate) fn compare(a: &Observation, b: &Observation, points: &[Point]) -> Ordering {
    by_interface(a, b, points).then_with(|| flow(ends(a)).cmp(&flow(ends(b)))).then_with(|| by_numbers(a, b))
}

/// Whether it matters which of two observations of one time and different files came first, and nothing shows it.
pub(crate) fn is_lost(a: &Observation, b: &Observation, points: &[Point]) -> bool {
    let ((low, high, _), (its_low, its_high, _)) = (flow(ends(a)), flow(ends(b)));
    by_interface(a, b, points).is_eq() && (low, high) == (its_low, its_high) && a.frame != b.frame
}

fn by_interface(a: &Observation, b: &Observation, points: &[Point]) -> Ordering {
    match a.point == b.point {
        true => Ordering::Equal,
        false => interface(a, points).cmp(interface(b, points)),
    }
}

fn interface<'a>(observation: &Observation, points: &'a [Point]) -> &'a str {
    points.get(observation.point.0 as usize).map_or("", |point| &point.interface)
}

type End = (IpAddr, u16);

/// Source and destination.
fn ends(observation: &Observation) -> (End, End) {
    let ip = &observation.frame.ip;
    let (source, destination) = match &observation.frame.l4 {
        L4::Tcp(tcp) => (tcp.source_port, tcp.destination_port),
        _ => (0, 0),
    };
    ((ip.source, source), (ip.destination, destination))
}

/// Lower end, higher end, whether it goes from the higher to the lower.
fn flow((source, destination): (End, End)) -> (End, End, bool) {
    if source < destination { (source, destination, false) } else { (destination, source, true) }
}

/// Sequence numbers wrap: only their distance orders them.
fn by_numbers(a: &Observation, b: &Observation) -> Ordering {
    let ((a_seq, a_ack), (b_seq, b_ack)) = (numbers(a), numbers(b));
    seq::diff(a_seq, b_seq).cmp(&0).then(seq::diff(a_ack, b_ack).cmp(&0))
}

fn numbers(observation: &Observation) -> (u32, u32) {
    match &observation.frame.l4 {
        L4::Tcp(tcp) => (tcp.seq, tcp.ack),
        _ => (0, 0),
    }
}
