//! The order of observations that have the same time: by interface, connection, direction, sequence, acknowledgement.
//! The same packets so come in the same order, however they were split into files.

use std::cmp::Ordering;
use std::net::IpAddr;

use wire::{L4, Observation, Point, seq};

/// Orders two observations of one time.
pub(crate) fn compare(a: &Observation, b: &Observation, points: &[Point]) -> Ordering {
    by_flow(a, b, points).then_with(|| {
        let ((a_seq, a_ack), (b_seq, b_ack)) = (numbers(a), numbers(b));
        seq::diff(a_seq, b_seq).cmp(&0).then(seq::diff(a_ack, b_ack).cmp(&0))
    })
}

/// Puts observations in order of time, those of one time in the order above; else they stay as they stand.
pub fn sort(observations: &mut [Observation], points: &[Point]) {
    if let [a, b] = observations {
        if b.at.cmp(&a.at).then_with(|| compare(b, a, points)).is_lt() {
            std::mem::swap(a, b);
        }
        return;
    }
    observations.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| by_flow(a, b, points)));
    let same = |a: &Observation, b: &Observation| a.at == b.at && by_flow(a, b, points).is_eq();
    for flow in observations.chunk_by_mut(same) {
        // Sequence numbers wrap: only their distance from one of them orders them totally.
        let (seq, ack) = numbers(&flow[0]);
        flow.sort_by_key(|observation| {
            let (its_seq, its_ack) = numbers(observation);
            (seq::diff(its_seq, seq), seq::diff(its_ack, ack))
        });
    }
}

fn by_flow(a: &Observation, b: &Observation, points: &[Point]) -> Ordering {
    let interfaces = match a.point == b.point {
        true => Ordering::Equal,
        false => interface(a, points).cmp(interface(b, points)),
    };
    interfaces.then_with(|| {
        let (a, b) = (ends(a), ends(b));
        if a == b { Ordering::Equal } else { flow(a).cmp(&flow(b)) }
    })
}

fn interface<'a>(observation: &Observation, points: &'a [Point]) -> &'a str {
    points.get(observation.point.0 as usize).map_or("", |point| &point.interface)
}

type End = (IpAddr, u16);

/// Source and destination.
#[inline]
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

#[inline]
fn numbers(observation: &Observation) -> (u32, u32) {
    match &observation.frame.l4 {
        L4::Tcp(tcp) => (tcp.seq, tcp.ack),
        _ => (0, 0),
    }
}
