//! Connections that a proxy on the way split: of one, either end's capture holds a half with numbers of its own.
//!
//! A half is known by the other's 4-tuple, at the same time, and by having carried no more to its receiver than the
//! other took from its sender. Where addresses were translated, too, or clocks are further apart than the connection
//! lasted, nobody can tell.

use rustc_hash::FxHashMap;
use std::net::IpAddr;
use tables::{Connection, Diagnostic, Direction, Tables};

/// Remarks on connections whose other half is there.
pub(crate) fn remarks(tables: &Tables) -> Vec<Diagnostic> {
    let mut halves: FxHashMap<Ends, [Vec<&Connection>; 2]> = FxHashMap::default();
    for connection in tables.connections.iter().filter(|connection| connection.began == "handshake") {
        let side = match connection.vantage {
            Some("client") => 0,
            Some("server") => 1,
            _ => continue,
        };
        halves.entry(ends(connection)).or_default()[side].push(connection);
    }
    let mut remarks: Vec<Diagnostic> = halves
        .values()
        .flat_map(|[near, far]| near.iter().filter_map(|near| Some((near, only_other(near, far)?))))
        .filter(|(near, far)| carries_on(tables, near.connection, far.connection))
        .map(|(near, far)| remark(near.connection, far.connection))
        .collect();
    remarks.sort_by_key(|remark| remark.connection);
    remarks
}

type Ends = (Option<IpAddr>, u16, Option<IpAddr>, u16);

fn ends(connection: &Connection) -> Ends {
    let Connection { client_address, client_port, server_address, server_port, .. } = *connection;
    (client_address, client_port, server_address, server_port)
}

/// The one of the server's connections that was there at the same time.
fn only_other<'a>(near: &Connection, far: &[&'a Connection]) -> Option<&'a Connection> {
    let end_ns = |one: &Connection| one.start_ns + (one.duration_s.unwrap_or(0.0) * 1e9) as i64;
    let mut others = far.iter().filter(|far| far.start_ns <= end_ns(near) && near.start_ns <= end_ns(far));
    others.next().filter(|_| others.next().is_none()).copied()
}

/// Whether what one half brought to its receiver the other can have taken from its sender.
fn carries_on(tables: &Tables, near: u32, far: u32) -> bool {
    // Two rows of each connection, in order.
    let bytes = |number: u32, direction: Direction| tables.transfers[2 * number as usize + direction as usize].bytes;
    let [up, down] = Direction::BOTH.map(|direction| (bytes(near, direction), bytes(far, direction)));
    up.1 <= up.0 && down.0 <= down.1 && up.1 + down.0 > 0
}

fn remark(near: u32, far: u32) -> Diagnostic {
    Diagnostic {
        connection: Some(near),
        diagnostic: "split_connection",
        message: format!(
            "at the server it is connection {far}, with other sequence numbers: a proxy has a connection with each end, \
             and data that is acknowledged to one end may not have reached the other"
        )
        .into(),
        ..Diagnostic::default()
    }
}
