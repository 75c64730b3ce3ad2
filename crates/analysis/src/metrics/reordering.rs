//! Out-of-order delay at connection level, at the receiver of the data.

use super::distribution;
use super::metric::Metric;
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind, Seen};
use crate::histogram::Histogram;
use crate::report::Report;
use tables::Direction;
use wire::Time;

pub(crate) struct Reordering {
    delays: [Histogram; 2],
    late: [u64; 2],
    samples: Option<Vec<Sample>>,
}

struct Sample {
    seen: Seen,
    subflow: usize,
    direction: Direction,
    offset: i64,
    bytes: u32,
    delay_nanos: u64,
}

impl Metric for Reordering {
    fn new(options: &Options, _: Time) -> Self {
        Reordering { delays: Default::default(), late: [0; 2], samples: options.samples.then(Vec::new) }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        let Kind::InOrder { offset, bytes, delay_nanos } = event.kind else { return };
        let d = event.direction as usize;
        self.delays[d].add(delay_nanos);
        self.late[d] += u64::from(delay_nanos > 0);
        if let Some(samples) = &mut self.samples {
            let (seen, subflow, direction) = (event.seen, event.subflow, event.direction);
            samples.push(Sample { seen, subflow, direction, offset, bytes, delay_nanos });
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        let tells = |direction| closing.is_receiver(direction) && !closing.lacks_data(direction);
        for direction in Direction::BOTH.into_iter().filter(|&direction| tells(direction)) {
            let d = direction as usize;
            let (delays, row) = (&self.delays[d], &mut report.transfers[d]);
            report.distributions.extend(distribution::rows(delays, "out_of_order_delay", None, direction));
            row.reordering_segments = Some(delays.count());
            row.out_of_order_segments = Some(self.late[d]);
            row.out_of_order_delay_ms_mean = delays.mean_ms();
            row.out_of_order_delay_ms_sigma = delays.sigma_ms();
            row.out_of_order_delay_ms_median = delays.quantile_ms(0.5);
            row.out_of_order_delay_ms_p90 = delays.quantile_ms(0.9);
            row.out_of_order_delay_ms_p95 = delays.quantile_ms(0.95);
            row.out_of_order_delay_ms_p99 = delays.quantile_ms(0.99);
            row.out_of_order_delay_ms_max = delays.max_ms();
        }
        let samples = self.samples.take().unwrap_or_default().into_iter();
        report.reordering.extend(samples.filter(|sample| tells(sample.direction)).map(|sample| tables::Reordering {
            connection: 0,
            subflow: sample.subflow as u32,
            direction: sample.direction,
            at_ns: sample.seen.at.as_nanos(),
            at_s: closing.seconds(sample.seen.at),
            data_offset_bytes: sample.offset.max(0) as u64,
            bytes: sample.bytes,
            out_of_order_delay_ms: sample.delay_nanos as f64 / 1e6,
            capture: closing.capture(sample.seen),
            record: sample.seen.record,
        }));
    }
}
