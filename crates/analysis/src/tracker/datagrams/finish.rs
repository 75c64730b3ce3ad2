//! The rows of a UDP flow or a QUIC connection.

use super::conversation::{Conversation, View};
use super::identity::Id;
use crate::Options;
use crate::closing::Closing;
use crate::metrics::Metric;
use crate::report::{Report, mbps};
use crate::tracker::finish::{Captures, path_name};
use tables::{Diagnostic, Direction};

/// No link but a loopback has larger datagrams: a jumbo frame of 9000 bytes without its headers.
const LARGEST: u32 = 8972;

/// Makes the rows of one that is over.
pub(super) fn report(mut conversation: Conversation, captures: &Captures, options: &Options) -> Report {
    if let Some(clocks) = &mut conversation.clocks {
        clocks.estimate();
    }
    let both = conversation.ends.iter().flatten().count() == 2;
    let (client, vantage) = conversation.client_end(both);
    let mut report = rows(&conversation, client, vantage, captures);
    for index in 0..2 {
        let carried = Direction::BOTH.map(|direction| {
            let bytes = |view: &Option<Box<View>>| view.as_ref().map_or(0, |view| view.bytes[direction as usize]);
            conversation.paths.iter().map(|path| bytes(&path.views[index])).collect::<Vec<u64>>()
        });
        let Some(end) = &mut conversation.ends[index] else { continue };
        let sends = both.then_some(if index == client { Direction::Up } else { Direction::Down });
        // What a receiver sees arrives; what is seen at one end only, too, for all that is known.
        let tells = Direction::BOTH.map(|direction| sends != Some(direction));
        let closing = Closing {
            speaks_mptcp: false,
            delivered_bytes: carried.each_ref().map(|paths| paths.iter().sum()),
            last_ack: end.last,
            options,
            start: end.first.at,
            origin: captures.origin,
            captures: captures.names,
            sends,
            only_end: !both,
            tells_time: !both || index == client,
            tells_delivered: tells,
            carried: [0, 1].map(|d: usize| tells[d].then(|| carried[d].clone())),
            lacks_data: [false; 2],
        };
        end.metrics.finish(&closing, &mut report);
    }
    for (index, rows) in report.flows.iter_mut().enumerate() {
        rows.iter_mut().for_each(strip);
        if both {
            rows.iter_mut()
                .zip(report.arrived_bytes[index])
                .for_each(|(row, arrived)| row.bytes = row.bytes.max(arrived));
        }
    }
    if both {
        conversation.join_ends(client, captures, &mut report);
    }
    rates(&mut report);
    conversation.remark(both, client, &mut report);
    report
}

impl Conversation {
    /// The client's end, where both were captured; and what is known of where captures were taken.
    fn client_end(&mut self, both: bool) -> (usize, Option<&'static str>) {
        let near = [0, 1].map(|end| self.near(end));
        if !both {
            let end = usize::from(self.ends[0].is_none());
            let vantage = near[end].map(|side| if side == Direction::Up { "client" } else { "server" });
            return (end, vantage);
        }
        let by_time = self.clocks.as_mut().and_then(|clocks| clocks.towards_1(Direction::Up));
        let by_signs = match near {
            [Some(Direction::Up), _] | [_, Some(Direction::Down)] => Some(true),
            [Some(Direction::Down), _] | [_, Some(Direction::Up)] => Some(false),
            _ => None,
        };
        // Of what one end sends the other sees less.
        let seen = |end: usize, direction: Direction| {
            let views = self.paths.iter().filter_map(|path| path.views[end].as_ref());
            views.map(|view| view.datagrams[direction as usize]).sum::<u64>()
        };
        let by_loss =
            || seen(0, Direction::Up) + seen(1, Direction::Down) >= seen(1, Direction::Up) + seen(0, Direction::Down);
        (usize::from(!by_time.or(by_signs).unwrap_or_else(by_loss)), Some("both"))
    }

    /// The side that an end's capture stands at, where the directions that it recorded say, or times to live.
    pub(super) fn near(&self, end: usize) -> Option<Direction> {
        let views =
            || self.paths.iter().filter_map(|path| path.views[end].as_deref()).filter(|view| !view.is_one_host());
        let (mut client, mut server) = (0, 0);
        for [up, down] in views().map(|view| view.signs.directions) {
            client += up[0] + down[1];
            server += up[1] + down[0];
        }
        if client != server {
            return Some(if client > server { Direction::Up } else { Direction::Down });
        }
        let unforwarded = |view: &View| {
            let [up, down] = Direction::BOTH.map(|direction| view.signs.is_unforwarded(direction));
            match (up?, down?) {
                (true, false) => Some(Direction::Up),
                (false, true) => Some(Direction::Down),
                _ => None,
            }
        };
        views().find_map(unforwarded)
    }

    /// Loss, order and delay.
    fn join_ends(&mut self, client: usize, captures: &Captures, report: &mut Report) {
        let spans = [0, 1].map(|end: usize| {
            let sites = self.ends[end].iter().flat_map(|end| &end.sites);
            let spans = sites.filter_map(|&site| captures.spans.get(site as usize).copied().flatten());
            spans.map(|span| (span.first, span.last)).reduce(|one, other| (one.0.max(other.0), one.1.min(other.1)))
        });
        let clocks = self.clocks.as_mut().expect("of both ends");
        let offset = clocks.offset.filter(|_| !clocks.contradicted);
        for (path, rows) in report.flows.iter_mut().enumerate() {
            for direction in Direction::BOTH {
                let Some(crossing) = &mut self.paths[path].crossings[direction as usize] else { continue };
                let sender = if direction == Direction::Up { client } else { 1 - client };
                // The receiver's capture was on when the first was sent, and the last: by its own clock.
                let ahead = offset.map(|offset| if sender == 0 { offset.nanos } else { offset.nanos.saturating_neg() });
                let covers = crossing.span(sender).zip(spans[1 - sender]).zip(ahead);
                let covers = covers.map_or((false, false), |(((first, last), (begins, ends)), ahead)| {
                    (begins <= first + ahead, ends > last + ahead)
                });
                let outcome = crossing.outcome(sender, covers);
                let row = &mut rows[direction as usize];
                row.lost_packets = outcome.lost;
                row.reordered_packets = outcome.reordered;
                let merged = crossing.merged(sender);
                if merged.datagrams > 0 {
                    row.packets += merged.further;
                    row.data_packets += merged.further;
                }
                row.merged_segments = Some(merged.datagrams + crossing.merged(1 - sender).datagrams);
                if offset.is_some() {
                    let delays = clocks.delays(path, direction);
                    row.one_way_delay_ms_median = delays.quantile_ms(0.5);
                    row.one_way_delay_ms_p95 = delays.quantile_ms(0.95);
                }
            }
        }
        report.diagnostics.extend(match clocks.offset {
            Some(offset) => offset.remark(client, clocks.contradicted),
            None => Some(Diagnostic {
                diagnostic: "clock_unknown",
                message: "datagrams went one way only, so the offset of the two ends' clocks is not known; one-way delays are left out".into(),
                ..Diagnostic::default()
            }),
        });
    }

    fn remark(&self, both: bool, client: usize, report: &mut Report) {
        let views = || self.paths.iter().flat_map(|path| path.views.iter().flatten());
        let is_merged = report.flows.iter().flatten().any(|row| row.merged_segments.is_some_and(|merged| merged > 0));
        let largest = views().filter(|view| !view.is_one_host()).map(|view| view.largest).max().unwrap_or(0);
        if is_merged || largest > LARGEST {
            let counted = if both {
                "they count as the datagrams that they were"
            } else {
                "how many they were is not known, and packets count them as one"
            };
            report.diagnostics.push(Diagnostic {
                diagnostic: "datagrams_merged",
                count: Some(largest.into()),
                message: format!(
                    "an offload of a host (UDP_SEGMENT, UDP_GRO) merged datagrams, up to {largest} bytes of them, in its capture: {counted}"
                )
                .into(),
                ..Diagnostic::default()
            });
        }
        let repeats: u64 = views().map(|view| view.repeats).sum();
        if repeats > 0 {
            report.diagnostics.push(Diagnostic {
                diagnostic: "duplicate_capture",
                count: Some(repeats),
                message: "packets seen on several interfaces are counted once".into(),
                ..Diagnostic::default()
            });
        }
        let arrived_only = |path: &super::conversation::Path| path.views[client].is_none();
        if both && self.paths.iter().any(arrived_only) {
            report.diagnostics.push(Diagnostic {
                diagnostic: "path_missing",
                message:
                    "a path shows at one end only: the other's capture lacks an interface, or a NAT hides which it is"
                        .into(),
                ..Diagnostic::default()
            });
        }
    }
}

/// What the metrics of TCP fill and datagrams do not have.
fn strip(row: &mut tables::Flow) {
    row.duplicate_packets = None;
    row.gap_filled_packets = None;
    row.zero_window_probe_packets = None;
    row.keep_alive_packets = None;
    row.retransmitted_packets = None;
    row.retransmitted_bytes = None;
    row.loss_rate_percent = None;
    row.merged_segments = None;
}

/// Rates over the time that each direction took, and shares of what was delivered.
fn rates(report: &mut Report) {
    for direction in Direction::BOTH {
        let d = direction as usize;
        let transfer = &mut report.transfers[d];
        let (nanos, whole) = (report.elapsed_nanos[d], transfer.bytes);
        transfer.elapsed_s = nanos.map(|nanos| nanos as f64 / 1e9);
        transfer.throughput_mbps = nanos.and_then(|nanos| mbps(whole, nanos));
        for rows in &mut report.flows {
            let row = &mut rows[d];
            row.throughput_mbps = row.delivered_bytes.zip(nanos).and_then(|(bytes, nanos)| mbps(bytes, nanos));
            row.share = row.delivered_bytes.filter(|_| whole > 0).map(|bytes| bytes as f64 / whole as f64);
        }
    }
}

fn rows(one: &Conversation, client: usize, vantage: Option<&'static str>, captures: &Captures) -> Report {
    let view = |path: usize| {
        let views = &one.paths[path].views;
        views[client].as_deref().or(views[1 - client].as_deref()).expect("a path is seen somewhere")
    };
    let first = view(0).addresses;
    let protocol = if one.is_quic { "quic" } else { "udp" };
    let end = one.ends[client].as_ref().or(one.ends[1 - client].as_ref()).expect("seen somewhere");
    let start = end.first.at;
    let last = (0..one.paths.len()).map(|path| view(path).last.at).max().unwrap_or(start);
    let id = |id: Option<Id>| id.map(|id| id.to_string());
    let mut report = Report {
        order: Some((true, start, first.client, first.server)),
        connection: tables::Connection {
            client_address: Some(first.client.ip()),
            client_port: first.client.port(),
            server_address: Some(first.server.ip()),
            server_port: first.server.port(),
            protocol,
            quic_version: one.is_quic.then_some(one.quic.version),
            client_connection_id: id(one.quic.ids[0]),
            server_connection_id: id(one.quic.ids[1]),
            start_ns: start.as_nanos(),
            start_s: captures.seconds(start),
            duration_s: Some((last - start).max(0) as f64 / 1e9),
            subflows: one.paths.len() as u32,
            began: if one.is_quic { "handshake" } else { "unknown" },
            ended: "unknown",
            vantage,
            ..tables::Connection::default()
        },
        ..Report::default()
    };
    for direction in Direction::BOTH {
        report.transfers[direction as usize].direction = direction;
    }
    for path in 0..one.paths.len() {
        let view = view(path);
        let [asked, answered] = view.long;
        // Where the client stands; elsewhere it is the server's own time.
        let at_client = vantage == Some("client") || vantage == Some("both") && one.paths[path].views[client].is_some();
        let names_path = vantage != Some("server");
        report.subflows.push(tables::Subflow {
            subflow: path as u32,
            path: captures
                .points
                .get(view.first.point.0 as usize)
                .filter(|_| names_path)
                .and_then(|point| path_name(&point.interface)),
            client_address: Some(view.addresses.client.ip()),
            client_port: view.addresses.client.port(),
            server_address: Some(view.addresses.server.ip()),
            server_port: view.addresses.server.port(),
            kind: protocol,
            opened_by: one.is_quic.then_some("client"),
            start_s: captures.seconds(view.first.at),
            end_s: captures.seconds(view.last.at),
            handshake: match (asked, answered) {
                (Some(_), Some(_)) => "established",
                (Some(_), None) => "unanswered",
                _ => "unseen",
            },
            handshake_rtt_ms: asked
                .zip(answered)
                .filter(|_| at_client)
                .map(|(asked, answered)| (answered - asked) as f64 / 1e6),
            ended: "unknown",
            ..tables::Subflow::default()
        });
        report.flows.push(Direction::BOTH.map(|direction| tables::Flow {
            subflow: path as u32,
            direction,
            ..tables::Flow::default()
        }));
        report.arrived_bytes.push([0; 2]);
        report.answers.push(None);
    }
    report
}
