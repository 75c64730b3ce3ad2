//! Reno (RFC 5681, RFC 6582): a packet per round trip, half of the window at a loss. On several subflows: uncoupled.

use super::{Acked, Congestion, Window, single};

pub(super) const SUMMARY: &str =
    "RFC 5681: each subflow like a TCP connection: one packet more per round trip, half the window at a loss";

/// Reno on every subflow, uncoupled.
#[derive(Default)]
pub struct Reno;

impl Congestion for Reno {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.grow(i, all, acked, single);
    }
}
