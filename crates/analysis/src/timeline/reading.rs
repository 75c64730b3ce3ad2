//! What findings read off a timeline: what came when, how fast, and where nothing was answered.

use super::{Bin, Flow, Timeline};
use std::ops::Range;

/// Rates are those over so long.
const OVER_S: f64 = 0.2;
/// What a path carries shows in times of this length.
const LONG_S: f64 = 0.5;

impl Flow {
    /// Time of a bin in which other subflows' data waited for it.
    pub(crate) fn waited_us(&self, index: usize) -> u32 {
        self.bins.get(index).map_or(0, |bin| bin.waited_us)
    }
}

impl Timeline {
    /// New bytes over all subflows in a bin.
    pub(crate) fn came(&self, index: usize) -> f64 {
        self.flows.iter().map(|flow| f64::from(flow.bins.get(index).copied().unwrap_or_default().came_bytes)).sum()
    }

    /// Bytes over all subflows in a bin that had come before.
    pub(crate) fn again(&self, index: usize) -> f64 {
        self.flows.iter().map(|flow| f64::from(flow.bins.get(index).copied().unwrap_or_default().again_bytes)).sum()
    }

    /// A bin of a subflow; an empty one where nothing passed.
    pub(crate) fn of(&self, subflow: usize, index: usize) -> Bin {
        self.flows.get(subflow).and_then(|flow| flow.bins.get(index)).copied().unwrap_or_default()
    }

    /// In what part of the bins with a round trip the least one took so long and longer.
    pub(crate) fn part_above(&self, subflow: usize, rtt_us: f64) -> f64 {
        let measured = (0..self.whole.len()).map(|index| f64::from(self.of(subflow, index).rtt_us));
        let measured: Vec<f64> = measured.filter(|&rtt_us| rtt_us > 0.0).collect();
        measured.iter().filter(|&&measured| measured >= rtt_us).count() as f64 / measured.len().max(1) as f64
    }

    pub(crate) fn width_s(&self) -> f64 {
        self.width_nanos as f64 / 1e9
    }

    /// The rate of a subflow where it carried something, bytes per second.
    pub(crate) fn rate(&self, subflow: usize) -> f64 {
        self.rate_together(&[subflow])
    }

    /// The same of subflows that go over one path, at one time or one after another.
    pub(crate) fn rate_together(&self, subflows: &[usize]) -> f64 {
        let came = |index| subflows.iter().map(|&one| f64::from(self.of(one, index).came_bytes)).sum();
        let came: Vec<f64> = (0..self.whole.len()).map(came).collect();
        usual_rate(&came, self.width_s())
    }

    /// The same of all subflows together in a span of bins.
    pub(crate) fn rate_of_all(&self, span: Range<usize>) -> f64 {
        let came: Vec<f64> = span.map(|index| self.came(index)).collect();
        usual_rate(&came, self.width_s())
    }

    /// The most that came in two times in a row, of half a second each, bytes per second.
    pub(crate) fn best(&self, came: impl Fn(usize) -> f64) -> f64 {
        let over = (LONG_S / self.width_s()).ceil() as usize;
        let starts = (0..self.whole.len()).step_by(over);
        let sums: Vec<f64> = starts.map(|from| (from..(from + over).min(self.whole.len())).map(&came).sum()).collect();
        let least = sums.windows(2).map(|pair| pair[0].min(pair[1]));
        least.fold(0.0, f64::max) / (over as f64 * self.width_s())
    }

    /// Bytes of a subflow in a span of bins.
    pub(crate) fn bytes(&self, subflow: usize, span: Range<usize>) -> f64 {
        span.map(|index| f64::from(self.of(subflow, index).came_bytes)).sum()
    }

    /// Whether the receive window was shut in most of a span of bins.
    pub(crate) fn is_shut(&self, span: Range<usize>) -> bool {
        let shut_us = self.whole[span.clone()].iter().map(|bin| f64::from(bin.shut_us)).sum::<f64>();
        shut_us > span.len() as f64 * self.width_nanos as f64 / 2e3
    }

    /// The bin that so many seconds after its start lie in.
    pub(crate) fn index_at(&self, seconds: f64) -> usize {
        ((seconds / self.width_s()).max(0.0) as usize).min(self.whole.len())
    }
}

/// The rate over a fifth of a second that a quarter of those exceed in which anything came.
pub(crate) fn usual_rate(came: &[f64], width_s: f64) -> f64 {
    let together = (OVER_S / width_s).ceil().max(1.0) as usize;
    let mut sums: Vec<f64> =
        came.chunks(together).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
    sums.retain(|&sum| sum > 0.0);
    sums.sort_by(f64::total_cmp);
    sums.get(sums.len() * 3 / 4).map_or(0.0, |&sum| sum / width_s)
}

/// Whether a limit held in most of the times in which most came: what was best was the limit's own then.
pub(crate) fn is_bound(timeline: &Timeline, limits: impl Fn(usize) -> bool) -> bool {
    let together = (OVER_S / timeline.width_s()).ceil().max(1.0) as usize;
    let mut times: Vec<(f64, bool)> = (0..timeline.whole.len())
        .step_by(together)
        .map(|from| from..(from + together).min(timeline.whole.len()))
        .map(|span| {
            let came = span.clone().map(|index| timeline.came(index)).sum::<f64>() / span.len() as f64;
            (came, span.clone().any(&limits))
        })
        .filter(|(came, _)| *came > 0.0)
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = &times[times.len() * 3 / 4..];
    best.iter().filter(|(_, limited)| *limited).count() * 2 > best.len()
}

/// Times, of the first so many, in which nothing was acknowledged on a subflow with so much in flight, for so long.
pub(crate) fn silences(bins: &[Bin], count: usize, width_s: f64, least_s: f64, least_bytes: u32) -> Vec<Range<usize>> {
    let of = |index: usize| bins.get(index).copied().unwrap_or_default();
    // What is never answered is silent from the beginning.
    let mut answered: Vec<usize> = (0..count).filter(|&index| index == 0 || of(index).answered).collect();
    answered.push(count);
    let silent = |pair: &[usize]| {
        // What is in flight is kept with one byte more.
        let waits = (pair[0]..pair[1]).find(|&index| of(index).left_bytes > least_bytes)?;
        Some(waits.max(pair[0] + 1)..pair[1]).filter(|silent| silent.len() as f64 * width_s >= least_s)
    };
    answered.windows(2).filter_map(silent).collect()
}
