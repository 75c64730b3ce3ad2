//! BBR, version 1 as in Linux (`net/ipv4/tcp_bbr.c`; Cardwell et al., ACM Queue 14-5, 2016), on every subflow by itself:
//! a model of the path, its greatest delivery rate and its least round-trip time, says how fast to send and how much may
//! be in flight. Losses say nothing.
//!
//! Left out is the long-term rate behind policers (`bbr_lt_bw_sampling`). Linux counts what its pacing holds back as not in
//! the network; here nothing waits between a subflow and the link.

mod filter;
mod flow;

use super::{Acked, ByRate, Cause, Congestion, Sample, Window};
use flow::Flow;
use wire::Time;

pub(super) const SUMMARY: &str =
    "BBR v1 as in Linux: each subflow on its own, paced at the highest delivery rate of its path";

/// BBR on every subflow, uncoupled.
#[derive(Default)]
pub struct Bbr {
    subflows: Vec<Flow>,
}

impl Congestion for Bbr {
    fn acked(&mut self, _: usize, _: &mut [Window], _: &Acked) {}

    fn lost(&mut self, i: usize, all: &mut [Window], _: Time, _: Cause) {
        if let Some(flow) = self.subflows.get_mut(i) {
            flow.lost(&all[i]);
        }
    }

    fn timed_out(&mut self, i: usize) {
        if let Some(flow) = self.subflows.get_mut(i) {
            flow.timed_out();
        }
    }

    fn undone(&mut self, i: usize) {
        if let Some(flow) = self.subflows.get_mut(i) {
            flow.undone();
        }
    }

    fn by_rate(&mut self) -> Option<&mut dyn ByRate> {
        Some(self)
    }

    fn is_reno_alone(&self) -> bool {
        false
    }
}

impl ByRate for Bbr {
    fn started(&mut self, i: usize, window: &Window, now: Time, random: u64) -> u64 {
        if self.subflows.len() <= i {
            self.subflows.resize_with(i + 1, Flow::default);
        }
        self.subflows[i] = Flow::new(window, now, random);
        self.subflows[i].bytes_per_second()
    }

    fn delivered(&mut self, i: usize, window: &mut Window, sample: &Sample) -> u64 {
        self.subflows[i].delivered(window, sample);
        self.subflows[i].bytes_per_second()
    }

    fn holds_back(&self, i: usize) -> bool {
        self.subflows[i].is_probing_rtt()
    }

    fn restarted(&mut self, i: usize, window: &mut Window, now: Time) -> u64 {
        self.subflows[i].restarted(window, now);
        self.subflows[i].bytes_per_second()
    }
}
