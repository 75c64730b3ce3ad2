//! What rules look at: one direction of a finished connection.

use super::NO_FAULT;
use super::cost::Lost;
use super::remedies::{self, Remedy};
use super::unfit;
use super::waits::Wait;
use crate::report::Report;
use crate::timeline::{Flow, Timeline, is_bound, silences, usual_rate};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use tables::{Direction, Finding};
use wire::Time;

/// A finding is worth its line from a part of the transfer, or from a time, on; a shorter one never is.
const WORTH_PART: f64 = 0.05;
const WORTH_S: f64 = 0.5;
const LEAST_S: f64 = 0.1;
/// A path is silent when nothing was acknowledged on it for so long: one retransmission time-out alone is shorter.
pub(super) const SILENT_S: f64 = 0.8;
/// So many round trips are no silence, however long they take: an answer, a time-out and its answer.
pub(super) const ROUND_TRIPS: f64 = 3.0;
/// Nor is it alive where so much is in flight and none of it is answered for so long and so many round trips.
const SHORT_S: f64 = 0.3;
const SHORT_BYTES: u32 = 5000;
const SHORT_ROUND_TRIPS: f64 = 2.0;
/// A path whose usual round trip is no more than so many times its least has no queue that stands: more would go over it.
const UNQUEUED: f64 = 1.3;
/// A message of so much is a transfer of its own: paths are soon full, as of a download after the handshake of TLS.
const LONG_MESSAGE_BYTES: u64 = 1_000_000;
/// What a sender may send before anything is acknowledged (RFC 6928): sent over all paths, so much takes no capacity to speak of.
pub(super) const FIRST_WINDOW_BYTES: u64 = 14_600;
/// What sent nothing has no packets to show: those of the whole connection show it.
const IDLE: &str = "backup_unused";
/// What the answer to a SYN shows.
const ANSWERED: [&str; 3] = ["stripped", "never_began", "join_refused"];
/// What events show, by their kinds. Rates and round trips are in no single packet.
const SHOWN_BY: [(&str, &str); 21] = [
    ("join_unanswered", "join_unanswered"),
    ("join_unfinished", "join_unfinished"),
    ("join_late", "join_established"),
    ("no_second_path", "add_addr"),
    ("checksum", "fail"),
    ("fallback", "fallback"),
    ("forgotten", "forgotten"),
    ("large_segments_lost", "timeout"),
    ("path_dead", "timeout"),
    ("outage", "timeout"),
    ("timeout_chain", "timeout"),
    ("spurious_timeouts", "timeout"),
    ("backup_unused", "timeout"),
    ("tail_losses", "timeout"),
    ("slow_start_loss", "retransmission"),
    ("losses_queue", "retransmission"),
    ("losses_bursts", "retransmission"),
    ("losses_random", "retransmission"),
    ("losses_unclear", "retransmission"),
    ("receiver_stuck", "reinjection"),
    ("reinjection_waste", "reinjection"),
];
/// Times in rows are rounded.
const ROUNDING_S: f64 = 1e-6;
/// What is no further apart happens at once.
pub(super) const AT_ONCE_S: f64 = 0.1;

/// A direction of a connection.
pub(super) struct Case<'a> {
    pub(super) report: &'a Report,
    pub(super) direction: Direction,
    /// As its sender saw it, and its receiver; none where that end was not captured.
    pub(super) sender: Option<&'a Timeline>,
    pub(super) receiver: Option<&'a Timeline>,
    pub(super) begin_s: f64,
    pub(super) elapsed_s: f64,
    pub(super) bytes: u64,
    /// The connection's rate where it went well, bytes per second.
    pub(super) best_rate: f64,
    /// Where it went well, the receive window was full: how fast it would have been without is unknown.
    pub(super) window_bound: bool,
    /// Where it went well, data waited for what a path was slow to bring.
    pub(super) order_bound: bool,
    /// By subflow, as the sender saw it: times in which nothing was acknowledged with data in flight, for long.
    pub(super) silences: Vec<Vec<Range<usize>>>,
    /// The same with much in flight and after a shorter time: a few losses leave some of it answered.
    pub(super) short_silences: Vec<Vec<Range<usize>>>,
    /// For what was lost with nothing after it, as far as no finding tells it yet.
    pub(super) waits: Vec<Wait>,
    /// Since when paths were dead, if a finding says so.
    pub(super) stopped_s: Option<f64>,
    /// After an outage another path carried next to nothing: how fast the transfer would have been without it is unknown.
    pub(super) changed: bool,
    /// A finding says that paths lost packets, and not because a queue was full.
    pub(super) lossy: bool,
    /// The scheduler sends all data over several subflows: what one of them lost, another brings.
    pub(super) redundant: bool,
    /// Data waited for a slow path for so long that it is reported.
    pub(super) blocked: bool,
    /// A join failed, and that is reported.
    pub(super) join_failed: bool,
    /// Subflows of which it is known why they were dead.
    pub(super) explained: Vec<usize>,
    /// A host that was captured has a further interface.
    pub(super) several_interfaces: bool,
    pub(super) lost: Lost,
    /// Of a video, for how long it stalled, as far as no finding has that as its cost yet: nobody waits for what comes before it is shown.
    pub(super) stalled_s: Option<f64>,
    /// More than half of the data went this way.
    pub(super) main: bool,
    origin: Time,
}

/// What a rule found.
pub(super) struct Found {
    pub(super) kind: &'static str,
    pub(super) subflow: Option<usize>,
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    pub(super) cost: Cost,
    pub(super) confidence: f64,
    pub(super) message: String,
    pub(super) evidence: String,
    pub(super) remedy: &'static [Remedy],
}

/// What a finding cost.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// Time, seconds, claimed from what was lost.
    Seconds(f64),
    /// The same, where the captures do not show how much more it was.
    AtLeast(f64),
    /// Nothing tells.
    Unknown,
}

impl<'a> Case<'a> {
    /// A direction in which data was delivered, or sent in vain.
    pub(super) fn of(
        report: &'a Report,
        direction: Direction,
        origin: Time,
        several_interfaces: bool,
    ) -> Option<Case<'a>> {
        let d = direction as usize;
        let transfer = &report.transfers[d];
        let in_vain = || report.connection.duration_s.filter(|_| transfer.bytes == 0 && volume(report, direction) > 0);
        let elapsed_s = transfer.elapsed_s.or_else(in_vain).filter(|&elapsed| elapsed > 0.0)?;
        let (sender, receiver) = (report.senders[d].as_deref(), report.receivers[d].as_deref());
        let mut case = Case {
            report,
            direction,
            sender,
            receiver,
            begin_s: report.connection.start_s,
            elapsed_s,
            bytes: transfer.bytes,
            best_rate: 0.0,
            window_bound: sender.is_some_and(|sender| is_bound(sender, |index| sender.whole[index].limited > 0)),
            order_bound: receiver.is_some_and(|receiver| {
                let most_us = (receiver.width_nanos / 2000) as u32;
                is_bound(receiver, |index| receiver.flows.iter().any(|flow| flow.waited_us(index) > most_us))
            }),
            silences: Vec::new(),
            short_silences: Vec::new(),
            waits: Vec::new(),
            stopped_s: None,
            changed: false,
            lossy: false,
            redundant: false,
            blocked: false,
            join_failed: false,
            explained: Vec::new(),
            several_interfaces,
            lost: Lost::default(),
            stalled_s: transfer.stall_s,
            main: volume(report, direction) > 0 && volume(report, direction) >= volume(report, direction.reverse()),
            origin,
        };
        if let Some(timeline) = receiver.or(sender) {
            let width_s = timeline.width_nanos as f64 / 1e9;
            let came: Vec<f64> = (0..timeline.whole.len()).map(|index| timeline.came(index)).collect();
            // What came twice took the place of as much that is new.
            let all: Vec<f64> = (0..came.len()).map(|index| came[index] + timeline.again(index)).collect();
            case.best_rate = usual_rate(&all, width_s);
            let (begin_s, best) = (case.seconds(timeline, 0), case.best_rate * width_s);
            case.lost = match receiver {
                Some(_) => Lost::new(begin_s, width_s, came.into_iter(), best),
                None => {
                    let idle = timeline.whole.iter().map(|bin| bin.idle_us > 0);
                    let times: Vec<(f64, bool)> = came.into_iter().zip(idle).collect();
                    Lost::acknowledged(begin_s, width_s, &times, best)
                }
            };
        }
        if let Some(sender) = sender {
            case.silences = case.silences(sender, SILENT_S, 1, ROUND_TRIPS);
            case.short_silences = case.silences(sender, SHORT_S, SHORT_BYTES, SHORT_ROUND_TRIPS);
        }
        Some(case)
    }

    /// By subflow: times in which nothing was acknowledged with at least so much in flight, for so long and so many round trips.
    pub(super) fn silences(
        &self,
        sender: &Timeline,
        least_s: f64,
        least_bytes: u32,
        round_trips: f64,
    ) -> Vec<Vec<Range<usize>>> {
        let bins = sender.index_at(self.end_s() - self.seconds(sender, 0));
        let silences = |(subflow, flow): (usize, &Flow)| {
            silences(&flow.bins, bins, sender.width_s(), self.waits_s(subflow, least_s, round_trips), least_bytes)
        };
        sender.flows.iter().enumerate().map(silences).collect()
    }

    /// Whether one end asked, and waited for each answer, and neither end said much at a time.
    pub(super) fn exchanges(&self) -> bool {
        self.message_bytes().is_some_and(|bytes| bytes < LONG_MESSAGE_BYTES)
    }

    /// Where one end asked and waited for each answer: how long messages are of the end that says more. Only captures of the client
    /// show it.
    pub(super) fn message_bytes(&self) -> Option<u64> {
        let count = self.report.transfers[Direction::Down as usize].responses.filter(|&count| count > 1)?;
        self.report.transfers.iter().map(|row| row.bytes / count).max()
    }

    /// Subflows between the addresses of this one, itself among them: they go over one path.
    pub(super) fn same_path(&self, subflow: usize) -> Vec<usize> {
        let ends = |subflow: usize| {
            let row = &self.report.subflows[subflow];
            (row.client_address, row.server_address)
        };
        self.established().into_iter().filter(|&other| ends(other) == ends(subflow)).collect()
    }

    /// Seconds from the first packet of all captures to the start of a bin.
    pub(super) fn seconds(&self, timeline: &Timeline, index: usize) -> f64 {
        ((timeline.start - self.origin) as f64 + index as f64 * timeline.width_nanos as f64) / 1e9
    }

    /// The same of a time.
    pub(super) fn at(&self, time: Time) -> f64 {
        (time - self.origin) as f64 / 1e9
    }

    /// When the connection's data was all acknowledged.
    pub(super) fn end_s(&self) -> f64 {
        self.begin_s + self.elapsed_s
    }

    /// Whether time lost is worth a line.
    pub(super) fn is_worth(&self, cost_s: f64) -> bool {
        cost_s >= LEAST_S && (cost_s >= WORTH_S || cost_s >= WORTH_PART * self.elapsed_s)
    }

    /// Claims lost time of a span, at most `most_s`.
    pub(super) fn claim(&mut self, from_s: f64, to_s: f64, most_s: f64) -> Cost {
        Cost::Seconds(self.lost.claim(from_s, to_s, most_s))
    }

    /// How a subflow is called: by its path, else by its addresses.
    pub(super) fn name(&self, subflow: usize) -> String {
        let row = &self.report.subflows[subflow];
        match (&row.path, row.client_address) {
            (Some(path), _) if self.report.subflows.iter().filter(|other| other.path == row.path).count() == 1 => {
                path.clone()
            }
            (Some(path), _) => format!("{path} (port {})", row.client_port),
            (_, Some(address)) => format!("{address}:{}", row.client_port),
            _ => format!("port {}", row.client_port),
        }
    }

    /// How long a subflow may be silent: `least_s`, and longer where its round trip takes long.
    pub(super) fn patience_s(&self, subflow: usize, least_s: f64) -> f64 {
        self.waits_s(subflow, least_s, ROUND_TRIPS)
    }

    /// The same of so many round trips.
    pub(super) fn waits_s(&self, subflow: usize, least_s: f64, round_trips: f64) -> f64 {
        let rtts = self.report.flows.get(subflow).map(|rows| rows[self.direction as usize].rtt_ms_p95);
        let handshake = self.report.subflows.get(subflow).and_then(|row| row.handshake_rtt_ms);
        rtts.flatten().or(handshake).map_or(least_s, |rtt_ms| least_s.max(round_trips * rtt_ms / 1e3))
    }

    /// Subflows that came about, as they are in `report`.
    pub(super) fn established(&self) -> Vec<usize> {
        let came = |subflow: &usize| self.report.subflows[*subflow].handshake == "established";
        (0..self.report.subflows.len()).filter(came).collect()
    }

    /// When a host withdrew its address of a subflow (REMOVE_ADDR): then both know that the path is gone.
    pub(super) fn withdrawn_s(&self, subflow: usize) -> Option<f64> {
        self.withdrawn(subflow).map(|(at_s, _)| at_s)
    }

    /// Whether that host left a path that worked, as a budget or a policy asks for: it closed the subflow at once, over this path.
    pub(super) fn was_left(&self, subflow: usize) -> bool {
        let Some((at_s, by)) = self.withdrawn(subflow) else { return false };
        self.report.events.iter().any(|event| {
            event.event == "reset"
                && event.subflow == Some(subflow as u32)
                && event.direction == Some(by)
                && (event.at_s - at_s).abs() < AT_ONCE_S
        })
    }

    fn withdrawn(&self, subflow: usize) -> Option<(f64, Direction)> {
        let row = &self.report.subflows[subflow];
        // The first subflow's addresses have the identifier 0.
        let addresses = [row.client_address_id, row.server_address_id].map(|id| Some(id.unwrap_or(0)));
        let is_own = |event: &&tables::Event| {
            event.event == "remove_addr"
                && event.at_s > row.start_s
                && event.direction.is_some_and(|by| event.address_id == addresses[by as usize])
        };
        let own = self.report.events.iter().filter(is_own);
        own.filter_map(|event| Some((event.at_s, event.direction?))).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Whether a path would carry more: no queue stood on it.
    pub(super) fn has_room(&self) -> bool {
        self.rooms().any(|room| room)
    }

    fn rooms(&self) -> impl Iterator<Item = bool> {
        self.established().into_iter().filter_map(|subflow| {
            let row = &self.report.flows[subflow][self.direction as usize];
            let rtts = row.rtt_ms_min.zip(row.rtt_ms_median).filter(|_| row.bytes > 0);
            rtts.map(|(least_ms, usual_ms)| usual_ms <= UNQUEUED * least_ms)
        })
    }

    /// Whether more would go over each path that carried something: no queue stood on any.
    pub(super) fn have_room(&self) -> bool {
        self.rooms().all(|room| room)
    }

    /// A diagnostic of the connection.
    pub(super) fn diagnosed(&self, name: &str) -> Option<&'a tables::Diagnostic> {
        self.report.diagnostics.iter().find(|row| row.diagnostic == name)
    }

    /// Whether the captures hold so much of the transfer that rates mean something.
    pub(super) fn is_whole(&self) -> bool {
        unfit::poison(self).is_none()
    }

    /// The finding as a row, where it is worth one.
    pub(super) fn row(&mut self, found: Found) -> Option<Finding> {
        let cost_s = match found.cost {
            Cost::Seconds(cost) | Cost::AtLeast(cost) if !self.is_worth(cost) => return None,
            Cost::Seconds(cost) | Cost::AtLeast(cost) => {
                self.seen(found.kind, cost).map(|cost| (cost * 1e3).round() / 1e3)
            }
            // What lasted too short to matter cost little, whatever it was.
            Cost::Unknown if found.to_s - found.from_s < WORTH_S.min(WORTH_PART * self.elapsed_s) => return None,
            Cost::Unknown => None,
        };
        let shown = found.subflow.filter(|_| found.kind != IDLE);
        let mbps = |seconds: f64| self.bytes as f64 * 8e-6 / seconds;
        let (capture, record) = self.packet(&found).unzip();
        Some(Finding {
            connection: 0,
            subflow: found.subflow.map(|subflow| subflow as u32),
            direction: Some(self.direction),
            kind: found.kind.into(),
            from_s: found.from_s,
            to_s: found.to_s,
            cost_s,
            cost_is_minimum: matches!(found.cost, Cost::AtLeast(_)),
            cost_mbps: cost_s
                .filter(|cost| cost + 1e-3 < self.elapsed_s)
                .map(|cost| mbps(self.elapsed_s - cost) - mbps(self.elapsed_s)),
            confidence: found.confidence,
            message: Cow::Owned(found.message),
            evidence: found.evidence,
            remedy: remedies::said(found.remedy).into(),
            beyond_hosts: remedies::is_beyond(found.remedy),
            filter: self.filter(shown, found.from_s, found.to_s),
            capture,
            record,
        })
    }

    /// What of a cost its viewer sees where this is a video.
    fn seen(&mut self, kind: &str, cost_s: f64) -> Option<f64> {
        let Some(stalled_s) = self.stalled_s.as_mut().filter(|_| !NO_FAULT.contains(&kind)) else {
            return Some(cost_s);
        };
        let seen_s = cost_s.min(*stalled_s);
        *stalled_s -= seen_s;
        (seen_s > 0.0).then_some(seen_s)
    }

    /// What was lost, in words.
    pub(super) fn lost(&self, lost_s: f64) -> String {
        match self.report.transfers[self.direction as usize].stall_s {
            Some(0.0) => "the video did not stall".to_owned(),
            Some(stalled_s) => format!("the video stalled for {}", s(stalled_s)),
            None => format!("{} lost", s(lost_s)),
        }
    }

    /// The packet that shows it, where one does.
    fn packet(&self, found: &Found) -> Option<(Arc<str>, u64)> {
        let answered = |subflow: usize| self.report.answers.get(subflow)?.clone();
        if let Some(answer) = answered(found.subflow.unwrap_or(0)).filter(|_| ANSWERED.contains(&found.kind)) {
            return Some(answer);
        }
        let (from_s, to_s) = (found.from_s - ROUNDING_S, found.to_s + ROUNDING_S);
        let subflow = found.subflow.filter(|_| found.kind != IDLE).map(|subflow| subflow as u32);
        let shows = |row: &&tables::Event| {
            SHOWN_BY.contains(&(found.kind, row.event))
                && (from_s..=to_s).contains(&row.at_s)
                && (subflow.is_none() || row.subflow == subflow)
        };
        let first = self.report.events.iter().filter(shows).min_by_key(|row| row.at_ns)?;
        Some((first.capture.clone(), first.record))
    }

    /// Wireshark's display filter for a span of a subflow, or of the connection by its server's port.
    fn filter(&self, subflow: Option<usize>, from_s: f64, to_s: f64) -> String {
        let rows = match subflow {
            Some(subflow) => &self.report.subflows[subflow..=subflow],
            None => &self.report.subflows[..self.report.subflows.len().min(8)],
        };
        let of = |row: &tables::Subflow| {
            let ip = if row.client_address.is_some_and(|address| address.is_ipv6()) { "ipv6" } else { "ip" };
            let address = row.client_address.map(|address| format!("{ip}.addr == {address} && ")).unwrap_or_default();
            format!("({address}tcp.port == {} && tcp.port == {})", row.client_port, row.server_port)
        };
        let mut flows: Vec<String> = rows.iter().map(of).collect();
        flows.sort();
        // By the clock of the sender's capture.
        let ahead_nanos = if self.direction == Direction::Down { self.report.server_ahead_nanos } else { 0 };
        let epoch = |seconds: f64| self.origin.as_nanos().saturating_add(ahead_nanos) as f64 / 1e9 + seconds;
        format!(
            "({}) && frame.time_epoch >= {:.3} && frame.time_epoch <= {:.3}",
            flows.join(" || "),
            epoch(from_s) - 0.001,
            epoch(to_s) + 0.001
        )
    }
}

/// Bytes that were delivered; where none were, those that were sent.
fn volume(report: &Report, direction: Direction) -> u64 {
    let sent = report.flows.iter().map(|rows| rows[direction as usize].bytes);
    match report.transfers[direction as usize].bytes {
        0 => sent.sum(),
        bytes => bytes,
    }
}

/// Seconds in words.
pub(super) fn s(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

/// Two times in words, with as many digits as tell them apart.
pub(super) fn span(from_s: f64, to_s: f64) -> [String; 2] {
    let same = |[from, to]: &[String; 2]| from == to;
    let finer = (1..=3).map(|digits| [from_s, to_s].map(|seconds| format!("{seconds:.digits$} s")));
    std::iter::once([s(from_s), s(to_s)])
        .chain(finer)
        .find(|words| !same(words))
        .unwrap_or_else(|| [s(from_s), s(to_s)])
}

/// How often, in words.
pub(super) fn often(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
