//! Every packet with data, and where its bytes lie: what sequence graphs are drawn from.

use super::metric::Metric;
use crate::Options;
use crate::closing::Closing;
use crate::event::{Data, FlowEvent, Kind, Seen};
use crate::report::Report;
use tables::Direction;
use wire::Time;

pub(crate) struct Segments {
    samples: Option<Vec<Sample>>,
}

struct Sample {
    seen: Seen,
    subflow: usize,
    direction: Direction,
    data: Data,
    reinjected_bytes: u32,
}

impl Metric for Segments {
    fn new(options: &Options, _: Time) -> Self {
        Segments { samples: options.samples.then(Vec::new) }
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        let Some(samples) = &mut self.samples else { return };
        match event.kind {
            Kind::Data(data) if data.has_payload() => {
                let (seen, subflow, direction) = (event.seen, event.subflow, event.direction);
                samples.push(Sample { seen, subflow, direction, data, reinjected_bytes: 0 });
            }
            // Of the segment just reported.
            Kind::Reinjected { bytes, .. } => {
                let sample = samples.last_mut().expect("a segment brought the bytes");
                sample.reinjected_bytes = sample.reinjected_bytes.saturating_add(bytes as u32);
            }
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        let samples = self.samples.take().unwrap_or_default().into_iter();
        report.segments.extend(samples.filter(|sample| closing.speaks_for_sender(sample.direction)).map(|sample| {
            tables::Segment {
                connection: 0,
                subflow: sample.subflow as u32,
                direction: sample.direction,
                at_ns: sample.seen.at.as_nanos(),
                at_s: closing.seconds(sample.seen.at),
                data_offset_bytes: sample.data.data_offset,
                subflow_offset_bytes: sample.data.offset,
                bytes: sample.data.bytes,
                kind: sample.kind(closing.is_sender(sample.direction)),
                retransmitted_bytes: sample.data.resent_bytes(),
                reinjected_bytes: sample.reinjected_bytes,
                capture: closing.capture(sample.seen),
                record: sample.seen.record,
            }
        }));
    }
}

impl Sample {
    fn kind(&self, at_sender: bool) -> Option<&'static str> {
        if self.data.probe.is_some() {
            Some("probe")
        } else if self.data.resent_bytes() > 0 {
            Some("retransmission")
        } else if self.reinjected_bytes > 0 {
            Some("reinjection")
        } else if at_sender || !self.data.fills_gap {
            Some("new")
        } else {
            None
        }
    }
}
