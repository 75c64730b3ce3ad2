//! What one subflow shows of who is near.

use tables::Direction;
use wire::CaptureDirection;

/// How fast somebody acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    pub(super) least_nanos: Option<u64>,
    pub(super) count: u64,
}

/// What one subflow shows of who is near. Arrays are by the direction in which a side sends.
#[derive(Debug, Default)]
pub(super) struct Signs {
    pub(super) answers: [Answers; 2],
    pub(super) prompt: [Answers; 2],
    /// Of the first packet.
    ttls: [Option<u8>; 2],
    /// Outbound, and inbound.
    pub(super) directions: [[u64; 2]; 2],
}

impl Answers {
    fn add(&mut self, nanos: u64) {
        self.least_nanos = Some(self.least_nanos.map_or(nanos, |least| least.min(nanos)));
        self.count += 1;
    }

    pub(super) fn merge(&mut self, other: Answers) {
        self.least_nanos = self.least_nanos.into_iter().chain(other.least_nanos).min();
        self.count += other.count;
    }
}

impl Signs {
    /// The side that sends in direction `by` acknowledged data. It may have waited for more to come, unless that was more than
    /// a segment (RFC 9293 §3.8.6.3: every second one is acknowledged at once).
    pub(super) fn answer(&mut self, by: Direction, nanos: u64, delayed: bool) {
        self.answers[by as usize].add(nanos);
        if !delayed {
            self.prompt[by as usize].add(nanos);
        }
    }

    #[inline]
    pub(super) fn packet(&mut self, by: Direction, ttl: u8, captured: Option<CaptureDirection>) {
        let ttl_known = &mut self.ttls[by as usize];
        if ttl_known.is_none() {
            *ttl_known = Some(ttl);
        }
        if let Some(captured) = captured {
            self.directions[by as usize][usize::from(captured == CaptureDirection::Inbound)] += 1;
        }
    }

    /// Of the side that sends in direction `by`.
    pub(super) fn is_unforwarded(&self, by: Direction) -> Option<bool> {
        self.ttls[by as usize].map(is_unforwarded)
    }
}

/// Whether no router has passed a packet on: hosts begin with one of these.
pub(super) fn is_unforwarded(ttl: u8) -> bool {
    matches!(ttl, 64 | 128 | 255)
}
