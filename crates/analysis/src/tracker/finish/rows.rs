//! What a connection and its subflows are, as rows.

use super::captures::Captures;
use super::ends::JudgedEnd;
use super::opening::Horizon;
use crate::report::Report;
use crate::tracker::connection::Connection;
use crate::tracker::subflow::{Kind as SubflowKind, Subflow};
use tables::Direction;
use wire::Point;

/// The rows of a connection and its subflows, and those that metrics and figures fill.
pub(super) fn rows(connection: &Connection, ends: &[Option<JudgedEnd>; 2], captures: &Captures) -> Report {
    let first = connection.client_view(&connection.subflows[0], ends).addresses;
    let start = connection.start(ends);
    let sides: Vec<_> = ends.iter().flatten().collect();
    let vantage = match sides.as_slice() {
        [one] => one.sends.map(|sends| if sends == Direction::Up { "client" } else { "server" }),
        [_, _] => Some("both"),
        _ => None,
    };
    let mut report = Report {
        order: Some((false, start, first.client, first.server)),
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
            start_s: captures.seconds(start),
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
            at_s: captures.seconds(seen.at),
            event: "fallback",
            direction: Some(direction),
            detail: connection.fallback,
            capture: captures.name(seen.point),
            record: seen.record,
            ..tables::Event::default()
        });
    }
    let horizon = connection.horizon(captures.until);
    for (index, subflow) in connection.subflows.iter().enumerate() {
        let mut row = subflow_row(connection, subflow, ends, (captures.points, &horizon));
        row.subflow = index as u32;
        let view = connection.client_view(subflow, ends);
        let (first, last) = (view.first, view.last);
        let answer = connection.opener_view(subflow, ends).1.answer();
        report.challenged.push(subflow.views.iter().flatten().any(|view| view.challenged));
        report.answers.push(answer.map(|seen| (captures.name(seen.point), seen.record)));
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
                at_s: captures.seconds(first.at),
                event,
                direction: Some(subflow.opener),
                detail: row.handshake_remark,
                capture: captures.name(first.point),
                record: first.record,
                ..tables::Event::default()
            });
        }
        row.start_s = captures.seconds(first.at);
        row.end_s = captures.seconds(last.at);
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
    ends: &[Option<JudgedEnd>; 2],
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
pub(in crate::tracker) fn path_name(interface: &str) -> Option<String> {
    let name = interface.strip_prefix("client:").unwrap_or(interface);
    (!matches!(name, "" | "any")).then(|| name.to_owned())
}
