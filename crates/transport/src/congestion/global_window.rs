//! One window for the whole connection, which is a TCP's (Vondrous, Macejko, Kocur: Multipath TCP in LTE networks, algorithm 3):
//! a packet that is acknowledged on any path adds 1/W, a loss on any path halves W.
//!
//! How the window is split over the paths the paper leaves open. Here what an acknowledged packet adds goes to its path, and
//! a loss halves every path's part. So a path's part follows the packets that it delivers.

use super::{Acked, Cause, Congestion, Window, fully_coupled::increase};
use wire::Time;

pub(super) const SUMMARY: &str =
    "one window for the connection, like a TCP's: it grows where packets arrive; a loss halves every path's part";

/// One global window.
#[derive(Default)]
pub struct GlobalWindow;

impl Congestion for GlobalWindow {
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked) {
        self.grow(i, all, acked, increase);
    }

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        for (j, window) in all.iter_mut().enumerate() {
            // Of one in recovery the window is in motion: it will end at its ssthresh, that is at half of that.
            let packets = if window.recovering { window.ssthresh_packets } else { window.cwnd_packets };
            let half = (packets / 2.0).max(2.0);
            if j == i {
                window.ssthresh_packets = window.half_packets();
            } else if window.usable && half < packets {
                window.ssthresh_packets = half;
                if !window.recovering {
                    window.cwnd_packets = half;
                }
            }
        }
    }
}
