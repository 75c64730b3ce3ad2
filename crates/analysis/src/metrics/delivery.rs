//! What came through: bytes delivered, over which subflow they came first, and what was sent again elsewhere.

use super::{Metric, PerFlow};
use crate::Options;
use crate::event::{FlowEvent, Kind};
use crate::report::{Closing, Report, mbps};
use tables::Direction;
use wire::Time;

#[derive(Default)]
pub(crate) struct Delivery(PerFlow<Flow>);

#[derive(Debug, Default)]
struct Flow {
    arrived_bytes: u64,
    confirmed_bytes: u64,
    reinjected_bytes: u64,
    reinjected_packets: u64,
    active: Option<(Time, Time)>,
}

impl Metric for Delivery {
    fn new(_: &Options, _: Time) -> Self {
        Delivery::default()
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match event.kind {
            Kind::Arrived { bytes } => {
                let flow = self.0.of(event);
                flow.arrived_bytes += bytes;
                flow.active = Some((flow.active.map_or(event.seen.at, |active| active.0), event.seen.at));
            }
            Kind::Confirmed { bytes } => {
                let flow = self.0.of(event);
                flow.confirmed_bytes += bytes;
                flow.active = Some((flow.active.map_or(event.seen.at, |active| active.0), event.seen.at));
            }
            Kind::Reinjected { bytes } => {
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
            if closing.speaks_for_client() {
                report.elapsed_nanos[d] = closing.elapsed_nanos(direction);
            }
            if closing.speaks_for_receiver(direction) {
                report.transfers[d].bytes = closing.delivered_bytes(direction);
                for (subflow, rows) in report.flows.iter_mut().enumerate() {
                    let flow = self.0.at(subflow, direction);
                    // What the sender's end sees leave may be lost; there, what is acknowledged arrived.
                    let delivered =
                        if closing.is_sender(direction) { flow.confirmed_bytes } else { flow.arrived_bytes };
                    rows[d].delivered_bytes = delivered;
                    rows[d].active_throughput_mbps =
                        flow.active.and_then(|(first, last)| mbps(delivered, last - first));
                }
            }
            if closing.speaks_for_sender(direction) && closing.connection.version.is_some() {
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
