//! What is to be said of a finished connection's figures.

use super::captures::Captures;
use super::ends::JudgedEnd;
use crate::report::Report;
use crate::tracker::connection::Connection;
use tables::{Diagnostic, Direction};

impl Connection {
    /// Adds all remarks to those of the metrics.
    pub(super) fn remark(&mut self, ends: &[Option<JudgedEnd>; 2], captures: &Captures, report: &mut Report) {
        let both = ends.iter().flatten().count() == 2;
        if !self.coverage.unrelated {
            report.diagnostics.extend(self.boxes_between(ends));
        }
        report.diagnostics.extend(self.left_out(ends));
        report.diagnostics.extend(self.coverage_remarks(ends, captures));
        report.diagnostics.extend(self.unknown_shares(ends));
        let rtt_ms = report.flows.iter().flatten().filter_map(|row| row.rtt_ms_mean).reduce(f64::min);
        report.diagnostics.extend(self.clock_remark(rtt_ms));
        let path_missing = report.diagnostics.iter().any(|remark| remark.diagnostic == "path_missing");
        if !path_missing {
            report.diagnostics.extend(self.missed_remarks(captures));
        }
        let mut remark = |subflow: Option<usize>, diagnostic, count: Option<u64>, message: &'static str| {
            let subflow = subflow.map(|subflow| subflow as u32);
            let message = message.into();
            report.diagnostics.push(Diagnostic { subflow, diagnostic, count, message, ..Diagnostic::default() });
        };
        if self.same_end || !both && self.ends.iter().flatten().count() == 2 {
            remark(
                None,
                "same_end",
                None,
                "two of the captures were taken at the same end; what both show is counted once",
            );
        }
        if self.cut_options > 0 {
            remark(
                None,
                "options_cut",
                Some(self.cut_options),
                "the snap length cut TCP options: MPTCP signalling in them is unknown; capture with 128 bytes",
            );
        }
        if self.repeated_joins > 0 {
            remark(
                None,
                "joins_repeated",
                Some(self.repeated_joins),
                "joins repeated the token and random number of another join; hosts choose a new number for each, so they are forged",
            );
        }
        if self.midway {
            remark(
                None,
                "midway",
                None,
                "the capture began after the connection: handshake RTTs are unknown, and subflows without an 8-byte data sequence number are listed as connections of their own",
            );
        }
        if ends.iter().flatten().any(|judged| judged.sends.is_none()) {
            remark(
                None,
                "vantage_unknown",
                None,
                "neither handshakes nor acknowledgements show at which end the capture was taken: figures that only one end can measure are empty",
            );
        }
        for (index, subflow) in self.subflows.iter().enumerate() {
            let views = || subflow.views.iter().flatten();
            if views().any(|view| view.merged != [false; 2]) {
                remark(
                    Some(index),
                    "merged_segments",
                    None,
                    "segments larger than the MSS were merged by offloads of the capturing host and are counted as the packets they stand for; switch offloads off (ethtool -K DEV gro off gso off tso off) to see packets",
                );
            }
            let duplicates: u64 = views().map(|view| view.duplicates).sum();
            if duplicates > 0 {
                remark(
                    Some(index),
                    "duplicate_capture",
                    Some(duplicates),
                    "packets were captured more than once (on several interfaces of a host, by a mirror port, or at both ends, merged into one file) and are counted once",
                );
            }
            if views().any(|view| view.handshake.clock_jumped) {
                remark(
                    Some(index),
                    "clock_jumped",
                    None,
                    "an answer came before its request, or more than ten minutes after it: the capture's clock was set in between; such times are left empty",
                );
            }
            let stray: u64 = views().map(|view| view.stray).sum();
            if stray > 0 {
                remark(
                    Some(index),
                    "stray_packets",
                    Some(stray),
                    "packets of an older connection with the same ports, or acknowledgements of data that was never sent, are ignored",
                );
            }
            let unmapped: u64 = if self.plain { 0 } else { views().flat_map(|view| view.unmapped_bytes).sum() };
            if unmapped > 0 {
                remark(
                    Some(index),
                    "unmapped_bytes",
                    Some(unmapped),
                    "bytes came without a data sequence mapping and are left out of connection-level figures",
                );
            }
            if subflow.hmac_valid == Some(false) {
                remark(Some(index), "hmac_wrong", None, "the HMAC of a join does not match the keys");
            }
        }
    }

    /// Remarks on bytes that an end's capture dropped.
    fn missed_remarks(&self, captures: &Captures) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        for (direction, index) in Direction::BOTH.into_iter().flat_map(|direction| [(direction, 0), (direction, 1)]) {
            let Some(end) = self.ends[index].as_ref().filter(|_| !self.coverage.is_late(index)) else { continue };
            let missed = end.streams[direction as usize].missed_bytes();
            if missed == 0 {
                continue;
            }
            let mut sites = self.subflows.iter().filter_map(|subflow| Some(subflow.views[index].as_ref()?.site));
            let site = sites.next();
            remarks.push(Diagnostic {
                capture: Some(captures.name(end.first.point)).filter(|_| sites.all(|other| Some(other) == site)),
                diagnostic: "missed_bytes",
                count: Some(missed),
                message: "bytes were acknowledged that are not in the capture: it missed packets, and counts at its end are too low"
                    .into(),
                ..Diagnostic::default()
            });
        }
        remarks
    }
}
