//! Bytes in flight, at the sender of the data, and the window that its receiver announces.

use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind, Seen};
use crate::report::Report;
use tables::Direction;
use wire::Time;

pub(crate) struct Window {
    flows: PerFlow<Flow>,
    samples: Option<Vec<Sample>>,
}

#[derive(Debug, Default)]
struct Flow {
    /// The next change was made by data.
    after_data: bool,
    in_flight_sum: u128,
    in_flight_count: u64,
    in_flight_max: u64,
    window: Option<(u64, u64)>,
}

struct Sample {
    seen: Seen,
    subflow: usize,
    direction: Direction,
    in_flight_bytes: u64,
    window_bytes: Option<u64>,
}

impl Metric for Window {
    fn new(options: &Options, _: Time) -> Self {
        Window { flows: PerFlow::default(), samples: options.samples.then(Vec::new) }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match event.kind {
            Kind::Data(_) => self.flows.of(event).after_data = true,
            Kind::Flight { in_flight_bytes, window_bytes } => {
                let flow = self.flows.of(event);
                if std::mem::take(&mut flow.after_data) {
                    flow.in_flight_sum += u128::from(in_flight_bytes);
                    flow.in_flight_count += 1;
                    flow.in_flight_max = flow.in_flight_max.max(in_flight_bytes);
                }
                if let Some(window) = window_bytes {
                    let (least, most) = flow.window.unwrap_or((window, window));
                    flow.window = Some((least.min(window), most.max(window)));
                }
                if let Some(samples) = &mut self.samples {
                    let (seen, subflow, direction) = (event.seen, event.subflow, event.direction);
                    samples.push(Sample { seen, subflow, direction, in_flight_bytes, window_bytes });
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for (subflow, rows) in report.flows.iter_mut().enumerate() {
            for direction in Direction::BOTH {
                let (flow, row) = (self.flows.at(subflow, direction), &mut rows[direction as usize]);
                if closing.is_sender(direction) && flow.in_flight_count > 0 {
                    row.in_flight_bytes_mean = Some(flow.in_flight_sum as f64 / flow.in_flight_count as f64);
                    row.in_flight_bytes_max = Some(flow.in_flight_max);
                }
                if closing.speaks_for_sender(direction) {
                    (row.window_bytes_min, row.window_bytes_max) = flow.window.unzip();
                }
            }
        }
        let samples = self.samples.take().unwrap_or_default().into_iter();
        report.window.extend(samples.filter(|sample| closing.speaks_for_sender(sample.direction)).map(|sample| {
            tables::Window {
                connection: 0,
                subflow: sample.subflow as u32,
                direction: sample.direction,
                at_ns: sample.seen.at.as_nanos(),
                at_s: closing.seconds(sample.seen.at),
                in_flight_bytes: closing.is_sender(sample.direction).then_some(sample.in_flight_bytes),
                window_bytes: sample.window_bytes,
                capture: closing.capture(sample.seen),
                record: sample.seen.record,
            }
        }));
    }
}
