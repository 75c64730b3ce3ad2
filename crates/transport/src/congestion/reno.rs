//! Reno (RFC 5681, RFC 6582): a packet per round trip, half of the window at a loss. On several subflows: uncoupled.

use super::{Acked, Cause, Congestion, Window};
use wire::Time;

pub(super) const SUMMARY: &str =
    "RFC 5681: each subflow as a TCP of its own, one packet more per round trip, half at a loss";

/// Reno on every subflow, uncoupled.
#[derive(Default)]
pub struct Reno;

impl Congestion for Reno {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        if !acked.cwnd_limited {
            return;
        }
        // RFC 5681 eq. (3), once per packet: an ACK of two does what two ACKs of one do.
        for _ in 0..self.slow_start(i, all, acked) {
            all[i].cwnd_packets += 1.0 / all[i].cwnd_packets;
        }
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        all[i].ssthresh_packets = all[i].half_packets();
    }
}
