//! Round-trip times of data, at its sender.

use super::distribution;
use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind, Seen};
use crate::histogram::Histogram;
use crate::report::Report;
use tables::Direction;
use wire::Time;

pub(crate) struct Rtt {
    flows: PerFlow<Flow>,
    /// Samples, where they are wanted.
    samples: Option<Vec<Sample>>,
}

#[derive(Debug, Default)]
struct Flow {
    times: Histogram,
    last_nanos: Option<u64>,
    /// Sixteenths of a nanosecond, as RFC 3550 §A.8 keeps it.
    jitter: u64,
}

struct Sample {
    seen: Seen,
    subflow: usize,
    direction: Direction,
    nanos: u64,
}

impl Metric for Rtt {
    fn new(options: &Options, _: Time) -> Self {
        Rtt { flows: PerFlow::default(), samples: options.samples.then(Vec::new) }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        let Kind::Rtt { nanos } = event.kind else { return };
        let flow = self.flows.of(event);
        flow.times.add(nanos);
        if let Some(last) = flow.last_nanos.replace(nanos) {
            // RFC 3550 §6.4.1 and §A.8.
            let change = nanos.abs_diff(last);
            flow.jitter = flow.jitter.saturating_add(change) - (flow.jitter.saturating_add(8) >> 4);
        }
        if let Some(samples) = &mut self.samples {
            samples.push(Sample { seen: event.seen, subflow: event.subflow, direction: event.direction, nanos });
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for direction in Direction::BOTH.into_iter().filter(|&direction| closing.is_sender(direction)) {
            let d = direction as usize;
            let mut all = Histogram::default();
            for (subflow, rows) in report.flows.iter_mut().enumerate() {
                let flow = self.flows.at(subflow, direction);
                let (times, row) = (&flow.times, &mut rows[d]);
                all.merge(times);
                let rows = distribution::rows(times, "rtt", Some(subflow as u32), direction);
                report.distributions.extend(rows);
                row.rtt_samples = Some(times.count());
                row.rtt_ms_mean = times.mean_ms();
                row.rtt_ms_sigma = times.sigma_ms();
                row.rtt_ms_min = times.min_ms();
                row.rtt_ms_median = times.quantile_ms(0.5);
                row.rtt_ms_p90 = times.quantile_ms(0.9);
                row.rtt_ms_p95 = times.quantile_ms(0.95);
                row.rtt_ms_p99 = times.quantile_ms(0.99);
                row.rtt_ms_max = times.max_ms();
                row.rtt_ms_spread = times.quantile_ms(0.95).zip(times.quantile_ms(0.05)).map(|(high, low)| high - low);
                row.rtt_jitter_ms = (times.count() > 1).then_some(flow.jitter as f64 / 16.0 / 1e6);
            }
            report.distributions.extend(distribution::rows(&all, "rtt", None, direction));
            let transfer = &mut report.transfers[d];
            transfer.rtt_samples = Some(all.count());
            transfer.rtt_ms_mean = all.mean_ms();
            transfer.rtt_ms_sigma = all.sigma_ms();
            transfer.rtt_ms_median = all.quantile_ms(0.5);
            transfer.rtt_ms_p95 = all.quantile_ms(0.95);
            transfer.rtt_ms_p99 = all.quantile_ms(0.99);
        }
        let samples = self.samples.take().unwrap_or_default().into_iter();
        report.rtt.extend(samples.filter(|sample| closing.is_sender(sample.direction)).map(|sample| tables::Rtt {
            connection: 0,
            subflow: sample.subflow as u32,
            direction: sample.direction,
            at_ns: sample.seen.at.as_nanos(),
            at_s: closing.seconds(sample.seen.at),
            rtt_ms: sample.nanos as f64 / 1e6,
            capture: closing.capture(sample.seen),
            record: sample.seen.record,
        }));
    }
}
