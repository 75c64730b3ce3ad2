//! A finished connection as rows, and all of them as tables.

use crate::Options;
use crate::event::{Happening, Seen};
use crate::metrics::Metric;
use crate::tracker::{Carried, Connection, Horizon, Stream, Subflow, SubflowKind};
use std::net::SocketAddr;
use std::sync::Arc;
use tables::{Diagnostic, Direction, Tables};
use wire::{Point, Time};

/// What connections are ordered by.
type Order = (Time, SocketAddr, SocketAddr);

/// A finished connection. Connection and subflow numbers are given at the very end.
#[derive(Debug, Default)]
pub(crate) struct Report {
    order: Option<Order>,
    pub(crate) connection: tables::Connection,
    pub(crate) transfers: [tables::Transfer; 2],
    pub(crate) subflows: Vec<tables::Subflow>,
    pub(crate) flows: Vec<[tables::Flow; 2]>,
    pub(crate) throughput: Vec<tables::Throughput>,
    pub(crate) distributions: Vec<tables::Distribution>,
    pub(crate) segments: Vec<tables::Segment>,
    pub(crate) rtt: Vec<tables::Rtt>,
    pub(crate) reordering: Vec<tables::Reordering>,
    pub(crate) responses: Vec<tables::Response>,
    pub(crate) window: Vec<tables::Window>,
    pub(crate) events: Vec<tables::Event>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// First SYN to the last acknowledgement of data, per direction.
    pub(crate) elapsed_nanos: [Option<i64>; 2],
    /// Bytes that the receiver's capture shows, per subflow and direction.
    pub(crate) arrived_bytes: Vec<[u64; 2]>,
}

/// What a metric may know when it fills its rows.
pub(crate) struct Closing<'a> {
    pub(crate) connection: &'a Connection,
    streams: &'a [Stream; 2],
    last_ack: [Option<Time>; 2],
    pub(crate) options: &'a Options,
    /// First packet of the connection at this end.
    pub(crate) start: Time,
    origin: Time,
    captures: &'a [Arc<str>],
    /// The direction that is sent from here; none where the vantage is not known.
    sends: Option<Direction>,
    only_end: bool,
    /// What is to be known of the whole connection this end, or the other, tells: the time that it took; what was delivered.
    tells_time: bool,
    tells_delivered: [bool; 2],
    /// What each subflow carried, where this is the end that tells; and whether so little of it passed here that delays mean
    /// nothing.
    carried: [Option<Vec<u64>>; 2],
    lacks_data: [bool; 2],
}

impl Closing<'_> {
    /// The data of the direction is sent from here.
    pub(crate) fn is_sender(&self, direction: Direction) -> bool {
        self.sends == Some(direction)
    }

    /// The data of the direction arrives here.
    pub(crate) fn is_receiver(&self, direction: Direction) -> bool {
        self.sends == Some(direction.reverse())
    }

    /// There is no better end to say what was sent.
    pub(crate) fn speaks_for_sender(&self, direction: Direction) -> bool {
        self.only_end || self.is_sender(direction)
    }

    /// There is no better end to say what arrived.
    pub(crate) fn speaks_for_receiver(&self, direction: Direction) -> bool {
        self.only_end || self.is_receiver(direction)
    }

    /// There is no better end to say how long it took.
    pub(crate) fn tells_time(&self) -> bool {
        self.tells_time
    }

    /// There is no better end to say what was delivered.
    pub(crate) fn tells_delivered(&self, direction: Direction) -> bool {
        self.tells_delivered[direction as usize]
    }

    /// There is no better end to say what happened.
    pub(crate) fn speaks_for_client(&self) -> bool {
        self.only_end || self.sends == Some(Direction::Up)
    }

    /// Seconds from the first packet of all captures.
    pub(crate) fn seconds(&self, at: Time) -> f64 {
        (at - self.origin) as f64 / 1e9
    }

    /// The capture that holds a packet.
    pub(crate) fn capture(&self, seen: Seen) -> Arc<str> {
        self.captures.get(seen.point.0 as usize).cloned().unwrap_or_else(|| "".into())
    }

    /// Delivered bytes by subflow, where this is the end that can tell.
    pub(crate) fn carried(&self, direction: Direction) -> Option<&[u64]> {
        self.carried[direction as usize].as_deref()
    }

    /// Much of the data went where this end's capture did not look.
    pub(crate) fn lacks_data(&self, direction: Direction) -> bool {
        self.lacks_data[direction as usize]
    }

    /// Bytes delivered in order to the application.
    pub(crate) fn delivered_bytes(&self, direction: Direction) -> u64 {
        self.streams[direction as usize].delivered_bytes()
    }

    /// An event as a row.
    pub(crate) fn event_row(
        &self,
        seen: Seen,
        subflow: Option<u32>,
        direction: Direction,
        happening: &Happening,
    ) -> tables::Event {
        tables::Event {
            connection: 0,
            subflow,
            at_ns: seen.at.as_nanos(),
            at_s: self.seconds(seen.at),
            event: happening.event,
            direction: Some(direction),
            detail: happening.detail,
            address_id: happening.address_id,
            address: happening.address,
            port: happening.port,
            bytes: happening.bytes,
            duration_ms: happening.duration_ms,
            capture: self.capture(seen),
            record: seen.record,
        }
    }

    /// First SYN to the last acknowledgement of the direction's data as seen from here, nanoseconds.
    pub(crate) fn elapsed_nanos(&self, direction: Direction) -> Option<i64> {
        self.last_ack[direction as usize].map(|last| (last - self.start).max(0))
    }
}

/// Bytes in a time as Mbit/s.
pub(crate) fn mbps(bytes: u64, nanos: i64) -> Option<f64> {
    (nanos > 0).then(|| bytes as f64 * 8e3 / nanos as f64)
}

/// Makes the rows of a finished connection. The captures begin at `origin`; `until` is how far they were read.
pub(crate) fn of(
    mut connection: Connection,
    (points, captures): (&[Point], &[Arc<str>]),
    options: &Options,
    (origin, until): (Time, Time),
) -> Report {
    let ends = connection.judge_ends();
    let mut report = rows(&connection, &ends, (points, captures), (origin, until));
    let both = ends.iter().flatten().count() == 2;
    let mut carried = Direction::BOTH.map(|direction| connection.carried_by(direction, &ends));
    for (index, judged) in ends.iter().enumerate() {
        let Some(judged) = judged else { continue };
        let lacks_data = Direction::BOTH.map(|direction| connection.lacks_data(index, direction));
        let Some(mut end) = connection.ends[index].take() else { continue };
        // Who stands at the right end tells, but for captures of a part.
        let coverage = &connection.coverage;
        let tells = |sends: Direction| {
            !both || coverage.is_part(1 - index) || judged.sends == Some(sends) && !coverage.is_part(index)
        };
        let tells_time = tells(Direction::Up);
        let tells_delivered = Direction::BOTH.map(|direction| tells(direction.reverse()));
        let of_this = |carried: &mut Option<Carried>| carried.take_if(|carried| carried.end == index);
        let closing = Closing {
            connection: &connection,
            streams: &end.streams,
            last_ack: end.last_ack,
            options,
            start: end.first.at,
            origin,
            captures,
            sends: judged.sends,
            only_end: !both,
            tells_time,
            tells_delivered,
            carried: carried.each_mut().map(|carried| of_this(carried).map(|carried| carried.bytes)),
            lacks_data,
        };
        end.metrics.finish(&closing, &mut report);
        connection.ends[index] = Some(end);
    }
    connection.finish_rows(&ends, (origin, captures), &mut report);
    report
}

fn rows(
    connection: &Connection,
    ends: &[Option<crate::tracker::JudgedEnd>; 2],
    (points, captures): (&[Point], &[Arc<str>]),
    (origin, until): (Time, Time),
) -> Report {
    let seconds = |at: Time| (at - origin) as f64 / 1e9;
    let first = connection.client_view(&connection.subflows[0], ends).addresses;
    let start = connection.start(ends);
    let sides: Vec<_> = ends.iter().flatten().collect();
    let vantage = match sides.as_slice() {
        [one] => one.sends.map(|sends| if sends == Direction::Up { "client" } else { "server" }),
        [_, _] => Some("both"),
        _ => None,
    };
    let mut report = Report {
        order: Some((start, first.client, first.server)),
        connection: tables::Connection {
            client_address: Some(first.client.ip()),
            client_port: first.client.port(),
            server_address: Some(first.server.ip()),
            server_port: first.server.port(),
            protocol: if connection.speaks_mptcp() { "mptcp" } else { "tcp" },
            mptcp_version: connection
                .version
                .filter(|_| connection.keys.iter().any(Option::is_some) || !connection.midway),
            client_token: connection.tokens[Direction::Up as usize],
            server_token: connection.tokens[Direction::Down as usize],
            start_ns: start.as_nanos(),
            start_s: seconds(start),
            duration_s: Some(connection.duration_nanos(ends) as f64 / 1e9),
            subflows: connection.subflows.len() as u32,
            began: if connection.midway { "midway" } else { "handshake" },
            fallback: connection.fallback,
            ended: connection.ended(),
            checksums: connection.checksums,
            vantage,
            vantage_confidence: sides.iter().filter_map(|side| side.confidence).reduce(f64::min),
            vantage_samples: sides.iter().filter_map(|side| side.samples).min(),
            ..tables::Connection::default()
        },
        ..Report::default()
    };
    for direction in Direction::BOTH {
        report.transfers[direction as usize].direction = direction;
    }
    // Whichever end showed it.
    if let Some((seen, subflow, direction)) = connection.fell_back {
        report.events.push(tables::Event {
            subflow: Some(subflow as u32),
            at_ns: seen.at.as_nanos(),
            at_s: seconds(seen.at),
            event: "fallback",
            direction: Some(direction),
            detail: connection.fallback,
            capture: captures.get(seen.point.0 as usize).cloned().unwrap_or_default(),
            record: seen.record,
            ..tables::Event::default()
        });
    }
    let horizon = connection.horizon(until);
    for (index, subflow) in connection.subflows.iter().enumerate() {
        let mut row = subflow_row(connection, subflow, ends, (points, &horizon));
        row.subflow = index as u32;
        let view = connection.client_view(subflow, ends);
        let (first, last) = (view.first, view.last);
        let failed = match row.handshake {
            "refused" => Some("join_refused"),
            "unanswered" => Some("join_unanswered"),
            "unfinished" => Some("join_unfinished"),
            _ => None,
        };
        if let Some(event) = failed.filter(|_| subflow.kind == SubflowKind::Join) {
            report.events.push(tables::Event {
                subflow: Some(index as u32),
                at_ns: first.at.as_nanos(),
                at_s: seconds(first.at),
                event,
                direction: Some(subflow.opener),
                detail: row.handshake_remark,
                capture: captures.get(first.point.0 as usize).cloned().unwrap_or_default(),
                record: first.record,
                ..tables::Event::default()
            });
        }
        row.start_s = seconds(first.at);
        row.end_s = seconds(last.at);
        report.subflows.push(row);
        report.arrived_bytes.push(Default::default());
        report.flows.push(Direction::BOTH.map(|direction| tables::Flow {
            subflow: index as u32,
            direction,
            ..tables::Flow::default()
        }));
    }
    report
}

fn subflow_row(
    connection: &Connection,
    subflow: &Subflow,
    ends: &[Option<crate::tracker::JudgedEnd>; 2],
    (points, horizon): (&[Point], &Horizon),
) -> tables::Subflow {
    let (up, down) = (Direction::Up as usize, Direction::Down as usize);
    let opening = connection.opening(subflow, ends, horizon);
    let addresses = connection.client_view(subflow, ends).addresses;
    let path = connection.client_point(subflow, ends).and_then(|point| points.get(point.0 as usize));
    tables::Subflow {
        path: path.and_then(|point| path_name(&point.interface)),
        client_address: Some(addresses.client.ip()),
        client_port: addresses.client.port(),
        server_address: Some(addresses.server.ip()),
        server_port: addresses.server.port(),
        kind: match subflow.kind {
            SubflowKind::Initial => "initial",
            SubflowKind::Join => "join",
            SubflowKind::Tcp => "tcp",
            SubflowKind::Unknown | SubflowKind::Stray => "unknown",
        },
        opened_by: (!matches!(subflow.kind, SubflowKind::Unknown | SubflowKind::Stray))
            .then_some(if subflow.opener == Direction::Up { "client" } else { "server" }),
        client_address_id: subflow.address_ids[up],
        server_address_id: subflow.address_ids[down],
        join_time_ms: opening.joined_nanos.map(|nanos| nanos as f64 / 1e6),
        handshake: opening.outcome,
        handshake_remark: opening.remark,
        handshake_rtt_ms: opening.rtt_nanos.map(|nanos| nanos as f64 / 1e6),
        hmac_valid: subflow.hmac_valid,
        backup: subflow.backup,
        client_mss_bytes: subflow.mss_bytes[up],
        server_mss_bytes: subflow.mss_bytes[down],
        client_window_scale: subflow.window_scale[up],
        server_window_scale: subflow.window_scale[down],
        ecn: subflow.speaks_ecn(),
        ended: opening.subflow_ended,
        reset_reason: subflow.reset_reason,
        ..tables::Subflow::default()
    }
}

/// The path that an interface names: runs name interfaces `host:path`; "any" is no interface.
fn path_name(interface: &str) -> Option<String> {
    let name = interface.strip_prefix("client:").unwrap_or(interface);
    (!matches!(name, "" | "any")).then(|| name.to_owned())
}

/// Finished connections in the order of finishing, their rows already in tables: nothing is kept twice.
#[derive(Default)]
pub(crate) struct Reports {
    tables: Tables,
    order: Vec<Order>,
}

impl Reports {
    /// Takes a finished connection. Subflows are numbered by (first time, 4-tuple).
    pub(crate) fn push(&mut self, mut report: Report) {
        if self.tables.throughput.len() + report.throughput.len() > MOST_ROWS {
            report.leave_out_throughput(report.throughput.len() as u64);
            report.throughput = Vec::new();
        }
        if self.tables.distributions.len() + report.distributions.len() > MOST_ROWS {
            report.leave_out_distributions();
        }
        let number = self.order.len() as u32;
        self.order.push(report.order.expect("made of a connection"));
        report.append(number, &mut self.tables);
    }

    /// Takes a remark that belongs to no connection.
    pub(crate) fn remark(&mut self, diagnostic: Diagnostic) {
        self.tables.diagnostics.push(diagnostic);
    }

    /// Numbers connections by (first time, 4-tuple) and orders all rows by that.
    pub(crate) fn into_tables(self) -> Tables {
        let Reports { mut tables, order } = self;
        let mut by_order: Vec<usize> = (0..order.len()).collect();
        by_order.sort_by_key(|&index| order[index]);
        let mut rank = vec![0; order.len()];
        by_order.iter().enumerate().for_each(|(new, &old)| rank[old] = new as u32);
        let number = |old: u32| rank[old as usize];
        macro_rules! renumber {
            ($($table:ident: $key:expr;)*) => {$(
                tables.$table.iter_mut().for_each(|row| row.connection = number(row.connection));
                if !tables.$table.is_sorted_by_key($key) {
                    tables.$table.sort_by_key($key);
                }
            )*};
        }
        renumber! {
            connections: |row| row.connection;
            transfers: |row| row.connection;
            subflows: |row| row.connection;
            flows: |row| row.connection;
            throughput: |row| row.connection;
            distributions: |row| row.connection;
            segments: |row| row.connection;
            rtt: |row| row.connection;
            reordering: |row| row.connection;
            responses: |row| row.connection;
            window: |row| row.connection;
            events: |row| row.connection;
        }
        tables.diagnostics.iter_mut().for_each(|row| row.connection = row.connection.map(number));
        tables.diagnostics.sort_by_key(|row| row.connection);
        tables
    }
}

/// Rows of throughput series, and of distributions, of all connections together, beyond which no more are kept.
const MOST_ROWS: usize = 1 << 22;

impl Report {
    /// Says that throughput series are not written out.
    pub(crate) fn leave_out_throughput(&mut self, rows: u64) {
        self.diagnostics.push(Diagnostic {
            diagnostic: "throughput_left_out",
            count: Some(rows),
            message: "the throughput series would have too many bins; choose longer ones".into(),
            ..Diagnostic::default()
        });
    }

    fn leave_out_distributions(&mut self) {
        self.diagnostics.push(Diagnostic {
            diagnostic: "distributions_left_out",
            count: Some(std::mem::take(&mut self.distributions).len() as u64),
            message: "the distributions of so many connections are not kept; their means and quantiles are".into(),
            ..Diagnostic::default()
        });
    }

    fn append(mut self, number: u32, tables: &mut Tables) {
        let mut order: Vec<usize> = (0..self.subflows.len()).collect();
        order.sort_by(|&a, &b| {
            let key =
                |row: &tables::Subflow| (row.client_address, row.client_port, row.server_address, row.server_port);
            let (a, b) = (&self.subflows[a], &self.subflows[b]);
            a.start_s.total_cmp(&b.start_s).then_with(|| key(a).cmp(&key(b)))
        });
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
        let subflow = |old: u32| place.get(old as usize).copied().unwrap_or(old);

        self.connection.connection = number;
        tables.connections.push(self.connection);
        tables.transfers.extend(self.transfers.into_iter().map(|mut row| {
            row.connection = number;
            row
        }));
        self.subflows.sort_by_key(|row| subflow(row.subflow));
        self.flows.sort_by_key(|rows| subflow(rows[0].subflow));
        macro_rules! renumbered {
            ($table:ident, $rows:expr, $renumber:expr) => {
                tables.$table.extend($rows.map(|mut row| {
                    row.connection = number.into();
                    row.subflow = $renumber(row.subflow);
                    row
                }))
            };
        }
        let maybe = |old: Option<u32>| old.map(subflow);
        renumbered!(subflows, self.subflows.into_iter(), subflow);
        renumbered!(flows, self.flows.into_iter().flatten(), subflow);
        renumbered!(throughput, self.throughput.into_iter(), maybe);
        renumbered!(distributions, self.distributions.into_iter(), maybe);
        renumbered!(segments, self.segments.into_iter(), subflow);
        renumbered!(rtt, self.rtt.into_iter(), subflow);
        renumbered!(reordering, self.reordering.into_iter(), subflow);
        tables.responses.extend(self.responses.into_iter().map(|mut row| {
            row.connection = number;
            row
        }));
        renumbered!(window, self.window.into_iter(), subflow);
        self.events.sort_by_key(|row| (row.at_ns, maybe(row.subflow)));
        renumbered!(events, self.events.into_iter(), maybe);
        renumbered!(diagnostics, self.diagnostics.into_iter(), maybe);
    }
}
