//! Throughput over time, and how even it is.

use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind};
use crate::report::{Report, mbps};
use tables::Direction;
use wire::Time;

pub(crate) struct Throughput {
    bin_nanos: i64,
    start: Time,
    /// The bin of the latest event.
    bin: Bin,
    flows: PerFlow<Pair>,
    connection: [Pair; 2],
}

#[derive(Clone, Copy, Debug)]
struct Bin {
    index: u64,
    begin: Time,
    end: Time,
}

/// Bytes as they arrive, and as they are acknowledged.
#[derive(Debug, Default)]
struct Pair {
    arrived: Series,
    acknowledged: Series,
}

/// Bytes per bin; only bins that have some, so that idle time costs nothing.
#[derive(Debug, Default)]
struct Series(Vec<(u64, u64)>);

/// A longer series is not looked at as a series.
const MOST_BINS: u64 = 1_000_000;
/// More rows of a connection and direction are not written out: a day of three series in bins of 1 s.
const MOST_ROWS: u64 = 1 << 18;

/// Mean and deviation of a series, in Mbit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Evenness {
    mean: Option<f64>,
    sigma: Option<f64>,
    coefficient_of_variation: Option<f64>,
}

impl Metric for Throughput {
    fn new(options: &Options, start: Time) -> Self {
        let bin = Bin { index: 0, begin: start, end: start + options.bin_ns };
        Throughput { bin_nanos: options.bin_ns, start, bin, flows: PerFlow::default(), connection: Default::default() }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match event.kind {
            Kind::Arrived { bytes } => {
                let bin = self.bin(event.seen.at);
                self.flows.of(event).arrived.add(bin, bytes);
            }
            Kind::Confirmed { bytes } => {
                let bin = self.bin(event.seen.at);
                self.flows.of(event).acknowledged.add(bin, bytes);
            }
            Kind::Progress { bytes } => {
                let bin = self.bin(event.seen.at);
                self.connection[event.direction as usize].arrived.add(bin, bytes);
            }
            Kind::DataAcked { bytes } => {
                let bin = self.bin(event.seen.at);
                self.connection[event.direction as usize].acknowledged.add(bin, bytes);
            }
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for direction in Direction::BOTH.into_iter().filter(|&direction| closing.speaks_for_receiver(direction)) {
            let d = direction as usize;
            let Some(elapsed_nanos) = closing.elapsed_nanos(direction) else { continue };
            let by_arrival = !closing.is_sender(direction);
            let written = self.fits(report, elapsed_nanos);
            let evenness = self.lay_out(
                closing,
                report,
                (None, direction, written),
                elapsed_nanos,
                self.connection[d].pick(by_arrival),
            );
            let row = &mut report.transfers[d];
            row.throughput_mbps_mean = evenness.mean;
            row.throughput_mbps_sigma = evenness.sigma;
            row.coefficient_of_variation = evenness.coefficient_of_variation;
            for subflow in 0..report.flows.len() {
                let series = std::mem::take(self.flows.at(subflow, direction));
                let of = (Some(subflow as u32), direction, written);
                let evenness = self.lay_out(closing, report, of, elapsed_nanos, series.pick(by_arrival));
                let row = &mut report.flows[subflow][d];
                row.throughput_mbps_mean = evenness.mean;
                row.throughput_mbps_sigma = evenness.sigma;
                row.coefficient_of_variation = evenness.coefficient_of_variation;
            }
        }
    }
}

impl Throughput {
    /// Index of the bin that holds a time. Dividing is slow, and most events fall into the bin of the one before.
    #[inline]
    fn bin(&mut self, at: Time) -> u64 {
        if at < self.bin.begin || at >= self.bin.end {
            let index = (at - self.start).max(0) / self.bin_nanos;
            let begin = self.start + index * self.bin_nanos;
            self.bin = Bin { index: index as u64, begin, end: begin + self.bin_nanos };
        }
        self.bin.index
    }

    fn bins(&self, elapsed_nanos: i64) -> u64 {
        (elapsed_nanos.max(1) as u64).div_ceil(self.bin_nanos as u64)
    }

    /// Whether the series are short enough to be written out; says so if not.
    fn fits(&self, report: &mut Report, elapsed_nanos: i64) -> bool {
        let rows = self.bins(elapsed_nanos).saturating_mul(1 + report.flows.len() as u64);
        if rows > MOST_ROWS {
            report.leave_out_throughput(rows);
        }
        rows <= MOST_ROWS
    }

    fn lay_out(
        &self,
        closing: &Closing,
        report: &mut Report,
        (subflow, direction, written): (Option<u32>, Direction, bool),
        elapsed_nanos: i64,
        series: &Series,
    ) -> Evenness {
        let bins = self.bins(elapsed_nanos);
        if series.0.is_empty() || bins > MOST_BINS {
            return Evenness::default();
        }
        let mut bytes = vec![0; bins as usize];
        // What arrives after the last acknowledgement counts for the last bin.
        series.0.iter().for_each(|&(bin, n)| bytes[(bin as usize).min(bins as usize - 1)] += n);
        for (bin, &n) in bytes.iter().enumerate().filter(|_| written) {
            let begin = bin as i64 * self.bin_nanos;
            let at = closing.start + begin;
            report.throughput.push(tables::Throughput {
                connection: 0,
                subflow,
                direction,
                at_ns: at.as_nanos(),
                at_s: closing.seconds(at),
                bytes: n,
                throughput_mbps: mbps(n, self.bin_nanos.min(elapsed_nanos - begin)).unwrap_or(0.0),
            });
        }
        let whole = (elapsed_nanos / self.bin_nanos) as usize;
        let trim = (closing.options.trim_ns / self.bin_nanos) as usize;
        let window = (closing.options.smoothing_ns / self.bin_nanos).max(1) as usize;
        evenness(bytes[..whole].get(trim..).unwrap_or_default(), window, self.bin_nanos)
    }
}

/// Of the moving average over `window` bins, where the window fits wholly.
fn evenness(bytes: &[u64], window: usize, bin_nanos: i64) -> Evenness {
    let smooth: Vec<f64> = bytes
        .windows(window)
        .map(|window| window.iter().sum::<u64>() as f64 * 8e3 / (bin_nanos as f64 * window.len() as f64))
        .collect();
    let n = smooth.len() as f64;
    if smooth.len() < 2 {
        return Evenness { mean: smooth.first().copied(), ..Evenness::default() };
    }
    let mean = smooth.iter().sum::<f64>() / n;
    let sigma = (smooth.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    Evenness { mean: Some(mean), sigma: Some(sigma), coefficient_of_variation: (mean > 0.0).then_some(sigma / mean) }
}

impl Pair {
    fn pick(&self, by_arrival: bool) -> &Series {
        if by_arrival { &self.arrived } else { &self.acknowledged }
    }
}

impl Series {
    fn add(&mut self, bin: u64, bytes: u64) {
        match self.0.last_mut() {
            Some(last) if last.0 == bin => last.1 += bytes,
            _ => self.0.push((bin, bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Mbit and 3 Mbit in turns: mean 2 Mbit/s, σ² = 4/3 of 4 values; smoothed over two bins it is even.
    #[test]
    fn evenness_is_the_coefficient_of_variation_of_the_smoothed_series() {
        let bytes = [125_000, 375_000, 125_000, 375_000];
        let second = 1_000_000_000;
        let rough = evenness(&bytes, 1, second);
        assert_eq!(rough.mean, Some(2.0));
        assert!((rough.sigma.unwrap().powi(2) - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(evenness(&bytes, 2, second).coefficient_of_variation, Some(0.0));
        assert_eq!(evenness(&bytes[..1], 1, second).sigma, None);
    }
}
