//! What came through: bytes delivered, over which subflow they came first, and what was sent again elsewhere.

use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind};
use crate::report::{Report, mbps};
use tables::Direction;
use wire::Time;

#[derive(Default)]
pub(crate) struct Delivery(PerFlow<Flow>);

#[derive(Debug, Default)]
struct Flow {
    reinjected_bytes: u64,
    reinjected_packets: u64,
    arrived: Active,
    confirmed: Active,
}

/// First and last time that data came.
#[derive(Clone, Copy, Debug, Default)]
struct Active(Option<(Time, Time)>);

/// In a shorter time bursts are as fast as the line, or as the host that merged them: no rate of the subflow.
const LEAST_ACTIVE_NANOS: i64 = 10_000_000;

impl Metric for Delivery {
    fn new(_: &Options, _: Time) -> Self {
        Delivery::default()
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match event.kind {
            Kind::Arrived { .. } => self.0.of(event).arrived.add(event.seen.at),
            Kind::Confirmed { .. } => self.0.of(event).confirmed.add(event.seen.at),
            Kind::Reinjected { bytes, .. } => {
                let flow = self.0.of(event);
                flow.reinjected_bytes += bytes;
                flow.reinjected_packets += 1;
            }
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for direction in Direction::BOTH {
            let d = direction as usize;
            // The time is the client's, who waits; what came through is the receiver's to say.
            if closing.tells_time() {
                report.elapsed_nanos[d] = closing.elapsed_nanos(direction);
            }
            if closing.tells_delivered(direction) {
                report.transfers[d].bytes = closing.delivered_bytes(direction);
            }
            if let Some(carried) = closing.carried(direction) {
                for (subflow, rows) in report.flows.iter_mut().enumerate() {
                    let flow = self.0.at(subflow, direction);
                    // What the sender's end sees leave may be lost; there, what is acknowledged arrived.
                    let active = if closing.is_sender(direction) { flow.confirmed } else { flow.arrived };
                    rows[d].delivered_bytes = Some(carried[subflow]);
                    rows[d].active_throughput_mbps = active
                        .nanos()
                        .filter(|&nanos| nanos >= LEAST_ACTIVE_NANOS)
                        .and_then(|nanos| mbps(carried[subflow], nanos));
                }
            }
            if closing.speaks_for_sender(direction) && closing.speaks_mptcp {
                let mut all = (0, 0);
                for (subflow, rows) in report.flows.iter_mut().enumerate() {
                    let flow = self.0.at(subflow, direction);
                    rows[d].reinjected_bytes = Some(flow.reinjected_bytes);
                    all = (all.0 + flow.reinjected_bytes, all.1 + flow.reinjected_packets);
                }
                report.transfers[d].reinjected_bytes = Some(all.0);
                report.transfers[d].reinjected_packets = Some(all.1);
            }
        }
    }
}

impl Active {
    #[inline]
    fn add(&mut self, at: Time) {
        self.0 = Some((self.0.map_or(at, |(first, _)| first), at));
    }

    fn nanos(self) -> Option<i64> {
        self.0.map(|(first, last)| last - first)
    }
}
