//! What rules look at: one direction of a finished connection.

use super::cost::Lost;
use crate::report::Report;
use crate::timeline::{Bin, Timeline};
use std::borrow::Cow;
use tables::{Direction, Finding};
use wire::Time;

/// A finding is worth its line from a part of the transfer, or from a time, on; a shorter one never is.
const WORTH_PART: f64 = 0.05;
const WORTH_S: f64 = 0.5;
const LEAST_S: f64 = 0.1;

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
    pub(super) lost: Lost,
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
    pub(super) remedy: &'static str,
}

/// What a finding cost.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// Time, seconds, claimed from what was lost.
    Seconds(f64),
    /// Nothing tells.
    Unknown,
}

impl<'a> Case<'a> {
    /// A direction in which data was delivered.
    pub(super) fn of(report: &'a Report, direction: Direction, origin: Time) -> Option<Case<'a>> {
        let d = direction as usize;
        let transfer = &report.transfers[d];
        let elapsed_s = transfer.elapsed_s.filter(|&elapsed| elapsed > 0.0)?;
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
            lost: Lost::default(),
            main: transfer.bytes > 0 && transfer.bytes >= report.transfers[1 - d].bytes,
            origin,
        };
        if let Some(timeline) = receiver.or(sender) {
            let width_s = timeline.width_nanos as f64 / 1e9;
            let came: Vec<f64> = (0..timeline.whole.len()).map(|index| timeline.came(index)).collect();
            case.best_rate = usual_rate(&came, width_s);
            case.lost = Lost::new(case.seconds(timeline, 0), width_s, came.into_iter(), case.best_rate * width_s);
        }
        Some(case)
    }

    /// Seconds from the first packet of all captures to the start of a bin.
    pub(super) fn seconds(&self, timeline: &Timeline, index: usize) -> f64 {
        (timeline.start - self.origin + index as i64 * timeline.width_nanos) as f64 / 1e9
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
            (_, Some(address)) => format!("{address}:{}", row.client_port),
            _ => format!("port {}", row.client_port),
        }
    }

    /// Subflows that came about, as they are in `report`.
    pub(super) fn established(&self) -> Vec<usize> {
        let came = |subflow: &usize| self.report.subflows[*subflow].handshake == "established";
        (0..self.report.subflows.len()).filter(came).collect()
    }

    /// A diagnostic of the connection.
    pub(super) fn diagnosed(&self, name: &str) -> Option<&'a tables::Diagnostic> {
        self.report.diagnostics.iter().find(|row| row.diagnostic == name)
    }

    /// Whether the captures hold so much of the transfer that rates mean something.
    pub(super) fn is_whole(&self) -> bool {
        const POISON: [&str; 6] = [
            "path_missing",
            "captures_unrelated",
            "clock_jumped",
            "vantage_unknown",
            "unmapped_bytes",
            "capture_partial",
        ];
        let missed = self.diagnosed("missed_bytes").and_then(|row| row.count).unwrap_or(0);
        missed * 100 <= self.bytes && !POISON.iter().any(|name| self.diagnosed(name).is_some())
    }

    /// The finding as a row, where it is worth one.
    pub(super) fn row(&self, found: Found) -> Option<Finding> {
        let cost_s = match found.cost {
            Cost::Seconds(cost) if !self.is_worth(cost) => return None,
            Cost::Seconds(cost) => Some((cost * 1e3).round() / 1e3),
            Cost::Unknown => None,
        };
        let mbps = |seconds: f64| self.bytes as f64 * 8e-6 / seconds;
        let event = self.report.events.iter().filter(|row| {
            (found.from_s..=found.to_s).contains(&row.at_s)
                && (found.subflow.is_none() || row.subflow == found.subflow.map(|subflow| subflow as u32))
        });
        let event = event.min_by_key(|row| row.at_ns);
        Some(Finding {
            connection: 0,
            subflow: found.subflow.map(|subflow| subflow as u32),
            direction: Some(self.direction),
            kind: found.kind.into(),
            from_s: found.from_s,
            to_s: found.to_s,
            cost_s,
            cost_mbps: cost_s
                .filter(|cost| cost + 1e-3 < self.elapsed_s)
                .map(|cost| mbps(self.elapsed_s - cost) - mbps(self.elapsed_s)),
            confidence: found.confidence,
            message: Cow::Owned(found.message),
            evidence: found.evidence,
            remedy: found.remedy.into(),
            filter: self.filter(found.subflow, found.from_s, found.to_s),
            capture: event.map(|row| row.capture.clone()),
            record: event.map(|row| row.record),
        })
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
        let epoch = |seconds: f64| self.origin.as_nanos() as f64 / 1e9 + seconds;
        format!(
            "({}) && frame.time_epoch >= {:.3} && frame.time_epoch <= {:.3}",
            flows.join(" || "),
            epoch(from_s) - 0.001,
            epoch(to_s) + 0.001
        )
    }
}

impl Timeline {
    /// New bytes over all subflows in a bin.
    pub(super) fn came(&self, index: usize) -> f64 {
        self.flows.iter().map(|flow| f64::from(flow.bins.get(index).copied().unwrap_or_default().came_bytes)).sum()
    }

    /// A bin of a subflow; an empty one where nothing passed.
    pub(super) fn of(&self, subflow: usize, index: usize) -> Bin {
        self.flows.get(subflow).and_then(|flow| flow.bins.get(index)).copied().unwrap_or_default()
    }

    pub(super) fn width_s(&self) -> f64 {
        self.width_nanos as f64 / 1e9
    }

    /// The rate of a subflow where it carried something, bytes per second.
    pub(super) fn rate(&self, subflow: usize) -> f64 {
        let came: Vec<f64> = (0..self.whole.len()).map(|index| self.of(subflow, index).came_bytes.into()).collect();
        usual_rate(&came, self.width_s())
    }

    /// Bytes of a subflow in a span of bins.
    pub(super) fn bytes(&self, subflow: usize, span: std::ops::Range<usize>) -> f64 {
        span.map(|index| f64::from(self.of(subflow, index).came_bytes)).sum()
    }

    /// The bin that so many seconds after its start lie in.
    pub(super) fn place(&self, seconds: f64) -> usize {
        ((seconds / self.width_s()).max(0.0) as usize).min(self.whole.len())
    }
}

/// The rate over a fifth of a second that a quarter of those exceed in which anything came.
fn usual_rate(came: &[f64], width_s: f64) -> f64 {
    const OVER_S: f64 = 0.2;
    let together = (OVER_S / width_s).ceil().max(1.0) as usize;
    let mut sums: Vec<f64> =
        came.chunks(together).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
    sums.retain(|&sum| sum > 0.0);
    sums.sort_by(f64::total_cmp);
    sums.get(sums.len() * 3 / 4).map_or(0.0, |&sum| sum / width_s)
}

/// Seconds in words.
pub(super) fn s(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}
