//! Figures that no metric of one end gives: of both ends together, and of parts beside the whole.

use super::ends::JudgedEnd;
use crate::Options;
use crate::metrics;
use crate::quality::Application;
use crate::report::{Report, mbps};
use crate::tracker::connection::Connection;
use crate::tracker::subflow::Subflow;
use tables::Direction;

impl Connection {
    /// Figures that need both ends.
    pub(super) fn join_ends(&mut self, ends: &[Option<JudgedEnd>; 2], options: &Options, report: &mut Report) {
        let client = usize::from(ends[1].is_some_and(|judged| judged.sends == Some(Direction::Up)));
        for (rows, arrived) in report.flows.iter_mut().zip(&report.arrived_bytes) {
            // The sender's capture may lack some.
            rows.iter_mut().zip(arrived).for_each(|(row, &arrived)| row.bytes = row.bytes.max(arrived));
        }
        let Some(mut one_way) = self.one_way.take() else { return };
        one_way.finish(client, report);
        report.server_ahead_nanos = one_way.surely_ahead_nanos(client);
        if let Some(Application::Messages(messages)) = &options.application {
            let ahead_ns = one_way.ahead_nanos(client).map(|server| match messages.direction {
                Direction::Up => server,
                Direction::Down => server.saturating_neg(),
            });
            metrics::of_both_ends(messages, ahead_ns, report);
        }
        let to_end = !self.coverage.stops();
        for (index, (subflow, rows)) in self.subflows.iter().zip(&mut report.flows).enumerate() {
            let [Some(a), Some(b)] = &subflow.views else { continue };
            for direction in Direction::BOTH {
                let sender = if direction == Direction::Up { client } else { 1 - client };
                let [a, b] = [a, b].map(|view| &view.sequences[direction as usize]);
                let from_start = a.from_syn && b.from_syn;
                let row = &mut rows[direction as usize];
                // What a capture dropped is not lost.
                let whole = row.merged_segments.is_none_or(|merged| merged == 0)
                    && [a, b].iter().all(|end| !end.from_syn || end.missed_bytes() == 0);
                row.lost_packets =
                    one_way.lost_packets((index, direction), sender, (from_start, to_end)).filter(|_| whole);
            }
        }
    }

    /// Rates over the time that the transfer took, and shares of what was delivered. Where a path is missing, bytes and time
    /// are as the last DATA_ACK seen tells, and their quotient is no throughput.
    pub(super) fn rates(&self, lacks_path: [bool; 2], report: &mut Report) {
        for direction in Direction::BOTH {
            let d = direction as usize;
            let nanos = report.elapsed_nanos[d];
            let transfer = &mut report.transfers[d];
            let delivered = transfer.bytes;
            transfer.elapsed_s = nanos.map(|nanos| nanos as f64 / 1e9);
            // Where bytes of unknown offset passed, 0 would be no figure.
            let unmapped = |subflow: &Subflow| {
                !self.plain && subflow.views.iter().flatten().any(|view| view.unmapped_bytes[d] > 0)
            };
            let rate = |bytes: u64, unmapped: bool| {
                nanos.filter(|_| bytes > 0 || !unmapped).and_then(|nanos| mbps(bytes, nanos))
            };
            transfer.throughput_mbps =
                rate(transfer.bytes, self.subflows.iter().any(unmapped)).filter(|_| !lacks_path[d]);
            let carried = || report.flows.iter().filter_map(|rows| rows[d].delivered_bytes).sum();
            // What was in flight when the capture began was delivered, and no subflow shows it.
            let whole = if self.midway { carried() } else { delivered };
            for (rows, subflow) in report.flows.iter_mut().zip(&self.subflows) {
                let own = rows[d].delivered_bytes;
                rows[d].throughput_mbps = own.and_then(|bytes| rate(bytes, unmapped(subflow)));
                rows[d].share =
                    own.filter(|&bytes| bytes <= whole && whole > 0).map(|bytes| bytes as f64 / whole as f64);
            }
        }
    }
}
