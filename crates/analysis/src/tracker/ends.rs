//! What is decided when a connection is finished: which end is which, and how everything began and ended.

use super::subflow::View;
use super::{Connection, Subflow, SubflowKind};
use crate::metrics::one_way::ClockOffset;
use crate::report::{Report, mbps};
use std::sync::Arc;
use tables::{Diagnostic, Direction};
use wire::{PointId, Time};

/// An end, once it is known which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedEnd {
    /// `Up`: the client's end.
    pub(crate) sends: Option<Direction>,
    pub(crate) confidence: Option<f64>,
    /// How many samples say so.
    pub(crate) samples: Option<u64>,
}

/// From this on, two captures that both claim one end are believed.
const CERTAIN: f64 = 0.9;

/// When a connection was over, and how far it was captured.
pub(crate) struct Horizon {
    captured_to: Time,
    over_at: Option<Time>,
    fast_closed_by: Option<Direction>,
    /// Per end: how many subflows are open, and when the last that is not was heard of.
    ends: [(usize, Option<Time>); 2],
    /// Per end: the longest handshake.
    round_trip_nanos: [u64; 2],
}

impl Horizon {
    /// What is to say of a join that had not come about when the connection, or the capture, ended.
    fn ended_before(&self, end: usize, join: &View) -> Option<(&'static str, Option<&'static str>)> {
        let (open, closed_at) = self.ends[end];
        let others_closed = open == usize::from(!join.is_closed());
        let over_at = [self.over_at, closed_at.filter(|_| others_closed)].into_iter().flatten().min();
        // Who ends the connection resets all subflows at once; those resets and the word of it arrive as far apart as the
        // paths are long.
        let by_closer = self.fast_closed_by.is_some_and(|side| join.resets[side as usize]);
        let apart = if by_closer { self.round_trip_nanos[end].max(SAME_MOMENT_NANOS) as i64 } else { 0 };
        if join.reset && over_at.is_none_or(|over| join.last.at + apart < over) {
            return None; // reset while there was a connection to join
        }
        let over_at = over_at.filter(|over| *over < self.captured_to);
        if join.first.at + PATIENCE_NANOS > over_at.unwrap_or(self.captured_to) {
            let remark = if over_at.is_some() { "the connection ended first" } else { "the capture ended first" };
            return Some(("pending", Some(remark)));
        }
        join.reset.then_some(("unfinished", Some("the acceptor had not confirmed it when the connection ended")))
    }
}

/// For so long a join that nobody answered may still be: then its SYN is due once more (RFC 6298 §2.1).
const PATIENCE_NANOS: i64 = 1_000_000_000;
/// What a host does at once it has sent in this time.
const SAME_MOMENT_NANOS: u64 = 1_000_000;

/// How a subflow began and ended.
pub(crate) struct Opening {
    pub(crate) outcome: &'static str,
    pub(crate) remark: Option<&'static str>,
    pub(crate) rtt_nanos: Option<u64>,
    /// First packet of the connection to the end of this handshake.
    pub(crate) joined_nanos: Option<i64>,
    pub(crate) subflow_ended: &'static str,
}

impl Connection {
    /// Which end is the client's. Of two ends one is; the surer one decides.
    pub(crate) fn judge_ends(&self) -> [Option<JudgedEnd>; 2] {
        let vantages = [0, 1].map(|end: usize| self.ends[end].as_ref().map(|_| self.vantages[end]));
        match vantages {
            [Some(Some(a)), Some(Some(b))] if a.sends == b.sends && a.confidence.min(b.confidence) >= CERTAIN => {
                // Two captures of one end: the fuller one is used.
                let views = |end: usize| self.subflows.iter().filter(|subflow| subflow.views[end].is_some()).count();
                let used = usize::from(views(1) > views(0));
                let vantage = [a, b][used];
                let judged = JudgedEnd {
                    sends: Some(vantage.sends),
                    confidence: Some(vantage.confidence),
                    samples: Some(vantage.samples),
                };
                [0, 1].map(|end| (end == used).then_some(judged))
            }
            [Some(a), Some(b)] => {
                let sure = |v: Option<super::vantage::Vantage>| v.map_or(0.0, |v| v.confidence);
                let a_sends = match (a, b) {
                    (Some(a_vantage), _) if sure(a) >= sure(b) => a_vantage.sends,
                    (_, Some(b_vantage)) => b_vantage.sends.reverse(),
                    _ => self.nearer_client(),
                };
                let confidence = Some(sure(a).max(sure(b)));
                let samples = Some([a, b].iter().flatten().map(|vantage| vantage.samples).sum());
                [a_sends, a_sends.reverse()].map(|sends| Some(JudgedEnd { sends: Some(sends), confidence, samples }))
            }
            one => one.map(|vantage| {
                vantage.map(|vantage| JudgedEnd {
                    sends: vantage.map(|vantage| vantage.sends),
                    confidence: vantage.map(|vantage| vantage.confidence),
                    samples: vantage.map(|vantage| vantage.samples),
                })
            }),
        }
    }

    /// Of two ends the one with the longer wait for the SYN/ACK, or for the reset in its place, is the client's: it may wait in
    /// vain. Where both do, more SYNs left than came, and sooner.
    fn nearer_client(&self) -> Direction {
        let wait = |view: &View| match view.handshake_outcome() {
            "refused" if view.handshake.syn_ack.is_none() => u64::try_from(view.last.at - view.first.at).ok(),
            "unanswered" => Some(u64::MAX),
            _ => view.handshake.acceptor_nanos(),
        };
        let waited = |end: usize| {
            let views = self.subflows.iter().filter_map(|subflow| subflow.views[end].as_deref());
            let (waits, syns): (Vec<u64>, Vec<u32>) =
                views.map(|view| (wait(view).unwrap_or(0), view.handshake.syn_count)).unzip();
            let first = self.ends[end].as_ref().map(|end| std::cmp::Reverse(end.first.at));
            (waits.into_iter().fold(0, u64::saturating_add), syns.into_iter().sum::<u32>(), first)
        };
        if waited(0) >= waited(1) { Direction::Up } else { Direction::Down }
    }

    /// The first packet: at the client's end, where there is one.
    pub(crate) fn start(&self, ends: &[Option<JudgedEnd>; 2]) -> Time {
        let client =
            [0, 1].into_iter().find(|&end| ends[end].is_some_and(|judged| judged.sends == Some(Direction::Up)));
        let client = client.filter(|&end| !self.coverage.is_late(end));
        client.and_then(|end| self.ends[end].as_ref()).map_or(self.first.at, |end| end.first.at)
    }

    /// First packet to the last one, at the end that saw it longer.
    pub(crate) fn duration_nanos(&self, ends: &[Option<JudgedEnd>; 2]) -> i64 {
        let at_end = |index: usize| {
            let views = self.subflows.iter().filter_map(|subflow| subflow.views[index].as_deref());
            let first = self.ends[index].as_ref()?.first.at;
            views.map(|view| (view.last.at - first).max(0)).max()
        };
        (0..2).filter(|&index| ends[index].is_some()).filter_map(at_end).max().unwrap_or(0)
    }

    pub(crate) fn ended(&self) -> &'static str {
        let subflows = || self.subflows.iter().filter(|subflow| subflow.kind != SubflowKind::Stray);
        let views = || subflows().flat_map(|subflow| subflow.views.iter().flatten());
        if self.fast_closed {
            return "fastclose";
        }
        if !self.plain {
            let closed = |direction: usize| self.ends.iter().flatten().any(|end| end.streams[direction].is_closed());
            match (closed(0), closed(1)) {
                (true, true) => return "closed",
                (true, false) | (false, true) => return "half-closed",
                _ => {}
            }
        }
        let all = |how: &str| views().all(|view| view.ended() == how);
        match () {
            () if all("fin") => "closed",
            () if all("reset") => "reset",
            () if self.plain && views().any(|view| view.ended() == "reset") => "reset",
            () if views().any(|view| view.ended() == "half-closed") => "half-closed",
            () => "open",
        }
    }

    /// The view from the end that opened the subflow, or the other one.
    fn opener_view<'a>(&self, subflow: &'a Subflow, ends: &[Option<JudgedEnd>; 2]) -> (usize, &'a View, bool) {
        let at_opener = |end: &usize| ends[*end].is_some_and(|judged| judged.sends == Some(subflow.opener));
        let seen = |end: &usize| subflow.views[*end].is_some();
        let opener = [0, 1].into_iter().filter(seen).find(at_opener);
        let end = opener.or_else(|| [0, 1].into_iter().find(seen)).expect("a subflow is seen somewhere");
        (end, subflow.views[end].as_deref().expect("seen"), opener.is_some())
    }

    pub(crate) fn opening(&self, subflow: &Subflow, ends: &[Option<JudgedEnd>; 2], horizon: &Horizon) -> Opening {
        let (end, view, at_opener) = self.opener_view(subflow, ends);
        let start = self.ends[end].as_ref().map_or(self.first.at, |end| end.first.at);
        let handshake = &view.handshake;
        let knows_vantage = ends.iter().flatten().all(|judged| judged.sends.is_some());
        let rtt_nanos = if at_opener { handshake.acceptor_nanos() } else { handshake.opener_nanos() };
        let answer_cut = subflow.syn_cut[subflow.opener.reverse() as usize];
        let is_join = subflow.kind == SubflowKind::Join;
        let stripped = is_join && handshake.syn_ack.is_some() && !handshake.joins && !answer_cut;
        let (outcome, remark) = match (view.handshake_outcome(), subflow.kind) {
            (_, SubflowKind::Join) if stripped => (
                "refused",
                Some("the SYN/ACK came without MP_JOIN: the option was stripped, or the server does not know it"),
            ),
            (_, SubflowKind::Stray) => {
                ("stray", Some("reset by a side that knows no subflow of these addresses, as after a NAT's rebinding"))
            }
            ("refused", _) if handshake.syn_ack.is_none() => ("refused", Some("the SYN was answered by a reset")),
            ("refused", _) => ("refused", Some("a reset followed the SYN/ACK")),
            ("unanswered", _) => ("unanswered", Some("no SYN/ACK came")),
            ("unfinished", SubflowKind::Join) if view.reset => {
                ("refused", Some("the opener reset it after the SYN/ACK"))
            }
            ("unfinished", _) => ("unfinished", Some("no third packet came")),
            ("established", SubflowKind::Join) if view.reset && !handshake.confirmed && !self.carried(subflow) => {
                ("refused", Some("reset after the third packet, before it carried anything"))
            }
            (outcome, SubflowKind::Initial | SubflowKind::Tcp) if self.is_unknown() => {
                (outcome, Some("the snap length cut the TCP options: whether it is MPTCP is unknown"))
            }
            (outcome, SubflowKind::Initial) => (outcome, self.fallback),
            (outcome, _) => (outcome, None),
        };
        let failed = is_join && !stripped && !matches!(outcome, "established" | "unseen");
        let ended_first = if failed { horizon.ended_before(end, view) } else { None };
        let (outcome, remark) = ended_first.unwrap_or((outcome, remark));
        Opening {
            outcome,
            remark,
            rtt_nanos: rtt_nanos.filter(|_| knows_vantage),
            joined_nanos: handshake
                .ack
                .map(|seen| seen.at - start)
                .filter(|_| outcome == "established" && !handshake.clock_jumped),
            subflow_ended: view.ended(),
        }
    }

    /// When it all ended.
    pub(crate) fn horizon(&self, captured_to: Time) -> Horizon {
        let mut horizon = Horizon {
            captured_to,
            over_at: self.over_at,
            fast_closed_by: self.fast_closed_by,
            ends: Default::default(),
            round_trip_nanos: [0; 2],
        };
        for (end, (open, closed_at)) in horizon.ends.iter_mut().enumerate() {
            let subflows = self.subflows.iter().filter(|subflow| subflow.kind != SubflowKind::Stray);
            for view in subflows.filter_map(|subflow| subflow.views[end].as_deref()) {
                *open += usize::from(!view.is_closed());
                *closed_at = (*closed_at).max(Some(view.last.at).filter(|_| view.is_closed()));
                let took = view.handshake.waits().map_or(0, |(acceptor, opener)| acceptor + opener);
                horizon.round_trip_nanos[end] = horizon.round_trip_nanos[end].max(took);
            }
        }
        horizon
    }

    /// Whether any data passed on the subflow.
    fn carried(&self, subflow: &Subflow) -> bool {
        let views = subflow.views.iter().flatten();
        views
            .flat_map(|view| &view.sequences)
            .any(|sequence| sequence.in_flight_bytes() > 0 || sequence.acked() > Some(0))
    }

    /// How a subflow looks at the client's end: addresses are not translated there, and times are by the clock of the
    /// connection's start. At the other end, where it was not seen there.
    pub(crate) fn client_view<'a>(&self, subflow: &'a Subflow, ends: &[Option<JudgedEnd>; 2]) -> &'a View {
        let is_client = |end: usize| ends[end].is_some_and(|judged| judged.sends == Some(Direction::Up));
        let views = [0, 1].into_iter().filter_map(|end| Some((is_client(end), subflow.views[end].as_deref()?)));
        views.max_by_key(|(is_client, _)| *is_client).expect("a subflow is seen somewhere").1
    }

    /// The client's interface that a subflow passed: its path.
    pub(crate) fn client_point(&self, subflow: &Subflow, ends: &[Option<JudgedEnd>; 2]) -> Option<PointId> {
        let client = |end: &usize| ends[*end].is_some_and(|judged| judged.sends == Some(Direction::Up));
        let end = [0, 1].into_iter().find(client)?;
        subflow.views[end].as_ref().map(|view| view.first.point)
    }

    /// Of the subflows whose handshake both ends saw, the one with the shortest round trip tells the clocks' offset best.
    pub(super) fn clock_offset(&self) -> Option<ClockOffset> {
        let offsets = self.subflows.iter().filter_map(|subflow| {
            let [Some(a), Some(b)] = &subflow.views else { return None };
            let (a, b) = (&a.handshake, &b.handshake);
            (a.syn_count == 1 && b.syn_count == 1 && a.syn_ack_count == 1 && b.syn_ack_count == 1).then_some(())?;
            Some(ClockOffset::of([a.syn?.at, b.syn?.at], [a.syn_ack?.at, b.syn_ack?.at]))
        });
        offsets.min_by_key(|offset| offset.error_nanos)
    }

    /// Remarks on bytes that an end's capture dropped.
    fn missed_remarks(&self, name: impl Fn(PointId) -> Arc<str>) -> Vec<Diagnostic> {
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
                capture: Some(name(end.first.point)).filter(|_| sites.all(|other| Some(other) == site)),
                diagnostic: "missed_bytes",
                count: Some(missed),
                message: "bytes were acknowledged that are not in the capture: it dropped packets, and what is counted at its end \
                          lacks them"
                    .into(),
                ..Diagnostic::default()
            });
        }
        remarks
    }

    /// Figures that need both ends.
    fn join_ends(&mut self, ends: &[Option<JudgedEnd>; 2], report: &mut Report) {
        let client = usize::from(ends[1].is_some_and(|judged| judged.sends == Some(Direction::Up)));
        for (rows, arrived) in report.flows.iter_mut().zip(&report.arrived_bytes) {
            // The sender's capture may lack some.
            rows.iter_mut().zip(arrived).for_each(|(row, &arrived)| row.bytes = row.bytes.max(arrived));
        }
        let Some(mut one_way) = self.one_way.take() else { return };
        one_way.finish(client, report);
        let to_end = !self.coverage.stops();
        for (index, (subflow, rows)) in self.subflows.iter().zip(&mut report.flows).enumerate() {
            let [Some(a), Some(b)] = &subflow.views else { continue };
            for direction in Direction::BOTH {
                let sender = if direction == Direction::Up { client } else { 1 - client };
                let [a, b] = [a, b].map(|view| &view.sequences[direction as usize]);
                let from_start = a.from_syn && b.from_syn;
                let row = &mut rows[direction as usize];
                // What a capture dropped is not lost.
                let whole =
                    row.merged_segments == 0 && [a, b].iter().all(|end| !end.from_syn || end.missed_bytes() == 0);
                row.lost_packets =
                    one_way.lost_packets((index, direction), sender, (from_start, to_end)).filter(|_| whole);
            }
        }
    }

    /// Figures that need all ends, and remarks.
    pub(crate) fn finish_rows(
        &mut self,
        ends: &[Option<JudgedEnd>; 2],
        (origin, captures): (Time, &[Arc<str>]),
        report: &mut Report,
    ) {
        let both = ends.iter().flatten().count() == 2;
        let name = |point: PointId| captures.get(point.0 as usize).cloned().unwrap_or_default();
        if both && !self.coverage.unrelated {
            self.join_ends(ends, report);
        }
        for direction in Direction::BOTH {
            let d = direction as usize;
            let nanos = report.elapsed_nanos[d];
            let transfer = &mut report.transfers[d];
            let delivered = transfer.bytes;
            transfer.elapsed_s = nanos.map(|nanos| nanos as f64 / 1e9);
            // Where bytes passed whose place nothing tells, 0 would be no figure.
            let unmapped = |subflow: &Subflow| {
                !self.plain && subflow.views.iter().flatten().any(|view| view.unmapped_bytes[d] > 0)
            };
            let rate = |bytes: u64, unmapped: bool| {
                nanos.filter(|_| bytes > 0 || !unmapped).and_then(|nanos| mbps(bytes, nanos))
            };
            transfer.throughput_mbps = rate(transfer.bytes, self.subflows.iter().any(unmapped));
            for (rows, subflow) in report.flows.iter_mut().zip(&self.subflows) {
                let own = rows[d].delivered_bytes;
                rows[d].throughput_mbps = own.and_then(|bytes| rate(bytes, unmapped(subflow)));
                rows[d].share = own
                    .filter(|&bytes| bytes <= delivered && delivered > 0)
                    .map(|bytes| bytes as f64 / delivered as f64);
            }
        }
        if !self.coverage.unrelated {
            report.diagnostics.extend(self.boxes_between(ends));
        }
        report.diagnostics.extend(self.coverage_remarks(ends, |at| (at - origin) as f64 / 1e9, name));
        report.diagnostics.extend(self.unknown_shares(ends));
        let rtt_ms = report.flows.iter().flatten().filter_map(|row| row.rtt_ms_mean).reduce(f64::min);
        report.diagnostics.extend(self.clock_remark(rtt_ms));
        let path_missing = report.diagnostics.iter().any(|remark| remark.diagnostic == "path_missing");
        if !path_missing {
            report.diagnostics.extend(self.missed_remarks(name));
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
                "joins came with the token and random number of another join: hosts choose one for each, so they are forged",
            );
        }
        if self.midway {
            remark(
                None,
                "midway",
                None,
                "the capture does not hold the connection's beginning: RTTs of the handshake are unknown, and subflows that show no 8-byte data sequence number stand apart",
            );
        }
        if ends.iter().flatten().any(|judged| judged.sends.is_none()) {
            remark(
                None,
                "vantage_unknown",
                None,
                "neither handshakes nor acknowledgements tell at which end the capture was taken: figures that belong to one end are empty",
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
                    "an answer came before what it answers, or ten minutes after: the capture's clock was set; such times are left empty",
                );
            }
            let stray: u64 = views().map(|view| view.stray).sum();
            if stray > 0 {
                remark(
                    Some(index),
                    "stray_packets",
                    Some(stray),
                    "packets of an older connection with the same ports, or that acknowledge what was never sent, are not believed",
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
                remark(Some(index), "hmac_wrong", None, "an HMAC of the join does not fit the keys");
            }
        }
    }
}
