//! How much each flow sent, and how much of it more than once.

use super::metric::{Metric, PerFlow};
use crate::Options;
use crate::closing::Closing;
use crate::event::{Data, FlowEvent, Kind, Probe};
use crate::report::Report;
use tables::{Diagnostic, Direction};
use wire::Time;

#[derive(Default)]
pub(crate) struct Volume(PerFlow<Flow>);

#[derive(Debug, Default)]
struct Flow {
    packets: u64,
    data_packets: u64,
    data_bytes: u64,
    new_bytes: u64,
    resent_packets: u64,
    resent_bytes: u64,
    duplicate_packets: u64,
    gap_filled_packets: u64,
    lost_before_packets: u64,
    zero_window_probes: u64,
    keep_alives: u64,
    merged_segments: u64,
    marked_packets: u64,
}

impl Metric for Volume {
    fn new(_: &Options, _: Time) -> Self {
        Volume::default()
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        match &event.kind {
            Kind::Packet => self.0.of(event).packets += 1,
            Kind::Data(data) => self.0.of(event).add(data),
            _ => {}
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        for (subflow, rows) in report.flows.iter_mut().enumerate() {
            for direction in Direction::BOTH {
                let flow = self.0.at(subflow, direction);
                let row = &mut rows[direction as usize];
                for count in [
                    &mut row.duplicate_packets,
                    &mut row.gap_filled_packets,
                    &mut row.zero_window_probe_packets,
                    &mut row.keep_alive_packets,
                ] {
                    count.get_or_insert(0);
                }
                if closing.speaks_for_sender(direction) {
                    row.packets = flow.packets;
                    row.data_packets = flow.data_packets;
                    row.data_bytes = flow.data_bytes;
                    row.bytes = flow.new_bytes;
                    row.duplicate_packets = Some(flow.duplicate_packets);
                    row.gap_filled_packets = Some(flow.gap_filled_packets);
                    row.zero_window_probe_packets = Some(flow.zero_window_probes);
                    row.keep_alive_packets = Some(flow.keep_alives);
                }
                *row.merged_segments.get_or_insert(0) += flow.merged_segments;
                if closing.is_sender(direction) {
                    row.retransmitted_packets = Some(flow.resent_packets);
                    row.retransmitted_bytes = Some(flow.resent_bytes);
                    row.loss_rate_percent =
                        (flow.data_packets > 0).then(|| 100.0 * flow.resent_packets as f64 / flow.data_packets as f64);
                }
                if closing.is_receiver(direction) {
                    row.marked_packets = Some(flow.marked_packets);
                }
                if closing.is_sender(direction) && flow.lost_before_packets > 0 {
                    report.diagnostics.push(lost_before(subflow, flow));
                }
                if closing.is_receiver(direction) {
                    report.arrived_bytes[subflow][direction as usize] = flow.new_bytes;
                }
            }
        }
    }
}

fn lost_before(subflow: usize, flow: &Flow) -> Diagnostic {
    let (lost, sent) = (flow.lost_before_packets, flow.data_packets);
    let all = 100.0 * (flow.resent_packets + lost) as f64 / (sent + lost) as f64;
    Diagnostic {
        subflow: Some(subflow as u32),
        diagnostic: "lost_before_capture",
        count: Some(lost),
        message: format!(
            "data packets first appear a round trip or more after the packets that follow them: they were lost on the host itself, \
             before the capture, and the loss rate does not count them; with them it would be {all:.2} %"
        )
        .into(),
        ..Diagnostic::default()
    }
}

impl Flow {
    #[inline(always)]
    fn add(&mut self, data: &Data) {
        match data.probe {
            Some(Probe::ZeroWindow) => self.zero_window_probes += 1,
            Some(Probe::KeepAlive) => self.keep_alives += 1,
            None => {}
        }
        if !data.has_payload() {
            return;
        }
        self.data_packets += u64::from(data.packets);
        self.data_bytes += u64::from(data.bytes);
        self.new_bytes += u64::from(data.new_bytes);
        self.resent_bytes += u64::from(data.resent_bytes());
        if data.probe.is_none() {
            self.resent_packets += u64::from(data.resent_packets);
            if data.new_bytes == 0 {
                self.duplicate_packets += u64::from(data.packets);
            }
        }
        if data.fills_gap {
            self.gap_filled_packets += u64::from(data.packets);
        }
        if data.lost_before {
            self.lost_before_packets += u64::from(data.packets);
        }
        self.merged_segments += u64::from(data.merged);
        if data.marked {
            self.marked_packets += u64::from(data.packets);
        }
    }
}
